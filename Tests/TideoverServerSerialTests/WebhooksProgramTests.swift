import Foundation
import Testing
import TideoverJSON
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover webhooks` as used by an operator, without a running server.
@Suite(.enabled(if: Executable.isPresent, "the executable is not beside the tests"))
final class WebhooksProgramTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "tideover-webhooks-\(UUID().uuidString)"
    )

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func configuration() throws -> String {
        let file = folder.appending(path: "tideover.json")
        let text = """
            { storage: "sqlite:x.db", apps: [{ id: "cards", environments: ["sandbox"],
              appStore: { bundleId: "com.example.cards" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func run(_ arguments: String...) throws -> ChildProcess.Said {
        let said = try Executable.run(arguments)
        #expect(said.code == 0, "\(said.messages)")
        return said
    }

    @Test func `a replay to a disabled webhook reports that the events wait`() throws {
        let path = try configuration()
        _ = try run("webhooks", "add", "https://example.com/a", "--config", path)
        let listed = try run("webhooks", "list", "--json", "--config", path)
        let webhook = try JSONDocument(Array(listed.results.utf8)).root["webhooks"]?[0]
        let id = try #require(webhook?["id"]?.string)
        let grant = ["--entitlement", "premium", "--days", "3", "--why", "sorry", "--new"]
        #expect(try Executable.run(["grant", "u1"] + grant + ["--config", path]).code == 0)

        let since = "2020-01-01"
        let sent = try run("webhooks", "replay", id, "--from", since, "--config", path)
        let counted = try run("webhooks", "replay", id, "--from", since, "--json", "--config", path)
        let queued = try #require(
            try JSONDocument(Array(counted.results.utf8)).root["queued"]?.int64
        )
        #expect(counted.messages == "tideover: \(queued) events will be sent again\n")
        #expect(sent.messages.hasSuffix(" events will be sent again\n"), "\(sent.messages)")

        _ = try run("webhooks", "disable", id, "--config", path)
        let waiting = try run("webhooks", "replay", id, "--from", since, "--config", path)
        #expect(
            waiting.messages.hasSuffix(
                " events will be sent again once the webhook is enabled; it is disabled, and "
                    + "`tideover webhooks enable \(id)` enables it\n"
            ),
            "\(waiting.messages)"
        )
    }
}
