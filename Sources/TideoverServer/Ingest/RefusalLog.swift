import Synchronization

/// Logs refusals, of one kind only a few between two flushes and then how many more there were: a
/// flood of forged notifications must not become a flood of lines.
final class RefusalLog: Sendable {
    private let log: Log
    /// How often since the last flush, by app and code; both are from fixed lists.
    private let open = Mutex<[String: [String: Int64]]>([:])
    private static let mostLines: Int64 = 5

    init(_ log: @escaping Log) {
        self.log = log
    }

    func refused(_ code: String, app: String) {
        let count = open.withLock { open in
            open[app, default: [:]][code, default: 0] += 1
            return open[app]?[code] ?? 0
        }
        guard count <= Self.mostLines else { return }
        log(LogLine(.warning, "notification refused", app: app, code: code))
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
                        "more notifications refused",
                        app: app,
                        code: code,
                        detail: "\(count - Self.mostLines) more"
                    )
                )
            }
        }
    }
}
