package import TideoverCore
package import TideoverGooglePlay
package import TideoverJSON

/// The content of a response to `GET /v1/apps/{app}/arrivals?store=googlePlay`.
package struct PlayArrivals: Hashable, Sendable {
    /// A push with a token that is not this app's.
    package struct Misdirected: Hashable, Sendable {
        package let at: Instant
        package let reason: String
        /// The content of its token, if Google signed it.
        package let audience: String?
        package let email: String?
    }

    /// The time of the response, by the server's clock.
    package let asOf: Instant
    package let lastArrivedAt: Instant?
    /// When each of the latest test notifications arrived, newest last.
    package let tests: [Instant]
    package let misdirected: Misdirected?

    /// Returns nil if the JSON is not such a response.
    package init?(_ answer: JSONNode) {
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

    /// Whether a notification arrived within the last day, so that no wait is necessary.
    var isAlive: Bool { lastArrivedAt.map { asOf - $0 < .days(1) } ?? false }
}

/// The result of checking Google Play for one app.
package struct PlayLook: Sendable {
    /// The result of a query without side effects.
    package enum Knock: Sendable {
        case answered
        case refused(PlayAPIFailure)

        /// Whether Google answered. Otherwise no push can be verified either, as the keys are
        /// Google's.
        package var isReached: Bool {
            guard case .refused(let failure) = self else { return true }
            return switch failure.reason {
            case .unreachable, .noAccess(.unreachable): false
            default: true
            }
        }
    }

    /// The result of waiting for a test notification, which must be sent by hand.
    package enum Test: Hashable, Sendable {
        /// Notifications arrived within the last day, so there was no wait.
        case notNeeded
        case arrived
        case missing(waited: Milliseconds)
    }

    /// The server's response at the end of the wait.
    package let arrivals: PlayArrivals
    package let test: Test
}

/// Sends Google Play a query without side effects, and waits until a server reports the arrival of
/// a test notification.
package struct PlayTrial: Sendable {
    private let api: PlayAPI?
    private let uptime: @Sendable () -> Int64
    private let sleep: @Sendable (Duration) async throws -> Void
    private let patience: Milliseconds

    /// Sending a test takes longer than this.
    private static let pause = Duration.seconds(2)

    /// Where to send a test notification in the Play Console.
    package static let whereToClick =
        "in the Play Console: Monetize with Play, Monetization setup, Real-time developer "
        + "notifications, Send test notification"

    /// - Parameters:
    ///   - api: The client that queries the store about the app; nil without credentials.
    ///   - uptime: A monotonic clock in nanoseconds.
    ///   - sleep: Suspends the caller for a duration.
    ///   - patience: The maximum wait for a notification.
    package init(
        _ api: PlayAPI?,
        uptime: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        patience: Milliseconds
    ) {
        self.api = api
        self.uptime = uptime
        self.sleep = sleep
        self.patience = patience
    }

    /// Queries a purchase that does not exist; an authorised caller receives a "not found". Returns
    /// nil if no credentials are configured.
    ///
    /// - Throws: `CancellationError`.
    package func knock() async throws -> (knock: PlayLook.Knock, skew: Milliseconds?)? {
        guard let api else { return nil }
        do {
            let answer = try await api.subscription("tideover-doctor-asks-whether-it-may")
            return (.answered, answer.exchange.skew)
        } catch let failure as PlayAPIFailure {
            return (
                failure.saysThereIsNone ? .answered : .refused(failure), failure.exchange.skew
            )
        }
    }

    /// Waits for a test notification, unless notifications arrive already. `arrivals` queries the
    /// server; `telling` receives progress messages.
    package func wait(
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
        let begun = uptime()
        var waited = Milliseconds.zero
        while waited < patience {
            try await sleep(Self.pause)
            waited = Milliseconds((uptime() - begun) / 1_000_000)
            let now = try await arrivals()
            let isNews = now.tests.last.map { $0 > first.tests.last ?? .distantPast } ?? false
            if isNews { return PlayLook(arrivals: now, test: .arrived) }
            // A misdirected push already identifies the fault.
            if let push = now.misdirected, push != first.misdirected {
                return PlayLook(arrivals: now, test: .missing(waited: waited))
            }
        }
        return PlayLook(arrivals: try await arrivals(), test: .missing(waited: waited))
    }
}
