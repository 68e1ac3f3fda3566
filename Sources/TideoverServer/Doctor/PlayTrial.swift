public import TideoverCore
public import TideoverGooglePlay
public import TideoverJSON

/// What an answer to `GET /v1/apps/{app}/arrivals?store=googlePlay` tells.
public struct PlayArrivals: Hashable, Sendable {
    /// A push that was not this app's.
    public struct Misdirected: Hashable, Sendable {
        public let at: Instant
        public let reason: String
        /// What its token says, if Google signed it.
        public let audience: String?
        public let email: String?
    }

    /// By the server's clock.
    public let asOf: Instant
    public let lastArrivedAt: Instant?
    /// When each test notification since the server's start arrived, the newest last.
    public let tests: [Instant]
    public let misdirected: Misdirected?

    /// Nil for what is no such answer.
    public init?(_ answer: JSONNode) {
        func instant(_ node: JSONNode?) -> Instant? {
            node?.string.flatMap { Instant(rfc3339: $0) }
        }
        guard answer["store"]?.string == Store.googlePlay.rawValue,
            let asOf = instant(answer["asOf"])
        else { return nil }
        self.asOf = asOf
        lastArrivedAt = instant(answer["lastArrivedAt"])
        tests = (answer["tests"]?.elements.map { $0 } ?? []).compactMap {
            instant($0["arrivedAt"])
        }
        let push = answer["misdirected"]
        misdirected = instant(push?["at"]).map { at in
            Misdirected(
                at: at,
                reason: push?["reason"]?.string ?? "",
                audience: push?["audience"]?.string,
                email: push?["email"]?.string
            )
        }
    }

    /// Whether something arrived within the last day: then there is nothing to wait for.
    var isAlive: Bool { lastArrivedAt.map { asOf - $0 < .days(1) } ?? false }
}

/// What a look at Google Play for one app brought.
public struct PlayLook: Sendable {
    /// How a question went that changes nothing.
    public enum Knock: Sendable {
        case answered
        case refused(PlayAPIFailure)
    }

    /// How a test notification fared, which somebody has to send by hand.
    public enum Test: Hashable, Sendable {
        /// Notifications arrived within the last day: none was waited for.
        case notNeeded
        case arrived
        case missing(waited: Milliseconds)
    }

    /// What the server told at the end of the wait.
    public let arrivals: PlayArrivals
    public let test: Test
}

/// Asks Google Play a harmless question, and waits until a server tells that a test notification arrived.
public struct PlayTrial: Sendable {
    private let trust: PlayTrust
    private let timing: Timing
    private let patience: Milliseconds

    /// Nobody clicks faster.
    private static let pause = Duration.seconds(2)

    /// Where somebody who waits for a test notification has to click.
    public static let whereToClick =
        "in the Play Console: Monetize with Play, Monetization setup, Real-time developer "
        + "notifications, Send test notification"

    /// - Parameters:
    ///   - trust: How the store is asked about the app.
    ///   - clock: The server's.
    ///   - uptime: Counts nanoseconds and never goes back.
    ///   - sleep: How whatever waits lets time pass.
    ///   - patience: How long a notification is waited for.
    public init(
        _ trust: PlayTrust,
        clock: @escaping Clock,
        uptime: @escaping @Sendable () -> Int64,
        sleep: @escaping Sleep,
        patience: Milliseconds
    ) {
        self.trust = trust
        self.patience = patience
        timing = Timing(clock: clock, uptime: uptime, sleep: sleep)
    }

    /// Asks about a purchase that never was: the store says so to whom it lets ask. Nil where no
    /// credentials are configured.
    ///
    /// - Throws: `CancellationError`.
    public func knock() async throws -> (knock: PlayLook.Knock, skew: Milliseconds?)? {
        guard let api = trust.api else { return nil }
        do {
            let answer = try await api.subscription("tideover-doctor-asks-whether-it-may")
            return (.answered, answer.exchange.skew)
        } catch let failure as PlayAPIFailure {
            return (
                failure.saysThereIsNone ? .answered : .refused(failure), failure.exchange.skew
            )
        }
    }

    /// Waits for a test notification, unless notifications arrive anyhow. `arrivals` asks the server which
    /// have arrived; `telling` is told what is waited for.
    public func wait(
        arrivals: @Sendable () async throws -> PlayArrivals,
        telling: (String) -> Void
    ) async throws -> PlayLook {
        let first = try await arrivals()
        if first.isAlive { return PlayLook(arrivals: first, test: .notNeeded) }
        if patience > .zero {
            telling(
                "waiting \(patience.count / 1_000) s for a test notification; "
                    + "send one \(Self.whereToClick)"
            )
        }
        let begun = timing.uptime()
        var waited = Milliseconds.zero
        while waited < patience {
            try await timing.sleep(Self.pause)
            waited = Milliseconds((timing.uptime() - begun) / 1_000_000)
            let now = try await arrivals()
            let isNews = now.tests.last.map { $0 > first.tests.last ?? .distantPast } ?? false
            if isNews { return PlayLook(arrivals: now, test: .arrived) }
            // What is not for us tells enough.
            if let push = now.misdirected, push != first.misdirected {
                return PlayLook(arrivals: now, test: .missing(waited: waited))
            }
        }
        return PlayLook(arrivals: try await arrivals(), test: .missing(waited: waited))
    }
}

extension PlayAPIFailure {
    /// Whether the store took the question, and knows no such purchase or order.
    var saysThereIsNone: Bool {
        switch reason {
        case .notFound, .gone: true
        case .status(let status, _): status == 400
        default: false
        }
    }
}
