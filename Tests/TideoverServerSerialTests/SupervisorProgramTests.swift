import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverTestProcesses

@testable import TideoverTestServer

/// Workers of a running `tideover serve` that fail, and recover.
@Suite(.withExecutable, .timeLimit(.minutes(20)))
final class SupervisorProgramTests: SuiteWithFolder {
    override init() throws {
        try super.init()
        let text = """
            { server: { listen: "127.0.0.1:0" }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        try write(text, to: "tideover.json")
    }

    /// Changes the database besides the server.
    private func change(_ statement: StaticString) throws {
        let connection = try Connection(
            path: folder.appending(path: "x.db").path,
            access: .readWrite,
            busyTimeout: 1_000
        )
        try Statement(statement, on: connection).run()
    }

    /// Waits until `/readyz` has a result, and the first worker has been failing for some time.
    private func wait(
        _ running: ServingExecutable,
        for check: String,
        seconds: Int64 = 0
    ) async throws -> JSONValue {
        while true {
            let response = try await running.get("/readyz", query: [])
            #expect(response.status == 200)
            let body = JSONValue(try JSONDocument(response.body).root)
            let length = body["workers"]?[0]?["seconds"]?.int64 ?? 0
            if body["checks"]?["workers"]?.string == check, length >= seconds { return body }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test func `a worker of a server fails, recovers, fails again, and does not delay its stop`()
        async throws
    {
        let running = try ServingExecutable(folder.appending(path: "tideover.json").path)
        #expect(try await wait(running, for: "ok")["workers"] == nil)
        try change("ALTER TABLE stale_figures RENAME TO hidden")
        let failing = try await wait(running, for: "failing")
        #expect(failing["status"]?.string == "ready")
        #expect(failing["workers"]?[0]?["worker"]?.string == "figures")
        #expect(failing["workers"]?[0]?["app"]?.string == "cards")
        #expect(failing["workers"]?[0]?["state"]?.string == "failing")
        try change("ALTER TABLE hidden RENAME TO stale_figures")
        #expect(try await wait(running, for: "ok")["workers"] == nil)
        try change("ALTER TABLE stale_figures RENAME TO hidden")
        // By then, the worker is in a pause of 8 s or more.
        _ = try await wait(running, for: "failing", seconds: 7)
        let start = ContinuousClock.now
        let messages = running.stop()
        #expect(ContinuousClock.now - start < .seconds(7))
        #expect(messages.contains(#""event":"worker failed","app":"cards","environment""#))
        #expect(messages.contains("figures starts again in 8 s: "))
    }
}
