import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverLocks

@testable import tideover

extension BackEndVisit {
    /// The visit that words of a command line describe: the program alone makes arguments of words.
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

    /// Has the stores listen on any free port; returns where.
    func listen() throws -> String {
        try listen(at: #require(ListenAddress("127.0.0.1:0")), orWith: "--listen")
        return try #require(front.url)
    }
}
