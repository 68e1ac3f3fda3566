import TideoverCore
import TideoverStorage

/// A customer's stored data, without the facts.
struct CustomerOutline {
    let key: CustomerKey
    let identity: CustomerIdentity
    let answer: CustomerRow?
    let leftOut: LeftOut?
    /// The keys of the lineages to derive from, in order.
    let lineages: [String]
}

/// What a commit knows of a customer apart from the stored data.
struct Occasion {
    let now: Instant
    var reconciledAt: Instant?
    var leastVersion: Int64 = 0
    /// The prompts that the commit reports.
    var prompts: [PromptExposure] = []
    /// What devices presented of their stores with the commit.
    var presented = PresentedStores()
}

/// A customer to read.
struct CustomerReading {
    let key: CustomerKey
    let occasion: Occasion
    /// The lineages that the commit changed, in their new state, by key.
    var changed: [String: LineageRecord] = [:]
    /// Whether settled lineages are included.
    var isWhole = true
}

/// A customer as it was read.
struct ReadCustomer {
    let lineages: CustomerLineages
    /// The names of all stored events, also of a customer without an answer.
    let told: Set<String>
}

/// Reads customers and lineages through one connection.
struct CustomerQueries {
    let connection: Connection

    // MARK: Ids

    /// Returns the customers that some ids belong to; an id that is no alias is left out.
    func primaries(
        of ids: some Sequence<CustomerID>,
        in scope: AppScope
    ) throws(StorageError) -> [CustomerID: CustomerID] {
        let answer = try connection.ask(SQL.primaries, in: scope, .texts(ids.map(\.text)))
        let found = try answer.all { row throws(StorageError) in
            (try connection.rows.customer(row.text(0)), try connection.rows.customer(row.text(1)))
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Returns the key of the customer's answer; an alias resolves to its customer.
    func primary(of key: CustomerKey) throws(StorageError) -> CustomerKey {
        let found = try primaries(of: [key.customer], in: key.scope)
        return found[key.customer].map { key.scope.key($0) } ?? key
    }

    func identity(of key: CustomerKey) throws(StorageError) -> CustomerIdentity {
        try identity(of: key, in: askAliases(of: key))
    }

    private func askAliases(of key: CustomerKey) throws(StorageError) -> Answer {
        try connection.ask(SQL.aliases, in: key.scope, .text(key.customer.text))
    }

    private func identity(
        of key: CustomerKey,
        in answer: Answer
    ) throws(StorageError) -> CustomerIdentity {
        let aliases = try answer.all(connection.rows.alias)
        return CustomerIdentity(key.customer, aliases: aliases)
    }

    /// Lists the ids that begin with `prefix`, after `after`, in order.
    func list(
        _ scope: AppScope,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        // The range includes `after`, so that one bound serves the index. One extra row is read.
        let from = [prefix, after ?? ""].max { $0.utf8.lexicographicallyPrecedes($1.utf8) } ?? ""
        let answer = try connection.ask(
            SQL.customerIDs,
            in: scope,
            .text(from),
            .text(prefix + "\u{10FFFF}"),
            .limit(max(0, limit) + 1)
        )
        let found = try answer.all(connection.rows.listedCustomer)
        return Array(found.filter { $0.id.text != after }.prefix(max(0, limit)))
    }

    func list(
        _ scope: AppScope,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try connection.ask(
            SQL.customersByEmail,
            in: scope,
            .text(email.folded),
            .text(after ?? ""),
            .limit(max(0, limit))
        ).all(connection.rows.listedCustomer)
    }

    // MARK: Customers

    /// Returns the customer's row; an alias resolves to its customer.
    func row(of key: CustomerKey) throws(StorageError) -> CustomerRow? {
        try row(of: key, in: askRow(of: key))
    }

    private func askRow(of key: CustomerKey) throws(StorageError) -> Answer {
        try connection.ask(CommonSQL.customer, in: key.scope, .text(key.customer.text))
    }

    private func row(of key: CustomerKey, in answer: Answer) throws(StorageError) -> CustomerRow? {
        try answer.first { row throws(StorageError) in
            try connection.rows.answer(row, in: key.scope)
        }
    }

    /// Reads everything about a customer, who may be unknown. Settled lineages are left out if
    /// `isWhole` is false.
    func lineages(
        of key: CustomerKey,
        now: Instant,
        isWhole: Bool = true
    ) throws(StorageError) -> CustomerLineages {
        var reading = CustomerReading(key: key, occasion: Occasion(now: now))
        reading.isWhole = isWhole
        guard let read = try read([reading]).first else {
            preconditionFailure("each customer is read")
        }
        return read.lineages
    }

    /// Reads everything about some customers, in three round trips.
    func read(_ readings: [CustomerReading]) throws(StorageError) -> [ReadCustomer] {
        var details: [Details] = []
        for (reading, outline) in zip(readings, try outlines(of: readings)) {
            details.append(try askDetails(of: outline, reading))
        }
        var read: [ReadCustomer] = []
        for detail in details { read.append(try customer(in: detail)) }
        return read
    }

    // MARK: Outlines

    /// Lists the lineages that derivations need, without their facts.
    private func outlines(
        of readings: [CustomerReading]
    ) throws(StorageError) -> [CustomerOutline] {
        var asked: [(aliases: Answer, row: Answer)] = []
        for reading in readings {
            asked.append((try askAliases(of: reading.key), try askRow(of: reading.key)))
        }
        var begun: [OutlineBeginning] = []
        for (reading, answers) in zip(readings, asked) {
            let identity = try identity(of: reading.key, in: answers.aliases)
            let answer = try row(of: reading.key, in: answers.row)
            begun.append(try askLineages(reading, identity, answer))
        }
        var outlines: [CustomerOutline] = []
        for beginning in begun { outlines.append(try outline(beginning)) }
        return outlines
    }

    private struct OutlineBeginning {
        let key: CustomerKey
        let identity: CustomerIdentity
        let answer: CustomerRow?
        /// The lineages without the settled ones; nil if all are needed.
        var unsettled: Answer?
        /// The lineages of the other ids, or of all ids.
        var owned: Answer?
    }

    private func askLineages(
        _ reading: CustomerReading,
        _ identity: CustomerIdentity,
        _ answer: CustomerRow?
    ) throws(StorageError) -> OutlineBeginning {
        let scope = reading.key.scope
        var beginning = OutlineBeginning(key: reading.key, identity: identity, answer: answer)
        guard !reading.isWhole, let answer, identity.customer == identity.primary else {
            let ids = identity.all.map(\.text)
            beginning.owned = try connection.ask(SQL.lineagesOwned, in: scope, .texts(ids))
            return beginning
        }
        // A derivation looks back to when the answer fell due, or was derived, and no further.
        let earliest = min(answer.derivedAt, answer.validUntil ?? answer.derivedAt)
        beginning.unsettled = try connection.ask(
            SQL.lineagesUnsettled,
            in: scope,
            .text(identity.primary.text),
            .text(answer.fingerprint),
            .instant(min(earliest, reading.occasion.now - Milliseconds(1)))
        )
        if !identity.aliases.isEmpty {
            let ids = identity.aliases.map(\.alias.text)
            beginning.owned = try connection.ask(SQL.lineagesOwned, in: scope, .texts(ids))
        }
        return beginning
    }

    private func outline(_ beginning: OutlineBeginning) throws(StorageError) -> CustomerOutline {
        var leftOut: LeftOut?
        var owned = try beginning.owned?.all { $0.text(0) } ?? []
        if let unsettled = beginning.unsettled {
            leftOut = try unsettled.first(Self.leftOut) ?? nil
            let rest = try unsettled.all { $0.text(0) }
            owned = owned.isEmpty ? rest : owned + rest
        }
        if beginning.unsettled != nil, beginning.owned != nil {
            owned = Set(owned).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        return CustomerOutline(
            key: beginning.key,
            identity: beginning.identity,
            answer: beginning.answer,
            leftOut: leftOut,
            lineages: owned
        )
    }

    private static func leftOut(_ row: Row) -> LeftOut? {
        let count = Int(row.integer(1))
        return count > 1 ? LeftOut(count: count - 1, since: row.instant(2)) : nil
    }

    // MARK: Details

    private struct Details {
        let outline: CustomerOutline
        let reading: CustomerReading
        let lineages: LineageAnswers
        let told: Answer
        let drift: Answer
        let prompts: Answer
    }

    private func askDetails(
        of outline: CustomerOutline,
        _ reading: CustomerReading
    ) throws(StorageError) -> Details {
        let (key, scope) = (outline.answer?.key ?? outline.key, outline.key.scope)
        let unchanged = outline.lineages.filter { reading.changed[$0] == nil }
        return Details(
            outline: outline,
            reading: reading,
            lineages: try askLineages(unchanged, in: scope),
            told: try connection.ask(CommonSQL.told, in: scope, .text(key.customer.text)),
            drift: try askOpenDrift(of: key),
            prompts: try connection.ask(
                SQL.promptsOf,
                in: scope,
                .texts(outline.identity.all.map(\.text)),
                .integer(Self.mostPrompts)
            )
        )
    }

    /// The maximum number of prompts read per customer, equal to the maximum of `prompts.perDay`.
    private static let mostPrompts: Int64 = 1_000

    private func customer(in details: Details) throws(StorageError) -> ReadCustomer {
        let (outline, occasion) = (details.outline, details.reading.occasion)
        let stored = try lineageParts(details.lineages)
        var lineageRecords: [LineageRecord] = []
        for key in outline.lineages {
            if let changed = details.reading.changed[key] {
                lineageRecords.append(changed)
            } else {
                lineageRecords.append(try stored[key, default: LineageParts()].owned(self))
            }
        }
        let told = try details.told.all { $0.text(0) }
        // A customer who was never derived has no events and no drift.
        let isDerived = outline.answer != nil
        let lineages = CustomerLineages(
            key: outline.key,
            aliases: outline.identity.aliases,
            answer: outline.answer,
            lineageRecords: lineageRecords,
            leftOut: outline.leftOut,
            deliveredEvents: isDerived ? told : [],
            openDrift: isDerived ? try details.drift.all(connection.rows.drift) : [],
            prompts: try prompts(details.prompts, occasion),
            leastVersion: occasion.leastVersion,
            now: occasion.now,
            reconciledAt: occasion.reconciledAt,
            presented: occasion.presented
        )
        return ReadCustomer(lineages: lineages, told: Set(told))
    }

    /// Returns the prompts shown to a customer, stored ones and those of the commit, latest first.
    private func prompts(
        _ answer: Answer,
        _ occasion: Occasion
    ) throws(StorageError) -> [PromptExposure] {
        let known = Set(occasion.prompts.map(\.id))
        let stored = try answer.all(connection.rows.prompt).filter { !known.contains($0.id) }
        return (occasion.prompts + stored).sorted { $0.shownAt > $1.shownAt }
    }

    // MARK: Drift

    func openDrift(of key: CustomerKey) throws(StorageError) -> [Drift] {
        try askOpenDrift(of: key).all(connection.rows.drift)
    }

    private func askOpenDrift(of key: CustomerKey) throws(StorageError) -> Answer {
        try connection.ask(CommonSQL.openDrift, in: key.scope, .text(key.customer.text))
    }

    /// Returns the customer's drift; an alias resolves to its customer.
    func drift(of key: CustomerKey, limit: Int) throws(StorageError) -> [Drift] {
        let key = try primary(of: key)
        let answer = try connection.ask(
            CommonSQL.driftOf,
            in: key.scope,
            .text(key.customer.text),
            .limit(limit)
        )
        return try answer.all(connection.rows.drift)
    }

    func drift(
        _ scope: AppScope,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift] {
        let answer = try connection.ask(
            CommonSQL.driftAfter,
            in: scope,
            .text(after?.customer.text ?? ""),
            .text(after?.id ?? ""),
            .limit(limit)
        )
        return try answer.all(connection.rows.drift)
    }

    // MARK: Lineages

    /// The answers about some lineages.
    struct LineageAnswers {
        fileprivate let facts: Answer
        fileprivate let owners: Answer
    }

    /// The stored parts of one lineage.
    struct LineageParts {
        var facts: [Fact] = []
        var owners: [OwnershipEntry] = []

        func owned(_ queries: CustomerQueries) throws(StorageError) -> LineageRecord {
            guard let owner = owners.first else {
                throw queries.connection.rows.damaged("a lineage has lost its owners")
            }
            return LineageRecord(lineage: owner.lineage, facts: facts, owners: owners)
        }
    }

    func askLineages(
        _ keys: [String],
        in scope: AppScope
    ) throws(StorageError) -> LineageAnswers {
        LineageAnswers(
            facts: try connection.ask(SQL.facts, in: scope, .texts(keys)),
            owners: try connection.ask(SQL.owners, in: scope, .texts(keys))
        )
    }

    func lineageParts(_ answers: LineageAnswers) throws(StorageError) -> [String: LineageParts] {
        var parts: [String: LineageParts] = [:]
        var reader = StoredFactReader()
        let facts = try answers.facts.all { row throws(StorageError) in
            (row.text(1), try connection.rows.readable { try reader.fact(row.bytes(0)) })
        }
        for (key, fact) in facts { parts[key, default: LineageParts()].facts.append(fact) }
        let owners = try answers.owners.all { row throws(StorageError) in
            (row.text(1), try connection.rows.readable { try OwnershipEntry(stored: row.bytes(0)) })
        }
        for (key, entry) in owners { parts[key, default: LineageParts()].owners.append(entry) }
        return parts
    }

    func owners(
        of lineage: String,
        in scope: AppScope
    ) throws(StorageError) -> [OwnershipEntry] {
        let answer = try connection.ask(SQL.owners, in: scope, .texts([lineage]))
        return try answer.all { row throws(StorageError) in
            try connection.rows.readable { try OwnershipEntry(stored: row.bytes(0)) }
        }
    }

    /// Returns lineages that have stored facts, with or without an owner, in the given order.
    func storedLineageRecords(
        _ keys: [String],
        in scope: AppScope
    ) throws(StorageError) -> [LineageRecord] {
        let parts = try lineageParts(try askLineages(keys, in: scope))
        return try keys.map { key throws(StorageError) in
            guard let found = parts[key], let lineage = found.facts.first?.lineage else {
                throw connection.rows.damaged("a lineage lost its facts")
            }
            return LineageRecord(lineage: lineage, facts: found.facts, owners: found.owners)
        }
    }

    /// Returns a lineage that may have no stored data.
    func storedLineageRecord(
        _ lineage: Lineage,
        in scope: AppScope
    ) throws(StorageError) -> LineageRecord {
        let parts = try lineageParts(try askLineages([lineage.key], in: scope))
        let found = parts[lineage.key] ?? LineageParts()
        return LineageRecord(lineage: lineage, facts: found.facts, owners: found.owners)
    }
}
