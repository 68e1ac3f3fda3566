import TideoverLocks

/// Limits the log lines of rejected requests: a few of each kind between two flushes, then one line
/// with the number of further ones. A flood of forged notifications must not become a flood of
/// lines.
final class RefusalLog: Sendable {
    private let log: Log
    /// The counts since the last flush, by app and code; both come from fixed lists.
    private let open = Locked<[String: [String: Int64]]>([:])
    private static let mostLines: Int64 = 5

    init(_ log: @escaping Log) {
        self.log = log
    }

    /// Counts a rejection, and returns whether its line is to be written.
    func admits(_ code: String, app: String?) -> Bool {
        let count = open.withLock { open in
            open[app ?? "", default: [:]][code, default: 0] += 1
            return open[app ?? ""]?[code] ?? 0
        }
        return count <= Self.mostLines
    }

    func flush() {
        let taken = open.withLock { open in
            defer { open = [:] }
            return open
        }
        for (app, counts) in taken.sorted(by: { $0.key < $1.key }) {
            for (code, count) in counts.sorted(by: { $0.key < $1.key })
            where count > Self.mostLines {
                log(
                    LogLine(
                        .warning,
                        "more requests refused",
                        app: app.isEmpty ? nil : app,
                        code: code,
                        detail: "\(count - Self.mostLines) more"
                    )
                )
            }
        }
    }
}
