package import TideoverAppStore
package import TideoverCore
package import TideoverJSON

/// A test notification that a server received.
package struct TestArrival: Hashable, Sendable {
    /// The store's id of the notification.
    package let notificationUUID: String
    /// The time of arrival by the server's clock.
    package let arrivedAt: Instant

    /// Returns the tests in a response to `GET /v1/apps/{app}/arrivals`.
    package static func all(in answer: JSONNode) -> [TestArrival] {
        (answer["tests"]?.elements.map { $0 } ?? []).compactMap { test in
            guard let uuid = test["notificationUUID"]?.string,
                let at = test["arrivedAt"]?.string.flatMap({ Instant(rfc3339: $0) })
            else { return nil }
            return TestArrival(notificationUUID: uuid, arrivedAt: at)
        }
    }
}

/// The result of checking the store of one app in one environment.
package struct StoreReading: Sendable {
    /// The result of requesting a test notification.
    package enum Outcome: Sendable {
        /// The store rejected the request.
        case refused(AppStoreAPIFailure)
        /// The store accepts requests; no test was requested, because no server is running or the
        /// store is simulated.
        case answered
        /// The store accepted the request for a test.
        case tested(Test)
    }

    /// The progress of a test notification.
    package struct Test: Sendable {
        /// The delivery attempts that the store reported, oldest first.
        package internal(set) var attempts: [SentNotification.Attempt] = []
        /// The time from the request to the arrival at the server; nil if it has not arrived.
        package internal(set) var arrivedAfter: Milliseconds?
        /// How long the trial waited.
        package internal(set) var waited = Milliseconds.zero
        /// Why the store's own copy of the notification failed verification.
        package internal(set) var disbelief: String?
        /// Whether the signed content was readable and named the app.
        package internal(set) var isOfApp = false
        /// Why the server could not be queried for arrivals.
        package internal(set) var serverSilence: String?
    }

    package let app: String
    package let environment: Environment
    /// The store's clock minus ours, from the dates of responses; nil if none had a date.
    package let skew: Milliseconds?
    package let outcome: Outcome

    init(of app: String, in environment: Environment, skew: Milliseconds?, _ outcome: Outcome) {
        self.app = app
        self.environment = environment
        self.skew = skew
        self.outcome = outcome
    }
}

/// Requests a test notification from a store, and waits until the server reports its arrival or the
/// store reports a failure.
package struct StoreTrial: Sendable {
    private let app: String
    private let api: AppStoreAPI
    private let verification: Verification
    private let clock: @Sendable () -> Instant
    private let uptime: @Sendable () -> Int64
    private let sleep: @Sendable (Duration) async throws -> Void
    private let patience: Milliseconds

    /// The store allows one status request a second.
    private static let pause = Duration.seconds(2)
    /// How long a delivered notification may take to appear at the server.
    private static let grace = Milliseconds.seconds(6)

    /// How the app verifies what the store signs.
    package struct Verification: Sendable {
        let check: @Sendable (Instant) -> SignatureCheck
        let reason: @Sendable (any Error) -> String

        /// - Parameters:
        ///   - check: Returns the check of signatures at an instant.
        ///   - reason: Returns why a check or a reader rejected data, as a sentence.
        package init(
            check: @escaping @Sendable (Instant) -> SignatureCheck,
            reason: @escaping @Sendable (any Error) -> String
        ) {
            self.check = check
            self.reason = reason
        }
    }

    /// Creates a trial of the store behind `access`.
    ///
    /// - Parameters:
    ///   - access: The access to the store.
    ///   - app: The app's id.
    ///   - identity: The app's identity in the store.
    ///   - verification: How the app verifies what the store signs.
    ///   - clock: The server's clock, which dates tokens.
    ///   - uptime: A monotonic clock in nanoseconds.
    ///   - sleep: Suspends the caller for a duration.
    ///   - patience: The maximum wait for a notification.
    package init(
        _ access: StoreAccess,
        of app: String,
        identity: AppStoreIdentity,
        verification: Verification,
        clock: @escaping @Sendable () -> Instant,
        uptime: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        patience: Milliseconds
    ) {
        self.app = app
        self.verification = verification
        self.clock = clock
        self.uptime = uptime
        self.sleep = sleep
        self.patience = patience
        api = AppStoreAPI(
            app: identity,
            environment: access.environment,
            tokens: AppStoreTokens(key: access.key, signer: access.signer),
            clock: clock,
            handler: access.handler
        )
    }

    /// Checks whether the store accepts our requests, by querying a test that does not exist.
    ///
    /// - Throws: `CancellationError`.
    package func knock() async throws -> StoreReading {
        do {
            let never = "00000000-0000-4000-8000-000000000000_0"
            let answer = try await api.testNotificationStatus(never)
            return reading(answer.exchange, .answered)
        } catch let failure as AppStoreAPIFailure {
            let isTaken =
                [.testNotificationNotFound, .invalidTestNotificationToken].contains(
                    failure.knownCode
                )
            return reading(failure.exchange, isTaken ? .answered : .refused(failure))
        }
    }

    /// Requests a test notification and waits for it. `arrivals` queries the server; `telling`
    /// receives progress messages.
    ///
    /// - Throws: `CancellationError`.
    package func run(
        arrivals: @Sendable () async throws -> [TestArrival],
        telling: (String) -> Void
    ) async throws -> StoreReading {
        let askedAt = clock()
        let requested: AppStoreAnswer<TestNotificationRequested>
        do {
            requested = try await api.requestTestNotification()
        } catch let failure as AppStoreAPIFailure {
            return reading(failure.exchange, .refused(failure))
        }
        telling("requested a test notification from the store; waiting until it arrives")
        var course = Course()
        let begun = uptime()
        repeat {
            try await sleep(Self.pause)
            course.test.waited = Milliseconds((uptime() - begun) / 1_000_000)
            if course.tells() {
                telling("still waiting, \(course.test.waited.count / 1_000) s")
            }
            try await askStore(requested.content.testNotificationToken, &course, telling)
            try await askServer(arrivals, since: askedAt, &course)
        } while !course.isOver(after: Self.grace) && course.test.waited < patience
        return reading(requested.exchange, .tested(course.test))
    }

    private func reading(_ exchange: StoreExchange, _ outcome: StoreReading.Outcome)
        -> StoreReading
    {
        StoreReading(of: app, in: api.environment, skew: exchange.skew, outcome)
    }

    /// The progress of a trial.
    private struct Course {
        var test = StoreReading.Test()
        var uuid: String?
        /// The wait until the store first reported an attempt.
        var attemptedAfter: Milliseconds?

        private var toldAfter = Milliseconds.zero

        /// Returns whether a progress message is due.
        mutating func tells() -> Bool {
            guard test.waited.count - toldAfter.count >= 10_000 else { return false }
            toldAfter = test.waited
            return true
        }

        /// Returns whether more waiting is useless: the store repeats a failed attempt after an
        /// hour at the earliest.
        func isOver(after grace: Milliseconds) -> Bool {
            if test.arrivedAfter != nil, attemptedAfter != nil { return true }
            guard let attemptedAfter else { return false }
            return test.disbelief != nil || test.waited.count - attemptedAfter.count >= grace.count
        }
    }

    private func askStore(
        _ token: String,
        _ course: inout Course,
        _ telling: (String) -> Void
    ) async throws {
        guard course.attemptedAfter == nil else { return }
        let sent: SentNotification
        do {
            sent = try await api.testNotificationStatus(token).content
        } catch is AppStoreAPIFailure {
            // Before the first attempt the store reports that there is no such test. Other failures
            // may be temporary, and the wait is bounded.
            return
        }
        course.test.attempts = sent.sendAttempts
        guard !sent.sendAttempts.isEmpty else { return }
        course.attemptedAfter = course.test.waited
        telling("the store sent it")
        read(sent, &course)
    }

    private func read(_ sent: SentNotification, _ course: inout Course) {
        guard let item = api.reader.read(sent, check: verification.check(clock())) else { return }
        switch item.reading {
        case .success(let reading):
            course.uuid = reading.notificationUUID
            course.test.isOfApp = true
        case .failure(let error):
            course.test.disbelief = verification.reason(error)
        }
    }

    private func askServer(
        _ arrivals: @Sendable () async throws -> [TestArrival],
        since askedAt: Instant,
        _ course: inout Course
    ) async throws {
        guard let uuid = course.uuid, course.test.arrivedAfter == nil else { return }
        do {
            let found = try await arrivals().first { $0.notificationUUID == uuid }
            course.test.serverSilence = nil
            course.test.arrivedAfter = found.map { max(.zero, $0.arrivedAt - askedAt) }
        } catch let error as CancellationError {
            throw error
        } catch {
            course.test.serverSilence = "\(error)"
        }
    }
}
