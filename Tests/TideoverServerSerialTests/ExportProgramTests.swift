import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover export` and `tideover import` as used by an operator, with and without a running
/// server.
@Suite(.withExecutable) final class ExportProgramTests: SuiteWithFolder {
    override init() throws {
        try super.init()
        let key = APIKey(.admin) { .random(in: .min ... .max) }
        try Data("\(key.text)\n".utf8).writeSecret(to: folder.appending(path: "admin.key"))
    }

    /// Returns a configuration for a database with this name.
    private func configuration(_ database: String) throws -> String {
        let text = """
            { server: { listen: "127.0.0.1:0", adminKeyFile: "admin.key" },
              storage: "sqlite:\(database).db",
              apps: [{ id: "cards", environments: ["production", "sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        return try write(text, to: "\(database).json")
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func run(
        _ command: String,
        _ configuration: String,
        _ more: String...
    ) throws -> ChildProcess.Said {
        try Executable.run([command, "--app", "cards", "--config", configuration] + more)
    }

    /// Creates a database in which Anna has a week's grant in each environment.
    private func lived() async throws -> String {
        let configuration = try configuration("x")
        await (try SQLiteStorage(path: path("x.db"))).close()
        for environment in ["production", "sandbox"] {
            let said = try Executable.run([
                "grant", "anna", "--app", "cards", "--config", configuration, "--environment",
                environment, "--entitlement", "premium", "--days", "7", "--why", "sorry", "--new",
            ])
            #expect(said.code == 0, "\(said.messages)")
        }
        return configuration
    }

    @Test func `an imported file exports again unchanged`() async throws {
        let original = try await lived()
        let said = try run("export", original, path("a.jsonl"))
        #expect(said.code == 0, "\(said.messages)")
        let lines = try String(contentsOfFile: path("a.jsonl"), encoding: .utf8)
        #expect(lines.hasPrefix(#"{"format":"tideover-export","version":1,"app":"cards""#))
        #expect(lines.contains(#"{"kind":"fact","environment":"production""#))
        #expect(lines.contains(#"{"kind":"customer","environment":"sandbox""#))
        let other = try configuration("y")
        let trial = try run("import", other, path("a.jsonl"), "--dry-run", "--json")
        #expect(trial.code == 0, "\(trial.messages)")
        #expect(!FileManager.default.fileExists(atPath: path("y.db")))
        let brought = try run("import", other, path("a.jsonl"), "--json")
        #expect(brought.code == 0, "\(brought.messages)")
        let told = try JSONDocument(Array(brought.results.utf8)).root
        #expect(told["refused"]?.count == 0)
        #expect(told["added"]?["customer"]?.int64 == 2)
        let again = try run("export", other)
        #expect(again.code == 0, "\(again.messages)")
        #expect(again.results == lines)
        // An existing file is never replaced.
        let taken = try run("export", other, path("a.jsonl"))
        #expect(taken.code == 73)
        #expect(taken.messages.contains("already exists"))
    }

    @Test(arguments: ["export", "backfill", "replay"])
    func `an environment in which the app is not served is refused by name`(
        command: String
    ) async throws {
        let configuration = try await lived()
        let said = try run(command, configuration, "--environment", "simulated")
        #expect(said.code == 78)
        #expect(said.messages.contains("the app cards is not served in simulated"))
        #expect(said.messages.contains("Choose one with --environment production or sandbox."))
    }

    @Test func `an export is written to no other file, and only its owner can open it`()
        async throws
    {
        let original = try await lived()
        try Data("mine".utf8).write(to: URL(filePath: path("mine")))
        try FileManager.default.createSymbolicLink(
            atPath: path("a.jsonl.part"),
            withDestinationPath: path("mine")
        )
        let said = try run("export", original, path("a.jsonl"))
        #expect(said.code == 0, "\(said.messages)")
        #expect(try String(contentsOfFile: path("mine"), encoding: .utf8) == "mine")
        let rights = try FileManager.default.attributesOfItem(atPath: path("a.jsonl"))
        #expect(rights[.posixPermissions] as? Int == 0o600)
        #expect(rights[.type] as? FileAttributeType == .typeRegular)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.contains("unfinished") } == [])
        let nowhere = try run("export", original, path("none/a.jsonl"))
        #expect(nowhere.code == 73)
        #expect(nowhere.messages.contains("cannot write \(path("none/a.jsonl")): No such file"))
    }

    @Test(.timeLimit(.minutes(20)))
    func `a signal ends an export and removes the incomplete file`() async throws {
        let original = try configuration("x")
        let (asked, begun) = AsyncStream.makeStream(of: Void.self)
        let server = try HTTPServer(port: 0) { _ in
            begun.yield()
            try await Task.sleep(for: .seconds(600))
            return Response(status: 500)
        }
        let running = try ChildProcess([
            Executable.url.path, "export", path("a.jsonl"), "--app", "cards", "--config", original,
            "--server", "http://\(server.address)",
        ])
        for await _ in asked { break }
        let during = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(during.contains { $0.hasPrefix("a.jsonl.unfinished-") })
        running.terminate()
        #expect(running.wait() == -SIGTERM)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.hasPrefix("a.jsonl") } == [])
        await server.stop(within: .zero)
    }

    @Test func `the command exports from a running server page by page, also answers only`()
        async throws
    {
        let original = try await lived()
        // A server records its policy version when it starts.
        let first = try ServingExecutable(original)
        #expect(first.stopUnread() == 0)
        let whole = try run("export", original)
        let running = try ServingExecutable(original)
        let server = "\(running.url)"
        let asked = try run("export", original, "--server", server)
        #expect(asked.code == 0, "\(asked.messages)")
        #expect(asked.results == whole.results)
        let answers = try run("export", original, "--server", server, "--answers")
        #expect(answers.results.split(separator: "\n").count == 3)
        #expect(answers.results.contains(#""state":"active""#))
        let lines = path("b.jsonl")
        try Data(whole.results.utf8).write(to: URL(filePath: lines))
        let again = try run("import", original, lines, "--server", server)
        #expect(again.code == 0, "\(again.messages)")
        #expect(again.results.contains("known already"))
        _ = running.stop()
    }

    @Test func `bad lines are reported with their numbers, and good lines are imported`()
        async throws
    {
        let original = try await lived()
        var lines = try run("export", original).results.split(separator: "\n").map(String.init)
        try #require(lines.count > 5)
        lines.insert("nonsense", at: 3)
        lines.append(#"{"kind":"alias","environment":"production","alias":"a"}"#)
        let file = path("c.jsonl")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        let other = try configuration("z")
        let said = try run("import", other, file)
        #expect(said.code == 1)
        #expect(said.messages.contains("line 4: "))
        #expect(said.messages.contains("line \(lines.count): "))
        #expect(said.results.contains("2 refused"))
        #expect(try run("export", other).results == run("export", original).results)
        let nothing = try run("import", other, path("none.jsonl"))
        #expect(nothing.code == 66)
    }
}
