import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover replay` as used by an operator, with and without a running server.
@Suite(.withExecutable) final class ReplayProgramTests: SuiteWithFolder {
    /// Creates a configuration with an admin key, and a database with one purchase of a simulated
    /// store. An older version read no facts from its evidence.
    private func configuration() async throws -> String {
        let store = try TestStore()
        try Data(store.root).write(to: folder.appending(path: "root.der"))
        let key = APIKey(.admin) { .random(in: .min ... .max) }
        try Data("\(key.text)\n".utf8).writeSecret(to: folder.appending(path: "admin.key"))
        let text = """
            { server: { listen: "127.0.0.1:0", adminKeyFile: "admin.key" }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["simulated"],
              appStore: { bundleId: "com.example.cards" }, simulatedStore: { root: "root.der" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        let file = try write(text, to: "tideover.json")
        let storage = try SQLiteStorage(path: folder.appending(path: "x.db").path)
        let body = try Message.purchase().body(store)
        let piece = Evidence(
            id: EvidenceID(of: body),
            dedupeKey: "notification:n-1",
            source: .appStoreNotification,
            signedAt: Message.start,
            receivedAt: Message.start,
            bytes: body
        )
        let commitRequest = CommitRequest(
            app: "cards",
            environment: .simulated,
            evidence: piece,
            now: Message.start
        )
        _ = try await storage.commit(commitRequest) { _ in
            preconditionFailure("no customer is known")
        }
        await storage.close()
        return file
    }

    private func replay(_ path: String, _ more: String...) throws -> ChildProcess.Said {
        try Executable.run(["replay", "--app", "cards", "--config", path] + more)
    }

    @Test func `a running server replays, and the command waits for it`() async throws {
        let path = try await configuration()
        let running = try ServingExecutable(path)
        let server = "\(running.url)"
        let told = try replay(path, "--server", server)
        #expect(told.code == 0, "\(told.messages)")
        #expect(told.results.contains("simulated: 3 facts in 1 piece of evidence"))
        #expect(told.results.contains("3 facts would be added"))
        let applied = try replay(path, "--server", server, "--apply", "--json")
        #expect(applied.code == 0, "\(applied.messages)")
        let report = try JSONDocument(Array(applied.results.utf8)).root[0]
        #expect(report?["status"]?.string == "completed")
        #expect(report?["applied"]?.bool == true)
        #expect(report?["added"]?["count"]?.int64 == 3)
        let again = try replay(path, "--server", server)
        #expect(again.results.contains("0 facts would be added"))
        #expect(running.stop().contains("replay completed"))
    }

    @Test func `the command replays when no server uses the database`() async throws {
        let path = try await configuration()
        let applied = try replay(path, "--apply")
        #expect(applied.code == 0, "\(applied.messages)")
        #expect(applied.results.contains("3 facts were added"))
        #expect(applied.results.contains("1 answers changed"))
        #expect(try replay(path).results.contains("0 facts would be added"))
    }
}
