import TideoverLocks
import TideoverStorage

/// Counts derivations from implausibly many purchases of one customer, and logs a warning.
///
/// Such a customer is still answered, and no notification is rejected; the cost is time of the
/// single writer. No person has so many purchases, so the app probably gives many people the same
/// id or account token.
struct LargeCustomers: Sendable {
    /// The maximum number of purchases in one derivation without a warning; settled ones do not
    /// count.
    static let mostPurchases = 20_000
    /// The minimum time between two warnings about one app.
    private static let rest: Int64 = 3_600_000_000_000

    private let metrics: Metrics
    private let log: Log
    private let uptime: @Sendable () -> Int64
    private let warned = Locked<[String: Int64]>([:])

    init(metrics: Metrics, log: @escaping Log, uptime: @escaping @Sendable () -> Int64) {
        self.metrics = metrics
        self.log = log
        self.uptime = uptime
    }

    func note(_ lineages: CustomerLineages) {
        guard lineages.lineageRecords.count > Self.mostPurchases else { return }
        let app = lineages.key.app
        metrics.count(.largeDerivations, app)
        let now = uptime()
        let isNews = warned.withLock { warned in
            if let last = warned[app], now - last < Self.rest { return false }
            warned[app] = now
            return true
        }
        guard isNews else { return }
        log(
            LogLine(
                .error,
                "a customer has too many purchases",
                app: app,
                environment: lineages.key.environment,
                code: "large-customer",
                detail: "\(lineages.lineageRecords.count) purchases under one id"
            )
        )
    }
}
