import CTideoverSQLite
import TideoverCore
import TideoverStorage

/// Runs all work on the single writing connection.
final class WriteSession: StorageWriter {
    let connection: Connection
    let statements: Statements
    private let customers: CustomerQueries
    private let rowWriter: RowWriter
    private let audit: AuditLines
    let used: UsedTables
    private let random: @Sendable () -> UInt64
    private let recordImporter: RecordImporter
    let figures: FiguresLedger
    private let log: LogMeter
    /// Restored by a rollback.
    var webhookLeases = WebhookLeases()
    private var memory = SessionMemory()
    private var watch = DerivationWatch()
    private var beforeTransaction = Remembered()
    /// Whether the job's writes must be rolled back, although it did not fail.
    private var undoesJob = false

    init(
        _ connection: Connection,
        random: @escaping @Sendable () -> UInt64
    ) throws(StorageError) {
        self.connection = connection
        self.random = random
        used = try UsedTables(connection)
        statements = Statements(connection)
        customers = CustomerQueries(statements, used)
        rowWriter = RowWriter(statements: statements, used: used)
        audit = AuditLines(statements: statements, rows: rowWriter, random: random)
        recordImporter = RecordImporter(
            statements: statements,
            customers: customers,
            rows: rowWriter
        )
        figures = FiguresLedger(statements: statements)
        log = LogMeter(connection)
    }

    /// The single entry point: stores the content of commit requests of one app, environment and
    /// instant, and its consequences. If the plan derives a customer outside first, the writes are
    /// rolled back and nothing is stored.
    func commit(
        _ batch: [CommitRequestRows],
        _ plan: DerivationPlan,
        derive: (CustomerLineages) -> Derivation
    ) throws(StorageError) -> CommitAttempt {
        var taken: [Taken?] = []
        for rows in batch { taken.append(try take(rows)) }
        let kept = taken.compactMap(\.self)
        var newFacts: [String: LineageRecord] = [:]
        for taken in kept { newFacts.merge(taken.newFacts.mapValues(\.lineageRecord)) { $1 } }
        var results: [DerivedCustomer] = []
        var postponed: [DerivationInput] = []
        for customer in Set(kept.flatMap(\.concerned)).sorted() {
            guard let occasion = try occasion(to: customer, kept) else { continue }
            switch try derived(customer, newFacts, occasion, plan, derive) {
            case .success(let result): results.append(result)
            case .failure(let large): postponed.append(large.input)
            }
        }
        guard postponed.isEmpty else {
            if plan.isOutside {
                watch.begin(postponed.map(\.outline.key), keeping: plan.derived.keys)
            }
            undoesJob = true
            return .postponed(postponed)
        }
        let derived = try store(results)
        for taken in kept { try add(taken.commitRequest.tallies, app: taken.commitRequest.app) }
        memory.leases.release(Array(derived.keys))
        return .ended(taken.map { $0?.outcome(derived) ?? .duplicate })
    }

    private func store(
        _ results: [DerivedCustomer]
    ) throws(StorageError) -> [CustomerKey: CustomerRow] {
        var derived: [CustomerKey: CustomerRow] = [:]
        var stories = EventOrder()
        for result in results {
            try put(result)
            derived[result.row.key] = result.row
            stories.add(result.derivation.events, of: result.row)
        }
        for (event, row) in stories.inOrder { try append(event, of: row, row.derivedAt) }
        watch.changed(derived.keys)
        return derived
    }

    /// The content of one commit request, and the customers it concerns.
    private struct Taken {
        let commitRequest: CommitRequest
        let newFacts: AllNewFacts
        let rulings: [ClaimRuling]
        let joined: Joined?
        let concerned: [CustomerKey]

        func outcome(_ derived: [CustomerKey: CustomerRow]) -> CommitOutcome {
            .committed(
                newFacts: newFacts.values.reduce(0) { $0 + $1.factCount },
                customers: concerned.compactMap { derived[$0] },
                rulings: rulings
            )
        }
    }

    /// Stores the content of a commit request; returns nil for a duplicate.
    private func take(_ rows: CommitRequestRows) throws(StorageError) -> Taken? {
        if let evidence = rows.evidence {
            guard try store(evidence, in: rows.commitRequest.scope) else { return nil }
        }
        let joined = try join(rows.commitRequest)
        var newFacts = try storeNewFacts(rows)
        if newFacts.isEmpty, let evidence = rows.evidence?.evidence {
            try statements[SQL.idle].run(
                in: rows.commitRequest.scope,
                .text(evidence.dedupeKey),
                .instant(rows.commitRequest.now),
                .optional(EvidenceSubject.text(of: rows.commitRequest))
            )
        }
        let rulings = try rule(on: rows.commitRequest, &newFacts)
        for prompt in rows.commitRequest.prompts { try put(prompt) }
        for entry in rows.commitRequest.audit { try audit.write(entry, rows.commitRequest) }
        return Taken(
            commitRequest: rows.commitRequest,
            newFacts: newFacts,
            rulings: rulings,
            joined: joined,
            concerned: try concerned(by: newFacts, rows.commitRequest)
        )
    }

    private func occasion(
        to customer: CustomerKey,
        _ kept: [Taken]
    ) throws(StorageError) -> Occasion? {
        guard let now = kept.first?.commitRequest.now else { return nil }
        var isReconciled = false
        var presented = PresentedStores()
        for commitRequest in kept.map(\.commitRequest) {
            for key in commitRequest.reconciled where try customers.primary(of: key) == customer {
                isReconciled = true
                if let store = commitRequest.presentedIn { presented.instants[store] = now }
            }
            guard !commitRequest.accountOffers.isEmpty else { continue }
            for key in commitRequest.customers where try customers.primary(of: key) == customer {
                presented.add(commitRequest.accountOffers, at: now)
            }
        }
        let joined = kept.compactMap(\.joined).first { $0.key == customer }
        if let joined { presented.merge(joined.presented) }
        var prompts: [PromptExposure] = []
        for shown in kept.flatMap(\.commitRequest.prompts)
        where try customers.primary(of: shown.customer) == customer {
            prompts.append(shown.exposure)
        }
        return Occasion(
            now: now,
            reconciledAt: joined?.reconciledAt ?? (isReconciled ? now : nil),
            leastVersion: joined?.leastVersion ?? 0,
            prompts: prompts,
            presented: presented
        )
    }

    func add(_ counts: [Tally: Int64], app: String) throws(StorageError) {
        for (tally, count) in counts {
            try statements[CommonSQL.addTally].run(
                .text(app),
                .text(tally.environment?.rawValue ?? ""),
                .text(tally.kind),
                .text(tally.name),
                .integer(count)
            )
        }
    }

    func keep(_ form: [UInt8], as key: BookmarkKey) throws(StorageError) {
        try statements[CommonSQL.putBookmark].run(in: key.scope, .text(key.name), .utf8(form))
    }

    func replace(
        _ former: [UInt8]?,
        by form: [UInt8],
        as key: BookmarkKey
    ) throws(StorageError) -> Bool {
        let name = SQLValue.text(key.name)
        let changed =
            if let former {
                try statements[SQL.replaceBookmark].run(
                    in: key.scope,
                    name,
                    .utf8(form),
                    .utf8(former)
                )
            } else {
                try statements[CommonSQL.addBookmark].run(in: key.scope, name, .utf8(form))
            }
        return changed == 1
    }

    func restore(
        _ rows: [RestoredRow],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError) -> [Restored] {
        let place = Restoration(scope: scope, now: now)
        var restored: [Restored] = []
        watch.changedAll()
        // An imported event may be later.
        memory.latestEvents = [:]
        for row in rows { restored.append(try recordImporter.restore(row, place)) }
        return restored
    }

    func remove(
        _ records: [StoredRecord],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError) {
        guard !records.isEmpty else { return }
        watch.changedAll()
        memory.latestEvents = [:]
        let remover = RecordRemover(
            statements: statements,
            customers: customers,
            rows: rowWriter,
            figures: figures,
            importer: recordImporter
        )
        // A record can be gone from the source because a person was erased.
        try overwritingDeleted { () throws(StorageError) in
            try remover.remove(records, Restoration(scope: scope, now: now))
        }
    }

    func prune(_ order: PruneOrder) throws(StorageError) -> Pruned {
        watch.changedAll()
        return try Remover(statements: statements, customers: customers).prune(order)
    }

    func erase(_ erasure: Erasure) throws(StorageError) -> Erased? {
        watch.changedAll()
        let erased = try overwritingDeleted { () throws(StorageError) in
            try Remover(statements: statements, customers: customers).erase(erasure)
        }
        if erased != nil { memory.leases.release([erasure.customer]) }
        return erased
    }

    /// Overwrites with zeros in the file what `work` deletes.
    func overwritingDeleted<Result>(
        _ work: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try connection.execute("PRAGMA secure_delete = ON")
        do {
            let result = try work()
            try connection.execute("PRAGMA secure_delete = OFF")
            return result
        } catch {
            try connection.execute("PRAGMA secure_delete = OFF")
            throw error
        }
    }

    func add(_ key: KeyRecord) throws(StorageError) {
        try statements[CommonSQL.insertKey].run(
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
        try statements[SQL.revokeKey].run(.text(id), .instant(now))
        return try statements[CommonSQL.key].first(.text(id), read: statements.rows.key)
    }

    func record(_ version: PolicyVersion, in scope: AppScope) throws(StorageError) -> Bool {
        let inserted = try statements[SQL.insertPolicy].run(
            in: scope,
            .instant(version.effectiveAt),
            .text(version.fingerprint),
            .utf8(version.form)
        )
        return inserted == 1
    }

    func newestPolicy(in scope: AppScope) throws(StorageError) -> String? {
        try statements[CommonSQL.newestPolicy].first(in: scope) { $0.text(0) }
    }

    func keep(_ order: AttributeOrder) throws(StorageError) -> [String] {
        try AttributeLedger(statements: statements).keep(order)
    }

    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool {
        try overwritingDeleted { () throws(StorageError) in try figures.keep(update) }
    }

    func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) throws(StorageError) -> String? {
        try figures.markFigures(in: scope, otherThan: stamp, after: after, limit: limit)
    }

    // MARK: Evidence and facts

    /// Returns false if a message with this key exists.
    private func store(_ row: EvidenceRow, in scope: AppScope) throws(StorageError) -> Bool {
        guard try rowWriter.insert(row, in: scope) else { return false }
        for (fingerprint, text) in row.headers where !memory.contains(fingerprint) {
            try rowWriter.insert(header: text, fingerprint)
            memory.add(fingerprint)
        }
        return true
    }

    /// The new facts of one commit request about one lineage.
    private struct NewFacts {
        let factCount: Int
        /// The lineage as it is now stored; without facts if it never had an owner.
        let lineageRecord: LineageRecord
    }

    /// News by the key of the lineage.
    private typealias AllNewFacts = [String: NewFacts]

    private func storeNewFacts(_ rows: CommitRequestRows) throws(StorageError) -> AllNewFacts {
        var facts: [Lineage: [FactRow]] = [:]
        for row in rows.facts where try store(row, rows.commitRequest) {
            facts[row.fact.lineage, default: []].append(row)
        }
        var newFacts: AllNewFacts = [:]
        for (lineage, facts) in facts {
            try rowWriter.markFigures(of: lineage.key, in: rows.commitRequest.scope)
            let lineageRecord = try lineageRecord(lineage, extendedBy: facts, rows.commitRequest)
            newFacts[lineage.key] = NewFacts(factCount: facts.count, lineageRecord: lineageRecord)
        }
        return newFacts
    }

    private func store(_ row: FactRow, _ commitRequest: CommitRequest) throws(StorageError) -> Bool
    {
        guard try rowWriter.insert(row, in: commitRequest.scope) else { return false }
        if commitRequest.evidence == nil {
            try statements[CommonSQL.unidle].run(
                .text(commitRequest.app),
                .text(row.fact.evidence.hex),
                .text(commitRequest.environment.rawValue)
            )
        }
        return true
    }

    /// Returns the lineage with its list of owners, which grows if a new fact names another owner.
    private func lineageRecord(
        _ lineage: Lineage,
        extendedBy newFacts: [FactRow],
        _ commitRequest: CommitRequest
    ) throws(StorageError) -> LineageRecord {
        let (known, isSettled) = try customers.ownership(
            of: lineage.key,
            in: commitRequest.scope
        )
        let mayAdd = newFacts.contains { $0.fact.claim != nil }
        guard mayAdd || !known.isEmpty else {
            if newFacts.contains(where: \.fact.isPurchase) {
                try rowWriter.mark(lineage.key, isClaimed: false, in: commitRequest.scope)
            }
            return LineageRecord(lineage: lineage, facts: [], owners: [])
        }
        if isSettled { try rowWriter.unsettle(lineage.key, in: commitRequest.scope) }
        // The new facts are stored by now.
        let facts = try customers.facts(
            of: lineage.key,
            in: commitRequest.scope,
            known: newFacts
        )
        let additions = mayAdd ? known.additions(for: facts, under: commitRequest.transfer) : []
        var owners = known
        for entry in additions {
            try insert(entry, at: owners.count, in: commitRequest.scope)
            let holder = owners.stated.owner(at: entry.from)
            try audit.write(AuditEntry(entry, after: holder, at: commitRequest.now), commitRequest)
            owners.append(entry)
        }
        for row in newFacts {
            try audit.write(AuditEntry(row.fact, owner: owners.last?.customer), commitRequest)
        }
        if known.isEmpty, !owners.isEmpty {
            try rowWriter.mark(lineage.key, isClaimed: true, in: commitRequest.scope)
        }
        return LineageRecord(lineage: lineage, facts: facts, owners: owners)
    }

    private func insert(
        _ entry: OwnershipEntry,
        at position: Int,
        in scope: AppScope
    ) throws(StorageError) {
        if position > 0 { try rowWriter.unsettle(entry.lineage.key, in: scope) }
        try rowWriter.insert(entry, at: position, in: scope)
    }

    // MARK: Claims

    /// Rules on each claim by the data stored so far; the claimed lineages are added to the news.
    private func rule(
        on commitRequest: CommitRequest,
        _ newFacts: inout AllNewFacts
    ) throws(StorageError) -> [ClaimRuling] {
        guard let ownership = commitRequest.ownership else { return [] }
        let holders = Holders(customers)
        var rulings: [ClaimRuling] = []
        for claim in ownership.claims {
            var lineageRecord = try customers.storedLineageRecord(
                claim.lineage,
                in: commitRequest.scope
            )
            let former = lineageRecord.owners.owner(at: commitRequest.now)
            let holder = lineageRecord.owners.stated.owner(at: commitRequest.now).map {
                key(of: $0, commitRequest)
            }
            let ruling = try ownership.rule(
                claim,
                lineageRecord,
                try holder.map { key throws(StorageError) in
                    try holders.holder(key, now: commitRequest.now)
                }
            )
            let actor = ownership.actor(of: claim)
            try audit.write(
                AuditEntry(ruling, on: claim, by: actor, holder: holder?.customer),
                commitRequest
            )
            if case .granted(let entry) = ruling {
                if lineageRecord.owners.isEmpty {
                    try rowWriter.mark(claim.lineage.key, isClaimed: true, in: commitRequest.scope)
                }
                try insert(entry, at: lineageRecord.owners.count, in: commitRequest.scope)
                lineageRecord = LineageRecord(
                    lineage: lineageRecord.lineage,
                    facts: lineageRecord.facts,
                    owners: lineageRecord.owners + [entry]
                )
                holders.forget(key(of: claim.customer, commitRequest))
                if let former { holders.replace(lineageRecord, of: key(of: former, commitRequest)) }
            }
            let factCount = newFacts[claim.lineage.key]?.factCount ?? 0
            newFacts[claim.lineage.key] = NewFacts(
                factCount: factCount,
                lineageRecord: lineageRecord
            )
            rulings.append(ruling)
        }
        return rulings
    }

    // MARK: Customers

    /// The state that the joined customer takes over from the id that ends.
    private struct Joined {
        let key: CustomerKey
        /// Ensures that no client takes the joined answer for an old one.
        let leastVersion: Int64
        let reconciledAt: Instant?
        let presented: PresentedStores
    }

    /// Joins two ids, if the stored data permits it.
    private func join(_ commitRequest: CommitRequest) throws(StorageError) -> Joined? {
        guard let wish = commitRequest.alias else { return nil }
        let alias = key(of: wish.alias, commitRequest)
        let ruling = AliasRuling(
            try customers.identity(of: alias),
            as: try customers.identity(of: key(of: wish.customer, commitRequest)),
            at: wish.from,
            why: wish.why,
            by: wish.by
        )
        guard case .granted(let line) = ruling else { return nil }
        let former = try customers.row(of: alias)
        // Later device reports are compared with the joined answer.
        for var drift in try customers.openDrift(of: alias) {
            drift.healing = Drift.Healing(at: commitRequest.now, by: .ownership, access: false)
            try put(drift, of: alias)
        }
        try rowWriter.insert(line, in: commitRequest.scope)
        memory.leases.release([alias])
        watch.changed([alias])
        try audit.write(AuditEntry(line), commitRequest)
        return Joined(
            key: key(of: line.customer, commitRequest),
            leastVersion: former.map { $0.version.addingSaturated(1) } ?? 0,
            reconciledAt: former?.reconciledAt,
            presented: former?.presented ?? PresentedStores()
        )
    }

    private func key(of customer: CustomerID, _ commitRequest: CommitRequest) -> CustomerKey {
        commitRequest.scope.key(customer)
    }

    /// Returns the keys of the affected customers: all past and present owners of a changed
    /// lineage, and all customers the commit request names. Aliases are resolved.
    private func concerned(
        by newFacts: AllNewFacts,
        _ commitRequest: CommitRequest
    ) throws(StorageError) -> [CustomerKey] {
        let owners = newFacts.values.flatMap(\.lineageRecord.owners).map {
            key(of: $0.customer, commitRequest)
        }
        let claimed = commitRequest.claims.filter(memory.leases.hold).map(\.customer)
        let joined = commitRequest.alias.map { key(of: $0.customer, commitRequest) }
        let shown = commitRequest.prompts.map(\.customer)
        let named = commitRequest.customers + commitRequest.reconciled + claimed + shown + owners
        var keys: Set<CustomerKey> = []
        for key in Set(named + [joined].compactMap(\.self)) {
            keys.insert(try customers.primary(of: key))
        }
        return keys.sorted()
    }

    /// Derives a customer, or reuses an outside derivation that is still valid. Fails if the
    /// customer is too large to be derived here.
    private func derived(
        _ customer: CustomerKey,
        _ newFacts: [String: LineageRecord],
        _ occasion: Occasion,
        _ plan: DerivationPlan,
        _ derive: (CustomerLineages) -> Derivation
    ) throws(StorageError) -> Result<DerivedCustomer, TooLarge> {
        if let outside = plan.derived[customer], watch.isUnchanged(customer),
            outside.input.occasion == occasion, outside.input.newFacts == newFacts
        {
            return .success(outside)
        }
        var isWhole = plan.whole.contains(customer)
        while true {
            let input = DerivationInput(
                outline: try customers.outline(
                    of: customer,
                    primary: customer,
                    now: occasion.now,
                    isWhole: isWhole
                ),
                occasion: occasion,
                newFacts: newFacts,
                isWhole: isWhole
            )
            guard input.outline.lineages.count <= plan.mostInside else {
                return .failure(TooLarge(input: input))
            }
            let lineages = try customers.lineages(in: input)
            let derivation = derive(lineages)
            guard derivation.needsAll, !isWhole else {
                return .success(DerivedCustomer(input, lineages, derivation))
            }
            isWhole = true
        }
    }

    private func put(_ result: DerivedCustomer) throws(StorageError) {
        let (row, customer) = (result.row, result.row.key)
        for settled in result.marks {
            try statements[SQL.settle].run(
                in: customer.scope,
                .text(settled.lineage.key),
                .text(row.fingerprint),
                .instant(settled.since)
            )
        }
        try statements[SQL.putCustomer].run(
            in: customer.scope,
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
            .instant(row.reconciledAt),
            .optional(PresentedText.write(row.presented))
        )
        for drift in result.derivation.drift { try put(drift, of: customer) }
    }

    private func put(_ prompt: ShownPrompt) throws(StorageError) {
        used.prompt = true
        try statements[SQL.putPrompt].run(
            in: prompt.customer.scope,
            .text(prompt.customer.customer.text),
            .text(prompt.exposure.id),
            .text(prompt.exposure.kind.rawValue),
            .instant(prompt.exposure.shownAt),
            prompt.exposure.response.map { .text($0.rawValue) } ?? .null
        )
    }

    /// Updates an open difference, or adds it, unless it is stored or another one is open.
    private func put(_ drift: Drift, of key: CustomerKey) throws(StorageError) {
        guard try !rowWriter.change(drift, of: key) else { return }
        try rowWriter.insert(drift, of: key)
    }

    private func append(
        _ event: Event,
        of row: CustomerRow,
        _ now: Instant
    ) throws(StorageError) {
        let latest = try latestEventID(of: row.key.app)
        let id = EventID.next(after: latest, at: now, random: random())
        // The unique key decides whether the customer has an event of that name.
        if let name = event.name, try !rowWriter.insert(name: name, of: id, to: row.key) { return }
        try statements[CommonSQL.insertEvent].run(
            .text(row.key.app),
            .text(id.description),
            .text(row.key.environment.rawValue),
            .text(row.key.customer.text),
            .integer(row.version),
            .text(event.kind),
            .instant(event.at),
            .utf8(event.body)
        )
        memory.latestEvents[row.key.app] = id
    }

    /// The latest event of an app is the only record of the ids that were used: it is never pruned.
    private func latestEventID(of app: String) throws(StorageError) -> EventID? {
        if let known = memory.latestEvents[app] { return known }
        return try statements[SQL.latestEvent].first(.text(app)) { EventID($0.text(0)) } ?? nil
    }

    // MARK: Due answers

    func claimDue(_ order: DueOrder) throws(StorageError) -> [DueClaim] {
        memory.leases.expire(order.now)
        // Reads as many more as other claims may cover.
        let rows = try statements[SQL.due].all(
            in: order.scope,
            .instant(order.now),
            .integer(Int64(max(0, order.limit) + memory.leases.count))
        ) { row throws(StorageError) in
            (order.scope.key(try statements.rows.customer(row.text(0))), row.instant(1))
        }
        return rows.filter { !memory.leases.contain($0.0) }.prefix(max(0, order.limit)).map {
            memory.leases.give($0.0, dueAt: $0.1, until: order.until)
        }
    }
}

// MARK: - Transactions

extension WriteSession {
    /// What is remembered outside of the database, for a rollback of the transaction.
    fileprivate struct Remembered {
        var memory = SessionMemory()
        var watch = DerivationWatch()
        var webhookLeases = WebhookLeases()
    }

    func begin() throws(StorageError) {
        try statements[SQL.begin].run()
        beforeTransaction = Remembered(
            memory: memory,
            watch: watch,
            webhookLeases: webhookLeases
        )
    }

    /// Commits: when it returns, the disk has confirmed the write.
    func end() throws(StorageError) { try statements[CommonSQL.commit].run() }

    /// Rolls everything back; the engine may have done so itself.
    func rollBack() {
        memory = beforeTransaction.memory
        watch = beforeTransaction.watch
        webhookLeases = beforeTransaction.webhookLeases
        guard connection.isInTransaction else { return }
        // If this fails too, the next `begin` fails and reports the reason.
        try? connection.execute(CommonSQL.rollBack)
    }

    /// Runs a part of a transaction. Returns nil if its writes must be rolled back.
    func inTransaction<Result>(
        _ body: (WriteSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result? {
        undoesJob = false
        let result = try body(self)
        return undoesJob ? nil : result
    }

    /// Runs a part of a transaction that is rolled back alone when it fails. If that is impossible,
    /// the whole transaction is rolled back.
    func inSavepoint<Result>(
        _ body: (WriteSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try statements[SQL.makeSavepoint].run()
        let before = memory
        do {
            undoesJob = false
            let result = try body(self)
            if undoesJob {
                try statements[SQL.returnToSavepoint].run()
                memory = before
            }
            try statements[SQL.releaseSavepoint].run()
            return result
        } catch {
            guard connection.isInTransaction else {
                rollBack()
                throw error
            }
            memory = before
            do {
                try statements[SQL.returnToSavepoint].run()
                try statements[SQL.releaseSavepoint].run()
            } catch {
                rollBack()
            }
            throw error
        }
    }

    /// The length of the log after the latest commit, in pages.
    var pagesInLog: Int { log.pageCount }
}

/// The owners of the lineages claimed in one commit. Their data is read at most once, and only if a
/// ruling needs it.
private final class Holders {
    private let customers: CustomerQueries
    private var read: [CustomerKey: CustomerLineages] = [:]

    init(_ customers: CustomerQueries) { self.customers = customers }

    func holder(_ key: CustomerKey, now: Instant) throws(StorageError) -> LineageHolder {
        LineageHolder(try customers.identity(of: key)) { isWhole throws(StorageError) in
            if let known = self.read[key], known.leftOut == nil || !isWhole { return known }
            let lineages = try self.customers.lineages(of: key, now: now, isWhole: isWhole)
            self.read[key] = lineages
            return lineages
        }
    }

    /// Discards a customer's cached data, after a lineage was granted.
    func forget(_ key: CustomerKey) { read[key] = nil }

    /// Records that a customer lost a lineage.
    func replace(_ lineageRecord: LineageRecord, of key: CustomerKey) {
        read[key]?.replace(lineageRecord)
    }
}

/// Receives the length of the write-ahead log from SQLite.
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
