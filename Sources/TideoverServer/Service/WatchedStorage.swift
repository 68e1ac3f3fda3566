import TideoverCore
import TideoverStorage

/// A storage that counts commits and failures, and reports each commit.
struct WatchedStorage: Storage {
    private let storage: any Storage
    private let metrics: Metrics
    private let uptime: @Sendable () -> Int64
    private let large: LargeCustomers
    /// Receives each committed commit request.
    private let told: @Sendable (CommitRequest) -> Void
    /// Called when a commit failed for a reason that the next one is likely to share.
    private let failed: @Sendable () -> Void

    init(
        _ storage: any Storage,
        metrics: Metrics,
        uptime: @escaping @Sendable () -> Int64,
        log: @escaping Log = { _ in },
        told: @escaping @Sendable (CommitRequest) -> Void = { _ in },
        failed: @escaping @Sendable () -> Void = {}
    ) {
        self.storage = storage
        self.metrics = metrics
        self.uptime = uptime
        large = LargeCustomers(metrics: metrics, log: log, uptime: uptime)
        self.told = told
        self.failed = failed
    }

    func commit(
        _ commitRequests: [CommitRequest],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome] {
        let begun = uptime()
        do {
            let outcomes = try await storage.commit(commitRequests) { [large] lineages in
                large.note(lineages)
                return derive(lineages)
            }
            let nanoseconds = uptime() - begun
            for (commitRequest, outcome) in zip(commitRequests, outcomes) {
                metrics.committed(outcome.word, nanoseconds: nanoseconds)
                if case .committed = outcome { told(commitRequest) }
            }
            return outcomes
        } catch {
            metrics.committed("failed", nanoseconds: uptime() - begun)
            if error.reason.isLasting { failed() }
            throw counted(error)
        }
    }

    func claimDue(_ order: DueOrder) async throws(StorageError) -> [DueClaim] {
        do {
            return try await storage.claimDue(order)
        } catch {
            throw counted(error)
        }
    }

    func due(
        app: String,
        environment: Environment,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading {
        try read { storage throws(StorageError) in
            try storage.due(app: app, environment: environment, now: now, limit: limit)
        }
    }

    func add(_ counts: [Tally: Int64], app: String) async throws(StorageError) {
        do {
            try await storage.add(counts, app: app)
        } catch {
            throw counted(error)
        }
    }

    func prune(_ order: PruneOrder) async throws(StorageError) -> Pruned {
        do {
            return try await storage.prune(order)
        } catch {
            throw counted(error)
        }
    }

    func erase(_ erasure: Erasure) async throws(StorageError) -> Erased? {
        do {
            return try await storage.erase(erasure)
        } catch {
            throw counted(error)
        }
    }

    func add(_ key: KeyRecord) async throws(StorageError) {
        do {
            try await storage.add(key)
        } catch {
            throw counted(error)
        }
    }

    func revokeKey(_ id: String, at now: Instant) async throws(StorageError) -> KeyRecord? {
        do {
            return try await storage.revokeKey(id, at: now)
        } catch {
            throw counted(error)
        }
    }

    func record(
        _ version: PolicyVersion,
        app: String,
        environment: Environment
    ) async throws(StorageError) -> Bool {
        do {
            return try await storage.record(version, app: app, environment: environment)
        } catch {
            throw counted(error)
        }
    }

    func policyVersions(
        app: String,
        environment: Environment
    ) throws(StorageError) -> [PolicyVersion] {
        try read { storage throws(StorageError) in
            try storage.policyVersions(app: app, environment: environment)
        }
    }

    func keys() throws(StorageError) -> [KeyRecord] {
        try read { storage throws(StorageError) in try storage.keys() }
    }

    func sharedChanges() throws(StorageError) -> SharedChanges? {
        try read { storage throws(StorageError) in try storage.sharedChanges() }
    }

    func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow? {
        try read { storage throws(StorageError) in try storage.row(of: customer) }
    }

    func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages? {
        try read { storage throws(StorageError) in
            try storage.lineages(of: customer, now: now)
        }
    }

    func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence? {
        try read { storage throws(StorageError) in try storage.evidence(id, app: app) }
    }

    func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent] {
        try read { storage throws(StorageError) in
            try storage.outbox(app: app, after: after, limit: limit)
        }
    }

    func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent] {
        try read { storage throws(StorageError) in
            try storage.latestEvents(app: app, limit: limit)
        }
    }

    func evidence(
        app: String,
        environment: Environment,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try read { storage throws(StorageError) in
            try storage.evidence(app: app, environment: environment, after: after, limit: limit)
        }
    }

    func evidence(
        app: String,
        environment: Environment,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try read { storage throws(StorageError) in
            try storage.evidence(
                app: app,
                environment: environment,
                keyed: prefix,
                after: after,
                limit: limit
            )
        }
    }

    func lineages(
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try read { storage throws(StorageError) in
            try storage.lineages(app: app, environment: environment, after: after, limit: limit)
        }
    }

    func lineageRecord(_ lineage: Lineage, app: String) throws(StorageError) -> LineageRecord {
        try read { storage throws(StorageError) in try storage.lineageRecord(lineage, app: app) }
    }

    func lineageRecords(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try read { storage throws(StorageError) in
            try storage.lineageRecords(named: name, app: app, limit: limit)
        }
    }

    func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift] {
        try read { storage throws(StorageError) in
            try storage.drift(of: customer, limit: limit)
        }
    }

    func drift(
        app: String,
        environment: Environment,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift] {
        try read { storage throws(StorageError) in
            try storage.drift(app: app, environment: environment, after: after, limit: limit)
        }
    }

    func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity {
        try read { storage throws(StorageError) in try storage.identity(of: customer) }
    }

    func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord] {
        try read { storage throws(StorageError) in
            try storage.audit(app: app, customer: customer, after: after, limit: limit)
        }
    }

    func unclaimed(
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try read { storage throws(StorageError) in
            try storage.unclaimed(app: app, environment: environment, after: after, limit: limit)
        }
    }

    func customers(
        app: String,
        environment: Environment,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try read { storage throws(StorageError) in
            try storage.customers(
                app: app,
                environment: environment,
                prefix: prefix,
                after: after,
                limit: limit
            )
        }
    }

    func customers(
        app: String,
        environment: Environment,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try read { storage throws(StorageError) in
            try storage.customers(
                app: app,
                environment: environment,
                email: email,
                after: after,
                limit: limit
            )
        }
    }

    func unclaimedCount(
        app: String,
        environment: Environment,
        limit: Int
    ) throws(StorageError) -> Int {
        try read { storage throws(StorageError) in
            try storage.unclaimedCount(app: app, environment: environment, limit: limit)
        }
    }

    func records(
        app: String,
        environment: Environment,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage {
        try read { storage throws(StorageError) in
            try storage.records(app: app, environment: environment, from: place, limit: limit)
        }
    }

    func restore(
        _ records: [StoredRecord],
        app: String,
        environment: Environment,
        now: Instant
    ) async throws(StorageError) -> [Restored] {
        do {
            return try await storage.restore(records, app: app, environment: environment, now: now)
        } catch {
            throw counted(error)
        }
    }

    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]? {
        try read { storage throws(StorageError) in try storage.bookmark(key) }
    }

    func figures(
        app: String,
        environment: Environment,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] {
        try read { storage throws(StorageError) in
            try storage.figures(
                app: app,
                environment: environment,
                kind: kind,
                after: after,
                limit: limit
            )
        }
    }

    func staleFigures(
        app: String,
        environment: Environment,
        limit: Int
    ) throws(StorageError) -> StaleFiguresPage {
        try read { storage throws(StorageError) in
            try storage.staleFigures(app: app, environment: environment, limit: limit)
        }
    }

    func keep(_ update: FiguresUpdate) async throws(StorageError) -> Bool {
        do {
            return try await storage.keep(update)
        } catch {
            throw counted(error)
        }
    }

    func markFigures(
        app: String,
        environment: Environment,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) async throws(StorageError) -> String? {
        do {
            return try await storage.markFigures(
                app: app,
                environment: environment,
                otherThan: stamp,
                after: after,
                limit: limit
            )
        } catch {
            throw counted(error)
        }
    }

    func keep(_ form: [UInt8], as key: BookmarkKey) async throws(StorageError) {
        do {
            try await storage.keep(form, as: key)
        } catch {
            throw counted(error)
        }
    }

    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try read { storage throws(StorageError) in try storage.attributes(of: customer) }
    }

    func keep(_ order: AttributeOrder) async throws(StorageError) -> [String] {
        do {
            return try await storage.keep(order)
        } catch {
            throw counted(error)
        }
    }

    func counts(app: String) throws(StorageError) -> [Tally: Int64] {
        try read { storage throws(StorageError) in try storage.counts(app: app) }
    }

    func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try read { storage throws(StorageError) in try storage.webhooks(app: app) }
    }

    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try read { storage throws(StorageError) in try storage.webhook(key) }
    }

    func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        try read { storage throws(StorageError) in
            try storage.webhookQueue(of: key, now: now, limit: limit)
        }
    }

    func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try read { storage throws(StorageError) in
            try storage.webhookAttempts(of: key, before: before, limit: limit)
        }
    }

    func put(_ webhook: WebhookRecord) async throws(StorageError) {
        do {
            try await storage.put(webhook)
        } catch {
            throw counted(error)
        }
    }

    func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64? {
        do {
            return try await storage.claim(key, now: now, until: until)
        } catch {
            throw counted(error)
        }
    }

    func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool {
        do {
            return try await storage.settle(settlement)
        } catch {
            throw counted(error)
        }
    }

    func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError) {
        do {
            try await storage.queue(events, to: key, at: now)
        } catch {
            throw counted(error)
        }
    }

    func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool {
        do {
            return try await storage.setWebhook(key, disabled: reason, at: now)
        } catch {
            throw counted(error)
        }
    }

    func close() async {
        await storage.close()
    }

    private func read<Answer>(
        _ body: (any Storage) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        do {
            return try body(storage)
        } catch {
            throw counted(error)
        }
    }

    private func counted(_ error: StorageError) -> StorageError {
        metrics.count(.storageFailures, error.reason.word)
        return error
    }
}

extension CommitOutcome {
    fileprivate var word: String {
        switch self {
        case .committed: "committed"
        case .duplicate: "duplicate"
        }
    }
}

extension StorageError.Reason {
    /// Whether the next write will fail too, unless the cause is fixed.
    fileprivate var isLasting: Bool {
        switch self {
        case .unavailable, .full, .readOnly, .notPermitted, .missingFolder, .corrupt,
            .notAStorage, .locked, .replaced, .io, .unconfirmed, .closed:
            true
        case .busy, .refused, .newerSchema, .olderSchema, .engine: false
        }
    }

    fileprivate var word: String {
        switch self {
        case .busy: "busy"
        case .unavailable: "unavailable"
        case .full: "full"
        case .readOnly: "read-only"
        case .notPermitted: "not-permitted"
        case .missingFolder: "missing-folder"
        case .corrupt: "corrupt"
        case .notAStorage: "not-a-storage"
        case .locked: "locked"
        case .newerSchema: "newer-schema"
        case .olderSchema: "older-schema"
        case .io: "io"
        case .unconfirmed: "unconfirmed"
        case .replaced: "replaced"
        case .refused: "refused"
        case .closed: "closed"
        case .engine: "engine"
        }
    }
}
