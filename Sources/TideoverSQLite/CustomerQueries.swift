import TideoverCore
import TideoverStorage

/// Reads customers and lineages through one connection.
struct CustomerQueries {
    private let statements: Statements
    private let used: UsedTables
    private let rows: StoredRowReader

    init(_ statements: Statements, _ used: UsedTables = UsedTables()) {
        self.statements = statements
        self.used = used
        rows = statements.rows
    }

    // MARK: Ids

    /// Returns the key of the customer's answer; an alias resolves to its customer.
    func primary(of key: CustomerKey) throws(StorageError) -> CustomerKey {
        guard used.alias else { return key }
        let found = try statements[SQL.primary].first(
            in: key.scope,
            .text(key.customer.text)
        ) { row throws(StorageError) in try rows.customer(row.text(0)) }
        guard let found else { return key }
        return key.scope.key(found)
    }

    func identity(of key: CustomerKey) throws(StorageError) -> CustomerIdentity {
        try identity(of: key, primary: primary(of: key))
    }

    private func identity(
        of key: CustomerKey,
        primary: CustomerKey
    ) throws(StorageError) -> CustomerIdentity {
        guard used.alias else { return CustomerIdentity(key.customer, aliases: []) }
        let aliases = try statements[SQL.aliases].all(
            in: primary.scope,
            .text(primary.customer.text),
            read: rows.alias
        )
        return CustomerIdentity(key.customer, aliases: aliases)
    }

    /// Lists the ids that begin with `prefix`, after `after`, in order.
    func list(
        in scope: AppScope,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        // The range includes `after`, so that one bound serves the index. One extra row is read.
        let found = try statements[SQL.customerIDs].all(
            in: scope,
            .text([prefix, after ?? ""].max { $0.utf8.lexicographicallyPrecedes($1.utf8) } ?? ""),
            .text(prefix + "\u{10FFFF}"),
            .limit(max(0, limit) + 1),
            read: rows.listedCustomer
        )
        return Array(found.filter { $0.id.text != after }.prefix(max(0, limit)))
    }

    func list(
        in scope: AppScope,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try statements[SQL.customersByEmail].all(
            in: scope,
            .text(email.folded),
            .text(after ?? ""),
            .limit(limit),
            read: rows.listedCustomer
        )
    }

    // MARK: Customers

    /// Returns the customer's row; an alias resolves to its customer.
    func row(of key: CustomerKey) throws(StorageError) -> CustomerRow? {
        try statements[CommonSQL.customer].first(in: key.scope, .text(key.customer.text)) {
            row throws(StorageError) in
            try rows.answer(row, in: key.scope)
        }
    }

    /// Reads everything about a customer, who may be unknown. Settled lineages are left out if
    /// `isWhole` is false.
    func lineages(
        of key: CustomerKey,
        now: Instant,
        isWhole: Bool = true
    ) throws(StorageError) -> CustomerLineages {
        try lineages(
            in: DerivationInput(
                outline: outline(of: key, primary: primary(of: key), now: now, isWhole: isWhole),
                occasion: Occasion(now: now, reconciledAt: nil, leastVersion: 0),
                newFacts: [:],
                isWhole: isWhole
            )
        )
    }

    /// Lists the lineages a derivation needs, without their facts. Settled ones are left out if
    /// `isWhole` is false. `primary` is the key of the customer's answer.
    func outline(
        of key: CustomerKey,
        primary: CustomerKey,
        now: Instant,
        isWhole: Bool
    ) throws(StorageError) -> CustomerOutline {
        let identity = try identity(of: key, primary: primary)
        let answer = try row(of: key)
        if !isWhole, let only = try onlyLineages(of: identity, key) {
            return CustomerOutline(
                key: key,
                identity: identity,
                answer: answer,
                leftOut: nil,
                lineages: only
            )
        }
        let settled = isWhole ? nil : try settled(of: identity, key, answer, now: now)
        return CustomerOutline(
            key: key,
            identity: identity,
            answer: answer,
            leftOut: settled?.leftOut,
            lineages: try lineages(of: identity, key, without: settled)
        )
    }

    /// Reads the data an outline names. The lineages that the commit changes are not read again.
    func lineages(in input: DerivationInput) throws(StorageError) -> CustomerLineages {
        let outline = input.outline
        let (key, answer) = (outline.key, outline.answer)
        var lineageRecords: [LineageRecord] = []
        for lineage in outline.lineages {
            if let lineageRecord = input.newFacts[lineage] {
                lineageRecords.append(lineageRecord)
            } else {
                lineageRecords.append(try lineageRecord(lineage, in: key.scope))
            }
        }
        // A customer who was never derived has no events and no drift.
        let derived = answer?.key ?? key
        let deliveredEvents = answer == nil ? [] : try deliveredEvents(of: derived)
        let openDrift = answer == nil ? [] : try openDrift(of: derived)
        return CustomerLineages(
            key: key,
            aliases: outline.identity.aliases,
            answer: answer,
            lineageRecords: lineageRecords,
            leftOut: outline.leftOut,
            deliveredEvents: deliveredEvents,
            openDrift: openDrift,
            prompts: try prompts(of: outline, input.occasion),
            leastVersion: input.occasion.leastVersion,
            now: input.occasion.now,
            reconciledAt: input.occasion.reconciledAt,
            presented: input.occasion.presented
        )
    }

    /// The maximum number of prompts read per customer, equal to the maximum of `prompts.perDay`.
    private static let mostPrompts: Int64 = 1_000

    /// Returns the prompts shown to a customer, stored ones and those of the commit, latest first.
    private func prompts(
        of outline: CustomerOutline,
        _ occasion: Occasion
    ) throws(StorageError) -> [PromptExposure] {
        var prompts = occasion.prompts
        guard used.prompt else { return prompts.sorted { $0.shownAt > $1.shownAt } }
        let known = Set(prompts.map(\.id))
        for id in outline.identity.all {
            prompts += try statements[SQL.promptsOf].all(
                in: outline.key.scope,
                .text(id.text),
                .integer(Self.mostPrompts),
                read: rows.prompt
            ).filter { !known.contains($0.id) }
        }
        return prompts.sorted { $0.shownAt > $1.shownAt }
    }

    /// Returns the keys of a customer's lineages that are marked as settled under a fingerprint.
    func marked(of key: CustomerKey, under fingerprint: String) throws(StorageError) -> Set<String>
    {
        Set(
            try statements[SQL.settledKeys].all(
                in: key.scope,
                .text(key.customer.text),
                .text(fingerprint)
            ) { $0.text(0) }
        )
    }

    // MARK: Drift

    func openDrift(of key: CustomerKey) throws(StorageError) -> [Drift] {
        guard used.drift else { return [] }
        return try statements[CommonSQL.openDrift].all(
            in: key.scope,
            .text(key.customer.text),
            read: rows.drift
        )
    }

    /// Returns the customer's drift; an alias resolves to its customer.
    func drift(of key: CustomerKey, limit: Int) throws(StorageError) -> [Drift] {
        let key = try primary(of: key)
        let customer = SQLValue.text(key.customer.text)
        return try statements[CommonSQL.driftOf].all(
            in: key.scope,
            customer,
            .limit(limit),
            read: rows.drift
        )
    }

    func drift(in scope: AppScope, after: Drift?, limit: Int) throws(StorageError) -> [Drift] {
        try statements[CommonSQL.driftAfter].all(
            in: scope,
            .text(after?.customer.text ?? ""),
            .text(after?.id ?? ""),
            .limit(limit),
            read: rows.drift
        )
    }

    // MARK: Lineages

    /// A customer's settled lineages, by a fingerprint and an instant.
    private struct Settled {
        let fingerprint: String
        let until: Instant
        /// The first by key, which represents the others.
        let first: String
        let leftOut: LeftOut
    }

    /// Returns the lineages to leave out; nil if all are needed. A derivation looks back to when
    /// the answer fell due, or was derived, and no further.
    private func settled(
        of identity: CustomerIdentity,
        _ key: CustomerKey,
        _ answer: CustomerRow?,
        now: Instant
    ) throws(StorageError) -> Settled? {
        guard let answer, identity.customer == identity.primary else { return nil }
        let earliest = min(answer.derivedAt, answer.validUntil ?? answer.derivedAt)
        let until = min(earliest, now - Milliseconds(1))
        let found = try statements[SQL.settledLineages].first(
            in: key.scope,
            .text(identity.primary.text),
            .text(answer.fingerprint),
            .instant(until)
        ) { row throws(StorageError) -> Settled? in
            guard row.integer(0) > 1 else { return nil }
            return Settled(
                fingerprint: answer.fingerprint,
                until: until,
                first: row.text(2),
                leftOut: LeftOut(count: Int(row.integer(0)) - 1, since: row.instant(1))
            )
        }
        return found ?? nil
    }

    /// Returns the keys of a customer's lineages if there are fewer than two: one that represents
    /// the settled ones always stays, so none is left out. Most customers have one.
    private func onlyLineages(
        of identity: CustomerIdentity,
        _ key: CustomerKey
    ) throws(StorageError) -> [String]? {
        guard identity.aliases.isEmpty else { return nil }
        let first = try statements[SQL.firstLineagesOwned].all(
            in: key.scope,
            .text(identity.primary.text)
        ) { $0.text(0) }
        return first.count < 2 ? first : nil
    }

    /// Returns the keys of the lineages that a customer owns or ever owned, by any id, in order.
    private func lineages(
        of identity: CustomerIdentity,
        _ key: CustomerKey,
        without settled: Settled?
    ) throws(StorageError) -> [String] {
        var owned: [String] = []
        if let settled {
            owned = try statements[SQL.lineagesUnsettled].all(
                in: key.scope,
                .text(identity.primary.text),
                .text(settled.fingerprint),
                .instant(settled.until),
                .text(settled.first)
            ) { $0.text(0) }
        }
        for id in settled == nil ? identity.all : identity.aliases.map(\.alias) {
            owned += try statements[SQL.lineagesOwned].all(in: key.scope, .text(id.text)) {
                $0.text(0)
            }
        }
        guard !identity.aliases.isEmpty else { return owned }
        return Set(owned).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func deliveredEvents(of key: CustomerKey) throws(StorageError) -> [String] {
        try statements[CommonSQL.told].all(in: key.scope, .text(key.customer.text)) { $0.text(0) }
    }

    func owners(of lineage: String, in scope: AppScope) throws(StorageError) -> [OwnershipEntry] {
        try ownership(of: lineage, in: scope).owners
    }

    /// Returns the owners of a lineage, and whether it is marked as settled.
    func ownership(
        of lineage: String,
        in scope: AppScope
    ) throws(StorageError) -> (owners: [OwnershipEntry], isSettled: Bool) {
        var isSettled = false
        let owners = try statements[SQL.owners].all(in: scope, .text(lineage)) {
            row throws(StorageError) in
            if row.integer(1) == 1 { isSettled = true }
            return try rows.readable { try OwnershipEntry(stored: row.bytes(0)) }
        }
        return (owners, isSettled)
    }

    private func lineageRecord(
        _ lineage: String,
        in scope: AppScope
    ) throws(StorageError) -> LineageRecord {
        let owners = try owners(of: lineage, in: scope)
        guard let owner = owners.first else { throw rows.damaged("a lineage has lost its owners") }
        let facts = try facts(of: lineage, in: scope)
        return LineageRecord(lineage: owner.lineage, facts: facts, owners: owners)
    }

    /// Returns a lineage that has stored facts, with or without an owner.
    func storedLineageRecord(
        _ key: String,
        in scope: AppScope
    ) throws(StorageError) -> LineageRecord {
        let facts = try facts(of: key, in: scope)
        guard let lineage = facts.first?.lineage else {
            throw rows.damaged("a lineage lost its facts")
        }
        let owners = try owners(of: key, in: scope)
        return LineageRecord(lineage: lineage, facts: facts, owners: owners)
    }

    /// Returns a lineage that may have no stored data.
    func storedLineageRecord(
        _ lineage: Lineage,
        in scope: AppScope
    ) throws(StorageError) -> LineageRecord {
        LineageRecord(
            lineage: lineage,
            facts: try facts(of: lineage.key, in: scope),
            owners: try owners(of: lineage.key, in: scope)
        )
    }

    /// Returns the facts in the order of their assertion. Those of `known` are not decoded.
    func facts(
        of lineage: String,
        in scope: AppScope,
        known: [FactRow] = []
    ) throws(StorageError) -> [Fact] {
        let statement = try statements[used.earlierFacts ? SQL.facts : SQL.movedFacts]
        var reader = StoredFactReader()
        return try statement.all(in: scope, .text(lineage)) {
            row throws(StorageError) in
            let form = row.bytes(0)
            if let same = known.first(where: { $0.form == form }) { return same.fact }
            return try rows.readable { try reader.fact(form) }
        }
    }
}
