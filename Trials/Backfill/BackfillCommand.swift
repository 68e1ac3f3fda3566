import TideoverCommandLine

/// `backfill COUNT`: kills a server that often during a backfill, then reports what it lost.
enum BackfillCommand {
    private static let count = Parameter.argument(
        "COUNT",
        "How often to kill the server",
        as: .integer(in: 1...10_000)
    )
    private static let seed = Parameter.option(
        "--seed",
        "N",
        "Repeat a trial's instants and lives; without it one is made up",
        as: .integer(in: 0...Int.max)
    )
    private static let wrong = Parameter.flag(
        "--wrong",
        "After each kill mark as asked what was not; success is that losses are found"
    )

    static let command = Command(
        "backfill",
        summary: "kill a server while it asks the App Store for what it missed",
        examples: [
            Example(
                "TideoverTrials backfill 20 --server .build/static/release/tideover",
                "20 times; when a server is through, the next begins on a new file"
            )
        ],
        parameters: [count, FaultsCommand.server, seed, wrong],
        notes: [
            "Exit code 1 if anything was lost, done twice or asked too fast; with --wrong, if nothing "
                + "was lost."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let seed = arguments[seed] ?? Int.random(in: 0...Int(Int32.max))
        let isWrong = arguments[wrong]
        let folder = try WorkFolder()
        output.message("seed \(seed), files in \(folder.path)")
        let store = try await AskedStore(seed: UInt64(seed))
        output.message(
            "\(store.customers.count) customers, \(store.notifications) notifications to be asked for"
        )
        let (kills, server) = (arguments[count], arguments[FaultsCommand.server])
        // The store answers on the task pool, where nothing may block.
        let findings = try await Threads.one {
            var trial = try BackfillTrial(
                store,
                ServerCommand(program: server),
                folder: folder.path,
                seed: UInt64(seed),
                isWrong: isWrong
            )
            let progress = Progress("kills", total: kills, on: output)
            var left = kills
            while left > 0 {
                left -= try trial.round(atMost: left) { progress.advance() }
                output.message("round \(trial.findings.rounds) is through")
            }
            progress.finish()
            return trial.findings
        }
        let isAsExpected = isWrong ? !findings.lost.isEmpty : findings.holds
        if isAsExpected { folder.remove() } else { folder.keep() }
        // With `--wrong`, the planted fault needs no list.
        for sentence in findings.sentences.prefix(isWrong ? 0 : 20) { output.message(sentence) }
        tell(findings, kills: kills, output)
        return isAsExpected ? .success : .failure
    }

    private static func tell(_ findings: BackfillTrial.Findings, kills: Int, _ output: Output) {
        output.print(
            "kills: \(kills), rounds: \(findings.rounds), requests: \(findings.requests), "
                + "lost: \(findings.lost.count), doubled: \(findings.doubled.count), "
                + "rate: \(findings.hurried.isEmpty ? "kept" : "exceeded"), "
                + "integrity: \(findings.problems.isEmpty ? "ok" : "damaged")"
        )
    }
}
