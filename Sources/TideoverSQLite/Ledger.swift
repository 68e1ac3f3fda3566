import CTideoverSQLite
import TideoverCore
import TideoverStorage

/// The work on the one connection that writes.
final class Ledger {
    let connection: Connection
    private let customers: CustomerQueries
    private let keys: KeyQueries
    private let random: @Sendable () -> UInt64

    private let insertEvidence: Statement
    private let hasHeader: Statement
    private let insertHeader: Statement
    private let insertFact: Statement
    private let insertName: Statement
    private let insertOwner: Statement
    private let putCustomer: Statement
    private let latestEvent: Statement
    private let insertEvent: Statement
    private let insertTold: Statement
    private let changeDrift: Statement
    private let insertDrift: Statement
    private let due: Statement
    private let addTally: Statement
    private let putBookmark: Statement
    private let insertKey: Statement
    private let revokeKey: Statement

    private let beginTransaction: Statement
    private let commitTransaction: Statement
    private let makeSavepoint: Statement
    private let releaseSavepoint: Statement
    private let returnToSavepoint: Statement
    private let log: LogMeter
    private var leases = Leases()

    init(
        _ connection: Connection,
        random: @escaping @Sendable () -> UInt64
    ) throws(StorageError) {
        self.connection = connection
        self.random = random
        customers = try CustomerQueries(connection)
        keys = try KeyQueries(connection)
        insertEvidence = try Statement(SQL.insertEvidence, on: connection)
        hasHeader = try Statement(SQL.hasHeader, on: connection)
        insertHeader = try Statement(SQL.insertHeader, on: connection)
        insertFact = try Statement(SQL.insertFact, on: connection)
        insertName = try Statement(SQL.insertName, on: connection)
        insertOwner = try Statement(SQL.insertOwner, on: connection)
        putCustomer = try Statement(SQL.putCustomer, on: connection)
        latestEvent = try Statement(SQL.latestEvent, on: connection)
        insertEvent = try Statement(SQL.insertEvent, on: connection)
        insertTold = try Statement(SQL.insertTold, on: connection)
        changeDrift = try Statement(SQL.changeDrift, on: connection)
        insertDrift = try Statement(SQL.insertDrift, on: connection)
        due = try Statement(SQL.due, on: connection)
        addTally = try Statement(SQL.addTally, on: connection)
        putBookmark = try Statement(SQL.putBookmark, on: connection)
        insertKey = try Statement(SQL.insertKey, on: connection)
        revokeKey = try Statement(SQL.revokeKey, on: connection)
        beginTransaction = try Statement(SQL.begin, on: connection)
        commitTransaction = try Statement(SQL.commit, on: connection)
        makeSavepoint = try Statement(SQL.makeSavepoint, on: connection)
        releaseSavepoint = try Statement(SQL.releaseSavepoint, on: connection)
        returnToSavepoint = try Statement(SQL.returnToSavepoint, on: connection)
        log = LogMeter(connection)
    }

    /// The one door: everything an intake brings, and everything that follows from it.
    func commit(
        _ rows: IntakeRows,
        derive: (CustomerLineages) -> Derivation
    ) throws(StorageError) -> CommitOutcome {
        if let evidence = rows.evidence {
            guard try store(evidence, rows.intake) else { return .duplicate }
        }
        var news = try storeNews(rows)
        let rulings = try rule(on: rows.intake, &news)
        var derived: [CustomerRow] = []
        var stories = EventOrder()
        for customer in concerned(by: news, rows.intake) {
            let (row, events) = try deriveAgain(customer, news, rows.intake, derive)
            derived.append(row)
            stories.add(events, of: row)
        }
        for (event, row) in stories.inOrder { try append(event, of: row, rows.intake.now) }
        try add(rows.intake.tallies, app: rows.intake.app)
        leases.release(derived.map(\.key))
        let newFacts = news.values.reduce(0) { $0 + $1.factCount }
        return .committed(newFacts: newFacts, customers: derived, rulings: rulings)
    }

    func add(_ counts: [Tally: Int64], app: String) throws(StorageError) {
        for (tally, count) in counts {
            try addTally.run(
                .text(app),
                .text(tally.environment?.rawValue ?? ""),
                .text(tally.kind),
                .text(tally.name),
                .integer(count)
            )
        }
    }

    func keep(_ form: [UInt8], as key: BookmarkKey) throws(StorageError) {
        try putBookmark.run(
            .text(key.app),
            .text(key.environment.rawValue),
            .text(key.name),
            .utf8(form)
        )
    }

    func add(_ key: KeyRecord) throws(StorageError) {
        try insertKey.run(
            .text(key.id),
            .bytes(key.digest),
            .text(key.kind.rawValue),
            .utf8(key.appsForm),
            .text(key.name),
            .instant(key.createdAt),
            .instant(key.revokedAt)
        )
    }

    func revokeKey(_ id: String, at now: Instant) throws(StorageError) -> KeyRecord? {
        try revokeKey.run(.text(id), .instant(now))
        return try keys.key(id)
    }

    // MARK: Evidence and facts

    /// False when a message of that key was stored before: the unique key decides, not a look-up.
    private func store(_ row: EvidenceRow, _ intake: Intake) throws(StorageError) -> Bool {
        let inserted = try insertEvidence.run(
            .text(intake.app),
            .text(intake.environment.rawValue),
            .text(row.evidence.dedupeKey),
            .text(row.evidence.id.hex),
            .text(row.evidence.source.rawValue),
            .instant(row.evidence.signedAt),
            .instant(row.evidence.receivedAt),
            .bytes(row.form)
        )
        guard inserted == 1 else { return false }
        for (fingerprint, text) in row.headers
        where try hasHeader.first(.bytes(fingerprint.bytes), read: { _ in true }) == nil {
            try insertHeader.run(.bytes(fingerprint.bytes), .bytes(text))
        }
        return true
    }

    /// What one intake tells of one lineage that was not known.
    private struct News {
        let factCount: Int
        /// The lineage as it is now stored; the facts of one that nobody ever owned are left out.
        let holding: Holding
    }

    /// By the lineage's key.
    private typealias AllNews = [String: News]

    private func storeNews(_ rows: IntakeRows) throws(StorageError) -> AllNews {
        var facts: [Lineage: [Fact]] = [:]
        for row in rows.facts where try store(row, rows.intake) {
            facts[row.fact.lineage, default: []].append(row.fact)
        }
        var news: AllNews = [:]
        for (lineage, facts) in facts {
            let holding = try holding(lineage, extendedBy: facts, rows.intake)
            news[lineage.key] = News(factCount: facts.count, holding: holding)
        }
        return news
    }

    private func store(_ row: FactRow, _ intake: Intake) throws(StorageError) -> Bool {
        let inserted = try insertFact.run(
            .text(intake.app),
            .text(intake.environment.rawValue),
            .text(row.fact.lineage.key),
            .bytes(row.identity),
            .instant(row.fact.assertedAt),
            .utf8(row.form)
        )
        guard inserted == 1 else { return false }
        for name in row.fact.names {
            try insertName.run(
                .text(intake.app),
                .text(name.kind),
                .text(name.text),
                .text(intake.environment.rawValue),
                .text(row.fact.lineage.key)
            )
        }
        return true
    }

    /// The lineage with its list of owners, which grows if a new fact names somebody else.
    private func holding(
        _ lineage: Lineage,
        extendedBy news: [Fact],
        _ intake: Intake
    ) throws(StorageError) -> Holding {
        let known = try customers.owners(of: lineage.key, app: intake.app, intake.environment)
        let mayAdd = news.contains { $0.claim != nil }
        guard mayAdd || !known.isEmpty else {
            return Holding(lineage: lineage, facts: [], owners: [])
        }
        // By now the new facts are among those stored.
        let facts = try customers.facts(of: lineage.key, app: intake.app, intake.environment)
        let additions = mayAdd ? known.additions(for: facts, under: intake.transfer) : []
        for (offset, entry) in additions.enumerated() {
            try insert(entry, at: known.count + offset, intake)
        }
        return Holding(lineage: lineage, facts: facts, owners: known + additions)
    }

    private func insert(
        _ entry: OwnershipEntry,
        at position: Int,
        _ intake: Intake
    ) throws(StorageError) {
        try insertOwner.run(
            .text(intake.app),
            .text(intake.environment.rawValue),
            .text(entry.lineage.key),
            .integer(Int64(position)),
            .text(entry.customer.text),
            .utf8(entry.form)
        )
    }

    // MARK: Claims

    /// Rules on each claim by what is stored by now; the lineages claimed become news.
    private func rule(
        on intake: Intake,
        _ news: inout AllNews
    ) throws(StorageError) -> [ClaimRuling] {
        guard let ownership = intake.ownership else { return [] }
        var rulings: [ClaimRuling] = []
        for claim in ownership.claims {
            var holding = try customers.storedHolding(
                claim.lineage,
                app: intake.app,
                intake.environment
            )
            let ruling = ownership.rule(claim, holding, try holder(of: holding, intake))
            if case .granted(let entry) = ruling {
                try insert(entry, at: holding.owners.count, intake)
                holding = Holding(
                    lineage: holding.lineage,
                    facts: holding.facts,
                    owners: holding.owners + [entry]
                )
            }
            let factCount = news[claim.lineage.key]?.factCount ?? 0
            news[claim.lineage.key] = News(factCount: factCount, holding: holding)
            rulings.append(ruling)
        }
        return rulings
    }

    private func holder(
        of holding: Holding,
        _ intake: Intake
    ) throws(StorageError) -> CustomerLineages? {
        guard let holder = holding.owners.owner(at: intake.now) else { return nil }
        let key = CustomerKey(
            app: intake.app,
            environment: intake.environment,
            customer: holder
        )
        return try customers.lineages(of: key, now: intake.now)
    }

    // MARK: Customers

    /// Everyone who owns or ever owned a lineage with news, and everyone the intake names.
    private func concerned(by news: AllNews, _ intake: Intake) -> [CustomerKey] {
        let owners = news.values.flatMap(\.holding.owners).map { owner in
            CustomerKey(
                app: intake.app,
                environment: intake.environment,
                customer: owner.customer
            )
        }
        let claimed = intake.claims.filter(leases.hold).map(\.customer)
        return Set(intake.customers + intake.reconciled + claimed + owners).sorted()
    }

    private func deriveAgain(
        _ customer: CustomerKey,
        _ news: AllNews,
        _ intake: Intake,
        _ derive: (CustomerLineages) -> Derivation
    ) throws(StorageError) -> (CustomerRow, [Event]) {
        let lineages = try customers.lineages(
            of: customer,
            now: intake.now,
            reconciledAt: intake.reconciled.contains(customer) ? intake.now : nil
        ) { key in
            news[key]?.holding
        }
        let derivation = derive(lineages)
        let row = lineages.row(for: derivation)
        try putCustomer.run(
            .text(customer.app),
            .text(customer.environment.rawValue),
            .text(customer.customer.text),
            .integer(row.version),
            .utf8(row.answer),
            .instant(row.validUntil),
            .text(row.fingerprint),
            .instant(row.derivedAt),
            row.pass.map { .utf8($0.compact) } ?? .null,
            row.pass.map { .text($0.signer) } ?? .null,
            .instant(row.pass?.issuedAt),
            .instant(row.pass?.renewAt),
            .instant(row.reconciledAt)
        )
        for drift in derivation.drift { try put(drift, of: customer) }
        return (row, derivation.events)
    }

    /// Changes what is open, else adds it, unless it is stored or another one is open.
    private func put(_ drift: Drift, of key: CustomerKey) throws(StorageError) {
        let changed = try changeDrift.run(
            .text(key.app),
            .text(key.environment.rawValue),
            .text(key.customer.text),
            .text(drift.id),
            .instant(drift.healing?.at),
            .utf8(drift.form)
        )
        guard changed == 0 else { return }
        try insertDrift.run(
            .text(key.app),
            .text(key.environment.rawValue),
            .text(key.customer.text),
            .text(drift.id),
            .text(drift.entitlement),
            .instant(drift.openedAt),
            .instant(drift.healing?.at),
            .utf8(drift.form)
        )
    }

    private func append(
        _ event: Event,
        of row: CustomerRow,
        _ now: Instant
    ) throws(StorageError) {
        // The latest event of an app is its only memory of which ids were given: it is never pruned.
        let latest = try latestEvent.first(.text(row.key.app)) { EventID($0.text(0)) }
        let id = EventID.next(after: latest ?? nil, at: now, random: random())
        guard try isNews(event, id, row.key) else { return }
        try insertEvent.run(
            .text(row.key.app),
            .text(id.description),
            .text(row.key.environment.rawValue),
            .text(row.key.customer.text),
            .integer(row.version),
            .text(event.kind),
            .instant(event.at),
            .utf8(event.body)
        )
    }

    /// False where the customer's events have one of that name: the unique key decides.
    private func isNews(
        _ event: Event,
        _ id: EventID,
        _ customer: CustomerKey
    ) throws(StorageError) -> Bool {
        guard let name = event.name else { return true }
        let inserted = try insertTold.run(
            .text(customer.app),
            .text(customer.environment.rawValue),
            .text(customer.customer.text),
            .text(name),
            .text(id.description)
        )
        return inserted == 1
    }

    // MARK: What is due

    func claimDue(_ order: DueOrder) throws(StorageError) -> [DueClaim] {
        leases.expire(order.now)
        // As many more as may be claimed by others.
        let rows = try due.all(
            .text(order.app),
            .text(order.environment.rawValue),
            .instant(order.now),
            .integer(Int64(max(0, order.limit) + leases.count))
        ) { row throws(StorageError) in
            guard let customer = CustomerID(row.text(0)) else {
                throw StorageError(
                    .corrupt,
                    place: connection.place,
                    detail: "a customer has no id"
                )
            }
            let key = CustomerKey(
                app: order.app,
                environment: order.environment,
                customer: customer
            )
            return (key, row.instant(1))
        }
        return rows.filter { !leases.contain($0.0) }.prefix(max(0, order.limit)).map {
            leases.give($0.0, dueAt: $0.1, until: order.until)
        }
    }
}

// MARK: - Transactions

extension Ledger {
    func begin() throws(StorageError) { try beginTransaction.run() }

    /// Commits: when it returns, the disk has confirmed.
    func end() throws(StorageError) { try commitTransaction.run() }

    /// Takes everything back; the engine may have done so itself.
    func rollBack() {
        guard connection.isInTransaction else { return }
        // Where even this fails, the next `begin` does and says why.
        try? connection.execute(SQL.rollBack)
    }

    /// Does a part of a transaction that is taken back alone when it fails. Where that is impossible
    /// the whole transaction is taken back.
    func inSavepoint<Result>(
        _ body: (Ledger) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try makeSavepoint.run()
        do {
            let result = try body(self)
            try releaseSavepoint.run()
            return result
        } catch {
            guard connection.isInTransaction else { throw error }
            do {
                try returnToSavepoint.run()
                try releaseSavepoint.run()
            } catch {
                rollBack()
            }
            throw error
        }
    }

    /// How long the log was after the latest commit, in pages.
    var pagesInLog: Int { log.pageCount }
}

/// Hears from SQLite how long the write-ahead log is.
private final class LogMeter {
    private let connection: Connection
    private let latest: UnsafeMutablePointer<Int32>

    init(_ connection: Connection) {
        self.connection = connection
        latest = .allocate(capacity: 1)
        latest.initialize(to: 0)
        // This also replaces SQLite's own hook, which would checkpoint inside of commits.
        sqlite3_wal_hook(
            connection.handle,
            { latest, _, _, pageCount in
                latest?.assumingMemoryBound(to: Int32.self).pointee = pageCount
                return SQLITE_OK
            },
            latest
        )
    }

    deinit {
        sqlite3_wal_hook(connection.handle, nil, nil)
        latest.deallocate()
    }

    var pageCount: Int { Int(latest.pointee) }
}
