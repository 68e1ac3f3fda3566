import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverStorage

@testable import TideoverTestServer

/// When a sandbox purchase answers for production.
@Suite struct SandboxAnswerTests {
    private func server(_ policy: Policy.Sandbox, testers: [String] = []) throws -> TestServer {
        try TestServer(
            policy: Policy(sandbox: policy, testers: testers.compactMap { CustomerID($0) }),
            environments: [.production, .sandbox]
        )
    }

    /// Creates a purchase of Anna's in the sandbox.
    private func bought(
        _ policy: Policy.Sandbox,
        testers: [String] = []
    ) async throws -> TestServer {
        let server = try server(policy, testers: testers)
        #expect(try await server.post(.purchase()).status == 200)
        return server
    }

    private func asked(_ server: TestServer) async throws -> String {
        let answer = try await server.answer(environment: "production")
        let premium = answer["entitlements"]?["premium"]
        return [answer["environment"], premium?["state"]].compactMap { $0?.string }
            .joined(separator: " ")
    }

    private func explained(_ server: TestServer) async throws -> JSONValue? {
        let response = try await server.get("/v1/apps/cards/customers/\(TestServer.anna)/explain")
        return JSONValue(try JSONDocument(response.body).root)["sandbox"]
    }

    @Test(arguments: [
        (Policy.Sandbox.testers, true, "sandbox active", "tester"),
        (.testers, false, "production never", "notTester"),
        (.review, true, "sandbox active", "tester"), (.review, false, "sandbox active", "review"),
        (.deny, true, "production never", "denied"), (.deny, false, "production never", "denied"),
    ])
    func `policy decides who gets sandbox access, and the explanation has the reason`(
        _ policy: Policy.Sandbox,
        _ isTester: Bool,
        _ answer: String,
        _ ruling: String
    ) async throws {
        let server = try await bought(policy, testers: isTester ? [TestServer.anna] : [])
        #expect(try await asked(server) == answer)
        let told = try await explained(server)
        #expect(told?["ruling"]?.string == ruling)
        #expect(told?["sentence"]?.string == SandboxRuling(rawValue: ruling)?.sentence)
        await server.close()
    }

    @Test func `a read of the sandbox returns only the sandbox`() async throws {
        let server = try await bought(.deny)
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `production with access takes precedence over the sandbox`() async throws {
        let server = try await bought(.review, testers: [TestServer.anna])
        let path = "/v1/apps/cards/customers/\(TestServer.anna)/grants"
        let grant = Array(#"{"entitlement": "premium", "days": 7, "why": "x"}"#.utf8)
        #expect(try await server.send("POST", path, body: grant).status == 201)
        #expect(try await asked(server) == "production active")
        #expect(try await explained(server)?["ruling"]?.string == "productionServes")
        // A customer known in production is no reviewer; a tester remains one.
        server.set(server.now + .days(8))
        #expect(try await asked(server) == "sandbox active")
        #expect(try await explained(server)?["ruling"]?.string == "tester")
        await server.close()
    }

    @Test func `a customer known in production is not a reviewer`() async throws {
        let server = try await bought(.review)
        let path = "/v1/apps/cards/customers/\(TestServer.anna)/grants"
        let grant = Array(#"{"entitlement": "premium", "days": 7, "why": "x"}"#.utf8)
        #expect(try await server.send("POST", path, body: grant).status == 201)
        server.set(server.now + .days(8))
        #expect(try await asked(server) == "production expired")
        #expect(try await explained(server)?["ruling"]?.string == "knownCustomer")
        await server.close()
    }

    @Test func `the two environments have different ETags and separate counts`() async throws {
        let server = try await bought(.review)
        let path = "/v1/apps/cards/customers/\(TestServer.anna)"
        let borrowed = try await server.get(path)
        let tag = try #require(borrowed.headers["ETag"])
        let own = try await server.get("\(path)?environment=sandbox")
        #expect(own.headers["ETag"] != tag)
        let held = try await server.get(path, headers: ["If-None-Match": tag])
        #expect(held.status == 304)
        let series = "tideover_sandbox_answers_total{app=\"cards\",ruling=\"review\"}"
        #expect(try await server.samples().contains("\(series) 2"))
        await server.close()
    }

    @Test func `a sandbox answer adds no production row and no production event`() async throws {
        let server = try await bought(.review, testers: [TestServer.anna])
        #expect(try await asked(server) == "sandbox active")
        let customer = try #require(CustomerID(TestServer.anna))
        let key = CustomerKey(app: "cards", environment: .production, customer: customer)
        #expect(try server.storage.row(of: key) == nil)
        let response = try await server.get("/v1/apps/cards/events")
        let events = JSONValue(try JSONDocument(response.body).root)["events"]?.array ?? []
        #expect(!events.isEmpty)
        #expect(events.allSatisfy { $0["environment"]?.string == "sandbox" })
        let timeline = try await server.get(
            "\("/v1/apps/cards/customers/")\(TestServer.anna)/timeline"
        )
        let told = JSONValue(try JSONDocument(timeline.body).root)["entitlements"]?["premium"]
        #expect(told?["transitions"]?.array?.isEmpty != false)
        await server.close()
    }
}
