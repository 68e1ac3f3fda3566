import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// Reports of shown prompts, which delay the next one.
@Suite struct PromptReportTests {
    private static let path = "/v1/apps/cards/customers/\(TestServer.anna)"

    /// Creates a customer in grace under a policy.
    private func server(_ prompts: Policy.Prompts) async throws -> TestServer {
        let server = try TestServer(policy: Policy(prompts: prompts))
        _ = try await server.post(.purchase())
        var failure = Message.purchase("n-2", signed: Message.end)
        failure.fail(graceUntil: Message.end + .days(16))
        server.set(Message.end + .seconds(5))
        _ = try await server.post(failure)
        return server
    }

    private func report(
        _ server: TestServer,
        _ body: JSONValue,
        customer: String = TestServer.anna
    ) async throws -> JSONValue {
        let path = "/v1/apps/cards/customers/\(customer)/prompts?environment=sandbox"
        let response = try await server.send("POST", path, body: body.encoded())
        return JSONValue(try JSONDocument(response.body).root)
    }

    private func prompt(_ server: TestServer) async throws -> String? {
        try await server.answer()["prompt"]?["kind"]?.string
    }

    private func explained(_ server: TestServer) async throws -> JSONValue? {
        let response = try await server.get("\(Self.path)/explain?environment=sandbox")
        return JSONValue(try JSONDocument(response.body).root)["prompt"]
    }

    @Test func `a shown prompt waits for the interval, and the explanation reports it`()
        async throws
    {
        let server = try await server(Policy.Prompts(interval: .hours(2)))
        #expect(try await prompt(server) == "soft")
        let told = try await report(server, ["id": "p1", "kind": "soft"])
        #expect(told["id"] == "p1")
        #expect(try await prompt(server) == "none")
        let held = try await explained(server)
        #expect(held?["heldBy"] == "interval")
        #expect(held?["shown"]?.array?.count == 1)
        server.set(server.now + .hours(2))
        #expect(try await prompt(server) == "soft")
        #expect(try await explained(server)?["heldBy"] == .null)
        await server.close()
    }

    @Test func `a repeated report counts once and can add the response`() async throws {
        let server = try await server(Policy.Prompts(perDay: 2))
        for response in [nil, nil, "dismissed", "opened"] as [String?] {
            var body: JSONObject = ["id": "p1", "kind": "soft"]
            body["response"] = response.map { .string($0) }
            _ = try await report(server, .object(body))
        }
        #expect(try await prompt(server) == "soft")
        let shown = try await explained(server)?["shown"]?.array ?? []
        #expect(shown.map { $0["response"] } == ["dismissed"])
        _ = try await report(server, ["id": "p2", "kind": "soft"])
        #expect(try await prompt(server) == "none")
        #expect(try await explained(server)?["heldBy"] == "perDay")
        await server.close()
    }

    @Test(
        arguments: [
            ([:], "bad-prompt-report"), (["id": "", "kind": "soft"], "bad-prompt-report"),
            (["id": "p", "kind": "loud"], "bad-prompt-report"), (["id": "p"], "bad-prompt-report"),
            (["id": "p", "kind": "soft", "response": "ate it"], "bad-prompt-report"),
            (["id": "p", "kind": "soft", "shownAt": "yesterday"], "bad-prompt-report"),
            (["id": "p", "kind": "soft", "shownAt": "2099-01-01T00:00:00Z"], "bad-prompt-report"),
            (["id": "p", "kind": "soft", "shown": true], "unknown-member"),
            ([1], "bad-prompt-report"),
        ] as [(JSONValue, String)]
    )
    func `a malformed report is rejected`(body: JSONValue, problem: String) async throws {
        let server = try await server(Policy.Prompts(interval: .hours(2)))
        #expect(slug(try await report(server, body)) == problem)
        #expect(try await prompt(server) == "soft")
        await server.close()
    }

    @Test func `a report for an unknown customer is rejected`() async throws {
        let server = try await server(Policy.Prompts(interval: .hours(2)))
        let refused = try await report(server, ["id": "p", "kind": "soft"], customer: "u_9")
        #expect(slug(refused) == "bad-prompt-report")
        await server.close()
    }

    @Test func `an erased customer leaves no prompt`() async throws {
        let server = try await server(Policy.Prompts(interval: .hours(2)))
        _ = try await report(server, ["id": "p", "kind": "soft"])
        let response = try await server.send("DELETE", "\(Self.path)?environment=sandbox")
        let erased = JSONValue(try JSONDocument(response.body).root)
        #expect(erased["erased"]?["prompts"] == 1)
        await server.close()
    }
}
