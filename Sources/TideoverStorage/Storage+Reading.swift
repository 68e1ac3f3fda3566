package import TideoverCore

/// Single questions, each with a snapshot of its own.
extension Storage {
    package func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow? {
        try read { reader throws(StorageError) in try reader.row(of: customer) }
    }

    package func due(
        in scope: AppScope,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading {
        try read { reader throws(StorageError) in try reader.due(in: scope, now: now, limit: limit)
        }
    }

    package func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages? {
        try read { reader throws(StorageError) in try reader.lineages(of: customer, now: now) }
    }

    package func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence? {
        try read { reader throws(StorageError) in try reader.evidence(id, app: app) }
    }

    package func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent] {
        try read { reader throws(StorageError) in
            try reader.outbox(app: app, after: after, limit: limit)
        }
    }

    package func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent] {
        try read { reader throws(StorageError) in try reader.latestEvents(app: app, limit: limit) }
    }

    package func evidence(
        in scope: AppScope,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try read { reader throws(StorageError) in
            try reader.evidence(in: scope, after: after, limit: limit)
        }
    }

    package func evidence(
        in scope: AppScope,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try read { reader throws(StorageError) in
            try reader.evidence(in: scope, keyed: prefix, after: after, limit: limit)
        }
    }

    package func lineages(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try read { reader throws(StorageError) in
            try reader.lineages(in: scope, after: after, limit: limit)
        }
    }

    package func lineageRecord(_ lineage: Lineage, app: String) throws(StorageError)
        -> LineageRecord
    {
        try read { reader throws(StorageError) in try reader.lineageRecord(lineage, app: app) }
    }

    package func lineageRecords(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try read { reader throws(StorageError) in
            try reader.lineageRecords(named: name, app: app, limit: limit)
        }
    }

    package func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift] {
        try read { reader throws(StorageError) in try reader.drift(of: customer, limit: limit) }
    }

    package func drift(
        in scope: AppScope,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift] {
        try read { reader throws(StorageError) in
            try reader.drift(in: scope, after: after, limit: limit)
        }
    }

    package func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity {
        try read { reader throws(StorageError) in try reader.identity(of: customer) }
    }

    package func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord] {
        try read { reader throws(StorageError) in
            try reader.audit(app: app, customer: customer, after: after, limit: limit)
        }
    }

    package func unclaimed(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try read { reader throws(StorageError) in
            try reader.unclaimed(in: scope, after: after, limit: limit)
        }
    }

    package func customers(
        in scope: AppScope,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try read { reader throws(StorageError) in
            try reader.customers(in: scope, prefix: prefix, after: after, limit: limit)
        }
    }

    package func customers(
        in scope: AppScope,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try read { reader throws(StorageError) in
            try reader.customers(in: scope, email: email, after: after, limit: limit)
        }
    }

    package func unclaimedCount(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> Int {
        try read { reader throws(StorageError) in try reader.unclaimedCount(in: scope, limit: limit)
        }
    }

    package func records(
        in scope: AppScope,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage {
        try read { reader throws(StorageError) in
            try reader.records(in: scope, from: place, limit: limit)
        }
    }

    package func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]? {
        try read { reader throws(StorageError) in try reader.bookmark(key) }
    }

    package func bookmarks(
        in scope: AppScope,
        prefix: String
    ) throws(StorageError) -> [String: [UInt8]] {
        try read { reader throws(StorageError) in try reader.bookmarks(in: scope, prefix: prefix) }
    }

    package func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try read { reader throws(StorageError) in try reader.attributes(of: customer) }
    }

    package func policyVersions(
        in scope: AppScope
    ) throws(StorageError) -> [PolicyVersion] {
        try read { reader throws(StorageError) in try reader.policyVersions(in: scope) }
    }

    package func counts(app: String) throws(StorageError) -> [Tally: Int64] {
        try read { reader throws(StorageError) in try reader.counts(app: app) }
    }

    package func keys() throws(StorageError) -> [KeyRecord] {
        try read { reader throws(StorageError) in try reader.keys() }
    }

    package func sharedChanges() throws(StorageError) -> SharedChanges? {
        try read { reader throws(StorageError) in try reader.sharedChanges() }
    }

    package func figures(
        in scope: AppScope,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] {
        try read { reader throws(StorageError) in
            try reader.figures(in: scope, kind: kind, after: after, limit: limit)
        }
    }

    package func staleFigures(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> StaleFiguresPage {
        try read { reader throws(StorageError) in try reader.staleFigures(in: scope, limit: limit) }
    }

    package func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try read { reader throws(StorageError) in try reader.webhooks(app: app) }
    }

    package func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try read { reader throws(StorageError) in try reader.webhook(key) }
    }

    package func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        try read { reader throws(StorageError) in
            try reader.webhookQueue(of: key, now: now, limit: limit)
        }
    }

    package func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try read { reader throws(StorageError) in
            try reader.webhookAttempts(of: key, before: before, limit: limit)
        }
    }
}
