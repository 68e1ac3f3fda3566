public import TideoverAppStore
public import TideoverCore
import TideoverHTTP
public import TideoverJSON

/// A test notification that a server took in.
public struct TestArrival: Hashable, Sendable {
    /// The store's id of it.
    public let notificationUUID: String
    /// By the server's clock.
    public let arrivedAt: Instant

    /// A test that arrived.
    public init(notificationUUID: String, arrivedAt: Instant) {
        self.notificationUUID = notificationUUID
        self.arrivedAt = arrivedAt
    }

    /// Those that an answer to `GET /v1/apps/{app}/arrivals` tells of.
    public static func all(in answer: JSONNode) -> [TestArrival] {
        (answer["tests"]?.elements.map { $0 } ?? []).compactMap { test in
            guard let uuid = test["notificationUUID"]?.string,
                let at = test["arrivedAt"]?.string.flatMap({ Instant(rfc3339: $0) })
            else { return nil }
            return TestArrival(notificationUUID: uuid, arrivedAt: at)
        }
    }
}

/// What a look at the store of one app in one environment brought.
public struct StoreReading: Sendable {
    /// How asking for a test notification ended.
    public enum Outcome: Sendable {
        /// The store did not take the question.
        case refused(AppStoreAPIFailure)
        /// The store takes questions; no test was asked for, since no server listens.
        case answered
        /// The store was to send one.
        case tested(Test)
    }

    /// How a test notification fared.
    public struct Test: Sendable {
        /// The attempts at sending it that the store told of, oldest first.
        public internal(set) var attempts: [SentNotification.Attempt] = []
        /// From our asking to the server's taking it in; nil while it has not arrived.
        public internal(set) var arrivedAfter: Milliseconds?
        /// How long was waited.
        public internal(set) var waited = Milliseconds.zero
        /// Why the store's own copy of the notification was not believed.
        public internal(set) var disbelief: String?
        /// Whether the signed content was read and named the app.
        public internal(set) var isOfApp = false
        /// Why the server could not be asked what has arrived.
        public internal(set) var serverSilence: String?
    }

    public let app: String
    public let environment: Environment
    /// The store's clock less ours, by the answers' dates; nil where none had one.
    public let skew: Milliseconds?
    public let outcome: Outcome

    init(_ access: StoreAccess, of app: App, skew: Milliseconds?, _ outcome: Outcome) {
        self.app = app.id
        environment = access.environment
        self.skew = skew
        self.outcome = outcome
    }
}

/// Has a store send a test notification, and waits until a server tells that it arrived, or the store
/// that it did not.
public struct StoreTrial: Sendable {
    private let app: App
    private let trust: AppStoreTrust
    private let access: StoreAccess
    private let api: AppStoreAPI
    private let timing: Timing
    private let patience: Milliseconds

    /// The store allows a question about a test a second.
    private static let pause = Duration.seconds(2)
    /// How long an arrival that the store tells of may be on its way through the server.
    private static let grace = Milliseconds.seconds(6)

    /// A trial of the store behind `access`; nil for an app that does not sell on the App Store. `clock` is
    /// the server's, which tokens are dated by; `uptime` counts nanoseconds and never goes back; `patience`
    /// is how long a notification is waited for.
    public init?(
        _ access: StoreAccess,
        of app: App,
        clock: @escaping Clock,
        uptime: @escaping @Sendable () -> Int64,
        sleep: @escaping Sleep,
        patience: Milliseconds
    ) {
        guard let trust = app.appStore else { return nil }
        self.app = app
        self.trust = trust
        self.access = access
        self.patience = patience
        timing = Timing(clock: clock, uptime: uptime, sleep: sleep)
        api = AppStoreAPI(
            app: trust.identity,
            environment: access.environment,
            tokens: AppStoreTokens(key: access.key, signer: access.signer),
            clock: clock,
            handler: access.handler
        )
    }

    /// Asks whether the store takes our questions, about a test that never was: it says so.
    ///
    /// - Throws: `CancellationError`.
    public func knock() async throws -> StoreReading {
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

    /// Asks for a test notification and waits for it. `arrivals` asks the server which have arrived;
    /// `telling` is told what is waited for.
    ///
    /// - Throws: `CancellationError`.
    public func run(
        arrivals: @Sendable () async throws -> [TestArrival],
        telling: (String) -> Void
    ) async throws -> StoreReading {
        let askedAt = timing.clock()
        let requested: AppStoreAnswer<TestNotificationRequested>
        do {
            requested = try await api.requestTestNotification()
        } catch let failure as AppStoreAPIFailure {
            return reading(failure.exchange, .refused(failure))
        }
        telling("the store was asked for a test notification; waiting until it arrives")
        var course = Course()
        let begun = timing.uptime()
        repeat {
            try await timing.sleep(Self.pause)
            course.test.waited = Milliseconds((timing.uptime() - begun) / 1_000_000)
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
        StoreReading(access, of: app, skew: exchange.skew, outcome)
    }

    /// What is known so far.
    private struct Course {
        var test = StoreReading.Test()
        var uuid: String?
        /// How long was waited when the store first told of an attempt.
        var attemptedAfter: Milliseconds?

        private var toldAfter = Milliseconds.zero

        /// Whether it is time to say that the waiting goes on.
        mutating func tells() -> Bool {
            guard test.waited.count - toldAfter.count >= 10_000 else { return false }
            toldAfter = test.waited
            return true
        }

        /// Whether waiting brings nothing more: an attempt that failed is made again after an hour at
        /// the earliest.
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
            // Before the first attempt the store says that there is no such test; whatever else goes
            // wrong may pass, and the waiting is bounded.
            return
        }
        course.test.attempts = sent.sendAttempts
        guard !sent.sendAttempts.isEmpty else { return }
        course.attemptedAfter = course.test.waited
        telling("the store has sent it")
        read(sent, &course)
    }

    private func read(_ sent: SentNotification, _ course: inout Course) {
        guard let item = api.reader.read(sent, check: trust.check(at: timing.clock())) else {
            return
        }
        switch item.reading {
        case .success(let reading):
            course.uuid = reading.notificationUUID
            course.test.isOfApp = true
        case .failure(let error):
            course.test.disbelief =
                (error as? any Refusal)?.sentence ?? String(reflecting: type(of: error))
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
