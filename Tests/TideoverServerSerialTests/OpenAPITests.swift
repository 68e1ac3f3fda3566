import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer
import TideoverSignatures
import TideoverStorage

@testable import TideoverTestServer

/// The OpenAPI document agrees with the service.
@Suite struct OpenAPITests {
    private func document(_ server: TestServer) async throws -> JSONDocument {
        try JSONDocument(try await server.get("/openapi.json").body)
    }

    @Test func `the document lists exactly the routes of the service`() async throws {
        let server = try TestServer()
        let paths = try #require(try await document(server).root["paths"])
        let documented = paths.members.flatMap { path, operations in
            operations.members.map { "\($0.key.uppercased()) \(path)" }
        }
        #expect(
            documented.sorted() == Service.routes.map { "\($0.method) \($0.template)" }.sorted()
        )
        await server.close()
    }

    @Test func `what follows from the table of routes is written nowhere else`() async throws {
        let server = try TestServer()
        let complete = try #require(try await document(server).root["paths"])
        let written = try #require(OpenAPIDocument.written.root["paths"])
        let common = ["parameters/app", "parameters/customer", "responses/unauthorised"]
        for route in Service.routes {
            let method = route.method.lowercased()
            let own = try #require(written[route.template]?[method])
            #expect(own["security"] == nil, "\(route.template)")
            let text = String(decoding: own.source, as: UTF8.self)
            for name in common {
                #expect(!text.contains("#/components/\(name)\""), "\(route.template)")
            }
            let whole = try #require(complete[route.template]?[method])
            let hasKey = whole["security"]?[0]?["key"] != nil
            #expect(hasKey == (route.need != .nothing), "\(route.template)")
            #expect((whole["responses"]?["401"] != nil) || route.need == .nothing)
            let parameters = whole["parameters"]?.elements.compactMap { $0["$ref"]?.string } ?? []
            let isOfApp = parameters.contains("#/components/parameters/app")
            #expect(isOfApp == route.template.contains("{app}"), "\(route.template)")
        }
        await server.close()
    }

    @Test func `the response of every route matches its schema`() async throws {
        // A minute passes between two requests, so that the store can be queried each time.
        let uptime = Locked<Int64>(0)
        let server = try TestServer(
            probes: Probes(
                uptime: {
                    uptime.withLock { time in
                        time += 60_000_000_000
                        return time
                    }
                }
            ),
            googlePlay: TestPlay().trust(asksStore: false),
            revenueCat: TestRevenueCat().trust(),
            webhooks: { clock in
                WebhookSetup(
                    sending: WebhookSending(clock: { clock.now }) { _, _, _ in
                        .response(status: 200)
                    }
                )
            }
        )
        let document = try await document(server)
        _ = try await server.post(.purchase())
        let imported = try await server.send(
            "POST",
            "/v1/apps/cards/imports/revenuecat",
            body: TestRevenueCat.answer(at: Message.start)
        )
        #expect(imported.status == 200)
        for route in Service.routes {
            let response = try await server.service.handler(
                try await request(for: route, server)
            )
            let operation = document.root["paths"]?[route.template]?[route.method.lowercased()]
            let documented = try #require(
                operation?["responses"]?["\(response.status)"],
                "\(route.template) answered \(response.status)"
            )
            #expect(
                (200..<300).contains(response.status),
                "\(route.method) \(route.template): \(String(decoding: response.body, as: UTF8.self))"
            )
            let type = response.headers["Content-Type"].map { $0.prefix { $0 != ";" } } ?? ""
            let schema = try #require(documented["content"]?[String(type)]?["schema"])
            guard type == "application/json" else { continue }
            let schemas = Schemas(document)
            let faults = schemas.faults(of: try JSONDocument(response.body).root, by: schema)
            #expect(faults == [], "\(route.method) \(route.template)")
        }
        await server.close()
    }

    private func request(for route: Route, _ server: TestServer) async throws -> Request {
        if route.template.hasSuffix("/google-play") {
            return try TestPlay.push(TestPlay.test, messageId: "1", at: server.now)
        }
        if route.template.hasSuffix("/notifications/revenuecat") {
            return TestRevenueCat.request(TestRevenueCat.event("TEST", id: "1"))
        }
        var path = route.template.replacing("{app}", with: "cards")
            .replacing("{customer}", with: TestServer.anna)
            .replacing("{problem}", with: "bad-cursor")
        if path.contains("/keys/{id}") {
            let made = try await server.send("POST", "/v1/keys", body: Self.wish)
            let id = try JSONDocument(made.body).root["id"]?.string
            path = path.replacing("{id}", with: try #require(id))
        }
        if path.contains("{webhook}") {
            let added = try await server.send(
                "POST",
                "/v1/apps/cards/webhooks",
                body: Self.webhook
            )
            let id = try JSONDocument(added.body).root["id"]?.string
            path = path.replacing("{webhook}", with: try #require(id))
        }
        path = path.replacing("{purchase}", with: "2000000000000001")
            .replacing("/extensions/{id}", with: "/extensions/e-1")
        if path.contains("{grant}") {
            let given = try await server.send(
                "POST",
                "/v1/apps/cards/customers/\(TestServer.anna)/grants?environment=sandbox",
                body: Self.grant
            )
            let id = try JSONDocument(given.body).root["grants"]?[0]?["id"]?.string
            path = path.replacing("{grant}", with: try #require(id))
        }
        var query: [String] = []
        let names = QueryNames.documented[route]
        if names.contains("environment") { query.append("environment=sandbox") }
        if path.contains("/reports/shadow") { query.append("app=cards") }
        if names.contains("dryRun") { query.append("dryRun=true") }
        if path.contains("/extensions/") { query.append("product=cards.pro.monthly") }
        if path.contains("/lookup") || path.hasPrefix("/v1/apps/cards/explain") {
            query.append("transaction=2000000000000001")
        }
        if !query.isEmpty { path += "?" + query.joined(separator: "&") }
        return try #require(
            Request(
                method: route.method,
                target: path,
                headers: TestServer.credentials,
                body: try body(for: route, server)
            )
        )
    }

    private func body(for route: Route, _ server: TestServer) throws -> [UInt8] {
        switch route.template.split(separator: "/").last {
        case "keys": Self.wish
        case "try": Array("{}".utf8)
        case "webhooks": Self.webhook
        case "replay" where route.template.contains("/webhooks/"):
            Array(#"{"from": "2026-05-01T00:00:00Z"}"#.utf8)
        case "grants": Self.grant
        case "prompts": Array(#"{"id": "p-1", "kind": "soft"}"#.utf8)
        case "aliases": Array(#"{"alias": "u_43"}"#.utf8)
        case "actions": Array(#"{"action": "extend", "days": 7, "why": "an outage"}"#.utf8)
        case "extensions": Array(#"{"product": "p", "days": 7, "why": "an outage"}"#.utf8)
        case "move": Array(#"{"customer": "u_43", "why": "another account"}"#.utf8)
        case "revocation": Array(#"{"why": "a slip"}"#.utf8)
        case "reconcile":
            JSONValue.object([
                "transactions": [.string(try server.store.sign(Message.transaction())), "x"]
            ]).encoded()
        default: try Message.purchase("n-2").body(server.store)
        }
    }

    private static let grant = Array(
        #"{"entitlement": "premium", "days": 7, "why": "a gift"}"#.utf8
    )
    private static let webhook = Array(#"{"url": "https://example.com/hooks"}"#.utf8)
    private static let wish = Array(#"{"kind": "secret", "apps": ["cards"]}"#.utf8)

    @Test func `every route documents the response to an unknown query parameter`() async throws {
        let server = try TestServer()
        let document = try await document(server)
        for route in Service.routes {
            let path = route.template.replacing("{app}", with: "cards")
                .replacing("{customer}", with: TestServer.anna)
                .replacing("{webhook}", with: "w").replacing("{grant}", with: "g").replacing(
                    "{purchase}",
                    with: "p"
                ).replacing(
                    "{id}",
                    with: "k"
                )
            let response = try await server.send(
                route.method,
                path + "?colour=red",
                body: []
            )
            let responses = document.root["paths"]?[route.template]?[route.method.lowercased()]?[
                "responses"
            ]
            let name = "\(route.method) \(route.template)"
            #expect(responses?["\(response.status)"] != nil, "\(name): \(response.status)")
            // The socket server rejects a malformed path or query, and a body that is too long.
            #expect(responses?["400"] != nil, "\(name)")
            #expect(route.method != "POST" || responses?["413"] != nil, "\(name)")
        }
        await server.close()
    }

    @Test func `the document lists the headers of an unchanged answer, and refusals of the server`()
        async throws
    {
        let server = try TestServer()
        let root = try await document(server).root
        let paths = root["paths"]
        for path in ["/v1/apps/{app}/customers/{customer}", "/openapi.json"] {
            let headers = paths?[path]?["get"]?["responses"]?["304"]?["headers"]
            #expect(headers?["ETag"] != nil, "\(path)")
        }
        let removal = paths?["/v1/apps/{app}/webhooks/{webhook}"]?["delete"]?["responses"]
        #expect(removal?["409"] != nil)
        #expect(root["info"]?["description"]?.string?.contains("408, 415, 431 or 501") == true)
        await server.close()
    }

    @Test func `the document lists for every route the keys and the responses without one`()
        async throws
    {
        let server = try TestServer()
        let document = try await document(server)
        for route in Service.routes {
            let operation = document.root["paths"]?[route.template]?[route.method.lowercased()]
            let needs = operation?["security"]?.elements.map { need in
                need.members.map { "\($0.key): \(words($0.value).joined(separator: ", "))" }
            }
            let kind = route.need.kinds(writing: route.writes).first.map { ["key: \($0.rawValue)"] }
            #expect(needs == [kind].compactMap(\.self), "\(route.method) \(route.template)")
            let responses = operation?["responses"]
            let isGuarded = route.need != .nothing
            #expect((responses?["403"] != nil) == isGuarded, "\(route.template)")
            let unauthorised = responses?["401"]?["$ref"]?.string
            #expect((unauthorised == "#/components/responses/unauthorised") == isGuarded)
        }
        let scheme = document.root["components"]?["securitySchemes"]?["key"]
        #expect(scheme?["scheme"]?.string == "bearer")
        await server.close()
    }

    @Test func `a snapshot with a billing issue and problems match their schemas`() async throws {
        let server = try TestServer()
        let schemas = Schemas(try await document(server))
        var message = Message.purchase()
        message.type = "DID_FAIL_TO_RENEW"
        message.subtype = "GRACE_PERIOD"
        message.status = 4
        message.signed = Message.end
        message.renewal?["isInBillingRetryPeriod"] = true
        message.renewal?["gracePeriodExpiresDate"] = (Message.end + .days(16)).wire
        message.renewal?["expirationIntent"] = 2
        server.set(Message.end + .seconds(5))
        #expect(try await server.post(message).status == 200)
        let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
        let snapshot = try JSONDocument(try await server.get(target).body).root
        #expect(snapshot["prompt"]?["kind"]?.string == "soft")
        #expect(schemas.faults(of: snapshot, named: "Snapshot") == [])
        for target in ["/v1/apps/cards/customers/x", "/v1/apps/other/customers/x", "/nowhere"] {
            let problem = try JSONDocument(try await server.get(target).body).root
            #expect(schemas.faults(of: problem, named: "Problem") == [])
        }
        await server.close()
    }

    @Test func `a pass, its claims and its keys match their schemas`() async throws {
        let key = Ed25519PrivateKey.generate()
        let server = try TestServer(passes: PassIssuer(issuer: "tests", key: key))
        let schemas = Schemas(try await document(server))
        _ = try await server.post(.purchase())
        let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
        let snapshot = try JSONDocument(try await server.get(target).body).root
        #expect(schemas.faults(of: snapshot, named: "Snapshot") == [])
        let pass = try JWS(try #require(snapshot["pass"]?.string).utf8)
        let claims = try JSONDocument(pass.payload).root
        #expect(schemas.faults(of: claims, named: "PassClaims") == [])
        let reconciled = try await server.send(
            "POST",
            "/v1/apps/cards/customers/\(TestServer.anna)/reconcile?environment=sandbox",
            body: Array("{}".utf8)
        )
        let presented = try JSONDocument(reconciled.body).root
        #expect(presented["pass"]?.string != nil)
        let documented = try await document(server).root["components"]?["schemas"]
        for (name, answer) in [("Snapshot", snapshot), ("Reconciled", presented)] {
            let members = documented?[name]?["properties"]
            let unknown = answer.members.map(\.key).filter { members?[$0] == nil }
            #expect(unknown == [], "\(name)")
        }
        let keys = try JSONDocument(try await server.get("/v1/apps/cards/pass-keys").body).root
        #expect(keys["keys"]?.count == 1)
        #expect(schemas.faults(of: keys, named: "PassKeys") == [])
        #expect(try await server.get("/v1/apps/other/pass-keys").status == 404)
        await server.close()
    }

    @Test func `the document lists the members of explanations and timelines`() async throws {
        let server = try TestServer()
        let schemas = try await document(server).root["components"]?["schemas"]
        _ = try await server.post(.purchase())
        func read(_ name: String) async throws -> JSONNode? {
            let path = "/v1/apps/cards/customers/\(TestServer.anna)/\(name)?environment=sandbox"
            let root = try JSONDocument(try await server.get(path).body).root
            return root["entitlements"]?["premium"]
        }
        let explanation = try await read("explain")
        let timeline = try await read("timeline")
        let answers: [(JSONNode?, String)] = [
            (explanation, "ExplainedEntitlement"), (explanation?["used"]?[0], "UsedFact"),
            (timeline, "EntitlementTimeline"), (timeline?["spans"]?[0], "TimelineSpan"),
        ]
        for (answer, name) in answers {
            let members = try #require(answer, "\(name)").members.map(\.key)
            #expect(members == schemas?[name]?["properties"]?.members.map(\.key), "\(name)")
        }
        await server.close()
    }

    @Test func `the document lists all values of an answer`() async throws {
        let server = try TestServer()
        let schemas = try #require(try await document(server).root["components"]?["schemas"])
        let members = schemas["Entitlement"]?["properties"]
        #expect(words(members?["state"]?["enum"]) == State.allCases.map(\.rawValue))
        #expect(words(members?["reason"]?["examples"]) == Reason.allCases.map(\.rawValue))
        #expect(words(members?["confidence"]?["enum"]) == Confidence.allCases.map(\.rawValue))
        let claimed = schemas["PassEntitlement"]?["properties"]
        #expect(words(claimed?["state"]?["enum"]) == State.allCases.map(\.rawValue))
        #expect(words(claimed?["confidence"]?["enum"]) == Confidence.allCases.map(\.rawValue))
        #expect(words(members?["rule"]?["examples"]) == Rule.ID.allCases.map(\.rawValue))
        let kinds = schemas["Prompt"]?["properties"]?["kind"]?["enum"]
        #expect(words(kinds) == ["none"] + Prompt.Kind.allCases.map(\.rawValue))
        let advice = schemas["Advice"]?["properties"]?["kind"]?["enum"]
        #expect(words(advice) == Advice.Kind.allCases.map(\.rawValue))
        let eligibility = schemas["TrialOffer"]?["properties"]?["eligibility"]?["enum"]
        #expect(words(eligibility) == IntroductoryEligibility.allCases.map(\.rawValue))
        #expect(words(schemas["WordsKey"]?["examples"]) == MessageText.Key.allCases.map(\.rawValue))
        let arguments = schemas["Arguments"]?["properties"]?.members.map(\.key)
        #expect(arguments == MessageText.Argument.allCases.map(\.rawValue))
        await server.close()
    }

    @Test func `the document lists every problem type`() async throws {
        let server = try TestServer()
        let schemas = try #require(try await document(server).root["components"]?["schemas"])
        let listed = words(schemas["Problem"]?["properties"]?["type"]?["examples"])
        #expect(listed == ProblemType.all.map { "/problems/\($0.code)" })
        await server.close()
    }

    /// `scripts/clients.sh` compares every character, after minutes.
    @Test func `the generated types have each property and alternative of their schemas`()
        async throws
    {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../Clients/typescript/client/src/types.ts")
            .standardized
        let types = try String(contentsOf: file, encoding: .utf8)
        let server = try TestServer()
        let schemas = try #require(try await document(server).root["components"]?["schemas"])
        let fix: Comment = "write them again: scripts/clients.sh types"
        var found = 0
        for (name, schema) in schemas.members {
            let alternatives = schema["oneOf"].map(references) ?? []
            if types.contains("export type \(name) = "), !alternatives.isEmpty {
                found += 1
                let union = alternatives.compactMap { $0.split(separator: "/").last }
                    .joined(separator: " | ")
                #expect(types.contains("export type \(name) = \(union);"), fix)
            }
            guard let start = types.range(of: "export interface \(name) {")?.upperBound else {
                continue
            }
            found += 1
            let end = try #require(types[start...].range(of: "\n}")?.lowerBound)
            let block = types[start..<end]
            for property in schema["properties"].map({ $0.members.map(\.key) }) ?? [] {
                let pattern = "\n  \(property)"
                #expect(block.contains("\(pattern): ") || block.contains("\(pattern)?: "), fix)
            }
        }
        #expect(found > 20)
        await server.close()
    }

    @Test func `the page on the HTTP API names routes and the least kind of key`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../docs/http-api.md").standardized
        let page = try String(contentsOf: file, encoding: .utf8)
        let rows = page.matches(of: /\| `(GET|POST|DELETE) ([^`?]+)[^`]*` \| (\w+)/)
        #expect(rows.count == 16)
        for row in rows {
            let name = "\(row.1) /v1/apps/{app}\(row.2)"
            let route = Service.routes.first { "\($0.method) \($0.template)" == name }
            let kinds = try #require(route, "\(name)").need.kinds(writing: false)
            #expect(kinds.first?.rawValue ?? "none" == row.3, "\(name)")
        }
    }

    private func words(_ list: JSONNode?) -> [String] {
        list?.elements.compactMap(\.string) ?? []
    }

    @Test func `every reference resolves, and every operation has its own id`() async throws {
        let server = try TestServer()
        let document = try await document(server)
        let schemas = Schemas(document)
        for reference in references(in: document.root) {
            #expect(schemas.target(of: reference) != nil, "\(reference)")
        }
        let ids = try #require(document.root["paths"]).members.flatMap { path in
            path.value.members.compactMap { $0.value["operationId"]?.string }
        }
        #expect(Set(ids).count == Service.routes.count)
        await server.close()
    }

    private func references(in node: JSONNode) -> [String] {
        let own = [node["$ref"]?.string].compactMap(\.self)
        return own + node.members.flatMap { references(in: $0.value) }
            + node.elements.flatMap(references)
    }

    @Test func `the document is not sent again to a client with its ETag`() async throws {
        let server = try TestServer()
        let tag = try #require(try await server.get("/openapi.json").headers["ETag"])
        let again = try await server.get("/openapi.json", headers: ["If-None-Match": tag])
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
        await server.close()
    }
}
