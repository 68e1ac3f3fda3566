import Foundation
import Testing
import TideoverTestProcesses

@testable import TideoverCommandLine
@testable import tideover

/// Tests the examples in the help of every command: a shell splits them and the real parser reads
/// them.
@Suite final class HelpExampleTests: SuiteWithFolder {
    override init() throws {
        try super.init()
        for name in ["body.json", "a.json"] {
            try Data("{}".utf8).write(to: folder.appending(path: name))
        }
    }

    private struct Shown {
        let path: [String]
        let line: String
    }

    private static func examples(of command: Command, path: [String]) -> [Shown] {
        command.examples.map { Shown(path: path, line: $0.line) }
            + command.subcommands.flatMap { examples(of: $0, path: path + [$0.name]) }
    }

    /// Returns the arguments of each call of the program on a line, as a shell splits them.
    private func calls(in line: String) throws -> [[String]] {
        let script = """
            cd "$0"; rm -f words
            tideover() { for word in "$@"; do printf '%s\\n' "$word"; done >> words; echo >> words; }
            sudo() { shift 2; "$@"; }
            curl() { :; }
            \(line)
            cat words
            """
        let said = try ChildProcess.run(["/bin/bash", "-c", script, folder.path])
        #expect(said.code == 0, "\(line): \(said.messages)")
        return said.results.split(separator: "\n\n").map { call in
            call.split(separator: "\n").map(String.init)
        }
    }

    @Test func `every example in the help is a command line that the program accepts`() throws {
        let program = Tideover.program
        let shown = Self.examples(of: program.root, path: ["tideover"])
        #expect(shown.count > 50)
        for example in shown {
            let calls = try calls(in: example.line)
            #expect(!calls.isEmpty, "\(example.line)")
            for words in calls {
                do {
                    _ = try Interpreter(root: program.root).interpret(words)
                } catch {
                    Issue.record(
                        "\(example.path.joined(separator: " ")): \(example.line): \(error)"
                    )
                }
            }
        }
    }

    @Test func `every command shows an example`() {
        func lacking(_ command: Command) -> [String] {
            (command.examples.isEmpty ? [command.name] : [])
                + command.subcommands.flatMap { lacking($0) }
        }
        #expect(lacking(Tideover.program.root) == [])
    }
}
