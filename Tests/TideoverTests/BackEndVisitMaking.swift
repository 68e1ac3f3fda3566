import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverLocks

@testable import tideover

extension BackEndVisit {
    /// Creates a visit from command-line arguments. Only a program can parse them.
    static func made(of words: [String], _ output: Output) async throws -> BackEndVisit {
        let made = Locked<BackEndVisit?>(nil)
        let visit = Command(
            "visit",
            summary: "Visit",
            examples: [],
            parameters: BackEndVisit.parameters
        ) { arguments, output in
            let visit = try BackEndVisit(arguments, output)
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
        return try #require(front.url)
    }
}
