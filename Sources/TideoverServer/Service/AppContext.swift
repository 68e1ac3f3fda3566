import TideoverCore
import TideoverLocks
import TideoverStorage

/// An app, and what everything that serves it shares.
struct AppContext: Sendable {
    /// The same for all requests. A context is copied often, and this is copied as one reference.
    private let box: Box
    /// The log of the server, or of one request.
    var log: Log
    /// The notes for a request's log line; nil outside of requests with a body.
    var notes: Locked<Call.Notes>?

    struct Shared: Sendable {
        let app: App
        let storage: any Storage
        let clock: Clock
        /// A cryptographically secure source.
        let random: @Sendable () -> UInt64
        let keys: Locked<KeyTable>
        let metrics: Metrics
        let tallies: CounterBuffer
        let verifications: ConcurrencyLimiter
        let longReads: LongReads
        let rateLimiter: RateLimiter
        let arrivals: NotificationLog
        let consumption: ConsumptionQueues
        /// Limits the queries to Google Play that devices cause; nil if the app is not sold there.
        let playQuestions: RequestLimiter?
    }

    private final class Box: Sendable {
        let shared: Shared

        init(_ shared: Shared) { self.shared = shared }
    }

    init(_ shared: Shared, log: @escaping Log) {
        box = Box(shared)
        self.log = log
    }

    var app: App { box.shared.app }
    /// Read without a copy of the app.
    var isRehearsal: Bool { box.shared.app.isRehearsal }
    var storage: any Storage { box.shared.storage }
    var clock: Clock { box.shared.clock }
    var random: @Sendable () -> UInt64 { box.shared.random }
    var keys: Locked<KeyTable> { box.shared.keys }
    var metrics: Metrics { box.shared.metrics }
    var tallies: CounterBuffer { box.shared.tallies }
    var verifications: ConcurrencyLimiter { box.shared.verifications }
    var longReads: LongReads { box.shared.longReads }
    var rateLimiter: RateLimiter { box.shared.rateLimiter }
    var arrivals: NotificationLog { box.shared.arrivals }
    var consumption: ConsumptionQueues { box.shared.consumption }
    var playQuestions: RequestLimiter? { box.shared.playQuestions }

    /// Logs a line about the app.
    func log(
        _ level: LogLine.Level,
        _ event: String,
        in environment: Environment? = nil,
        code: String? = nil,
        detail: String? = nil
    ) {
        log(
            LogLine(
                level,
                event,
                app: app.id,
                environment: environment,
                code: code,
                detail: detail
            )
        )
    }

    /// Notes the environment of a request's content, for the request's log line.
    func noteEnvironment(_ environment: Environment) {
        notes?.withLock { $0.environment = environment }
    }

    /// Notes why a notification is rejected, for the request's log line.
    func noteRefusal(_ refusal: (any Refusal)?) {
        notes?.withLock { $0.refusal = refusal?.logged }
    }

    /// Returns the name of a request's key.
    func presenter(of call: Call) -> String { keys.withLock { $0.name(of: call.presented) } }

    /// Commits a request, and derives its customers by the app's rules.
    func commit(_ request: CommitRequest) async throws(StorageError) -> CommitOutcome {
        try await storage.commit(request, derive: Projector(app: app).derive)
    }

    /// Commits requests in one transaction.
    func commit(_ requests: [CommitRequest]) async throws(StorageError) -> [CommitOutcome] {
        try await storage.commit(requests, derive: Projector(app: app).derive)
    }

    /// Counts and logs a notification that was committed.
    func committed(_ type: String?, _ environment: Environment?, notificationUUID: String? = nil) {
        metrics.count(.notifications, app.id, "committed")
        log(
            LogLine(
                .info,
                "notification committed",
                app: app.id,
                environment: environment,
                code: type,
                notificationUUID: notificationUUID
            )
        )
    }

    /// Counts a notification that was stored before.
    func repeated() { metrics.count(.notifications, app.id, "duplicate") }

    /// Counts a notification that could not be processed, and so may be missing.
    func failed() {
        metrics.count(.notifications, app.id, "failed")
        for store in app.stores { arrivals.missed(of: store, in: app.id) }
    }

    func refused(_ code: String) {
        metrics.count(.notifications, app.id, "refused")
        metrics.count(.refusals, app.id, code)
        tallies.count(Tally(environment: nil, kind: "refusal", name: code), app: app.id)
    }
}
