import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover grant` and `tideover unclaimed` as used by an operator, without a running server.
@Suite(.withExecutable) final class OwnershipProgramTests: SuiteWithFolder {
    /// Creates a configuration, and a database with one purchase without an owner.
    private func configuration() async throws -> String {
        let store = try TestStore()
        try Data(store.root).write(to: folder.appending(path: "root.der"))
        let text = """
            { storage: "sqlite:x.db", apps: [{ id: "cards", environments: ["simulated"],
              appStore: { bundleId: "com.example.cards" }, simulatedStore: { root: "root.der" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        let file = try write(text, to: "tideover.json")
        var message = Message.purchase()
        message.transaction?["appAccountToken"] = nil
        let body = try message.body(store)
        let storage = try SQLiteStorage(path: folder.appending(path: "x.db").path)
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

    private func run(_ words: String...) throws -> ChildProcess.Said {
        try Executable.run(words)
    }

    private func id(of grant: String) throws -> String {
        try #require(grant.split(separator: " ").dropFirst().first.map(String.init))
    }

    @Test func `the command grants, explains and revokes access`() async throws {
        let path = try await configuration()
        let place = ["--app", "cards", "--environment", "simulated", "--config", path]
        var given = try Executable.run(
            ["grant", "u_42", "--entitlement", "premium", "--days", "7", "--why", "outage"] + place
        )
        #expect(given.code == 1)
        #expect(given.messages.contains("--new"))
        given = try Executable.run(
            [
                "grant", "u_42", "--entitlement", "premium", "--days", "7", "--why", "outage",
                "--new",
            ]
                + place
        )
        #expect(given.code == 0, "\(given.messages)")
        let more = ["grant", "u_42", "--entitlement", "premium", "--days", "9", "--why", "more"]
        #expect(try Executable.run(more + place).code == 0)
        let grant = try id(of: given.results)
        let why = try Executable.run(["explain", "u_42", "--evidence"] + place)
        #expect(why.code == 0, "\(why.messages)")
        #expect(why.results.contains("more, by"))
        #expect(why.results.contains("Other purchases"))
        #expect(why.results.contains("active"))
        #expect(!why.results.contains("paid for"))
        // As `explain` prints it.
        #expect(why.results.contains("tideover:\(grant)"))
        let taken = try Executable.run(
            ["grant", "u_42", "--revoke", "tideover:\(grant)", "--why", "a slip"] + place
        )
        #expect(taken.code == 0, "\(taken.messages)")
        #expect(taken.results.contains("grant \(grant) of premium: revoked at"))
        let twice = try Executable.run(
            ["grant", "u_42", "--revoke", grant, "--why", "a slip"] + place
        )
        #expect(twice.code != 0 || twice.results == taken.results)
    }

    @Test func `a grant needs an entitlement, a duration and a reason`() async throws {
        let path = try await configuration()
        let place = ["--app", "cards", "--environment", "simulated", "--config", path]
        for words in [
            ["--days", "7", "--why", "x"], ["--entitlement", "premium", "--why", "x"],
            ["--entitlement", "premium", "--days", "7"],
            ["--entitlement", "premium", "--days", "0", "--why", "x"],
        ] {
            #expect(try Executable.run(["grant", "u_42"] + words + place).code == 2, "\(words)")
        }
        let unknown = try Executable.run(
            ["grant", "u_42", "--new", "--entitlement", "premum", "--days", "7", "--why", "x"]
                + place
        )
        #expect(unknown.code != 0)
        #expect(unknown.messages.contains("premium"))
    }

    @Test func `the command erases a customer only with a confirmation`() async throws {
        let path = try await configuration()
        let place = ["--app", "cards", "--environment", "simulated", "--config", path]
        let given = try Executable.run(
            [
                "grant", "u_42", "--entitlement", "premium", "--days", "7", "--why", "outage",
                "--new",
            ]
                + place
        )
        #expect(given.code == 0, "\(given.messages)")
        let unsure = try Executable.run(["erase", "u_42"] + place)
        #expect(unsure.code == 2)
        #expect(unsure.messages.contains("--yes"))
        let copy = folder.appending(path: "copy.db").path
        let kept = try run("backup", copy, "--config", path)
        #expect(kept.code == 0, "\(kept.messages)")
        #expect(kept.results.contains("checked"))
        #expect(try run("backup", copy, "--config", path).code == 73)
        let gone = try run("erase", "u_42", "--yes", "--app", "cards", "--config", path)
        #expect(gone.code == 0, "\(gone.messages)")
        #expect(gone.results.hasPrefix("erased: 1 purchase with "))
        let unknown = try run("erase", "u_43", "--yes", "--app", "cards", "--config", path)
        #expect(unknown.code == 0, "\(unknown.messages)")
        #expect(unknown.results == "nothing was erased: nothing is stored of this customer\n")
        let why = try Executable.run(["explain", "u_42", "--evidence"] + place)
        #expect(!why.results.contains("outage"))
        // The copy is a complete database.
        try FileManager.default.removeItem(at: folder.appending(path: "x.db"))
        try FileManager.default.moveItem(
            atPath: copy,
            toPath: folder.appending(path: "x.db").path
        )
        let back = try Executable.run(["explain", "u_42", "--evidence"] + place)
        #expect(back.results.contains("outage"), "\(back.messages)")
    }

    @Test func `the command lists unclaimed purchases`() async throws {
        let path = try await configuration()
        let place = ["--app", "cards", "--environment", "simulated", "--config", path]
        let replayed = try run("replay", "--app", "cards", "--config", path, "--apply")
        #expect(replayed.code == 0, "\(replayed.messages)")
        let listed = try Executable.run(["unclaimed"] + place)
        #expect(listed.code == 0, "\(listed.messages)")
        let row = "2026-05-01 10:00  9.99 USD  2000000000000001      cards.pro.monthly"
        #expect(listed.results.contains(row))
        // The key of a Google Play purchase is 75 characters long and means nothing to people.
        #expect(!listed.results.contains("appStore:"))
        #expect(listed.results.contains("Restore Purchases"))
        let none = try Executable.run(["unclaimed", "--after", "appStore:9"] + place)
        #expect(none.results.isEmpty)
        #expect(none.messages.contains("no more unclaimed purchases"))
    }
}
