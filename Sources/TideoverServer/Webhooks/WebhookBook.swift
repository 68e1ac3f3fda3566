import TideoverCore
import TideoverLocks
import TideoverStorage

/// The webhooks of a service: configured ones, and those added to the storage.
struct WebhookBook: Sendable {
    /// A receiver with its stored state.
    struct Entry: Sendable {
        let endpoint: WebhookEndpoint
        let record: WebhookRecord

        var isActive: Bool { record.disabled == nil }
    }

    let apps: [String]
    let configured: [WebhookEndpoint]
    private let configuredByKey: [WebhookKey: WebhookEndpoint]
    let storage: any Storage
    let clock: Clock
    /// When the last alarm of a failing webhook was raised.
    private let alarms = Locked<[WebhookKey: Instant]>([:])
    /// The results of batches that the storage has not accepted yet.
    private let unstored = Locked<[WebhookKey: BatchResults]>([:])

    init(apps: [String], _ setup: WebhookSetup, storage: any Storage, clock: @escaping Clock) {
        self.apps = apps
        configured = setup.configured
        configuredByKey = Dictionary(
            setup.configured.map { ($0.key, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        self.storage = storage
        self.clock = clock
    }

    /// Stores the configured webhooks. A new one receives the events from now on.
    func synchronise() async throws(StorageError) {
        for endpoint in configured { try await put(endpoint) }
    }

    func put(_ endpoint: WebhookEndpoint) async throws(StorageError) {
        let position = EventID.earliest(at: clock())
        try await storage.put(
            WebhookRecord(endpoint.key, form: endpoint.form, position: position)
        )
    }

    /// Returns the webhooks of all apps. One that is no longer configured is left out.
    func entries() throws(StorageError) -> [Entry] {
        var all: [Entry] = []
        for app in apps { all += try entries(of: app) }
        return all
    }

    func entries(of app: String) throws(StorageError) -> [Entry] {
        try storage.webhooks(app: app).compactMap(joined)
    }

    /// Reads one webhook only: the worker does so for each batch.
    func entry(_ key: WebhookKey) throws(StorageError) -> Entry? {
        try storage.webhook(key).flatMap(joined)
    }

    private func joined(_ record: WebhookRecord) -> Entry? {
        let found = configuredByKey[record.key] ?? WebhookEndpoint(record)
        return found.map { Entry(endpoint: $0, record: record) }
    }

    /// Remembers results that could not be stored.
    func keep(_ results: BatchResults) {
        unstored.withLock { $0[results.settlement.key] = results }
    }

    /// Returns the results of a webhook that could not be stored, and forgets them.
    func takeResults(of key: WebhookKey) -> BatchResults? {
        unstored.withLock { $0.removeValue(forKey: key) }
    }

    /// Returns whether a failing webhook raises an alarm now: once in six hours. A wait that its
    /// receiver wishes counts as time of failing, because nothing is sent meanwhile.
    func raisesAlarm(
        _ settlement: WebhookSettlement,
        after length: Milliseconds,
        waitsUntil: Instant?
    ) -> Bool {
        alarms.withLock { alarms in
            guard let since = settlement.failingSince else {
                alarms[settlement.key] = nil
                return false
            }
            let isRecent = alarms[settlement.key].map { settlement.now - $0 < .hours(6) } ?? false
            let end = max(settlement.now, waitsUntil ?? settlement.now)
            guard end - since >= length, !isRecent else { return false }
            alarms[settlement.key] = settlement.now
            return true
        }
    }
}

extension Service {
    /// Stores the configured webhooks; a failure is logged, and nothing is delivered to a new one.
    package func synchroniseWebhooks() async {
        do {
            try await webhooks.synchronise()
        } catch {
            let detail = error.description
            log(LogLine(.error, "webhooks not stored", code: "storage", detail: detail))
        }
    }

    /// Delivers everything that is due now.
    package func deliverDueWebhooks() async { await webhookWorker?.deliverDue() }

    /// Nil if this service sends no webhooks.
    var webhookWorker: WebhookWorker? {
        webhookSending.map { sending in
            WebhookWorker(
                book: webhooks,
                sending: sending,
                revenueCat: RevenueCatMessages(contexts: contexts),
                storage: storage,
                random: random,
                metrics: metrics,
                log: log
            )
        }
    }
}
