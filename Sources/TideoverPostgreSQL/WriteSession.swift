import TideoverCore
import TideoverStorage

/// Runs the work of transactions on a connection.
///
/// # How servers keep apart
///
/// A transaction first locks the row of each of its apps in `app_lock`, in the order of their
/// names, and keeps the locks to its end. So all writes of an app are one after another, whichever
/// server they come from, and each statement after the lock sees everything committed before it
/// (`READ COMMITTED`). Locks on lineages and customers would let two commits of one app derive at
/// the same time. But the ids of an app's events rise in the order of commits, so those commits
/// would wait for one another at the outbox all the same; and a derivation reads aliases, owners
/// and differences that other customers' commits change. One lock is simple enough to be right, and
/// a group of commits shares it.
///
/// No transaction waits for a row while it holds one that another waits for, except for the texts
/// of certificates that all apps share. The database ends such a pair by failing one of them, which
/// is repeated.
///
/// # Round trips
///
/// Statements are sent without waiting, unless their answer decides what is sent next. A group of
/// commits goes through the same steps together (`CommitRound`).
final class WriteSession: StorageWriter {
    let connection: Connection
    let customers: CustomerQueries
    let random: @Sendable () -> UInt64
    let figures: FiguresLedger
    private let timeout: Int64
    private let idleTimeout: Int64
    private var apps: [String] = []
    private var locks: Answer?
    /// The apps whose rows in `app_lock` exist.
    private var knownApps: Set<String> = []
    private var headers = HeaderTexts()
    /// Whether a commit was sent and not answered: it may have taken effect.
    private(set) var isCommitting = false
    var events = LatestIDs()
    var auditIDs = LatestIDs()

    init(_ connection: Connection, options: PostgreSQLOptions) {
        self.connection = connection
        customers = CustomerQueries(connection: connection)
        random = options.random
        figures = FiguresLedger(connection: connection, random: options.random)
        timeout = options.writeTimeout
        idleTimeout = options.idleTimeout
    }

    // MARK: Transactions

    /// Begins a transaction that changes the data of some apps; an empty name is for data
    /// without an app.
    func begin(_ names: Set<String>) throws(StorageError) {
        try lock(names)
        guard !names.isSubset(of: knownApps) else { return }
        if try !hasLocks {
            try rollBack()
            for app in apps { try connection.ask(SQL.addLock, .text(app)) }
            try connection.wait()
            try lock(names)
        }
        knownApps.formUnion(names)
    }

    private func lock(_ names: Set<String>) throws(StorageError) {
        apps = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        try connection.ask(SQL.begin)
        try connection.ask(SQL.limitTime, .text("\(timeout)"), .text("\(idleTimeout)"))
        locks = try connection.ask(SQL.lockApps, .texts(apps))
        events = LatestIDs()
        auditIDs = LatestIDs()
        for app in apps where !app.isEmpty {
            try events.ask(SQL.latestEvent, for: app, on: connection)
            try auditIDs.ask(CommonSQL.latestAudit, for: app, on: connection)
        }
    }

    private var hasLocks: Bool {
        get throws(StorageError) { try locks?.all { $0.text(0) }.count == apps.count }
    }

    /// Commits. When it returns, the database has confirmed the write.
    ///
    /// - Throws: `busy` if the row of an app's lock was removed; it is added again for the next
    ///   transaction.
    func end() throws(StorageError) {
        guard try hasLocks else {
            knownApps = []
            throw StorageError(.busy, place: connection.place, detail: "a lock is missing")
        }
        isCommitting = true
        try connection.ask(CommonSQL.commit)
        try connection.wait()
        isCommitting = false
        headers.committed()
    }

    /// Ends the transaction without its writes.
    func rollBack() throws(StorageError) {
        headers.rolledBack()
        isCommitting = false
        guard connection.isUsable else { return }
        // What was sent before is answered first, and may have failed.
        try? connection.wait()
        try connection.rollBack()
    }

    // MARK: Single writes

    func add(_ counts: [Tally: Int64], app: String) throws(StorageError) {
        for (tally, count) in counts {
            try connection.ask(
                CommonSQL.addTally,
                .text(app),
                .text(tally.environment?.rawValue ?? ""),
                .text(tally.kind),
                .text(tally.name),
                .integer(count)
            )
        }
    }

    func keep(_ form: [UInt8], as key: BookmarkKey) throws(StorageError) {
        try connection.ask(
            CommonSQL.putBookmark,
            .text(key.app),
            .text(key.environment.rawValue),
            .text(key.name),
            .bytes(form)
        )
    }

    func replace(
        _ former: [UInt8]?,
        by form: [UInt8],
        as key: BookmarkKey
    ) throws(StorageError) -> Bool {
        let scope = key.scope
        let name = SQLValue.text(key.name)
        let answer =
            if let former {
                try connection.ask(
                    SQL.replaceBookmark,
                    in: scope,
                    name,
                    .bytes(form),
                    .bytes(former)
                )
            } else {
                try connection.ask(CommonSQL.addBookmark, in: scope, name, .bytes(form))
            }
        return try answer.count() == 1
    }

    func add(_ key: KeyRecord) throws(StorageError) {
        try connection.ask(
            CommonSQL.insertKey,
            .text(key.id),
            .bytes(key.digest),
            .text(key.kind.rawValue),
            .bytes(key.appsForm),
            .text(key.name),
            .instant(key.createdAt),
            .instant(key.revokedAt)
        )
    }

    func revokeKey(_ id: String, at now: Instant) throws(StorageError) -> KeyRecord? {
        try connection.ask(SQL.revokeKey, .text(id), .instant(now))
        return try connection.ask(CommonSQL.key, .text(id)).first(connection.rows.key)
    }

    func record(_ version: PolicyVersion, in scope: AppScope) throws(StorageError) -> Bool {
        let answer = try connection.ask(
            SQL.insertPolicy,
            in: scope,
            .instant(version.effectiveAt),
            .text(version.fingerprint),
            .bytes(version.form)
        )
        return try answer.count() == 1
    }

    func newestPolicy(in scope: AppScope) throws(StorageError) -> String? {
        try connection.ask(CommonSQL.newestPolicy, in: scope).first { $0.text(0) }
    }

    func claimDue(_ order: DueOrder) throws(StorageError) -> [DueClaim] {
        let scope = order.scope
        let answer = try connection.ask(
            SQL.claimDue,
            in: scope,
            .instant(order.now),
            .limit(order.limit),
            .instant(order.until)
        )
        let claims = try answer.all { row throws(StorageError) in
            DueClaim(
                customer: scope.key(try connection.rows.customer(row.text(0))),
                dueAt: row.instant(1),
                fence: row.integer(2)
            )
        }
        // The statement returns rows in the order of their change.
        return claims.sorted { ($0.dueAt, $0.customer) < ($1.dueAt, $1.customer) }
    }

    func restore(
        _ rows: [RestoredRow],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError) -> [Restored] {
        let importer = RecordImporter(session: self, scope: scope, now: now)
        return try rows.map { row throws(StorageError) in try importer.restore(row) }
    }

    func remove(
        _ records: [StoredRecord],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError) {
        guard !records.isEmpty else { return }
        try RecordRemover(session: self, scope: scope, now: now).remove(records)
    }

    func prune(_ order: PruneOrder) throws(StorageError) -> Pruned {
        try Remover(self).prune(order)
    }

    func erase(_ erasure: Erasure) throws(StorageError) -> Erased? {
        try Remover(self).erase(erasure)
    }

    func keep(_ order: AttributeOrder) throws(StorageError) -> [String] {
        try AttributeLedger(connection: connection).keep(order)
    }

    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool { try figures.keep(update) }

    func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) throws(StorageError) -> String? {
        try figures.markFigures(in: scope, otherThan: stamp, after: after, limit: limit)
    }

    // MARK: Parts of several writes

    /// Sends the headers of a piece of evidence that the database may not have.
    func send(headersOf row: EvidenceRow) throws(StorageError) {
        // In order, so that two servers rarely wait for one another.
        let sorted = row.headers.sorted {
            $0.key.bytes.lexicographicallyPrecedes($1.key.bytes)
        }
        for (fingerprint, text) in sorted where headers.isNew(fingerprint) {
            try connection.ask(SQL.insertHeader, .bytes(fingerprint.bytes), .bytes(text))
        }
    }

    func ask(toInsert row: EvidenceRow, in scope: AppScope) throws(StorageError) -> Answer {
        try connection.ask(
            CommonSQL.insertEvidence,
            in: scope,
            .text(row.evidence.dedupeKey),
            .text(row.evidence.id.hex),
            .text(row.evidence.source.rawValue),
            .instant(row.evidence.signedAt),
            .instant(row.evidence.receivedAt),
            .bytes(row.form)
        )
    }

    func ask(toInsert row: FactRow, in scope: AppScope) throws(StorageError) -> Answer {
        try connection.ask(
            SQL.insertFact,
            in: scope,
            .text(row.fact.lineage.key),
            .bytes(row.identity),
            .instant(row.fact.assertedAt),
            .bytes(row.form)
        )
    }

    func insertNames(of fact: Fact, in scope: AppScope) throws(StorageError) {
        for name in fact.names {
            try connection.ask(
                CommonSQL.insertName,
                .text(scope.app),
                .text(name.kind),
                .text(name.text),
                .text(scope.environment.rawValue),
                .text(fact.lineage.key)
            )
        }
    }

    func insert(
        _ entry: OwnershipEntry,
        at position: Int,
        in scope: AppScope
    ) throws(StorageError) {
        try connection.ask(
            CommonSQL.insertOwner,
            in: scope,
            .text(entry.lineage.key),
            .integer(Int64(position)),
            .text(entry.customer.text),
            .bytes(entry.form)
        )
        try figures.mark(FiguresSubject(.lineage, entry.lineage.key), in: scope)
    }

    func insert(_ alias: CustomerAlias, in scope: AppScope) throws(StorageError) {
        try connection.ask(
            CommonSQL.insertAlias,
            in: scope,
            .text(alias.alias.text),
            .text(alias.customer.text),
            .instant(alias.from),
            .text(alias.why),
            .text(alias.by)
        )
        try connection.ask(CommonSQL.forgetCustomer, in: scope, .text(alias.alias.text))
        for customer in [alias.alias, alias.customer] {
            try figures.mark(FiguresSubject(.customer, customer.text), in: scope)
        }
    }

    func unsettle(_ lineage: String, in scope: AppScope) throws(StorageError) {
        try connection.ask(CommonSQL.unsettle, in: scope, .text(lineage))
    }

    /// Maintains the list of purchases that never had an owner.
    func mark(
        _ lineage: String,
        isClaimed: Bool,
        in scope: AppScope
    ) throws(StorageError) {
        let sql = isClaimed ? CommonSQL.deleteUnclaimed : CommonSQL.insertUnclaimed
        try connection.ask(sql, in: scope, .text(lineage))
    }

    func ask(toChange drift: Drift, of key: CustomerKey) throws(StorageError) -> Answer {
        try connection.ask(
            SQL.changeDrift,
            in: key.scope,
            .text(key.customer.text),
            .text(drift.id),
            .instant(drift.healing?.at),
            .bytes(drift.form)
        )
    }

    @discardableResult
    func ask(toInsert drift: Drift, of key: CustomerKey) throws(StorageError) -> Answer {
        try connection.ask(
            CommonSQL.insertDrift,
            in: key.scope,
            .text(key.customer.text),
            .text(drift.id),
            .text(drift.entitlement),
            .instant(drift.openedAt),
            .instant(drift.healing?.at),
            .bytes(drift.form)
        )
    }

    /// Updates an open difference, or adds it, unless it is stored or another one is open. After an
    /// update the difference is stored, so the second statement does nothing.
    func put(_ drift: Drift, of key: CustomerKey) throws(StorageError) {
        _ = try ask(toChange: drift, of: key)
        try ask(toInsert: drift, of: key)
    }

    func write(_ entry: AuditEntry?, _ commitRequest: CommitRequest) throws(StorageError) {
        let lines = AuditLines(connection: connection, random: random)
        try lines.write(entry, commitRequest, &auditIDs)
    }
}

/// The header texts that the database is known to have, so that they are not sent with every
/// message.
private struct HeaderTexts {
    private static let limit = 4_096
    private var stored: Set<HeaderFingerprint> = []
    private var sent: Set<HeaderFingerprint> = []

    /// Whether the text must be sent. It then counts as sent.
    mutating func isNew(_ fingerprint: HeaderFingerprint) -> Bool {
        !stored.contains(fingerprint) && sent.insert(fingerprint).inserted
    }

    mutating func committed() {
        if stored.count > Self.limit { stored = [] }
        stored.formUnion(sent)
        sent = []
    }

    mutating func rolledBack() { sent = [] }
}
