import Foundation
import Testing
import TideoverCore
import TideoverSQLite
import TideoverStorage
import TideoverTestProcesses

/// `tideover migrate` as used by an operator, between two files.
@Suite(.enabled(if: Executable.isPresent, "the executable is not beside the tests"))
final class MigrateProgramTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "tideover-migrate-\(UUID().uuidString)"
    )

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = """
            { storage: "sqlite:old.db",
              apps: [{ id: "cards", environments: ["production", "sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        try Data(text.utf8).write(to: folder.appending(path: "tideover.json"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func run(_ words: String...) throws -> ChildProcess.Said {
        try Executable.run(words + ["--config", path("tideover.json")])
    }

    private func migrate() throws -> ChildProcess.Said {
        try run("migrate", "--from", "sqlite:old.db", "--to", "sqlite:new.db")
    }

    /// Creates a database with two grants and an API key.
    private func live() async throws {
        await (try SQLiteStorage(path: path("old.db"))).close()
        for environment in ["production", "sandbox"] {
            let said = try run(
                "grant",
                "anna",
                "--app",
                "cards",
                "--environment",
                environment,
                "--entitlement",
                "premium",
                "--days",
                "7",
                "--why",
                "sorry",
                "--new"
            )
            #expect(said.code == 0, "\(said.messages)")
        }
        let said = try run("keys", "add", "--kind", "public", "--app", "cards")
        #expect(said.code == 0, "\(said.messages)")
    }

    @Test func `copies records and keys, and compares them`() async throws {
        try await live()
        let said = try migrate()
        #expect(said.code == 0, "\(said.messages)")
        #expect(said.results.contains("cards production: "))
        #expect(said.results.contains("cards sandbox: "))
        #expect(said.results.contains("1 customers"))
        #expect(said.results.contains("keys: 1, webhooks: 0"))
        #expect(!said.results.contains("DIFFERENT"))
        let new = try SQLiteStorage(reading: path("new.db"))
        #expect(try new.keys().count == 1)
        await new.close()
    }

    @Test func `refuses a target that has anything, also a complete copy`() async throws {
        try await live()
        #expect(try migrate().code == 0)
        let again = try migrate()
        #expect(again.code == 73)
        #expect(again.messages.contains("the target is not empty"))
    }

    @Test func `refuses a file that a server uses, and one that is missing`() async throws {
        try await live()
        let used = try SQLiteStorage(path: path("old.db"))
        #expect(try migrate().code == 73)
        await used.close()
        let missing = try run("migrate", "--from", "sqlite:none.db", "--to", "sqlite:new.db")
        #expect(missing.code == 66)
    }

    @Test func `goes on with an interrupted copy`() async throws {
        try await live()
        #expect(try migrate().code == 0)
        let new = try SQLiteStorage(path: path("new.db"))
        try await new.keep(
            Array(#"{"state":"begun"}"#.utf8),
            as: BookmarkKey(app: "", environment: .production, name: "migration")
        )
        await new.close()
        #expect(try migrate().code == 0)
    }
}
