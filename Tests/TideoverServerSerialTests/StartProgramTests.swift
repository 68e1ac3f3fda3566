import Foundation
import Testing
import TideoverHTTP
import TideoverSQLite
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// The log of `tideover serve` about its database at startup.
@Suite(.withExecutable) final class StartProgramTests: SuiteWithFolder {
    override init() throws {
        try super.init()
        let text = """
            { server: { listen: "127.0.0.1:0" }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        try write(text, to: "tideover.json")
    }

    private func messages() throws -> String {
        try ServingExecutable(folder.appending(path: "tideover.json").path).stop()
    }

    @Test func `an intact database is checked, and the log contains the duration`() throws {
        let messages = try messages()
        #expect(
            messages.contains(#""level":"info","event":"database checked","detail":"0 MiB in "#)
        )
    }

    @Test func `a damaged database is logged as an error, readable and not written`() async throws {
        let database = folder.appending(path: "x.db")
        let storage = try SQLiteStorage(path: database.path)
        // More than the schema's first pages can contain, so the last page belongs to them.
        let tallies = (0..<2_000).map { Tally(environment: nil, kind: "k", name: "\($0)") }
        try await storage.add(
            Dictionary(uniqueKeysWithValues: tallies.map { ($0, 1) }),
            app: "cards"
        )
        await storage.close()
        let file = try FileHandle(forUpdating: database)
        try file.seek(toOffset: try file.seekToEnd() - 4_096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 512))
        try file.close()
        let before = try Data(contentsOf: database)
        let running = try ServingExecutable(folder.appending(path: "tideover.json").path)
        #expect(try await running.get("/healthz").status == 200)
        #expect(try await running.get("/readyz").status == 503)
        let messages = running.stop()
        #expect(messages.contains(#""level":"error","event":"database damaged","#))
        #expect(messages.contains("restore a backup"))
        #expect(try Data(contentsOf: database) == before)
    }
}
