import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Tests the attributes that RevenueCat's SDKs state about a customer.
@Suite struct SDKAttributeTests {
    private static let path = "/v1/subscribers/u_42/attributes"
    private static let anonymous = "$RCAnonymousID:0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    private let uptime = Uptime()

    private func server(
        _ limits: ClientLimits = ClientLimits(),
        dashboard: Bool = false
    ) throws -> TestServer {
        try TestServer(
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            clients: limits,
            revenueCatSDK: RevenueCatSDK(appStoreKeys: ["appl_test"]),
            dashboard: dashboard
        )
    }

    /// A request of a back end with a new key.
    private func backEnd(
        _ server: TestServer,
        _ kind: String = "secret",
        customer: String = "u_42"
    ) async throws -> SDKApp {
        let wish: JSONValue = ["kind": .string(kind), "apps": ["cards"]]
        let made = try await server.send("POST", "/v1/keys", body: wish.encoded())
        let key = try #require(try JSONDocument(made.body).root["key"]?.string)
        return SDKApp(server: server, key: key, customer: customer)
    }

    private func stated(_ name: String, _ value: JSONValue, _ at: Instant) -> JSONValue {
        [name: ["value": value, "updated_at_ms": .integer(at.millisecondsSince1970)]]
    }

    private func body(_ attributes: JSONValue) -> JSONValue { ["attributes": attributes] }

    private func attributes(_ answer: SDKApp.Answer) -> JSONValue? {
        answer.body["subscriber"]?["subscriber_attributes"]
    }

    @Test func `a back end reads what an app states, and a device does not`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let at = server.now - .seconds(5)
        let mail = stated("$email", "anna@example.com", at)
        #expect(try await app.ask("POST", Self.path, body(mail)).status == 200)
        for kind in ["secret", "viewer"] {
            let backEnd = try await backEnd(server, kind)
            #expect(attributes(try await backEnd.get()) == mail)
            let list = try await backEnd.ask(
                "GET",
                "/v2/projects/cards/customers/u_42/attributes"
            )
            let items = try #require(list.body["items"]?.array)
            #expect(items.map { $0["name"]?.string } == ["$email"])
            #expect(items.first?["value"]?.string == "anna@example.com")
            #expect(items.first?["updated_at"]?.int64 == at.millisecondsSince1970)
        }
        let device = try await app.get()
        #expect(device.body["subscriber"]?.object?.isEmpty == false)
        #expect(attributes(device) == nil)
        await server.close()
    }

    @Test func `the dashboard shows what an app states, and not what it deleted`() async throws {
        let server = try server(dashboard: true)
        let app = SDKApp(server: server, key: "appl_test")
        let at = server.now - .seconds(5)
        for attribute in [
            stated("$email", "anna<b>@example.com", at), stated("group", "gone", at),
            stated("group", "", at + .seconds(1)),
        ] {
            #expect(try await app.ask("POST", Self.path, body(attribute)).status == 200)
        }
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let page = try await browser.text("/dashboard/apps/cards/customers/u_42")
        #expect(page.contains("<bdi>$email</bdi>"))
        #expect(page.contains("<bdi>anna&lt;b&gt;@example.com</bdi>"))
        #expect(page.contains("<time datetime=\"\(at.rfc3339)\">"))
        #expect(!page.contains("gone"))
        let other = try await browser.text("/dashboard/apps/cards/customers/u_43")
        #expect(!other.contains("id=\"attributes\""))
        await server.close()
    }

    @Test func `an email address finds the customers that state it, for keys that read them`()
        async throws
    {
        let server = try server(dashboard: true)
        let mail = stated("$email", "Anna@Example.com", server.now - .seconds(5))
        for customer in ["u_42", "u_43"] {
            let app = SDKApp(server: server, key: "appl_test", customer: customer)
            let path = "/v1/subscribers/\(customer)/attributes"
            #expect(try await app.ask("POST", path, body(mail)).status == 200)
        }
        let list = "/v1/apps/cards/customers?environment=sandbox"
        let search = "\(list)&email=anna%40example.com"
        func found(_ target: String, _ kind: String, of app: String = "cards") async throws -> (
            status: Int, ids: [String?]
        ) {
            let key = try await server.key(kind, of: app)
            let answer = try await server.get(target, headers: ["Authorization": "Bearer \(key)"])
            let listed = try JSONDocument(answer.body).root["customers"]?.elements.map(\.self) ?? []
            return (answer.status, listed.map { $0["id"]?.string })
        }
        for kind in ["secret", "viewer"] {
            #expect(try await found(search, kind) == (200, ["u_42", "u_43"]))
        }
        #expect(try await found(search + "&limit=1", "secret") == (200, ["u_42"]))
        #expect(try await found(search + "&after=u_42", "secret") == (200, ["u_43"]))
        #expect(try await found(search + "&prefix=u_43", "secret") == (200, ["u_43"]))
        #expect(try await found(search + "x", "secret") == (200, []))
        #expect(try await found("\(list)&email=anna", "secret") == (200, []))
        #expect(try await found(search, "public") == (403, []))
        #expect(try await found(search, "secret", of: "rehearsal").ids == [])
        let browser = DashboardBrowser(server)
        try await browser.enter(try await server.key("viewer", of: "cards"))
        let page = try await browser.text("/dashboard/apps/cards/search?q=ANNA%40example.com")
        #expect(page.contains("Customers with this email address"))
        #expect(page.contains("/dashboard/apps/cards/customers/u_42"))
        #expect(page.contains("/dashboard/apps/cards/customers/u_43"))
        // The address is stored in one environment, and found from each.
        let other = try await browser.text(
            "/dashboard/apps/cards/search?environment=simulated&q=ANNA%40example.com"
        )
        #expect(other.contains("/dashboard/apps/cards/customers/u_42?environment=simulated"))
        let erased = try await server.send("DELETE", "/v1/apps/cards/customers/u_42")
        #expect(erased.status == 200)
        #expect(try await found(search, "secret") == (200, ["u_43"]))
        await server.close()
    }

    @Test func `the latest statement counts, and an empty value deletes`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let backEnd = try await backEnd(server)
        let start = server.now - .minutes(9)
        for (value, minute) in [("b", 2), ("a", 1)] as [(JSONValue, Int64)] {
            let change = stated("group", value, start + .minutes(minute))
            #expect(try await app.ask("POST", Self.path, body(change)).status == 200)
        }
        #expect(attributes(try await backEnd.get())?["group"]?["value"] == "b")
        for (empty, minute) in [("", 3), (.null, 5)] as [(JSONValue, Int64)] {
            let set = stated("group", "c", start + .minutes(minute))
            #expect(try await app.ask("POST", Self.path, body(set)).status == 200)
            let cleared = stated("group", empty, start + .minutes(minute + 1))
            #expect(try await app.ask("POST", Self.path, body(cleared)).status == 200)
            #expect(attributes(try await backEnd.get()) == [:])
        }
        await server.close()
    }

    @Test func `a device's clock that is ahead does not keep later changes out`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let ahead = stated("group", "a", server.now + .days(900))
        #expect(try await app.ask("POST", Self.path, body(ahead)).status == 200)
        server.set(server.now + .minutes(1))
        let later = stated("group", "b", server.now)
        #expect(try await app.ask("POST", Self.path, body(later)).status == 200)
        #expect(attributes(try await backEnd(server).get())?["group"]?["value"] == "b")
        await server.close()
    }

    @Test func `valid attributes are stored, and the others are named`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let now = server.now
        let long = String(repeating: "x", count: 501)
        // 34 characters of 61 bytes each.
        let marked = String(repeating: "a" + String(repeating: "\u{301}", count: 30), count: 34)
        let mixed: JSONValue = [
            "good": ["value": "1", "updated_at_ms": .integer(now.millisecondsSince1970)],
            "timeless": ["value": "1"],
            "$email": ["value": "no address", "updated_at_ms": 5],
            "long": ["value": .string(long), "updated_at_ms": 5],
            "marked": ["value": .string(marked), "updated_at_ms": 5],
            "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn": ["value": "1", "updated_at_ms": 5],
        ]
        let answer = try await app.ask("POST", Self.path, body(mixed))
        #expect(answer.status == 400)
        #expect(answer.body["code"] == 7263)
        let named = answer.body["attribute_errors"]?.array?.compactMap { $0["key_name"]?.string }
        let name = String(repeating: "n", count: 41)
        #expect(named == ["$email", "long", "marked", name, "timeless"])
        #expect(attributes(try await backEnd(server).get()) == stated("good", "1", now))
        await server.close()
    }

    @Test func `a customer has at most a hundred attributes`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let names = (100...220).map { "n\($0)" }
        var many = JSONObject()
        for name in names { many[name] = ["value": "1", "updated_at_ms": 5] }
        let answer = try await app.ask("POST", Self.path, body(.object(many)))
        #expect(answer.body["attribute_errors"]?.array?.count == 21)
        let found = attributes(try await backEnd(server).get())
        #expect(found?.object?.count == 100)
        await server.close()
    }

    @Test func `a log-in joins the attributes of both ids`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let at = server.now - .minutes(5)
        for (id, attributes) in [
            (Self.anonymous, stated("a", "1", at)), ("u_42", stated("a", "2", at + .minutes(1))),
            (Self.anonymous, stated("b", "3", at)),
        ] {
            let path = "/v1/subscribers/\(id)/attributes"
            #expect(try await app.ask("POST", path, body(attributes)).status == 200)
        }
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        let bought = try await SDKApp(server: server, key: "appl_test", customer: Self.anonymous)
            .post([
                "fetch_token": .string(try server.store.sign(transaction)),
                "product_id": "cards.pro.monthly",
            ])
        #expect(bought.status == 200)
        let both: JSONValue = [
            "app_user_id": .string(Self.anonymous), "new_app_user_id": "u_42",
        ]
        #expect(try await app.ask("POST", "/v1/subscribers/identify", both).status < 300)
        let found = attributes(try await backEnd(server).get())
        #expect(found?["a"]?["value"] == "2")
        #expect(found?["b"]?["value"] == "3")
        await server.close()
    }

    @Test func `attributes come with a receipt, and a wrong one does not lose the purchase`()
        async throws
    {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        let bought = try await app.post([
            "fetch_token": .string(try server.store.sign(transaction)),
            "product_id": "cards.pro.monthly",
            "attributes": ["a": ["value": "1", "updated_at_ms": 5], "b": ["value": "1"]],
        ])
        #expect(bought.status == 200)
        #expect(bought.isActive("premium"))
        let errors = bought.body["attributes_error_response"]?["attribute_errors"]?.array
        #expect(errors?.map { $0["key_name"]?.string } == ["b"])
        #expect(attributes(try await backEnd(server).get())?["a"]?["value"] == "1")
        await server.close()
    }

    @Test func `a back end states attributes, and a viewer cannot`() async throws {
        let server = try server()
        let mail = body(stated("$email", "anna@example.com", server.now))
        #expect(try await backEnd(server).ask("POST", Self.path, mail).status == 200)
        #expect(try await backEnd(server, "viewer").ask("POST", Self.path, mail).status == 401)
        await server.close()
    }

    @Test func `a flood of changes is bounded, and the device sends them again`() async throws {
        let server = try server(ClientLimits(refusalsPerMinute: 3))
        func post(_ name: String) async throws -> Int {
            let request = Request(
                method: "POST",
                path: Self.path,
                headers: ["Authorization": "Bearer appl_test"],
                body: body(stated(name, "1", server.now)).encoded(),
                peer: "192.0.2.1"
            )
            return try await server.service.checkedAnswer(to: request).status
        }
        for _ in 0..<10 { #expect(try await post("a") == 200) }
        var statuses: [Int] = []
        for number in 0..<4 { statuses.append(try await post("n\(number)")) }
        #expect(statuses == [200, 200, 503, 503])
        uptime.nanoseconds += 20_000_000_000
        #expect(try await post("n3") == 200)
        await server.close()
    }

    @Test func `attributes count as changes by their bytes`() async throws {
        let server = try server(ClientLimits(refusalsPerMinute: 10))
        func post(_ customer: String) async throws -> Int {
            var attributes = JSONObject()
            let value = JSONValue.string(String(repeating: "x", count: 500))
            for number in 0..<40 {
                attributes["n\(number)"] = ["value": value, "updated_at_ms": 5]
            }
            let request = Request(
                method: "POST",
                path: "/v1/subscribers/\(customer)/attributes",
                headers: ["Authorization": "Bearer appl_test"],
                body: body(.object(attributes)).encoded(),
                peer: "192.0.2.1"
            )
            return try await server.service.checkedAnswer(to: request).status
        }
        var statuses: [Int] = []
        for number in 0..<4 { statuses.append(try await post("u_\(number)")) }
        // 20 kB each, so five changes.
        #expect(statuses == [200, 200, 503, 503])
        await server.close()
    }

    @Test func `an erasure deletes attributes`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let mail = body(stated("$email", "anna@example.com", server.now))
        #expect(try await app.ask("POST", Self.path, mail).status == 200)
        let erased = try await server.send("DELETE", "/v1/apps/cards/customers/u_42")
        let root = try JSONDocument(erased.body).root
        #expect(root["erased"]?["attributes"]?.int64 == 1)
        #expect(attributes(try await backEnd(server).get()) == [:])
        await server.close()
    }

    @Test func `an export line of an attribute is read as it was written`() throws {
        for value in ["1", nil] {
            let attribute = CustomerAttribute(name: "a", value: value, updatedAt: Message.start)
            let record = AttributeRecord(
                customer: try #require(CustomerID("u_42")),
                attribute: attribute
            )
            let line = ExportLine.record(.attribute(record), .sandbox)
            #expect(try ExportLine(line.json, app: "cards") == line)
        }
    }
}
