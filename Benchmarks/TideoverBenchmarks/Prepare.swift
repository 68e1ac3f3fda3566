import Glibc
import TideoverCommandLine

/// `prepare`: creates the files of the other commands and keeps them, for runs in a profiler.
enum Prepare {
    private static let folder = Parameter.argument("FOLDER", "Where to put it; made if missing")
    private static let count = Parameter.option(
        "--count",
        "N",
        "How many notifications",
        as: ValueForm<Int>.integer(in: 1...1_000_000),
        default: "2000"
    )

    static let command = Command(
        "prepare",
        summary: "write a configuration and notifications, to run the other commands by hand",
        examples: [Example("TideoverBenchmarks prepare FOLDER", "then: in-process FOLDER")],
        parameters: [folder, count],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        mkdir(arguments[folder], 0o700)
        let stage = try await Stage(
            folder: arguments[folder],
            tideover: "",
            itself: "",
            seconds: 1,
            notifications: arguments[count]
        )
        output.print("\(stage.corpus.count) notifications in \(stage.corpus.path)")
        return .success
    }
}
