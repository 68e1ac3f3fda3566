import Foundation
import Testing
import TideoverJSON
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover sandbox run` as used by people and CI systems.
@Suite(.withExecutable) final class SandboxProgramTests: SuiteWithFolder {
    private func file(_ name: String, expecting state: String, more: String = "") throws -> String {
        let text = """
            {
              scenario: "A payment fails & <access> goes on", source: "a test",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                price: "9.99 USD", grace: "P16D" } },
              customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
              steps: [
                { do: "subscribe" },
                { after: "2 weeks", do: "failPayments" },
                { at: "2026-06-02T10:00:00Z", expect: { premium: { state: "\(state)" } } },
                { at: "2026-06-18T10:00:00Z", expect: { premium: { state: "hold" } } },\(more)
              ],
            }
            """
        return try write(text, to: name)
    }

    @Test func `a correct scenario passes, and the mistakes of a naive check are counted`() throws {
        let said = try Executable.run(["sandbox", "run", try file("a.json5", expecting: "grace")])
        #expect(said.code == 0, "\(said.messages)")
        #expect(said.results.contains("1 of 1 scenario passed."))
        // When the payment fails, and a day later, the expiry date is wrong.
        let row = said.results.split(separator: "\n").first { $0.contains("A payment fails") }
        #expect(row?.split(separator: " ").prefix(4) == ["2", "2", "2", "0"])
    }

    @Test
    func `a failed expectation is reported with its line, and the other files play`() throws {
        let report = folder.appending(path: "report.xml")
        let said = try Executable.run([
            "sandbox", "run", try file("a.json5", expecting: "hold"),
            try file("b.json5", expecting: "grace"), "--junit", report.path,
        ])
        #expect(said.code == 1, "\(said.messages)")
        #expect(said.results.contains("line 10: premium.state is \"grace\", expected hold"))
        #expect(said.results.contains("1 of 2 scenarios passed."))
        let xml = try String(contentsOf: report, encoding: .utf8)
        let counts = #"tests="2" failures="1" errors="0" skipped="0""#
        #expect(xml.contains(#"<testsuite name="tideover sandbox" \#(counts)>"#))
        let name = #"name="A payment fails &amp; &lt;access&gt; goes on""#
        #expect(xml.contains(#"a.json5" \#(name)>"#))
        #expect(xml.contains(#"b.json5" \#(name)/>"#))
        #expect(xml.contains("premium.state is &quot;grace&quot;, expected hold"))
    }

    @Test func `a file that is not a scenario is reported with line and column`() throws {
        let path = try file("a.json5", expecting: "grace", more: #"{ doo: "cancel" }"#)
        let said = try Executable.run(["sandbox", "run", path])
        #expect(said.code == 65)
        #expect(said.results.contains("a.json5\n  line 11, column "))
        #expect(said.results.contains("a step has no key \"doo\"; did you mean \"do\"?"))
        let missing = try Executable.run(["sandbox", "run", folder.path + "/none.json5"])
        #expect(missing.code == 66)
    }

    /// `ScenarioTests` plays all of them in process, and CI plays all with the release build.
    @Test func `scenarios of the project also pass with the command`() throws {
        let files = ScenarioTests.files.enumerated().filter { $0.offset.isMultiple(of: 12) }
            .map { ScenarioTests.folder.appending(path: $0.element).path }
        let said = try Executable.run(["sandbox", "run"] + files)
        #expect(said.code == 0, "\(said.results)")
        #expect(said.results.contains("\(files.count) of \(files.count) scenarios passed."))
    }

    @Test func `the story is available as text and as JSON`() throws {
        let path = try file("a.json5", expecting: "grace")
        let told = try Executable.run(["sandbox", "run", path, "--story"])
        #expect(told.results.contains("2 of 2 expectations held."))
        let said = try Executable.run(["sandbox", "run", path, "--json"])
        let root = try JSONDocument(Array(said.results.utf8), limits: .local).root
        #expect(root["passed"]?.int64 == 1)
        let story = root["scenarios"]?.elements.first { _ in true }?["story"]
        #expect(story?["passed"]?.bool == true)
        #expect(story?["moments"]?.count ?? 0 > 4)
    }

    @Test func `stopped stores are saved and continue from there`() throws {
        let path = try file("a.json5", expecting: "grace")
        let state = folder.appending(path: "state.json")
        let words = [
            "sandbox", "serve", path, "--target", "http://127.0.0.1:1", "--listen", "127.0.0.1:0",
            "--state", state.path,
        ]
        func serve() throws -> (code: Int32, messages: String, kept: JSONNode) {
            let process = try ChildProcess(
                [Executable.url.path] + words + ["--speed", "86400000"]
            )
            var messages = ""
            while !messages.contains("/root.der") {
                let bytes = process.messages.next()
                if bytes.isEmpty { break }
                messages += String(decoding: bytes, as: UTF8.self)
            }
            process.terminate()
            let code = process.wait()
            let kept = try JSONDocument([UInt8](Data(contentsOf: state)), limits: .local).root
            #expect(kept["format"]?.string == "tideover.simulated-stage.2")
            return (code, messages, kept)
        }
        func now(_ kept: JSONNode) -> Int64? { kept["play"]?["now"]?.int64 }
        func seed(_ kept: JSONNode) -> Int64? { kept["stage"]?["seed"]?.int64 }
        let first = try serve()
        #expect(first.code == 0)
        #expect(first.messages.contains("customers and purchases are created with --salt "))
        let second = try serve()
        #expect(second.code == 0)
        #expect(!second.messages.contains("--salt"))
        #expect(try #require(now(second.kept)) >= #require(now(first.kept)))
        #expect(seed(second.kept) == seed(first.kept))
        // A new start has new customers.
        try FileManager.default.removeItem(at: state)
        let other = try serve()
        #expect(other.code == 0)
        #expect(try #require(seed(other.kept)) != #require(seed(first.kept)))
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        let changed = text.replacing("customers: { anna: {} }", with: "customers: { ben: {} }")
        try Data(changed.utf8).write(to: URL(filePath: path))
        let refused = try Executable.run(words)
        #expect(refused.code == 65)
        #expect(refused.messages.contains("customers of the scenario's head is not the same"))
    }
}
