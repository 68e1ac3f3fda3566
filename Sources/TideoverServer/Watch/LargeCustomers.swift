import TideoverLocks
import TideoverStorage

/// Counts derivations from more purchases than a customer plausibly has, and warns of them.
///
/// Such a customer is still answered, and nothing that a store tells is refused: what this costs is
/// the time of the one writer. A person who is meant to have so many purchases does not exist, so
/// that the app most likely gives many people one id or one account token.
struct LargeCustomers: Sendable {
    /// How many purchases may take part in one derivation before it is noted; settled ones do not.
    static let mostPurchases = 20_000
    /// How long no second warning of one app follows.
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
        guard lineages.holdings.count > Self.mostPurchases else { return }
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
                detail: "\(lineages.holdings.count) purchases under one id"
            )
        )
    }
}
