import Glibc
import TideoverCommandLine

/// `outages COUNT`: breaks the database of running servers that often and reports what was lost.
enum OutagesCommand {
    private static let count = Parameter.argument(
        "COUNT",
        "How often to run the fault",
        as: .integer(in: 1...10_000)
    )
    private static let seed = Parameter.option(
        "--seed",
        "N",
        "Repeat a trial's customers; without it one is made up",
        as: .integer(in: 0...Int.max)
    )
    private static let storage = Parameter.requiredOption(
        "--postgres",
        "ADDRESSES",
        "The addresses of an empty PostgreSQL database, one for each server, with spaces between"
    )
    private static let audit = Parameter.requiredOption(
        "--audit",
        "ADDRESS",
        "The address at which the trial itself reads the database"
    )
    private static let fault = Parameter.requiredOption(
        "--fault",
        "COMMAND",
        "Breaks and mends; gets the number of the round, from 0, as its last argument"
    )
    private static let wrong = Parameter.flag(
        "--wrong",
        "Try servers that answer before they commit; success is that losses are found"
    )
    private static let lossy = Parameter.flag(
        "--lossy",
        "The fault loses data on purpose; success is that losses are found"
    )

    static let command = Command(
        "outages",
        summary: "break the database of servers under load and look for what was lost",
        examples: [
            Example(
                "TideoverTrials outages 3 --postgres URL --audit URL --fault ./fault.sh "
                    + "--server .build/static/release/tideover",
                "three times, with one server"
            )
        ],
        parameters: [count, FaultsCommand.server, storage, audit, fault, seed, wrong, lossy],
        notes: [
            "The fault prints `down INSTANT [SERVER...]` and `restored INSTANT`, in milliseconds since "
                + "1970. The servers, from 0, must report in between that they are not ready.",
            "Exit code 1 if anything was lost or done twice, if a request had no response, or if a "
                + "server did not commit again; with --wrong or --lossy, if nothing was lost.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let seed = arguments[seed] ?? Int.random(in: 0...Int(Int32.max))
        let folder = try WorkFolder()
        output.message("seed \(seed), files in \(folder.path)")
        let audited = try Site(folder: folder.path, postgres: arguments[audit])
        let isWrong = arguments[wrong]
        let server = isWrong ? .hasty : ServerCommand(program: arguments[FaultsCommand.server])
        var trial = try OutageTrial(
            sites(arguments[storage], beside: audited),
            audited: audited,
            server,
            fault: arguments[fault],
            seed: UInt64(seed),
            isWrong: isWrong
        )
        let rounds = arguments[count]
        let progress = Progress("outages", total: rounds, on: output)
        for _ in 0..<rounds {
            try trial.run()
            progress.advance()
        }
        try trial.finish()
        progress.finish()
        tell(trial, rounds: rounds, output)
        let expectsLoss = isWrong || arguments[lossy]
        if trial.holds || expectsLoss { folder.remove() } else { folder.keep() }
        return (expectsLoss ? trial.lost > 0 : trial.holds) ? .success : .failure
    }

    /// One folder for each server, with the same trusted store.
    private static func sites(_ addresses: String, beside audited: Site) throws -> [Site] {
        try addresses.split(separator: " ").enumerated().map { number, address in
            let folder = "\(audited.folder)/\(number)"
            guard mkdir(folder, 0o700) == 0 else {
                throw KillTrial.Failure(message: "cannot make the folder \(folder)")
            }
            return try Site(
                folder: folder,
                postgres: String(address),
                authority: audited.authority
            )
        }
    }

    /// The median and the maximum.
    private static func text(_ durations: [Int64]) -> String {
        let sorted = durations.sorted()
        return sorted.last.map { "\(sorted[sorted.count / 2])/\($0)" } ?? "none"
    }

    private static func tell(_ trial: OutageTrial, rounds: Int, _ output: Output) {
        for sentence in trial.unexpected.prefix(20) { output.message(sentence) }
        output.message("responses, ms (median/99 %/most): \(trial.responseTimes)")
        output.message(
            "first commit, ms (median/most): \(text(trial.recoveries)) after the end of the outage, "
                + "\(text(trial.absences)) after its beginning"
        )
        if trial.longestPause > 0 {
            output.message(
                "longest wait for a server that was cut off: \(trial.longestPause) ms"
            )
        }
        output.print(
            "outages: \(rounds), acknowledged: \(trial.acknowledged), refused: \(trial.refused), "
                + "lost: \(trial.lost), doubled: \(trial.doubled), "
                + "wrong: \(trial.unexpected.count), "
                + "integrity: \(trial.isSound ? "ok" : "damaged")"
        )
    }
}
