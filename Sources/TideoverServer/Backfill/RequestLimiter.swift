import TideoverCore

/// A kind of request for which the store keeps a limit of its own.
enum RequestKind: String, CaseIterable, Hashable, Sendable {
    case notificationHistory, subscriptionStatuses, refundHistory
    /// Of both stores.
    case orderLookup
    /// Of Google Play: one purchase token, and lists of voided orders.
    case purchases, acknowledgements, voidedPurchases
    /// Of both stores: what changes one purchase.
    case changes
    /// Of the App Store: what extends all subscriptions to a product.
    case massExtensions

    /// Those of the App Store.
    static let ofAppStore: [RequestKind] = [
        .notificationHistory, .subscriptionStatuses, .refundHistory, .orderLookup, .changes,
        .massExtensions,
    ]
    /// Those of Google Play.
    static let ofGooglePlay: [RequestKind] = [
        .purchases, .acknowledgements, .voidedPurchases, .orderLookup, .changes,
    ]

    /// How many a second the store allows an app in production; in the sandbox of the App Store a tenth
    /// of that.
    /// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    /// https://developers.google.com/android-publisher/quotas
    var storesLimit: Int64 {
        switch self {
        case .notificationHistory, .subscriptionStatuses, .purchases, .acknowledgements: 50
        case .refundHistory, .orderLookup: 10
        case .changes: 20
        // Google allows 30 voided-purchase requests in 30 seconds.
        case .voidedPurchases, .massExtensions: 1
        }
    }

    /// Nanoseconds from one request to the next: a fifth of what the store allows, since whatever
    /// else asks about the app uses up the same allowance.
    func interval(in environment: Environment) -> Int64 {
        let share: Int64 = 5
        let second: Int64 = 1_000_000_000
        return switch environment {
        case .sandbox: second * 10 * share / storesLimit
        case .production, .xcode, .simulated: second * share / storesLimit
        }
    }
}

/// Spaces the requests about one app in one environment: between two of a kind there is always the
/// kind's interval, and when the store asks to be left alone nothing is asked.
actor RequestLimiter {
    /// The longest single sleep while the store is left alone; clocks may be put right meanwhile.
    private static let longestSleep = Milliseconds.minutes(1)

    /// How long somebody is kept waiting, in nanoseconds.
    private static let soon: Int64 = 2_000_000_000

    private let environment: Environment
    private let timing: Timing
    /// By kind, the earliest instant of the next request, in nanoseconds of uptime.
    private var next: [RequestKind: Int64]
    /// Until when the store wants to be left alone, by our clock.
    private(set) var pausedUntil: Instant?

    init(environment: Environment, timing: Timing, pausedUntil: Instant? = nil) {
        self.environment = environment
        self.timing = timing
        self.pausedUntil = pausedUntil
        // What a process before this one has just asked is not known: the distance is kept to that too.
        let now = timing.uptime()
        next = Dictionary(
            uniqueKeysWithValues: RequestKind.allCases.map {
                ($0, now + $0.interval(in: environment))
            }
        )
    }

    /// Returns when one request of a kind may be made; throws when cancelled.
    ///
    /// - Throws: `BackfillStop` where the store wants to be left alone for longer than `patience`, by default
    ///   that of all long work.
    func admit(_ kind: RequestKind, patience: Milliseconds? = nil) async throws {
        repeat {
            try await waitOutPause(patience ?? timing.patience)
            let now = timing.uptime()
            let turn = max(now, next[kind] ?? now)
            next[kind] = turn + kind.interval(in: environment)
            if turn > now { try await timing.sleep(.nanoseconds(turn - now)) }
        } while isPaused
    }

    /// The same for a request that somebody waits for; false, and nothing may be asked, where its turn
    /// is not soon.
    func admitSoon(_ kind: RequestKind) async throws -> Bool {
        let now = timing.uptime()
        let turn = max(now, next[kind] ?? now)
        guard !isPaused, turn <= now + Self.soon else { return false }
        next[kind] = turn + kind.interval(in: environment)
        if turn > now { try await timing.sleep(.nanoseconds(turn - now)) }
        return !isPaused
    }

    /// Leaves the store alone until an instant.
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
