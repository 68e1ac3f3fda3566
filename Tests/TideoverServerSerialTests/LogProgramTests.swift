import Foundation
import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover serve` while nothing reads its log.
@Suite(.withExecutable) final class LogProgramTests: SuiteWithFolder {
    @Test func `an unread standard error blocks neither responses nor the stop`() async throws {
        let text = """
            { server: { listen: "127.0.0.1:0" }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        let file = try write(text, to: "tideover.json")
        let made = try Executable.run([
            "keys", "add", "--kind", "secret", "--app", "cards", "--config", file,
        ])
        let key = String(made.results.dropLast())
        let running = try ServingExecutable(file)
        defer { running.destroy() }
        let client = try HTTPClient(userAgent: "tests")
        let server = client.handler(under: Destination(running.url, addresses: .any))
        let snapshot = Request(
            path: "/v1/apps/cards/customers/anna",
            query: [QueryItem(name: "environment", value: "sandbox")],
            headers: ["Authorization": "Bearer \(key)"]
        )
        // Each response logs a line of more than a hundred bytes; a pipe stores 65,536 bytes.
        for _ in 0..<500 {
            #expect(try await server(Request(path: "/healthz")).status == 200)
            #expect(try await server(snapshot).status == 200)
        }
        let begin = ContinuousClock.now
        #expect(running.stopUnread() == 0)
        #expect(begin.duration(to: .now) < .seconds(60))
    }
}
