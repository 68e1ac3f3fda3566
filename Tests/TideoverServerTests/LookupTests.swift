import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverServer

@testable import TideoverTestServer

/// Lookup of a purchase's owner.
@Suite struct LookupTests {
    private func look(_ server: TestServer, _ query: String) async throws -> [JSONValue] {
        let response = try await server.get("/v1/apps/cards/lookup?\(query)")
        #expect(response.status == 200)
        return try Self.purchases(response)
    }

    private static func purchases(_ response: Response) throws -> [JSONValue] {
        let root = try JSONDocument(response.body).root
        return try #require(root["purchases"]).elements.map { JSONValue($0) }
    }

    @Test func `a lookup finds a purchase by each transaction and by its customer`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        server.set(Message.end + .seconds(5))
        #expect(try await server.post(.renewed()).status == 200)
        let all = [
            "transaction=2000000000000001", "transaction=2000000000000002",
            "token=\(TestServer.anna.uppercased())",
        ]
        for query in all {
            let found = try await look(server, query)
            #expect(found.count == 1, "\(query)")
            #expect(found.first?["customer"]?.string == TestServer.anna)
            #expect(found.first?["environment"]?.string == "sandbox")
            #expect(found.first?["purchasedAt"]?.string == Message.end.rfc3339)
            #expect(found.first?["transactionId"]?.string == "2000000000000002")
            #expect(found.first?["price"]?.string == "9.99 USD")
            #expect(found.first?["orderId"] == .null)
            #expect(found.first?["reply"]?.string?.contains(TestServer.anna) == false)
        }
        for query in ["transaction=3", "order=MK1", "token=u_42"] {
            #expect(try await look(server, query).isEmpty, "\(query)")
        }
        await server.close()
    }

    @Test func `a lookup finds an unclaimed purchase and describes how to claim it`() async throws {
        let server = try TestServer()
        var message = Message.purchase()
        message.transaction?["appAccountToken"] = nil
        _ = try await server.post(message)
        let found = try await look(server, "transaction=2000000000000001")
        #expect(found.count == 1)
        #expect(found.first?["customer"] == .null)
        #expect(found.first?["reply"]?.string?.contains("Restore Purchases") == true)
        await server.close()
    }

    @Test(arguments: [
        "", "?order=", "?order=1&transaction=2", "?token=00000000-0000-0000-0000-000000000000",
    ])
    func `a malformed lookup is rejected`(_ query: String) async throws {
        let server = try TestServer()
        let response = try await server.get("/v1/apps/cards/lookup\(query)")
        #expect(response.status == 400)
        let type = try JSONDocument(response.body).root["type"]?.string
        #expect(type == "/problems/bad-lookup")
        await server.close()
    }

    @Test func `a lookup requests an order from the store and records the result`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let store = rehearsed.store
        let heard = Bodies()
        try await store.subscribe(token: TestServer.anna)
        try await store.pass(.minutes(1), on: time) { body in
            await heard.add(body)
            return 500
        }
        let body = try #require(await heard.all.first)
        let transaction = try #require(try Self.transactionId(in: body))
        let order = try #require(await store.order(of: transaction))
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        func ask(_ query: String) async throws -> [JSONValue] {
            let request = Request(
                method: "GET",
                target: "/v1/apps/cards/lookup?\(query)",
                headers: TestServer.credentials,
                body: []
            )
            return try Self.purchases(try await backEnd.service.handler(try #require(request)))
        }
        func outcomes(_ query: String) async throws -> [String] {
            let request = Request(
                method: "GET",
                target: "/v1/apps/cards/lookup?\(query)",
                headers: TestServer.credentials,
                body: []
            )
            let response = try await backEnd.service.handler(try #require(request))
            let asked = try JSONDocument(response.body).root["asked"]?.elements.map { $0 } ?? []
            return asked.map { store in
                ["store", "environment", "outcome"].map { store[$0]?.string ?? "-" }
                    .joined(separator: " ")
            }
        }
        #expect(try await ask("transaction=\(transaction)").isEmpty)
        #expect(try await ask("order=NONE").isEmpty)
        #expect(try await outcomes("order=NONE") == ["appStore simulated noSuchOrder"])
        #expect(try await outcomes("order=GPA.1") == ["googlePlay - notConfigured"])
        #expect(try await outcomes("transaction=1") == [])
        let found = try await ask("order=\(order)")
        #expect(found.first?["customer"]?.string == TestServer.anna)
        #expect(try await outcomes("order=\(order)") == ["appStore simulated found"])
        #expect(try await ask("transaction=\(transaction)") == found)
        await backEnd.close()
    }

    @Test func `an unreachable store does not mean that the order is unknown`() async throws {
        struct Unreachable: Error {}
        let rehearsed = try RehearsedStore()
        let access = rehearsed.access { _ in throw Unreachable() }
        let backEnd = try RehearsedBackEnd(rehearsed, TestTime(), access: access)
        let request = Request(
            method: "GET",
            target: "/v1/apps/cards/lookup?order=MK1",
            headers: TestServer.credentials,
            body: []
        )
        let response = try await backEnd.service.handler(try #require(request))
        #expect(response.status == 503)
        let type = try JSONDocument(response.body).root["type"]?.string
        #expect(type == "/problems/store-did-not-answer")
        await backEnd.close()
    }

    @Test(arguments: ["MK1%20", "%20MK1", "MK%2F1", "%23MK1", "MK%C3%9C", "..", "GPA.1%20"])
    func `a text that is no order number is rejected, and no store is asked`(
        order: String
    ) async throws {
        let rehearsed = try RehearsedStore()
        let asked = Bodies()
        let access = rehearsed.access { await asked.add($0.body) }
        let backEnd = try RehearsedBackEnd(rehearsed, TestTime(), access: access)
        for path in ["lookup", "explain"] {
            let request = Request(
                method: "GET",
                target: "/v1/apps/cards/\(path)?order=\(order)",
                headers: TestServer.credentials,
                body: []
            )
            let response = try await backEnd.service.handler(try #require(request))
            #expect(response.status == 400)
            let type = try JSONDocument(response.body).root["type"]?.string
            #expect(type == "/problems/bad-lookup")
        }
        #expect(await asked.all.isEmpty)
        await backEnd.close()
    }

    private actor Bodies {
        private(set) var all: [[UInt8]] = []
        func add(_ body: [UInt8]) { all.append(body) }
    }

    /// Returns the id in a notification of the simulated store, without verifying it.
    private static func transactionId(in body: [UInt8]) throws -> String? {
        func payload(_ jws: String) throws -> JSONNode {
            let middle = jws.split(separator: ".")[1]
            return try JSONDocument(try #require(Base64.decode(middle.utf8, .urlSafe))).root
        }
        let root = try JSONDocument(body).root
        let outer = try payload(try #require(root["signedPayload"]?.string))
        let inner = try #require(outer["data"]?["signedTransactionInfo"]?.string)
        return try payload(inner)["transactionId"]?.string
    }
}

/// Explanations of a purchase's owner, by an id that a customer can quote.
@Suite struct ExplainPurchaseTests {
    private func ask(_ server: TestServer, _ query: String) async throws -> (Int, JSONNode) {
        let response = try await server.get("/v1/apps/cards/explain?\(query)")
        return (response.status, try JSONDocument(response.body).root)
    }

    @Test func `a transaction leads to the explanation in the environment of the purchase`()
        async throws
    {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let path = "/v1/apps/cards/customers/\(TestServer.anna)/explain?environment=sandbox"
        let own = try await server.get(path).body
        for query in ["transaction=2000000000000001", "token=\(TestServer.anna)"] {
            let response = try await server.get("/v1/apps/cards/explain?\(query)")
            #expect(response.status == 200)
            #expect(response.body == own)
        }
        let before = Message.start - .days(1)
        let (status, answer) = try await ask(
            server,
            "transaction=2000000000000001&at=\(before.rfc3339)"
        )
        #expect(status == 200)
        #expect(answer["asOf"]?.string == before.rfc3339)
        await server.close()
    }

    @Test func `a purchase that moved is explained for its owner at the instant`() async throws {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .zero)))
        let calls = OwnershipCalls(server: server)
        let bought = server.now
        try await calls.present("u_1", calls.transaction())
        server.set(bought + .days(3))
        try await calls.present("u_2", calls.transaction())
        server.set(bought + .days(5))
        let (day, later) = ((bought + .days(1)).rfc3339, (bought + .days(4)).rfc3339)
        for (query, customer) in [
            ("", "u_2"), ("&at=\(day)", "u_1"), ("&at=\(later)", "u_2"),
            ("&asKnownAt=\(day)", "u_1"), ("&at=\(later)&asKnownAt=\(day)", "u_1"),
        ] {
            let (status, answer) = try await ask(server, "transaction=2000000000000001\(query)")
            #expect(status == 200, "\(query)")
            #expect(answer["customer"]?.string == customer, "\(query)")
        }
        let found = try await server.get("/v1/apps/cards/lookup?transaction=2000000000000001")
        let reply = try JSONDocument(found.body).root["purchases"]?[0]?["reply"]?.string
        #expect(reply?.hasSuffix("sign in with the account that it was moved to.") == true)
        await server.close()
    }

    @Test func `unknown and unclaimed purchases and malformed queries have their own problems`()
        async throws
    {
        let server = try TestServer()
        var message = Message.purchase()
        message.transaction?["appAccountToken"] = nil
        _ = try await server.post(message)
        for (query, status, name) in [
            ("transaction=3", 404, "purchase-not-found"), ("order=MK1", 404, "purchase-not-found"),
            ("transaction=2000000000000001", 404, "purchase-unclaimed"),
            ("transaction=2000000000000001&environment=simulated", 404, "purchase-not-found"),
            ("order=1&token=2", 400, "bad-lookup"), ("environment=sandbox", 400, "bad-lookup"),
        ] {
            let (found, answer) = try await ask(server, query)
            #expect(found == status, "\(query)")
            #expect(answer["type"]?.string == "/problems/\(name)", "\(query)")
        }
        await server.close()
    }

    @Test func `an order that a family shares lists its owners`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        var shared = Message.purchase("n-2", customer: TestServer.ben)
        shared.transaction?["inAppOwnershipType"] = "FAMILY_SHARED"
        _ = try await server.post(shared)
        let (status, answer) = try await ask(server, "transaction=2000000000000001")
        #expect(status == 409)
        #expect(
            answer["customers"]?.elements.compactMap(\.string) == [
                TestServer.ben, TestServer.anna,
            ]
        )
        await server.close()
    }
}
