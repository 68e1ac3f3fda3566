import TideoverCore
import TideoverStorage

/// The stored content of one commit request, and the customers it concerns.
struct Taken {
    let commitRequest: CommitRequest
    /// The changed lineages by their keys.
    let newFacts: [String: NewFacts]
    let rulings: [ClaimRuling]
    let joined: Joined?
    /// The claims to customers that are still valid.
    let claimed: [CustomerID]

    /// The new facts of one commit request about one lineage.
    struct NewFacts {
        let factCount: Int
        /// The lineage as it is now stored; without facts if it never had an owner.
        let lineageRecord: LineageRecord
    }

    /// The state that the joined customer takes over from the id that ends.
    struct Joined {
        let key: CustomerKey
        /// Ensures that no client takes the joined answer for an old one.
        let leastVersion: Int64
        let reconciledAt: Instant?
        let presented: PresentedStores
    }

    /// The ids that the commit request concerns: all past and present owners of a changed lineage,
    /// and all customers it names.
    var named: [CustomerID] {
        let owners = newFacts.values.flatMap(\.lineageRecord.owners).map(\.customer)
        let request = commitRequest
        let keys = request.customers + request.reconciled + request.prompts.map(\.customer)
        let joined = request.alias.map(\.customer)
        return keys.map(\.customer) + claimed + owners + [joined].compactMap(\.self)
    }

    /// The affected customers, in the order of their keys. Aliases are resolved.
    func concerned(_ primaries: [CustomerID: CustomerID]) -> [CustomerKey] {
        Set(named.map { commitRequest.scope.key(primaries[$0] ?? $0) }).sorted()
    }

    func outcome(
        _ rows: [CustomerKey: CustomerRow],
        _ primaries: [CustomerID: CustomerID]
    ) -> CommitOutcome {
        .committed(
            newFacts: newFacts.values.reduce(0) { $0 + $1.factCount },
            customers: concerned(primaries).compactMap { rows[$0] },
            rulings: rulings
        )
    }
}

extension CommitRequest {
    /// Whether its content does not depend on the data of other lineages or customers, so that it
    /// can be stored together with others.
    var isPlain: Bool { ownership == nil && alias == nil }
}

/// Stores what commit requests contain: evidence, facts, owners, claims, aliases and prompts.
struct CommitTaking {
    private let session: WriteSession
    private let scope: AppScope

    init(_ session: WriteSession, _ scope: AppScope) {
        self.session = session
        self.scope = scope
    }

    /// Divides commit requests into runs that can be stored together: plain ones about different
    /// lineages.
    static func runs(_ requests: [CommitRequestRows]) -> [[CommitRequestRows]] {
        var runs: [[CommitRequestRows]] = []
        var lineages: Set<String> = []
        var isOpen = false
        for request in requests {
            let own = Set(request.facts.map(\.fact.lineage.key))
            let isPlain = request.commitRequest.isPlain
            if isOpen, isPlain, lineages.isDisjoint(with: own) {
                runs[runs.count - 1].append(request)
            } else {
                runs.append([request])
                lineages = []
            }
            isOpen = isPlain
            lineages.formUnion(own)
        }
        return runs
    }

    /// Stores a run; returns nil for each duplicate.
    func take(_ run: [CommitRequestRows]) throws(StorageError) -> [Taken?] {
        let isNew = try storeEvidence(of: run)
        let kept = zip(run, isNew).filter(\.1).map(\.0)
        var joined: [Taken.Joined?] = []
        for request in kept { joined.append(try join(request.commitRequest)) }
        var asked: [AskedFacts] = []
        for request in kept { asked.append(try askFacts(of: request)) }
        var taken: [Taken] = []
        for (asked, joined) in zip(asked, joined) {
            taken.append(try finish(asked, joined))
        }
        var rest = taken[...]
        return isNew.map { $0 ? rest.popFirst() : nil }
    }

    // MARK: Evidence

    /// Returns false for each message that was stored before: the unique key decides, not a query.
    private func storeEvidence(of run: [CommitRequestRows]) throws(StorageError) -> [Bool] {
        var answers: [Answer?] = []
        for request in run {
            answers.append(
                try request.evidence.map { row throws(StorageError) in
                    try session.ask(toInsert: row, in: scope)
                }
            )
        }
        var isNew: [Bool] = []
        for (request, answer) in zip(run, answers) {
            let isStored = try answer.map { answer throws(StorageError) in
                try answer.count() == 0
            }
            isNew.append(isStored != true)
            if isStored == false, let row = request.evidence { try session.send(headersOf: row) }
        }
        return isNew
    }

    // MARK: Facts

    /// The facts of a commit request, on their way.
    private struct AskedFacts {
        let rows: CommitRequestRows
        let inserted: [Answer]
        /// The lineages as they are after the insertion.
        let lineages: CustomerQueries.LineageAnswers
        let claims: [(customer: CustomerID, answer: Answer)]
    }

    private func askFacts(of rows: CommitRequestRows) throws(StorageError) -> AskedFacts {
        var inserted: [Answer] = []
        for row in rows.facts { inserted.append(try session.ask(toInsert: row, in: scope)) }
        let keys = Set(rows.facts.map(\.fact.lineage.key)).sorted()
        var claims: [(CustomerID, Answer)] = []
        for claim in rows.commitRequest.claims {
            let customer = claim.customer.customer
            let answer = try session.connection.ask(
                SQL.holdsLease,
                in: scope,
                .text(customer.text),
                .integer(claim.fence)
            )
            claims.append((customer, answer))
        }
        return AskedFacts(
            rows: rows,
            inserted: inserted,
            lineages: try session.customers.askLineages(keys, in: scope),
            claims: claims
        )
    }

    private func finish(
        _ asked: AskedFacts,
        _ joined: Taken.Joined?
    ) throws(StorageError) -> Taken {
        let (rows, request) = (asked.rows, asked.rows.commitRequest)
        var newFacts = try newFacts(asked)
        if newFacts.isEmpty, let evidence = rows.evidence?.evidence {
            try session.connection.ask(
                SQL.idle,
                in: scope,
                .text(evidence.dedupeKey),
                .instant(request.now),
                .optional(EvidenceSubject.text(of: request))
            )
        }
        let rulings = try rule(on: request, &newFacts)
        for prompt in request.prompts { try put(prompt) }
        for entry in request.audit { try session.write(entry, request) }
        var claimed: [CustomerID] = []
        for (customer, answer) in asked.claims where try answer.first({ _ in true }) != nil {
            claimed.append(customer)
        }
        return Taken(
            commitRequest: request,
            newFacts: newFacts,
            rulings: rulings,
            joined: joined,
            claimed: claimed
        )
    }

    private func newFacts(_ asked: AskedFacts) throws(StorageError) -> [String: Taken.NewFacts] {
        var facts: [Lineage: [Fact]] = [:]
        for (row, answer) in zip(asked.rows.facts, asked.inserted) where try answer.count() == 1 {
            try note(row.fact, asked.rows.commitRequest)
            facts[row.fact.lineage, default: []].append(row.fact)
        }
        guard !facts.isEmpty else { return [:] }
        let stored = try session.customers.lineageParts(asked.lineages)
        var newFacts: [String: Taken.NewFacts] = [:]
        // In order, so that audit entries are in the same order for the same input.
        for (lineage, facts) in facts.sorted(by: { $0.key.key < $1.key.key }) {
            try session.figures.mark(FiguresSubject(.lineage, lineage.key), in: scope)
            newFacts[lineage.key] = Taken.NewFacts(
                factCount: facts.count,
                lineageRecord: try lineageRecord(
                    lineage,
                    stored[lineage.key] ?? CustomerQueries.LineageParts(),
                    extendedBy: facts,
                    asked.rows.commitRequest
                )
            )
        }
        return newFacts
    }

    private func note(_ fact: Fact, _ commitRequest: CommitRequest) throws(StorageError) {
        if commitRequest.evidence == nil {
            try session.connection.ask(
                CommonSQL.unidle,
                .text(scope.app),
                .text(fact.evidence.hex),
                .text(scope.environment.rawValue)
            )
        }
        try session.insertNames(of: fact, in: scope)
    }

    /// Returns the lineage with its list of owners, which grows if a new fact names another owner.
    private func lineageRecord(
        _ lineage: Lineage,
        _ stored: CustomerQueries.LineageParts,
        extendedBy newFacts: [Fact],
        _ commitRequest: CommitRequest
    ) throws(StorageError) -> LineageRecord {
        let known = stored.owners
        let mayAdd = newFacts.contains { $0.claim != nil }
        guard mayAdd || !known.isEmpty else {
            if newFacts.contains(where: \.isPurchase) {
                try session.mark(lineage.key, isClaimed: false, in: scope)
            }
            return LineageRecord(lineage: lineage, facts: [], owners: [])
        }
        if !known.isEmpty { try session.unsettle(lineage.key, in: scope) }
        let additions =
            mayAdd ? known.additions(for: stored.facts, under: commitRequest.transfer) : []
        var owners = known
        for entry in additions {
            try insert(entry, at: owners.count)
            let holder = owners.stated.owner(at: entry.from)
            try session.write(
                AuditEntry(entry, after: holder, at: commitRequest.now),
                commitRequest
            )
            owners.append(entry)
        }
        for fact in newFacts {
            try session.write(AuditEntry(fact, owner: owners.last?.customer), commitRequest)
        }
        if known.isEmpty, !owners.isEmpty {
            try session.mark(lineage.key, isClaimed: true, in: scope)
        }
        return LineageRecord(lineage: lineage, facts: stored.facts, owners: owners)
    }

    private func insert(_ entry: OwnershipEntry, at position: Int) throws(StorageError) {
        if position > 0 { try session.unsettle(entry.lineage.key, in: scope) }
        try session.insert(entry, at: position, in: scope)
    }

    // MARK: Claims

    /// Rules on each claim by the data stored so far; the claimed lineages are added to the news.
    private func rule(
        on commitRequest: CommitRequest,
        _ newFacts: inout [String: Taken.NewFacts]
    ) throws(StorageError) -> [ClaimRuling] {
        guard let ownership = commitRequest.ownership else { return [] }
        let holders = Holders(session.customers)
        var rulings: [ClaimRuling] = []
        for claim in ownership.claims {
            var record = try session.customers.storedLineageRecord(claim.lineage, in: scope)
            let former = record.owners.owner(at: commitRequest.now)
            let holder = record.owners.stated.owner(at: commitRequest.now).map { scope.key($0) }
            let ruling = try ownership.rule(
                claim,
                record,
                try holder.map { key throws(StorageError) in
                    try holders.holder(key, now: commitRequest.now)
                }
            )
            try session.write(
                AuditEntry(
                    ruling,
                    on: claim,
                    by: ownership.actor(of: claim),
                    holder: holder?.customer
                ),
                commitRequest
            )
            if case .granted(let entry) = ruling {
                record = try grant(entry, record)
                holders.forget(scope.key(claim.customer))
                if let former { holders.replace(record, of: scope.key(former)) }
            }
            newFacts[claim.lineage.key] = Taken.NewFacts(
                factCount: newFacts[claim.lineage.key]?.factCount ?? 0,
                lineageRecord: record
            )
            rulings.append(ruling)
        }
        return rulings
    }

    private func grant(
        _ entry: OwnershipEntry,
        _ record: LineageRecord
    ) throws(StorageError) -> LineageRecord {
        if record.owners.isEmpty {
            try session.mark(record.lineage.key, isClaimed: true, in: scope)
        }
        try insert(entry, at: record.owners.count)
        return LineageRecord(
            lineage: record.lineage,
            facts: record.facts,
            owners: record.owners + [entry]
        )
    }

    // MARK: Customers

    /// Joins two ids, if the stored data permits it.
    private func join(_ commitRequest: CommitRequest) throws(StorageError) -> Taken.Joined? {
        guard let wish = commitRequest.alias else { return nil }
        let (alias, customers) = (scope.key(wish.alias), session.customers)
        let ruling = AliasRuling(
            try customers.identity(of: alias),
            as: try customers.identity(of: scope.key(wish.customer)),
            at: wish.from,
            why: wish.why,
            by: wish.by
        )
        guard case .granted(let line) = ruling else { return nil }
        let former = try customers.row(of: alias)
        // Later device reports are compared with the joined answer.
        for var drift in try customers.openDrift(of: alias) {
            drift.healing = Drift.Healing(at: commitRequest.now, by: .ownership, access: false)
            try session.put(drift, of: alias)
        }
        try session.insert(line, in: scope)
        try session.write(AuditEntry(line), commitRequest)
        return Taken.Joined(
            key: scope.key(line.customer),
            leastVersion: former.map { $0.version.addingSaturated(1) } ?? 0,
            reconciledAt: former?.reconciledAt,
            presented: former?.presented ?? PresentedStores()
        )
    }

    private func put(_ prompt: ShownPrompt) throws(StorageError) {
        try session.connection.ask(
            SQL.putPrompt,
            in: scope,
            .text(prompt.customer.customer.text),
            .text(prompt.exposure.id),
            .text(prompt.exposure.kind.rawValue),
            .instant(prompt.exposure.shownAt),
            .optional(prompt.exposure.response?.rawValue)
        )
    }
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
