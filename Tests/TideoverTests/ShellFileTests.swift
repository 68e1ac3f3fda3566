import Foundation
import Testing
import TideoverCommandLine
import TideoverTestProcesses

@testable import tideover

/// Tests completions and man pages with the programs that read them.
@Suite final class ShellFileTests: SuiteWithFolder {
    private static func isPresent(_ program: String) -> Bool {
        ["/bin", "/usr/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    private func run(_ words: [String]) async -> (ExitCode, String) {
        let (code, output) = await Tideover.run(words)
        return (code, output.results.captured)
    }

    /// Returns bash's completions of the last of these words.
    private func offered(_ words: [String]) async throws -> [String] {
        let script = try await completions("bash")
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let said = try ChildProcess.run([
            "/bin/bash", "-c",
            """
            \(script)
            COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1)
            _tideover
            printf '%s\\n' "${COMPREPLY[@]}"
            """,
        ])
        #expect(said.code == 0, "\(said.messages)")
        return said.results.split(separator: "\n").map(String.init)
    }

    private func completions(_ shell: String) async throws -> String {
        let (code, text) = await run(["completions", shell])
        #expect(code == .success)
        return text
    }

    @Test func `bash completes commands and options`() async throws {
        #expect(try await offered(["tideover", "ex"]) == ["explain", "export"])
        #expect(try await offered(["tideover", "keys", ""]).prefix(2) == ["add", "list"])
        #expect(try await offered(["tideover", "keys", "add", "--k"]) == ["--kind"])
        #expect(try await offered(["tideover", "explain", "u_42", "--ev"]) == ["--evidence"])
        #expect(try await offered(["tideover", "explain", "--config", "a", "--js"]) == ["--json"])
        #expect(try await offered(["tideover", "--v"]) == ["--version"])
    }

    @Test(arguments: ["zsh", "fish"])
    func `the other shells accept their completion scripts`(shell: String) async throws {
        let text = try await completions(shell)
        #expect(text.contains("evidence"))
        guard Self.isPresent(shell) else { return }
        let file = try write(text, to: "completions")
        let said = try ChildProcess.run(["/usr/bin/env", shell, "-n", file])
        #expect(said.code == 0, "\(said.messages)")
    }

    @Test func `an unknown shell is refused`() async {
        #expect(await run(["completions", "csh"]).0 == .usage)
    }

    @Test func `every command has a man page, with its options and examples`() async throws {
        let (code, _) = await run(["man", "--folder", folder.path])
        #expect(code == .success)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names.contains("tideover.1"))
        #expect(names.contains("tideover-keys-add.1"))
        #expect(names.count == Tideover.program.manPages.count)
        let (shown, page) = await run(["man", "keys", "add"])
        #expect(shown == .success)
        for part in [
            ".TH \"TIDEOVER\\-KEYS\\-ADD\" 1", ".SH NAME", "\\-\\-kind KIND", ".SH EXAMPLES",
        ] {
            #expect(page.contains(part), "\(part)")
        }
        #expect(await run(["man", "kyes"]).0 == .usage)
    }

    @Test(.enabled(if: ShellFileTests.isPresent("groff"), "groff is not installed"))
    func `groff reports no fault in a man page`() async throws {
        for page in Tideover.program.manPages {
            let (_, text) = await run(["man"] + page.path.dropFirst())
            let said = try ChildProcess.run(
                ["/usr/bin/groff", "-man", "-ww", "-z"],
                input: Array(text.utf8)
            )
            #expect(said.code == 0)
            #expect(said.messages.isEmpty, "\(page.name): \(said.messages)")
        }
    }

    @Test func `version prints what --version prints`() async {
        let (code, text) = await run(["version"])
        let (otherCode, otherText) = await run(["--version"])
        #expect(code == otherCode)
        #expect(text == otherText)
    }
}
