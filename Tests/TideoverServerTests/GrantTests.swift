import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Access granted by an operator.
@Suite struct GrantTests {
    private static let path = "/v1/apps/cards/customers/u_42/grants"
    private static let wish: JSONObject = [
        "entitlement": "premium", "days": 7, "why": "outage of 5 May",
    ]

    private static let catalogue = Catalogue(products: [
        "cards.pro.monthly": Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1)
        ),
        "cards.all": Product(entitlements: ["archive", "premium"], kind: .nonConsumable),
    ])

    private func post(
        _ server: TestServer,
        _ wish: JSONObject,
        to path: String = path,
        as name: String? = nil
    ) async throws -> (status: Int, answer: JSONValue) {
        let headers: Headers = name.map { ["Idempotency-Key": $0] } ?? [:]
        let response = try await server.send(
            "POST",
            "\(path)?environment=sandbox",
            headers: headers,
            body: JSONValue.object(wish).encoded()
        )
        return (response.status, JSONValue(try JSONDocument(response.body).root))
    }

    /// Stores grants directly, which the route does not allow in such numbers.
    private func give(_ count: Int, to customer: String, _ server: TestServer) async throws {
        let customer = try #require(CustomerID(customer))
        let facts = (0..<count).map { n in
            Fact(
                lineage: Lineage(store: .tideover, environment: .sandbox, id: "g\(n)"),
                assertion: .grant(
                    TideoverCore.Grant(
                        id: "g\(n)",
                        customer: customer,
                        entitlement: "premium",
                        start: server.now,
                        end: server.now + .days(1),
                        why: "x"
                    )
                ),
                effectiveAt: server.now,
                assertedAt: server.now,
                learnedAt: server.now,
                source: .operator,
                evidence: EvidenceID(hex: "00")
            )
        }
        let commitRequest = CommitRequest(
            app: "cards",
            environment: .sandbox,
            facts: facts,
            now: server.now
        )
        _ = try await server.storage.commit(commitRequest) { _ in
            Derivation(answer: Array("{}".utf8), validUntil: nil, fingerprint: "")
        }
    }

    private func listed(_ server: TestServer) async throws -> [JSONValue] {
        let response = try await server.get("\(Self.path)?environment=sandbox")
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)["grants"]?.array ?? []
    }

    @Test func `a grant starts at once and ends after its days`() async throws {
        let server = try TestServer()
        let now = server.now
        let (status, answer) = try await post(server, Self.wish)
        #expect(status == 201)
        let grant = try #require(answer["grants"]?.array?.first)
        #expect(grant["start"]?.string == now.rfc3339)
        #expect(grant["end"]?.string == (now + .days(7)).rfc3339)
        #expect(grant["by"]?.string == "admin key of the configuration")
        #expect(grant["revoked"] == .null)
        #expect(try await server.premium("u_42") == "active granted access")
        #expect(try await server.premium("u_43") == "never unknown none")
        server.set(now + .days(7) + Milliseconds(-1))
        #expect(try await server.premium("u_42") == "active granted access")
        server.set(now + .days(7))
        #expect(try await server.premium("u_42") == "expired ended none")
        #expect(try await listed(server) == [grant])
        await server.close()
    }

    @Test func `one idempotency key creates one grant`() async throws {
        let server = try TestServer()
        let first = try await post(server, Self.wish, as: "ticket-17")
        server.set(server.now + .days(1))
        let again = try await post(server, Self.wish, as: "ticket-17")
        #expect(first.status == 201)
        #expect(again.status == 200)
        #expect(again.answer["grants"] == first.answer["grants"])
        var other = Self.wish
        other["days"] = 8
        let reused = try await post(server, other, as: "ticket-17")
        #expect(reused.status == 409)
        #expect(reused.answer["type"]?.string == "/problems/idempotency-key-reused")
        #expect(try await listed(server).count == 1)
        #expect(try await post(server, Self.wish, as: "ticket-18").status == 201)
        #expect(try await listed(server).count == 2)
        #expect(try await post(server, Self.wish, as: "two words").status == 400)
        await server.close()
    }

    @Test func `a request repeated after the end of its grant is answered as before`() async throws
    {
        let server = try TestServer()
        let wish: JSONObject = [
            "entitlement": "premium", "until": .string((server.now + .days(1)).rfc3339),
            "why": "outage of 5 May",
        ]
        let first = try await post(server, wish, as: "ticket-17")
        #expect(first.status == 201)
        server.set(server.now + .days(2))
        let again = try await post(server, wish, as: "ticket-17")
        #expect(again.status == 200)
        #expect(again.answer["grants"] == first.answer["grants"])
        #expect(try await post(server, wish, as: "ticket-18").status == 400)
        #expect(try await listed(server).count == 1)
        await server.close()
    }

    @Test func `a grant to an unknown id is created, and the response marks the id as unknown`()
        async throws
    {
        let server = try TestServer()
        func known(_ answer: JSONValue) -> Bool? { answer["customerKnown"]?.bool }
        let first = try await post(server, Self.wish, as: "a")
        #expect(first.status == 201)
        #expect(known(first.answer) == false)
        #expect(known(try await post(server, Self.wish, as: "a").answer) == false)
        #expect(known(try await post(server, Self.wish, as: "b").answer) == true)
        _ = try await server.post(.purchase())
        let anna = "/v1/apps/cards/customers/\(TestServer.anna)/grants"
        #expect(known(try await post(server, Self.wish, to: anna).answer) == true)
        let nobody = try await server.get("/v1/apps/cards/customers/x/grants?environment=sandbox")
        #expect(known(JSONValue(try JSONDocument(nobody.body).root)) == false)
        await server.close()
    }

    @Test func `an idempotency key belongs to one customer`() async throws {
        let server = try TestServer()
        #expect(try await post(server, Self.wish, as: "k").status == 201)
        let other = "/v1/apps/cards/customers/u_43/grants"
        #expect(try await post(server, Self.wish, to: other, as: "k").status == 201)
        #expect(try await server.premium("u_43") == "active granted access")
        await server.close()
    }

    @Test func `a grant of a product contains every entitlement that the product unlocks`()
        async throws
    {
        let server = try TestServer(catalogue: Self.catalogue)
        let until = server.now + .days(3)
        let all = try await post(
            server,
            ["product": "cards.all", "until": .string(until.rfc3339), "why": "a gift"],
            as: "k"
        )
        let given = (all.answer["grants"]?.array ?? []).compactMap { $0["entitlement"]?.string }
        #expect(given == ["archive", "premium"])
        #expect(
            try await post(
                server,
                ["product": "cards.all", "until": .string(until.rfc3339), "why": "a gift"],
                as: "k"
            ).status == 200
        )
        let part = try await post(
            server,
            ["product": "cards.all", "entitlement": "archive", "days": 1, "why": "a gift"]
        )
        #expect(part.answer["grants"]?.array?.count == 1)
        await server.close()
    }

    @Test(arguments: [
        #"{"entitlement": "gold", "days": 7, "why": "x"}"#,
        #"{"product": "cards.gold", "days": 7, "why": "x"}"#,
        #"{"product": "cards.pro.monthly", "entitlement": "archive", "days": 7, "why": "x"}"#,
        #"{"days": 7, "why": "x"}"#,
        #"{"entitlement": "premium", "why": "x"}"#,
        #"{"entitlement": "premium", "days": 0, "why": "x"}"#,
        #"{"entitlement": "premium", "days": 3661, "why": "x"}"#,
        #"{"entitlement": "premium", "days": 1, "until": "2026-06-01T00:00:00Z", "why": "x"}"#,
        #"{"entitlement": "premium", "until": "2026-04-01T00:00:00Z", "why": "x"}"#,
        #"{"entitlement": "premium", "until": "2066-04-01T00:00:00Z", "why": "x"}"#,
        #"{"entitlement": "premium", "days": 7}"#,
        #"{"entitlement": "premium", "days": 7, "why": ""}"#,
        #"{"entitlement": "premium", "days": 7, "why": "a\nb"}"#,
        #"{"entitlement": "premium", "days": 7, "why": " \u00a0 "}"#,
        #"{"entitlement": "premium", "days": 7, "why": "x", "untill": 1}"#,
        #"{"entitlement": 7, "days": 7, "why": "x"}"#,
        "[]", "",
    ])
    func `an invalid grant is rejected, and nothing is stored`(_ body: String) async throws {
        let server = try TestServer(catalogue: Self.catalogue)
        let response = try await server.send(
            "POST",
            "\(Self.path)?environment=sandbox",
            body: Array(body.utf8)
        )
        #expect(response.status == 400)
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/bad-grant")
        #expect(problem["detail"]?.string?.isEmpty == false)
        #expect(try await listed(server).isEmpty)
        await server.close()
    }

    @Test func `a customer has at most a hundred grants`() async throws {
        let server = try TestServer()
        try await give(99, to: "u_42", server)
        #expect(try await post(server, Self.wish, as: "k99").status == 201)
        let more = try await post(server, Self.wish, as: "k100")
        #expect(more.status == 409)
        #expect(more.answer["type"]?.string == "/problems/too-many-grants")
        #expect(try await post(server, Self.wish, as: "k99").status == 200)
        await server.close()
    }

    @Test func `a grant is revoked once and records who revoked it and why`() async throws {
        let server = try TestServer()
        let given = try await post(server, Self.wish).answer["grants"]?.array?.first
        let id = try #require(given?["id"]?.string)
        let bought = server.now
        server.set(bought + .days(2))
        let path = "\(Self.path)/\(id)/revocation"
        let (status, answer) = try await post(server, ["why": "by mistake"], to: path)
        #expect(status == 200)
        let revoked = answer["grants"]?.array?.first?["revoked"]
        #expect(revoked?["at"]?.string == (bought + .days(2)).rfc3339)
        #expect(revoked?["why"]?.string == "by mistake")
        #expect(revoked?["by"]?.string == "admin key of the configuration")
        #expect(try await server.premium("u_42") == "expired revoked none")
        let again = try await post(server, ["why": "another why"], to: path)
        #expect(again.status == 200)
        #expect(again.answer == answer)
        #expect(try await post(server, [:], to: path).status == 400)
        let unknown = try await post(server, ["why": "x"], to: "\(Self.path)/nothing/revocation")
        #expect(unknown.status == 404)
        // A grant of one customer cannot be revoked through another.
        let other = "/v1/apps/cards/customers/u_43/grants/\(id)/revocation"
        #expect(try await post(server, ["why": "x"], to: other).status == 404)
        await server.close()
    }

    @Test func `an explanation of a grant speaks of the grant, not of a purchase`() async throws {
        let server = try TestServer()
        let path = "/v1/apps/cards/customers/u_42"
        let given = try await server.send(
            "POST",
            "\(path)/grants?environment=sandbox",
            body: Array(#"{"entitlement": "premium", "days": 7, "why": "outage"}"#.utf8)
        )
        let id = try #require(
            try JSONDocument(given.body).root["grants"]?[0]?["id"]?.string
        )
        func said() async throws -> [String] {
            let answer = try await server.get("\(path)/explain?environment=sandbox")
            let premium = try JSONDocument(answer.body).root["entitlements"]?["premium"]
            return ["why", "reply"].map { name in
                (premium?[name]?.elements.compactMap(\.string) ?? []).joined(separator: " ")
            }
        }
        let running = try await said()
        #expect(running[0] == "An operator gave this access, and it is running.")
        #expect(running[1].hasPrefix("We have given you access until "))
        _ = try await server.send(
            "POST",
            "\(path)/grants/\(id)/revocation?environment=sandbox",
            body: Array(#"{"why": "by mistake"}"#.utf8)
        )
        let revoked = try await said()
        #expect(revoked[0] == "An operator took back the access given by hand.")
        #expect(revoked[1].hasPrefix("The access that we had given you was taken back"))
        await server.close()
    }

    @Test func `an explanation of a grant that ended says that it ended`() async throws {
        let server = try TestServer()
        let path = "/v1/apps/cards/customers/u_42"
        _ = try await server.send(
            "POST",
            "\(path)/grants?environment=sandbox",
            body: Array(#"{"entitlement": "premium", "days": 7, "why": "outage"}"#.utf8)
        )
        server.set(server.now + .days(30))
        let answer = try await server.get("\(path)/explain?environment=sandbox")
        let premium = try JSONDocument(answer.body).root["entitlements"]?["premium"]
        #expect(premium?["why"]?[0]?.string == "The access given by hand has ended.")
        #expect(
            premium?["reply"]?[0]?.string?.hasPrefix("The access that we had given you ended")
                == true
        )
        await server.close()
    }

    @Test func `an expired grant cannot be revoked`() async throws {
        let server = try TestServer()
        let given = try await post(server, Self.wish).answer["grants"]?.array?.first
        let id = try #require(given?["id"]?.string)
        server.set(server.now + .days(7))
        let path = "\(Self.path)/\(id)/revocation"
        #expect(try await post(server, ["why": "late"], to: path).status == 409)
        #expect(try await server.premium("u_42") == "expired ended none")
        await server.close()
    }

    @Test func `an explanation names who granted access and why, with its own evidence`()
        async throws
    {
        let server = try TestServer()
        _ = try await post(server, Self.wish)
        let response = try await server.get(
            "/v1/apps/cards/customers/u_42/explain?environment=sandbox"
        )
        let premium = JSONValue(try JSONDocument(response.body).root)["entitlements"]?["premium"]
        let used = try #require(premium?["used"]?.array?.first)
        #expect(
            used["says"]?.string?.hasSuffix(
                "outage of 5 May, by admin key of the configuration"
            ) == true
        )
        #expect(used["fact"]?["source"]?.string == "operator")
        let evidence = EvidenceID(hex: try #require(used["fact"]?["evidence"]?.string))
        let kept = try #require(try server.storage.evidence(evidence, app: "cards"))
        #expect(kept.source == .operator)
        await server.close()
    }

    @Test func `a grant records the name of the key`() async throws {
        let server = try TestServer()
        let made = try await server.send(
            "POST",
            "/v1/keys",
            body: Array(#"{"kind": "secret", "apps": ["cards"], "name": "support desk"}"#.utf8)
        )
        let key = try #require(try JSONDocument(made.body).root["key"]?.string)
        let response = try await server.ask(
            "POST",
            "\(Self.path)?environment=sandbox",
            headers: ["Authorization": "Bearer \(key)"],
            body: JSONValue.object(Self.wish).encoded()
        )
        #expect(response.status == 201)
        #expect(try await listed(server).first?["by"]?.string == "support desk")
        let device = try await server.send(
            "POST",
            "/v1/keys",
            body: Array(#"{"kind": "public"}"#.utf8)
        )
        let publicKey = try #require(try JSONDocument(device.body).root["key"]?.string)
        let refused = try await server.ask(
            "POST",
            "\(Self.path)?environment=sandbox",
            headers: ["Authorization": "Bearer \(publicKey)"],
            body: JSONValue.object(Self.wish).encoded()
        )
        #expect(refused.status == 403)
        await server.close()
    }

    @Test func `events report the start and the end of a grant`() async throws {
        let server = try TestServer()
        let now = server.now
        _ = try await post(server, Self.wish)
        server.set(now + .days(7))
        _ = try await server.premium("u_42")
        let response = try await server.get("/v1/apps/cards/events")
        let events = JSONValue(try JSONDocument(response.body).root)["events"]?.array ?? []
        let changes = events.filter { $0["kind"]?.string == "entitlement_changed" }
        #expect(
            changes.compactMap { $0["effectiveAt"]?.string } == [
                now.rfc3339, (now + .days(7)).rfc3339,
            ]
        )
        await server.close()
    }

    @Test func `a replay of its evidence restores the same grant`() async throws {
        let server = try TestServer()
        let given = try await post(server, Self.wish).answer["grants"]?.array?.first
        let id = try #require(given?["id"]?.string)
        _ = try await post(server, ["why": "x"], to: "\(Self.path)/\(id)/revocation")
        let report = try await server.service.replayed()
        #expect(report["evidence"] == 2)
        #expect(report["facts"] == 2)
        #expect(report["unreadable"] == [:])
        for list in ["added", "unread", "changed"] { #expect(report[list]?["count"] == 0) }
        await server.close()
    }
}
