import TideoverCommandLine

/// `kill COUNT`: kills servers that often, or stops them in order, and reports what was lost.
enum KillCommand {
    private static let count = Parameter.argument(
        "COUNT",
        "How often to kill the server",
        as: .integer(in: 1...100_000)
    )
    private static let seed = Parameter.option(
        "--seed",
        "N",
        "Repeat a trial's instants and customers; without it one is made up",
        as: .integer(in: 0...Int.max)
    )
    private static let postgres = Parameter.option(
        "--postgres",
        "ADDRESS",
        "Store in an empty PostgreSQL database instead of a file",
        as: .text
    )
    private static let servers = Parameter.option(
        "--servers",
        "N",
        "How many servers share the PostgreSQL database, one by default",
        as: .integer(in: 1...16)
    )
    private static let orderly = Parameter.flag(
        "--orderly",
        "Stop the servers by SIGTERM instead, one after the other, as a rolling restart does"
    )
    private static let wrong = Parameter.flag(
        "--wrong",
        "Try a server that answers before it commits; success is that losses are found"
    )

    static let command = Command(
        "kill",
        summary: "kill a server under load and look for what it lost",
        examples: [
            Example(
                "TideoverTrials kill 300 --server .build/static/release/tideover",
                "300 times, on one file"
            ),
            Example(
                "TideoverTrials kill 3 --wrong --server .build/static/release/tideover",
                "see that losses would be found"
            ),
        ],
        parameters: [count, FaultsCommand.server, seed, postgres, servers, orderly, wrong],
        notes: [
            "Exit code 1 if anything was lost or done twice; with --wrong, if nothing was lost."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let seed = arguments[seed] ?? Int.random(in: 0...Int(Int32.max))
        let isWrong = arguments[wrong]
        let folder = try WorkFolder()
        output.message("seed \(seed), files in \(folder.path)")
        let serverCount = arguments[servers] ?? 1
        guard serverCount == 1 || arguments[postgres] != nil else {
            throw KillTrial.Failure(message: "several servers need --postgres")
        }
        let server = isWrong ? .hasty : ServerCommand(program: arguments[FaultsCommand.server])
        var trial = try KillTrial(
            Site(folder: folder.path, postgres: arguments[postgres]),
            server,
            servers: serverCount,
            seed: UInt64(seed),
            isWrong: isWrong,
            isOrderly: arguments[orderly]
        )
        let rounds = arguments[count]
        let title = arguments[orderly] ? "stops" : "kills"
        let progress = Progress(title, total: rounds, on: output)
        for _ in 0..<rounds {
            try trial.run()
            progress.advance()
        }
        try trial.finish()
        progress.finish()
        tell(trial, "\(title): \(rounds)", output)
        let isAsExpected = isWrong ? trial.lost > 0 : trial.holds
        if trial.holds || isWrong { folder.remove() } else { folder.keep() }
        return isAsExpected ? .success : .failure
    }

    private static func tell(_ trial: KillTrial, _ rounds: String, _ output: Output) {
        for sentence in trial.unexpected.prefix(20) { output.message(sentence) }
        if trial.startKills > 0 {
            output.message("killed before it listened, besides: \(trial.startKills)")
        }
        output.print(
            "\(rounds), acknowledged: \(trial.acknowledged), lost: \(trial.lost), "
                + "doubled: \(trial.doubled), integrity: \(trial.isSound ? "ok" : "damaged")"
        )
    }
}
