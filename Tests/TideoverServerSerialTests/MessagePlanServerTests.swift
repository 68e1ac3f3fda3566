import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Planned messages in answers and events, and the reports about them.
@Suite struct MessagePlanServerTests {
    private static let prompts = "/v1/apps/cards/customers/\(TestServer.anna)/prompts"
    private static let policy = Policy(
        prompts: Policy.Prompts(quiet: .hours(6)),
        plan: Policy.Plan([.graceEntered: .app, .graceEnding: .message, .holdEntered: .message])
    )

    /// Creates a customer in grace.
    private func server() async throws -> TestServer {
        let server = try TestServer(policy: Self.policy)
        _ = try await server.post(.purchase())
        var failure = Message.purchase("n-2", signed: Message.end)
        failure.fail(graceUntil: Message.end + .days(16))
        server.set(Message.end + .seconds(5))
        _ = try await server.post(failure)
        return server
    }

    private func plan(_ server: TestServer) async throws -> [JSONValue] {
        try await server.answer()["plan"]?.array ?? []
    }

    private func due(_ server: TestServer) throws -> [JSONValue] {
        try server.events().filter { $0.event.kind == PlannedMessage.eventKind }.map {
            JSONValue(try JSONDocument($0.event.body).root)
        }
    }

    @Test func `a due message is one event, also after a restart, and its report ends it`()
        async throws
    {
        let server = try await server()
        #expect(
            try await plan(server).map { $0["about"] } == [
                "graceEntered", "graceEnding", "holdEntered",
            ]
        )
        #expect(try due(server) == [])
        server.set(Message.end + .hours(6))
        #expect(await server.service.meetDueDeadlines())
        let first = try due(server)
        #expect(first.map { $0["about"] } == ["graceEntered"])
        #expect(first.first?["title"] == "There was a problem with your payment")
        await server.storage.close()

        let restarted = try TestServer(
            policy: Self.policy,
            folder: server.folder,
            store: server.store
        )
        restarted.set(Message.end + .hours(7))
        #expect(await restarted.service.meetDueDeadlines())
        #expect(try await plan(restarted).first?["about"] == "graceEntered")
        let id = try #require(first.first?["id"])
        for _ in 0..<2 {
            let body: JSONValue = ["id": id, "kind": "message", "response": "opened"]
            let response = try await restarted.send(
                "POST",
                "\(Self.prompts)?environment=sandbox",
                body: body.encoded()
            )
            #expect(response.status == 200)
        }
        #expect(try await plan(restarted).map { $0["about"] } == ["graceEnding", "holdEntered"])
        #expect(try due(restarted) == first)
        #expect(try restarted.events().allSatisfy { $0.event.kind != "corrected" })
        await restarted.close()
    }

    @Test func `without a plan the answer has none`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        #expect(try await server.answer()["plan"] == nil)
        await server.close()
    }
}
