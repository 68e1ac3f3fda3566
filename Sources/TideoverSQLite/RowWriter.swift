import TideoverCore
import TideoverStorage

/// Adds rows through the writing connection, for commits and imports alike. A function that returns
/// whether it added its row adds none where one with the same key exists.
struct RowWriter {
    let statements: Statements
    let used: UsedTables

    /// Adds evidence without its headers. The unique key decides whether it is known, not a query.
    func insert(_ row: EvidenceRow, in scope: AppScope) throws(StorageError) -> Bool {
        let inserted = try statements[CommonSQL.insertEvidence].run(
            in: scope,
            .text(row.evidence.dedupeKey),
            .text(row.evidence.id.hex),
            .text(row.evidence.source.rawValue),
            .instant(row.evidence.signedAt),
            .instant(row.evidence.receivedAt),
            .bytes(row.form)
        )
        return inserted == 1
    }

    /// Adds the text of a header that evidence refers to, unless it is stored.
    func insert(header text: [UInt8], _ fingerprint: HeaderFingerprint) throws(StorageError) {
        guard
            try statements[SQL.hasHeader].first(.bytes(fingerprint.bytes), read: { _ in true })
                == nil
        else {
            return
        }
        try statements[SQL.insertHeader].run(.bytes(fingerprint.bytes), .bytes(text))
    }

    /// Adds a fact, and its names to the index. The caller marks the figures of its lineage.
    func insert(_ row: FactRow, in scope: AppScope) throws(StorageError) -> Bool {
        let inserted = try statements[used.earlierFacts ? SQL.insertFact : SQL.insertMovedFact].run(
            in: scope,
            .text(row.fact.lineage.key),
            .bytes(row.identity),
            .instant(row.fact.assertedAt),
            .utf8(row.form)
        )
        guard inserted == 1 else { return false }
        try insertNames(of: row.fact, in: scope)
        return true
    }

    /// Marks the figures of a lineage with new facts as out of date.
    func markFigures(of lineage: String, in scope: AppScope) throws(StorageError) {
        try statements[SQL.markFigures].run(
            in: scope,
            .text(FiguresSubject.Kind.lineage.rawValue),
            .text(lineage)
        )
    }

    /// Adds the names of a fact to the index.
    func insertNames(of fact: Fact, in scope: AppScope) throws(StorageError) {
        for name in fact.names {
            try statements[CommonSQL.insertName].run(
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
        try statements[CommonSQL.insertOwner].run(
            in: scope,
            .text(entry.lineage.key),
            .integer(Int64(position)),
            .text(entry.customer.text),
            .utf8(entry.form)
        )
    }

    /// Lets derivations read a lineage again.
    func unsettle(_ lineage: String, in scope: AppScope) throws(StorageError) {
        try statements[CommonSQL.unsettle].run(in: scope, .text(lineage))
    }

    /// Maintains the list of purchases that never had an owner.
    func mark(_ lineage: String, isClaimed: Bool, in scope: AppScope) throws(StorageError) {
        let sql = isClaimed ? CommonSQL.deleteUnclaimed : CommonSQL.insertUnclaimed
        try statements[sql].run(in: scope, .text(lineage))
    }

    /// Adds an alias, and removes the answer that it had as an id of its own.
    func insert(_ alias: CustomerAlias, in scope: AppScope) throws(StorageError) {
        used.alias = true
        try statements[CommonSQL.insertAlias].run(
            in: scope,
            .text(alias.alias.text),
            .text(alias.customer.text),
            .instant(alias.from),
            .text(alias.why),
            .text(alias.by)
        )
        try statements[CommonSQL.forgetCustomer].run(in: scope, .text(alias.alias.text))
    }

    /// Updates an open difference; returns false if it is not open or not stored.
    func change(_ drift: Drift, of key: CustomerKey) throws(StorageError) -> Bool {
        let changed = try statements[SQL.changeDrift].run(
            in: key.scope,
            .text(key.customer.text),
            .text(drift.id),
            .instant(drift.healing?.at),
            .utf8(drift.form)
        )
        return changed == 1
    }

    /// Adds a difference; returns false if it is stored or another one is open.
    @discardableResult
    func insert(_ drift: Drift, of key: CustomerKey) throws(StorageError) -> Bool {
        used.drift = true
        let inserted = try statements[CommonSQL.insertDrift].run(
            in: key.scope,
            .text(key.customer.text),
            .text(drift.id),
            .text(drift.entitlement),
            .instant(drift.openedAt),
            .instant(drift.healing?.at),
            .utf8(drift.form)
        )
        return inserted == 1
    }

    /// Adds a prompt, or the response to one; returns false if both are stored.
    func insert(_ record: PromptRecord, in scope: AppScope) throws(StorageError) -> Bool {
        used.prompt = true
        let changed = try statements[CommonSQL.restorePrompt].run(
            in: scope,
            .text(record.customer.text),
            .text(record.exposure.id),
            .text(record.exposure.kind.rawValue),
            .instant(record.exposure.shownAt),
            record.exposure.response.map { .text($0.rawValue) } ?? .null
        )
        return changed == 1
    }

    /// Adds the name of an event, so that the customer gets no second one of that name.
    func insert(name: String, of event: EventID, to key: CustomerKey) throws(StorageError) -> Bool {
        let inserted = try statements[CommonSQL.insertTold].run(
            in: key.scope,
            .text(key.customer.text),
            .text(name),
            .text(event.description)
        )
        return inserted == 1
    }

    @discardableResult
    func insert(_ entry: AuditEntry, _ id: EventID, in scope: AppScope) throws(StorageError) -> Bool
    {
        let inserted = try statements[CommonSQL.insertAudit].run(
            .text(scope.app),
            .text(id.description),
            .text(scope.environment.rawValue),
            .text(entry.customer?.text ?? SQL.noCustomer),
            .optional(entry.other?.text),
            .optional(entry.name),
            .utf8(entry.storedForm)
        )
        return inserted == 1
    }
}
