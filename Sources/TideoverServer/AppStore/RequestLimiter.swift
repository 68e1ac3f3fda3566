import TideoverCore

/// A kind of request with its own rate limit at the store.
enum RequestKind: String, CaseIterable, Hashable, Sendable {
    case notificationHistory, subscriptionStatuses, transactionHistory, refundHistory
    /// Both stores.
    case orderLookup
    /// Google Play: queries of purchase tokens, acknowledgements, and lists of voided orders.
    case purchases, acknowledgements, voidedPurchases
    /// Both stores: changes of one purchase.
    case changes
    /// The App Store: extensions of all subscriptions to a product.
    case massExtensions

    /// The kinds of the App Store.
    static let ofAppStore: [RequestKind] = [
        .notificationHistory, .subscriptionStatuses, .transactionHistory, .refundHistory,
        .orderLookup, .changes, .massExtensions,
    ]
    /// The kinds of Google Play.
    static let ofGooglePlay: [RequestKind] = [
        .purchases, .acknowledgements, .voidedPurchases, .orderLookup, .changes,
    ]

    /// The requests per second that the store allows an app in production; the App Store's sandbox
    /// allows a tenth.
    /// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    /// https://developers.google.com/android-publisher/quotas
    var storesLimit: Int64 {
        switch self {
        case .notificationHistory, .subscriptionStatuses, .transactionHistory, .purchases,
            .acknowledgements:
            50
        case .refundHistory, .orderLookup: 10
        case .changes: 20
        // Google allows 30 voided-purchase requests in 30 seconds.
        case .voidedPurchases, .massExtensions: 1
        }
    }

    /// Returns the nanoseconds between two requests: a fifth of the store's limit, because other
    /// clients of the app share it.
    func interval(in environment: Environment) -> Int64 {
        let share: Int64 = 5
        let second: Int64 = 1_000_000_000
        return switch environment {
        case .sandbox: second * 10 * share / storesLimit
        case .production, .xcode, .simulated: second * share / storesLimit
        }
    }
}

/// Limits the rate of requests about one app in one environment. Two requests of a kind are at
/// least the kind's interval apart, and none is sent while the store throttles.
actor RequestLimiter {
    /// The longest single sleep during throttling; clocks may be corrected meanwhile.
    private static let longestSleep = Milliseconds.minutes(1)

    /// The maximum wait of a caller with a waiting client, in nanoseconds.
    private static let soon: Int64 = 2_000_000_000

    private let environment: Environment
    private let timing: Timing
    /// The earliest time of the next request by kind, in nanoseconds of uptime.
    private var next: [RequestKind: Int64]
    /// The end of the store's throttling, by our clock.
    private(set) var pausedUntil: Instant?

    init(environment: Environment, timing: Timing, pausedUntil: Instant? = nil) {
        self.environment = environment
        self.timing = timing
        self.pausedUntil = pausedUntil
        // An earlier process may have just sent requests, so the first interval starts now.
        let now = timing.uptime()
        next = Dictionary(
            uniqueKeysWithValues: RequestKind.allCases.map {
                ($0, now + $0.interval(in: environment))
            }
        )
    }

    /// Returns when a request of a kind may be sent; throws when cancelled.
    ///
    /// - Throws: `BackfillStop` if the store throttles for longer than `patience`, by default that
    ///   of all background work.
    func admit(_ kind: RequestKind, patience: Milliseconds? = nil) async throws {
        repeat {
            try await waitOutPause(patience ?? timing.patience)
            let now = timing.uptime()
            let turn = max(now, next[kind] ?? now)
            next[kind] = turn + kind.interval(in: environment)
            if turn > now { try await timing.sleep(.nanoseconds(turn - now)) }
        } while isPaused
    }

    /// Does the same for a request with a waiting client. Returns false, and the request must not
    /// be sent, if its turn is not soon.
    func admitSoon(_ kind: RequestKind) async throws -> Bool {
        let now = timing.uptime()
        let turn = max(now, next[kind] ?? now)
        guard !isPaused, turn <= now + Self.soon else { return false }
        next[kind] = turn + kind.interval(in: environment)
        if turn > now { try await timing.sleep(.nanoseconds(turn - now)) }
        return !isPaused
    }

    /// Sends no requests until an instant.
    func pause(until instant: Instant) {
        pausedUntil = max(instant, pausedUntil ?? instant)
    }

    private var isPaused: Bool { pausedUntil.map { timing.clock() < $0 } ?? false }

    private func waitOutPause(_ patience: Milliseconds) async throws {
        while let until = pausedUntil, timing.clock() < until {
            guard until <= timing.clock() + patience else {
                throw BackfillStop(
                    code: "throttled",
                    sentence: "The store asked us to come back later, at \(until.rfc3339).",
                    retryAt: until
                )
            }
            let left = min(until - timing.clock(), Self.longestSleep)
            try await timing.sleep(.milliseconds(max(1, left.count)))
        }
    }
}
