import TideoverCore
import TideoverLocks

/// Compares the dates of Google Play's responses with our clock. Reads are dated by these, so a
/// wrong date changes answers.
final class StoreClockWatch: Sendable {
    private let app: String
    private let metrics: Metrics
    private let log: Log
    private let uptime: @Sendable () -> Int64
    /// When the last line was logged, in nanoseconds of uptime.
    private let loggedAt = Locked<Int64?>(nil)

    /// The minimum time between two lines, in nanoseconds.
    private static let rest: Int64 = 600_000_000_000

    init(
        app: String,
        metrics: Metrics,
        log: @escaping Log,
        uptime: @escaping @Sendable () -> Int64
    ) {
        self.app = app
        self.metrics = metrics
        self.log = log
        self.uptime = uptime
    }

    /// Counts a response with a date that differs by more than `Milliseconds.clockTolerance`, and
    /// logs it at most once in ten minutes.
    func note(_ exchange: StoreExchange) {
        guard let skew = exchange.skew, abs(skew.count) > Milliseconds.clockTolerance.count else {
            return
        }
        metrics.count(.storeClockSkews, app)
        let now = uptime()
        let isSilent = loggedAt.withLock { last in
            if let last, now < last + Self.rest { return true }
            last = now
            return false
        }
        guard !isSilent else { return }
        let side = skew > .zero ? "behind" : "ahead of"
        log(
            LogLine(
                .warning,
                "Google Play's date differs from our clock",
                app: app,
                code: "clock-skew",
                detail: "Our clock is \(abs(skew.count) / 1000) s \(side) the date of the answer. "
                    + "Reads are dated by the store: check this machine's clock."
            )
        )
    }
}
