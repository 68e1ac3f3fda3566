package import TideoverCore
package import TideoverStorage

/// A storage in a PostgreSQL database, used by any number of servers at once.
///
/// Each server has one writing connection, on a thread of its own, and some for reads. What keeps
/// the servers apart is in the database alone: see `WriteSession`. A write returns after the
/// database has confirmed it; whether that includes a replica is a setting of the database
/// (`synchronous_commit`).
///
/// Reads block their thread, as the protocol states, at most for `readerPatience` and
/// `readTimeout`.
package final class PostgreSQLStorage: Storage {
    /// Where the database is, without secrets.
    package let place: String
    /// The number of the last step of its schema, if a newer version applied it; this one can work
    /// with it.
    package let newerSchema: Int?
    /// Nil if the database was opened read-only.
    private let writer: Writer?
    let readSessions: ReadSessionPool

    /// The name in `app_lock` for data without an app.
    static let noApp = ""

    /// How many milliseconds longer than the database's own timeout an answer is awaited.
    static let grace: Int64 = 2_000

    /// Connects to a database, and creates its tables if `makesTables`.
    ///
    /// The address is read by libpq, such as `postgres://user@host/database`. It has no password:
    /// libpq finds one in the file that `passfile` names.
    ///
    /// - Throws: `unavailable` if no server that can write answers, `notPermitted` for a refused
    ///   user or an unusable address, `newerSchema` for a database that needs a newer version,
    ///   `olderSchema` or `notAStorage` without current tables if none are made.
    package init(
        address: String,
        makesTables: Bool = true,
        options: PostgreSQLOptions = PostgreSQLOptions()
    ) throws(StorageError) {
        let address = try PostgreSQLAddress(address)
        let connection = try Self.connect(address, options)
        let schema =
            makesTables
            ? try Migration.prepare(connection) : try Migration.requireCurrent(connection)
        newerSchema = schema > Migration.latest ? schema : nil
        let readSessions = try ReadSessionPool(address, options: options)
        self.readSessions = readSessions
        place = address.place
        writer = try Writer(
            connection,
            address: address,
            readers: readSessions,
            options: options
        )
    }

    /// Connects to an existing database, and changes nothing: every write throws `readOnly`.
    ///
    /// - Throws: the errors of opening for writing, and `olderSchema` for a database that needs a
    ///   migration first.
    package init(reading address: String, options: PostgreSQLOptions = PostgreSQLOptions())
        throws(StorageError)
    {
        let address = try PostgreSQLAddress(address)
        let schema = try Migration.requireCurrent(try Self.connect(address, options))
        newerSchema = schema > Migration.latest ? schema : nil
        readSessions = try ReadSessionPool(address, options: options)
        place = address.place
        writer = nil
    }

    deinit {
        // The writer's thread closes the readers when it ends.
        if let writer { writer.beginClosing() } else { readSessions.close(patience: 0) }
    }

    private static func connect(
        _ address: PostgreSQLAddress,
        _ options: PostgreSQLOptions
    ) throws(StorageError) -> sending Connection {
        try Connection(address, patience: options.writeTimeout + grace)
    }

    func openWriter() throws(StorageError) -> Writer {
        guard let writer else {
            throw StorageError(.readOnly, place: place, detail: "it was opened for reading alone")
        }
        return writer
    }

    /// The number of transactions that were repeated because the database ended them in favour of
    /// others.
    package var repetitionCount: Int { writer?.counts.repetitions ?? 0 }

    /// How often the writer sent something and waited for the answer.
    package var roundTripCount: Int { writer?.counts.roundTrips ?? 0 }

    // MARK: Writing

    package func commit(
        _ commitRequests: [CommitRequest],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome] {
        guard let first = commitRequests.first else { return [] }
        var batch: [CommitRequestRows] = []
        for commitRequest in commitRequests {
            guard commitRequest.app == first.app, commitRequest.environment == first.environment,
                commitRequest.now == first.now
            else {
                let detail = "the intakes of one commit differ in app, environment or instant"
                throw StorageError(.refused, place: place, detail: detail)
            }
            batch.append(try CommitRequestRows(commitRequest, place: place))
        }
        let job = CommitJob(batch: batch, derive: derive)
        return try await openWriter().commit(job, app: first.app)
    }

    package func claimDue(_ order: DueOrder) async throws(StorageError) -> [DueClaim] {
        try await openWriter().write(app: order.app) { session throws(StorageError) in
            try session.claimDue(order)
        }
    }

    package func add(_ counts: [Tally: Int64], app: String) async throws(StorageError) {
        guard !counts.isEmpty else { return }
        try await openWriter().write(app: app) { session throws(StorageError) in
            try session.add(counts, app: app)
        }
    }

    package func keep(_ form: [UInt8], as key: BookmarkKey) async throws(StorageError) {
        try await openWriter().write(app: key.app) { session throws(StorageError) in
            try session.keep(form, as: key)
        }
    }

    package func keep(_ order: AttributeOrder) async throws(StorageError) -> [String] {
        try await openWriter().write(app: order.customer.app) { session throws(StorageError) in
            try AttributeLedger(connection: session.connection).keep(order)
        }
    }

    package func restore(
        _ records: [StoredRecord],
        app: String,
        environment: Environment,
        now: Instant
    ) async throws(StorageError) -> [Restored] {
        let rows = records.map(RestoredRow.init)
        let scope = AppScope(app, environment)
        return try await openWriter().write(app: app) { session throws(StorageError) in
            let importer = RecordImporter(session: session, scope: scope, now: now)
            return try rows.map { row throws(StorageError) in try importer.restore(row) }
        }
    }

    package func prune(_ order: PruneOrder) async throws(StorageError) -> Pruned {
        try await openWriter().write(app: order.app) { session throws(StorageError) in
            try Remover(session).prune(order)
        }
    }

    package func erase(_ erasure: Erasure) async throws(StorageError) -> Erased? {
        try await openWriter().write(app: erasure.customer.app) { session throws(StorageError) in
            try Remover(session).erase(erasure)
        }
    }

    package func add(_ key: KeyRecord) async throws(StorageError) {
        try await openWriter().write(app: Self.noApp) { session throws(StorageError) in
            try session.add(key)
        }
    }

    package func revokeKey(_ id: String, at now: Instant) async throws(StorageError) -> KeyRecord? {
        try await openWriter().write(app: Self.noApp) { session throws(StorageError) in
            try session.revokeKey(id, at: now)
        }
    }

    package func record(
        _ version: PolicyVersion,
        app: String,
        environment: Environment
    ) async throws(StorageError) -> Bool {
        try await openWriter().write(app: app) { session throws(StorageError) in
            try session.record(version, in: AppScope(app, environment))
        }
    }

    package func close() async {
        guard let writer else { return readSessions.close(patience: 0) }
        await writer.close()
    }

    // MARK: Reading

    package func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow? {
        try readSessions.read { session throws(StorageError) in
            try session.row(of: customer)
        }
    }

    package func due(
        app: String,
        environment: Environment,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading {
        try readSessions.read { session throws(StorageError) in
            try session.due(in: AppScope(app, environment), now: now, limit: limit)
        }
    }

    package func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages? {
        try readSessions.read { session throws(StorageError) in
            try session.lineages(of: customer, now: now)
        }
    }

    package func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence? {
        try readSessions.read { session throws(StorageError) in
            try session.evidence(id, app: app)
        }
    }

    package func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent] {
        try readSessions.read { session throws(StorageError) in
            try session.outbox(app: app, after: after, limit: limit)
        }
    }

    package func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent] {
        try readSessions.read { session throws(StorageError) in
            try session.latestEvents(app: app, limit: limit)
        }
    }

    package func evidence(
        app: String,
        environment: Environment,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try readSessions.read { session throws(StorageError) in
            try session.evidence(in: AppScope(app, environment), after: after, limit: limit)
        }
    }

    package func evidence(
        app: String,
        environment: Environment,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try readSessions.read { session throws(StorageError) in
            try session.evidence(
                in: AppScope(app, environment),
                keyed: prefix,
                after: after,
                limit: limit
            )
        }
    }

    package func lineages(
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try readSessions.read { session throws(StorageError) in
            try session.lineages(in: AppScope(app, environment), after: after, limit: limit)
        }
    }

    package func lineageRecord(_ lineage: Lineage, app: String) throws(StorageError)
        -> LineageRecord
    {
        try readSessions.read { session throws(StorageError) in
            try session.lineageRecord(lineage, app: app)
        }
    }

    package func lineageRecords(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try readSessions.read { session throws(StorageError) in
            try session.lineageRecords(named: name, app: app, limit: limit)
        }
    }

    package func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift] {
        try readSessions.read { session throws(StorageError) in
            try session.drift(of: customer, limit: limit)
        }
    }

    package func drift(
        app: String,
        environment: Environment,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift] {
        try readSessions.read { session throws(StorageError) in
            try session.drift(in: AppScope(app, environment), after: after, limit: limit)
        }
    }

    package func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity {
        try readSessions.read { session throws(StorageError) in
            try session.identity(of: customer)
        }
    }

    package func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord] {
        try readSessions.read { session throws(StorageError) in
            try session.audit(app: app, customer: customer, after: after, limit: limit)
        }
    }

    package func unclaimed(
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        try readSessions.read { session throws(StorageError) in
            try session.unclaimed(
                in: AppScope(app, environment),
                after: after,
                limit: limit
            )
        }
    }

    package func customers(
        app: String,
        environment: Environment,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try readSessions.read { session throws(StorageError) in
            try session.customers(
                in: AppScope(app, environment),
                prefix: prefix,
                after: after,
                limit: limit
            )
        }
    }

    package func customers(
        app: String,
        environment: Environment,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try readSessions.read { session throws(StorageError) in
            try session.customers(
                in: AppScope(app, environment),
                email: email,
                after: after,
                limit: limit
            )
        }
    }

    package func unclaimedCount(
        app: String,
        environment: Environment,
        limit: Int
    ) throws(StorageError) -> Int {
        try readSessions.read { session throws(StorageError) in
            try session.unclaimedCount(in: AppScope(app, environment), limit: limit)
        }
    }

    package func records(
        app: String,
        environment: Environment,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage {
        try readSessions.read { session throws(StorageError) in
            try session.records(in: AppScope(app, environment), from: place, limit: limit)
        }
    }

    package func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]? {
        try readSessions.read { session throws(StorageError) in try session.bookmark(key) }
    }

    package func attributes(
        of customer: CustomerKey
    ) throws(StorageError) -> [CustomerAttribute] {
        try readSessions.read { session throws(StorageError) in
            try session.attributes(of: customer)
        }
    }

    package func counts(app: String) throws(StorageError) -> [Tally: Int64] {
        try readSessions.read { session throws(StorageError) in try session.counts(app: app)
        }
    }

    package func keys() throws(StorageError) -> [KeyRecord] {
        try readSessions.read { session throws(StorageError) in try session.keys() }
    }

    package func sharedChanges() throws(StorageError) -> SharedChanges? {
        try readSessions.read { session throws(StorageError) in try session.sharedChanges() }
    }

    package func policyVersions(
        app: String,
        environment: Environment
    ) throws(StorageError) -> [PolicyVersion] {
        try readSessions.read { session throws(StorageError) in
            try session.policyVersions(in: AppScope(app, environment))
        }
    }
}
