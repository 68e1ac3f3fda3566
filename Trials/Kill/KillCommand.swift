import TideoverCommandLine

/// `kill COUNT`: kills a server that often and reports what it lost.
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
        parameters: [count, FaultsCommand.server, seed, postgres, servers, wrong],
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
            isWrong: isWrong
        )
        let kills = arguments[count]
        let progress = Progress("kills", total: kills, on: output)
        for _ in 0..<kills {
            try trial.kill()
            progress.advance()
        }
        try trial.finish()
        progress.finish()
        tell(trial, kills: kills, output)
        let isAsExpected = isWrong ? trial.lost > 0 : trial.holds
        if trial.holds || isWrong { folder.remove() } else { folder.keep() }
        return isAsExpected ? .success : .failure
    }

    private static func tell(_ trial: KillTrial, kills: Int, _ output: Output) {
        for sentence in trial.unexpected.prefix(20) { output.message(sentence) }
        output.message("killed before it listened, besides: \(trial.startKills)")
        output.print(
            "kills: \(kills), acknowledged: \(trial.acknowledged), lost: \(trial.lost), "
                + "doubled: \(trial.doubled), integrity: \(trial.isSound ? "ok" : "damaged")"
        )
    }
}
