import Foundation
import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverServer
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover reload`, and commands that query a running server without a key.
@Suite(.withExecutable) final class ReloadProgramTests: SuiteWithFolder {
    private var path: String { folder.appending(path: "tideover.json").path }

    private func configure(
        apps: [String],
        listen: String = "127.0.0.1:0",
        storage: String = "x.db"
    ) throws {
        let apps = apps.map { id in
            """
            { id: "\(id)", environments: ["sandbox"],
              appStore: { bundleId: "com.example.\(id)" },
              products: { "pro": { entitlements: ["premium"], period: "P1M" } } }
            """
        }
        let text = """
            { server: { listen: "\(listen)" }, storage: "sqlite:\(storage)",
              apps: [\(apps.joined(separator: ", "))] }
            """
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func run(_ words: String...) throws -> ChildProcess.Said {
        try Executable.run(words + ["--config", path])
    }

    @Test func `a configuration is reloaded as a whole, or not at all`() async throws {
        try configure(apps: ["cards"])
        let running = try ServingExecutable(path)
        defer { running.destroy() }
        let key = String(try run("keys", "add", "--kind", "secret").results.dropLast())
        func status(_ app: String) async throws -> Int {
            try await running.get("/v1/apps/\(app)/customers/u_42", key: key).status
        }
        #expect(try await status("books") == 404)

        try configure(apps: ["cards", "books"])
        let applied = try run("reload")
        #expect(applied.code == 0, "\(applied.messages)")
        #expect(applied.messages.isEmpty)
        #expect(try await status("books") == 200)
        #expect(try await status("cards") == 200)
        // Keys survive the reload, and the new service accepts further ones.
        let second = String(try run("keys", "add", "--kind", "secret").results.dropLast())
        #expect(
            try await running.get("/v1/apps/books/customers/u_42", key: second).status == 200
        )

        try configure(apps: ["cards"], listen: "127.0.0.1:1")
        let partly = try run("reload")
        #expect(partly.code == 0, "\(partly.messages)")
        #expect(partly.messages.contains("server.listen"))
        #expect(try await status("books") == 404)
        #expect(try await status("cards") == 200)
    }

    @Test func `an invalid configuration leaves the former one in effect`() async throws {
        try configure(apps: ["cards"])
        let running = try ServingExecutable(path)
        let key = String(try run("keys", "add", "--kind", "secret").results.dropLast())
        let other = folder.appending(path: "other.json").path
        try FileManager.default.copyItem(atPath: path, toPath: other)
        let broken = "{ colour: 1, shape: 2, apps: [] }"
        try Data(broken.utf8).write(to: URL(filePath: path))
        // The command itself reads a valid configuration; only the server's is broken.
        let refused = try Executable.run(["reload", "--config", other])
        #expect(refused.code == 78)
        #expect(refused.messages.contains("The configuration was not reloaded.\n"))
        #expect(refused.messages.contains("colour") && refused.messages.contains("shape"))
        #expect(!refused.messages.contains(#"\n"#), "\(refused.messages)")
        #expect(try await running.get("/v1/apps/cards/customers/u_42", key: key).status == 200)
        let client = try HTTPClient(userAgent: "tests")
        let ready = Destination(try HTTPURL("\(running.url)/readyz"), addresses: .any)
        #expect(try await client.send(to: ready).status == 200)
        #expect(running.stop().contains("\"configuration not reloaded\""))
    }

    @Test func `a reload without a server fails`() throws {
        try configure(apps: ["cards"])
        let said = try run("reload")
        #expect(said.code == 69)
        #expect(said.messages.contains("no server of"))
    }

    @Test func `after a change of the storage the reload names the server and asks for a restart`()
        throws
    {
        try configure(apps: ["cards"])
        let running = try ServingExecutable(path)
        defer { running.destroy() }
        let address = try #require("\(running.url)".split(separator: "/").last.map(String.init))
        try configure(apps: ["cards"], listen: address, storage: "y.db")
        let said = try run("reload")
        #expect(said.code == 69)
        #expect(said.messages.contains("a server runs at \(address), but not with"))
        #expect(said.messages.contains("when it is restarted"))
    }

    @Test func `the audit names the socket of a command`() async throws {
        try configure(apps: ["cards"])
        let running = try ServingExecutable(path)
        defer { running.destroy() }
        let given = try run(
            "grant",
            "u_42",
            "--entitlement",
            "premium",
            "--until",
            "2027-01-01",
            "--why",
            "outage",
            "--new"
        )
        #expect(given.code == 0, "\(given.messages)")
        #expect(given.results.contains("2027-01-02T00:00:00"))
        let key = String(try run("keys", "add", "--kind", "secret").results.dropLast())
        let audit = try await running.get("/v1/apps/cards/customers/u_42/audit", key: key)
        #expect(String(decoding: audit.body, as: UTF8.self).contains("\"local socket\""))
        let found = try run("customers", "--search", "u_")
        #expect(found.results.contains("u_42"))
        let events = try run("events")
        #expect(events.code == 0, "\(events.messages)")
        let lines = events.results.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(try JSONDocument(Array(line.utf8)).root["id"]?.string != nil)
        }
        #expect(try run("lookup", "--token", "unknown").code == 1)
    }
}
