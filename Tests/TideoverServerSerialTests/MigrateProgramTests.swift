import Foundation
import Testing
import TideoverCore
import TideoverSQLite
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover migrate` as used by an operator, between two files.
@Suite(.withExecutable) final class MigrateProgramTests: SuiteWithFolder {
    override init() throws {
        try super.init()
        let text = """
            { storage: "sqlite:old.db",
              apps: [{ id: "cards", environments: ["production", "sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        try write(text, to: "tideover.json")
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func run(_ words: String...) throws -> ChildProcess.Said {
        try Executable.run(words + ["--config", path("tideover.json")])
    }

    private func migrate() throws -> ChildProcess.Said {
        try run("migrate", "--from", "sqlite:old.db", "--to", "sqlite:new.db")
    }

    private func migrateWhileServing() throws -> ChildProcess.Said {
        try run("migrate", "--while-serving", "--from", "sqlite:old.db", "--to", "sqlite:new.db")
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
        #expect(said.results.contains("1 customer,"))
        #expect(said.results.contains("keys: 1, webhooks: 0"))
        #expect(!said.results.contains("DIFFERENT"))
        let new = try SQLiteStorage(reading: path("new.db"))
        #expect(try new.keys().count == 1)
        await new.close()
    }

    @Test func `names the option with a wrong storage`() throws {
        let from = try run("migrate", "--from", "foo", "--to", "sqlite:new.db")
        #expect(from.code == 78)
        #expect(from.messages.contains("--from: expected `sqlite:` and a file"))
        let to = try run("migrate", "--from", "sqlite:old.db", "--to", "foo")
        #expect(to.messages.contains("--to: expected `sqlite:` and a file"))
        #expect(!to.messages.contains("TIDEOVER_STORAGE"))
    }

    @Test func `refuses a target that has anything, also a complete copy`() async throws {
        try await live()
        let new = try SQLiteStorage(path: path("new.db"))
        try await new.add(Self.key("other"))
        await new.close()
        let other = try migrate()
        #expect(other.code == 73)
        #expect(other.messages.contains("the target is not empty: it has API keys"))
        try FileManager.default.removeItem(atPath: path("new.db"))
        #expect(try migrate().code == 0)
        let again = try migrate()
        #expect(again.code == 73)
        #expect(again.messages.contains("the target is a complete copy"))
    }

    private static func key(_ id: String, revokedAt: Instant? = nil) -> KeyRecord {
        KeyRecord(
            id: id,
            digest: [UInt8](repeating: id.utf8.first ?? 0, count: KeyRecord.digestCount),
            kind: .secret,
            createdAt: Instant(millisecondsSince1970: 1_777_000_000_000),
            revokedAt: revokedAt
        )
    }

    @Test func `copies while a process uses the source, and then what changed`() async throws {
        try await live()
        let hooks = ["kept", "gone", "new"].map { WebhookKey(app: "cards", id: $0) }
        let now = Instant(millisecondsSince1970: 1_777_000_000_000)
        let events = (1...3).map { EventID.next(after: nil, at: now + .seconds($0), random: 0) }
        let used = try SQLiteStorage(path: path("old.db"))
        try await used.add(Self.key("revoked"))
        for hook in hooks.dropLast() {
            try await used.put(WebhookRecord(hook, form: Array("{}".utf8), position: events[0]))
            try await used.queue([events[0], events[1]], to: hook, at: now)
        }
        for expected in ["added: ", "added: 0, removed: 0"] {
            let said = try migrateWhileServing()
            #expect(said.code == 0, "\(said.messages)")
            #expect(said.results.contains("records \(expected)"))
            #expect(said.results.contains("keys: 2, webhooks: 2"))
            #expect(said.messages.contains("without --while-serving"))
        }
        let scope = AppScope("cards", .production)
        let lines = try used.records(in: scope, from: RecordPlace(.audit), limit: 1).records
        try await used.remove(lines, in: scope, now: now)
        _ = try await used.revokeKey("revoked", at: now)
        try await used.add(Self.key("added"))
        try await used.remove(hooks[1])
        _ = try await used.setWebhook(hooks[0], disabled: "operator", at: now)
        try await used.put(WebhookRecord(hooks[2], form: Array("{}".utf8), position: events[2]))
        try await used.queue([events[2]], to: hooks[0], at: now)
        let (keys, webhooks) = (try used.keys(), try used.webhooks(app: "cards"))
        // A server must not use what the next pass changes.
        let copied = path("copied.json")
        let text = try String(contentsOfFile: path("tideover.json"), encoding: .utf8)
        try Data(text.replacing("old.db", with: "new.db").utf8).write(to: URL(filePath: copied))
        let ended = #expect(throws: ServingExecutable.Ended.self) { try ServingExecutable(copied) }
        #expect(ended?.messages.contains("the storage is an incomplete copy") == true)
        await used.close()
        let said = try migrate()
        #expect(said.code == 0, "\(said.messages)")
        #expect(said.results.contains("records added: 0, removed: 1"))
        #expect(!said.results.contains("DIFFERENT"))
        let new = try SQLiteStorage(reading: path("new.db"))
        #expect(try new.keys() == keys)
        #expect(try new.webhooks(app: "cards") == webhooks)
        let queue = try new.webhookQueue(of: hooks[0], now: .distantFuture, limit: 9)
        #expect(Set(queue.due.map(\.event)) == Set(events))
        #expect(queue.count == 3)
        await new.close()
    }

    @Test func `needs a process that uses the source while serving`() async throws {
        try await live()
        let said = try migrateWhileServing()
        #expect(said.code == 69)
        #expect(said.messages.contains("without --while-serving"))
        let used = try SQLiteStorage(path: path("old.db"))
        let target = try SQLiteStorage(path: path("new.db"))
        #expect(try migrateWhileServing().code == 73)
        await target.close()
        await used.close()
    }

    @Test func `refuses an incomplete copy of another storage`() async throws {
        try await live()
        let new = try SQLiteStorage(path: path("new.db"))
        try await CopyState.begun.keep(in: new)
        try await new.add(Self.key("other"))
        await new.close()
        let said = try migrate()
        #expect(said.code == 73)
        #expect(said.messages.contains("a copy of another storage"))
    }

    @Test func `refuses a file that a server uses, and one that is missing`() async throws {
        try await live()
        let used = try SQLiteStorage(path: path("old.db"))
        let refused = try migrate()
        #expect(refused.code == 73)
        #expect(refused.messages.contains("--while-serving"))
        await used.close()
        let missing = try run("migrate", "--from", "sqlite:none.db", "--to", "sqlite:new.db")
        #expect(missing.code == 66)
    }

    @Test func `goes on with an interrupted copy`() async throws {
        try await live()
        #expect(try migrate().code == 0)
        let new = try SQLiteStorage(path: path("new.db"))
        try await CopyState.begun.keep(in: new)
        await new.close()
        #expect(try migrate().code == 0)
    }
}
