import Glibc

/// A command that breaks the way to the database, or the database, and mends it.
///
/// It prints `down INSTANT [SERVER...]` just before the fault and `restored INSTANT` just after it.
/// Instants are milliseconds since 1970. The servers, numbered from 0, are those that must report
/// in between that they are not ready. Other lines are ignored.
struct Fault {
    struct Report {
        var down: Int64
        var restored: Int64
        var unready: [Int]
    }

    private static let patience = 120_000
    let command: String
    let log: String

    /// Runs the command for a round to its end.
    func run(round: Int) throws -> Report {
        let process = try ServerProcess(["sh", "-c", "exec \(command) \(round)"], log: log)
        guard waited(upTo: Self.patience, until: { process.hasEnded }) else {
            throw KillTrial.Failure(message: "the fault did not end: \(process.lastWords)")
        }
        guard process.end == .exited(0), let report = Self.report(text(of: log, atMost: 65_536))
        else { throw KillTrial.Failure(message: "the fault failed: \(process.lastWords)") }
        return report
    }

    private static func report(_ said: String) -> Report? {
        var instants: [Substring: [Int64]] = [:]
        for line in said.split(separator: "\n") {
            let words = line.split(separator: " ")
            instants[words.first ?? ""] = words.dropFirst().compactMap { Int64($0) }
        }
        guard let down = instants["down"], let begin = down.first,
            let end = instants["restored"]?.first
        else { return nil }
        return Report(down: begin, restored: end, unready: down.dropFirst().map { Int($0) })
    }
}
