import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverTestProcesses

@testable import TideoverTestServer

/// The program as used by people and scripts.
@Suite(.withExecutable) final class ProgramTests: SuiteWithFolder {
    private func file(_ text: String, name: String = "file") throws -> String {
        try write(text, to: name)
    }

    private static let configuration = """
        { storage: "sqlite:x.db", apps: [{ id: "cards", environments: ["sandbox"],
          appStore: { bundleId: "com.example.cards" } }] }
        """

    @Test func `the demo plays its story, and every expectation passes`() throws {
        let said = try Executable.run(["demo", "--no-serve", "--json"])
        #expect(said.code == 0, "\(said.messages)")
        let story = try JSONDocument(Array(said.results.utf8), limits: .local).root
        #expect(story["passed"]?.bool == true)
        #expect(story["held"]?.int64 == story["expectations"]?.int64)
        #expect((story["expectations"]?.int64 ?? 0) > 0)
        // As in its scenario: two payments succeed in grace, two later, and no answer of ours was
        // wrong.
        let chronicle = story["chronicle"]
        #expect(chronicle?["savedInGrace"]?.int64 == 2)
        #expect(chronicle?["savedFromHold"]?.int64 == 2)
        #expect(chronicle?["wrongAnswers"]?.int64 == 0)
        #expect(chronicle?["courses"]?.count == 8)
    }

    @Test func `the demo draws its year, for a terminal and for a browser`() throws {
        let page = folder.appending(path: "year.html")
        let said = try Executable.run(
            ["demo", "--no-serve", "--html", page.path],
            ["LC_ALL": "C", "COLUMNS": "80"]
        )
        #expect(said.code == 0, "\(said.messages)")
        let lines = said.results.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("2026 ") && $0.hasSuffix("Dec") })
        #expect(lines.contains { $0.hasPrefix("maya, both stores ") && $0.contains("====") })
        #expect(lines.contains { $0.hasPrefix(" refund taken back ") && $0.hasSuffix("$$$$") })
        #expect(lines.allSatisfy { $0.count <= 80 })
        // 8 d 14 h and 4 d 6 h, 16 d, 1 d, 4 d 4 h, 16 d 17 h: fifty days and seventeen hours.
        #expect(said.results.contains("locked out 5 of these 8 customers"))
        #expect(said.results.contains("entitled, for 50.7 days together."))
        #expect(try String(contentsOf: page, encoding: .utf8).contains("<svg viewBox="))
    }

    @Test func `a file that cannot be written is reported before the year is played`() throws {
        let page = "\(folder.path)/none/year.html"
        let said = try Executable.run(["demo", "--no-serve", "--html", page])
        #expect(said.code == 73)
        #expect(said.results.isEmpty)
        #expect(said.messages.contains("cannot write \(page): "))
        let mine = try file("my own page", name: "mine.html")
        let refused = try Executable.run(["demo", "--no-serve", "--html", mine])
        #expect(refused.code == 73)
        #expect(refused.results.isEmpty)
        #expect(refused.messages.contains("\(mine) already exists, and is not from an earlier run"))
    }

    @Test func `the demo prints its story step by step, and rejects JSON with it`() throws {
        let said = try Executable.run(["demo", "--no-serve", "--story"])
        #expect(said.code == 0, "\(said.messages)")
        #expect(said.results.contains("The renewal fails: access goes on in grace"))
        #expect(try Executable.run(["demo", "--story", "--json"]).code == 2)
    }

    @Test func `a stopping server is not ready first and still serves while it drains`()
        async throws
    {
        let text = Self.configuration.replacing(
            "{ storage: \"sqlite:x.db\",",
            with: "{ server: { listen: \"127.0.0.1:0\", drain: \"1h\" }, storage: \"sqlite:x.db\","
        )
        let running = try ServingExecutable(file(text, name: "tideover.json"))
        defer { running.destroy() }
        #expect(try await running.get("/readyz").status == 200)
        try running.askToStop()
        #expect(try await running.get("/readyz").status == 503)
        #expect(try await running.get("/healthz").status == 200)
    }

    /// Connects to a socket and sends the beginning of a request.
    private func beginRequest(at path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, length)
            }
        }
        try #require(code == 0)
        let text = "POST /v1/apps/cards/policy/try HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
        try #require(send(descriptor, text, text.utf8.count, 0) == text.utf8.count)
        return descriptor
    }

    @Test func `a stop closes all addresses at once, also if a request at one is not complete`()
        async throws
    {
        let text = Self.configuration.replacing(
            "{ storage: \"sqlite:x.db\",",
            with: "{ server: { listen: \"127.0.0.1:0\" }, storage: \"sqlite:x.db\","
        )
        let running = try ServingExecutable(file(text, name: "tideover.json"))
        defer { running.destroy() }
        let open = try beginRequest(at: folder.appending(path: "x.db.sock").path)
        defer { close(open) }
        // Until the server has read the head.
        try await Task.sleep(for: .milliseconds(500))
        try running.askToStop()
        let deadline = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < deadline, (try? await running.get("/healthz")) != nil {
            try await Task.sleep(for: .milliseconds(20))
        }
        await #expect(throws: (any Error).self) { try await running.get("/healthz") }
    }

    @Test(arguments: [
        ["demo", "--no-srve"], ["demo", "--listen", "127.0.0.1"], ["inspct"], ["init"],
        ["inspect", "x", "--bundle", "com.example.cards"],
        ["keys", "add", "--kind", "root", "--config", "x"], ["keys", "ad"],
        ["keys", "add", "--kind", "admin", "--app", "cards", "--config", "x"],
    ])
    func `an invalid command line is a usage error with a message`(arguments: [String]) throws {
        let said = try Executable.run(arguments)
        #expect(said.code == 2)
        #expect(said.results.isEmpty)
        #expect(said.messages.hasPrefix("tideover: "))
    }

    @Test func `the version contains the commit of the build, if known`() throws {
        let said = try Executable.run(["--version"])
        #expect(said.code == 0)
        #expect(said.results.wholeMatch(of: /tideover \d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n/) != nil)
    }

    @Test func `a mistyped flag gets a suggestion`() throws {
        let said = try Executable.run(["demo", "--no-srve"])
        #expect(said.messages.contains("did you mean `--no-serve`?"))
    }

    @Test func `a mistyped configuration key gets its place and a suggestion`() throws {
        let text = Self.configuration.replacing("bundleId", with: "bundelId")
        let path = try file(text, name: "tideover.json")
        let said = try Executable.run(["serve", "--config", path])
        #expect(said.code == 78)
        #expect(said.messages.contains("did you mean `bundleId`?"))
        #expect(said.messages.contains("tideover.json:2:"))
    }

    @Test func `config shows the settings in effect and only the file names of secrets`() throws {
        let secret = try file("pst-very-secret", name: "whsec.txt")
        let hook = #"{ url: "https://example.com/T0/in-the-path?key=k", secretFile: "whsec.txt" }"#
        let text = Self.configuration.replacing("{ storage", with: "{ webhooks: [\(hook)], storage")
        let path = try file(text, name: "tideover.json")
        let variable = ["TIDEOVER_APPS_CARDS_ENVIRONMENTS": "sandbox"]
        let people = try Executable.run(["config", "--config", path], variable)
        #expect(people.code == 0)
        for words in [
            "server.listen default 127.0.0.1:8080",
            "apps[0].appStore.bundleId line 2 com.example.cards",
            "apps[0].environments TIDEOVER_APPS_CARDS_ENVIRONMENTS sandbox",
            "webhooks[0].secretFile line 1 whsec.txt",
        ] {
            #expect(people.results.squeezed.contains(words), "\(words)")
        }
        #expect(people.messages.contains("apps[0] has no products"))
        let machines = try Executable.run(["config", "--config", path, "--json"], variable)
        #expect(machines.code == 0)
        #expect(machines.messages.isEmpty)
        let root = try JSONDocument(Array(machines.results.utf8)).root
        let settings = try #require(root["settings"]).elements
        let bundle = settings.first { $0["path"]?.string == "apps[0].appStore.bundleId" }
        #expect(bundle?["source"]?.string == "file")
        #expect(bundle?["line"]?.int64 == 2)
        #expect(bundle?["variable"]?.string == "TIDEOVER_APPS_CARDS_APP_STORE_BUNDLE_ID")
        #expect(Array(try #require(root["notices"]).elements).count == 1)
        for said in [people.results, people.messages, machines.results] {
            for hidden in ["very-secret", "in-the-path", "key=k"] {
                #expect(!said.contains(hidden))
            }
        }
        #expect(FileManager.default.fileExists(atPath: secret))
    }

    @Test func `config rejects every configuration that serve rejects`() throws {
        let path = try file(
            Self.configuration.replacing("sandbox", with: "sandpit"),
            name: "t.json"
        )
        let said = try Executable.run(["config", "--config", path, "--json"])
        #expect(said.code == 78)
        #expect(said.results.isEmpty)
        #expect(said.messages.contains("found `sandpit`"))
    }

    @Test(arguments: ["--bundle", "--root", "--environment", "--app-apple-id"])
    func `inspect rejects options that a configuration makes useless`(option: String) throws {
        let path = try file(Self.configuration, name: "tideover.json")
        let value = option == "--environment" ? "sandbox" : "1"
        let said = try Executable.run([
            "inspect", "x", "--app", "cards", "--config", path, option, value,
        ])
        #expect(said.code == 2)
        #expect(said.messages.contains("cannot be combined"))
    }

    @Test(arguments: [
        ("", "nothing"), ("hello", "neither a notification"),
        ("{\n\"purchase-info\" = \"e30=\";\n}", "StoreKit 1 transaction receipt. Inspect the app"),
        ("ewoicHVyY2hhc2UtaW5mbyIgPSAiZTMwPSI7Cn0=", "StoreKit 1 transaction receipt. Inspect the"),
        ("ewoJAbc", "neither a notification"),
        (#"{"object": "list", "items": []}"#, "RevenueCat API v2 response. Export with API v1"),
    ])
    func `inspect rejects unsigned data and names what it is`(text: String, words: String) throws {
        let said = try Executable.run([
            "inspect", file(text), "--bundle", "com.example.cards", "--environment", "sandbox",
            "--json",
        ])
        #expect(said.code == 1)
        let root = try JSONDocument(Array(said.results.utf8)).root
        #expect(root["verdict"]?.string == "refused")
        #expect(root["reason"]?.string == "unreadable-input")
        #expect(root["detail"]?.string?.contains(words) == true)
    }

    @Test func `several files are inspected in order, one object a line`() throws {
        let texts = ["", "hello", "ewoJAbc"]
        let paths = try texts.enumerated().map { try file($1, name: "\($0).txt") }
        let said = try Executable.run(
            ["inspect"] + paths
                + ["--bundle", "com.example.cards", "--environment", "sandbox", "--json"]
        )
        #expect(said.code == 1)
        let details = try said.results.split(separator: "\n").map {
            try JSONDocument(Array($0.utf8)).root["detail"]?.string ?? ""
        }
        try #require(details.count == 3)
        for (detail, words) in zip(details, ["nothing", "neither", "neither"]) {
            #expect(detail.contains(words))
        }
    }

    @Test(arguments: [
        ["--help"], ["serve", "--help"], ["demo", "--help"], ["inspect", "--help"],
        ["explain", "--help"], ["config", "--help"], ["keys", "--help"],
        ["keys", "add", "--help"], ["keys", "list", "--help"], ["keys", "revoke", "--help"],
        ["doctor", "--help"],
        ["conformance", "--help"],
    ])
    func `help fits eighty columns and begins with examples`(arguments: [String]) throws {
        let said = try Executable.run(arguments)
        #expect(said.code == 0)
        let lines = said.results.split(separator: "\n")
        #expect(lines.dropFirst().first == "Examples")
        for line in lines where !line.hasPrefix("  tideover ") {
            #expect(line.count <= 80, "\(line)")
        }
    }
}

extension String {
    /// The text without alignment spaces.
    fileprivate var squeezed: String {
        split(separator: " ").joined(separator: " ")
    }
}
