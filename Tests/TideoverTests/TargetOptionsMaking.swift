import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverLocks

@testable import tideover

extension TargetOptions {
    /// Creates a visit from command-line arguments. Only a program can parse them.
    static func made(of words: [String], _ output: Output) async throws -> TargetOptions {
        let made = Locked<TargetOptions?>(nil)
        let visit = Command(
            "visit",
            summary: "Visit",
            examples: [],
            parameters: TargetOptions.parameters
        ) { arguments, output in
            let visit = try TargetOptions(arguments, output)
            made.withLock { $0 = visit }
            return .success
        }
        let program = Program(
            "test",
            version: "0",
            summary: "A test",
            examples: [],
            commands: [visit]
        )
        #expect(await program.run(["visit"] + words, output: output) == .success)
        return try #require(made.withLock { $0 })
    }

    /// Starts the stores' server on a free port. Returns its URL.
    func listen() throws -> String {
        try listen(at: #require(ListenAddress("127.0.0.1:0")), orWith: "--listen")
        return try #require(storeServer.url)
    }
}

extension Tideover {
    /// Runs a command as a script does, and returns its output.
    static func run(
        _ words: [String],
        variables: [String: String] = [:]
    ) async -> (ExitCode, Output) {
        let output = Output(capturingAs: .plain)
        return (await program.run(words, variables: variables, output: output), output)
    }
}

extension Output {
    /// The results, and then the messages.
    var all: String { results.captured + messages.captured }
}
