import TideoverLocks

/// Holds back log lines of refused requests: of one kind only a few between two flushes, and then
/// one line that says how many more there were. A flood of forged notifications must not become a
/// flood of lines.
final class RefusalLog: Sendable {
    private let log: Log
    /// How often since the last flush, by app and code; both are from fixed lists.
    private let open = Locked<[String: [String: Int64]]>([:])
    private static let mostLines: Int64 = 5

    init(_ log: @escaping Log) {
        self.log = log
    }

    /// Counts a refusal; whether its line is still to be written.
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
