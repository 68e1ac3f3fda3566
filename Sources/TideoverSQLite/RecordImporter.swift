import TideoverCore
import TideoverStorage

/// The destination of imported records.
struct Restoration {
    let scope: AppScope
    let now: Instant
}

/// Imports records of another storage through the writing connection.
struct RecordImporter {
    let statements: Statements
    let customers: CustomerQueries
    let rows: RowWriter

    func restore(_ row: RestoredRow, _ place: Restoration) throws(StorageError) -> Restored {
        switch row.record {
        case .evidence(_, let mark):
            guard let evidence = row.evidence else {
                preconditionFailure("a record of evidence has the row of it")
            }
            return try restore(evidence, mark, place)
        case .fact:
            guard let fact = row.fact else {
                preconditionFailure("a record of a fact has the row of it")
            }
            return try restore(fact, keepsMarks: row.keepsMarks, place)
        case .owner(let entry, let position): return try restore(entry, position, place)
        case .alias(let alias): return try restore(alias, place)
        case .attribute(let record):
            let customer = place.scope.key(record.customer)
            return try AttributeLedger(statements: statements).put(
                record.attribute,
                of: customer,
                at: place.now
            )
                ? .added : .known
        case .prompt(let record): return try restore(record, place)
        case .drift(let drift): return try restore(drift, place)
        case .event(let event): return try restore(event, place)
        case .told(let told): return try restore(told, place)
        case .audit(let record): return try restore(record, place)
        case .bookmark(let bookmark): return try restore(bookmark, place)
        case .policy(let version): return try restore(version, place)
        case .customer(let row): return try restore(row, place)
        }
    }

    // MARK: Evidence and facts

    private func restore(
        _ row: EvidenceRow,
        _ mark: IdleMark?,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        guard try rows.insert(row, in: place.scope) else { return .known }
        if let mark {
            try statements[SQL.idle].run(
                in: place.scope,
                .text(row.evidence.dedupeKey),
                .instant(mark.since),
                .optional(mark.subject)
            )
        }
        for (fingerprint, text) in row.headers { try rows.insert(header: text, fingerprint) }
        return .added
    }

    private func restore(
        _ row: FactRow,
        keepsMarks: Bool,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let lineage = row.fact.lineage.key
        guard try rows.insert(row, in: place.scope) else { return .known }
        if !keepsMarks {
            try statements[SQL.unidleProof].run(
                .text(place.scope.app),
                .text(row.fact.evidence.hex),
                .text(place.scope.environment.rawValue)
            )
        }
        try rows.markFigures(of: lineage, in: place.scope)
        let owners = try customers.owners(of: lineage, in: place.scope)
        if owners.isEmpty, row.fact.isPurchase {
            try rows.mark(lineage, isClaimed: false, in: place.scope)
        }
        try rows.unsettle(lineage, in: place.scope)
        try outdate(owners.map(\.customer), place)
        return .added
    }

    // MARK: Owners and aliases

    private func restore(
        _ entry: OwnershipEntry,
        _ position: Int,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let lineage = entry.lineage.key
        let owners = try customers.owners(of: lineage, in: place.scope)
        if position < owners.count {
            return owners[position] == entry ? .known : .contradicted
        }
        guard position == owners.count else { return .contradicted }
        try rows.insert(entry, at: position, in: place.scope)
        if owners.isEmpty { try rows.mark(lineage, isClaimed: true, in: place.scope) }
        try rows.unsettle(lineage, in: place.scope)
        try outdate((owners + [entry]).map(\.customer), place)
        return .added
    }

    private func restore(
        _ alias: CustomerAlias,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let known = try customers.identity(of: place.scope.key(alias.alias))
        guard known.primary == alias.alias, known.aliases.isEmpty else {
            return known.aliases.contains(alias) ? .known : .contradicted
        }
        guard try customers.primary(of: place.scope.key(alias.customer)).customer == alias.customer
        else { return .contradicted }
        try rows.insert(alias, in: place.scope)
        try outdate([alias.customer], place)
        return .added
    }

    private func restore(
        _ record: AuditRecord,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        try rows.insert(record.entry, record.id, in: place.scope) ? .added : .known
    }

    /// Adds a bookmark. A stored one stays: a server may have changed it since the export. Of the
    /// newest removed events the later one counts: the storage may lack events before it.
    private func restore(
        _ record: BookmarkRecord,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let statement = try statements[
            record.name == RemovedEvents.name ? CommonSQL.raiseBookmark : CommonSQL.restoreBookmark
        ]
        let inserted = try statement.run(in: place.scope, .text(record.name), .utf8(record.form))
        return inserted == 1 ? .added : .known
    }

    private func restore(
        _ version: PolicyVersion,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let inserted = try statements[CommonSQL.restorePolicy].run(
            in: place.scope,
            .instant(version.effectiveAt),
            .text(version.fingerprint),
            .utf8(version.form)
        )
        guard inserted == 0 else { return .added }
        let effectiveAt = SQLValue.instant(version.effectiveAt)
        let known = try statements[CommonSQL.policyFingerprint].first(in: place.scope, effectiveAt)
        { $0.text(0) }
        return known == version.fingerprint ? .known : .contradicted
    }

    // MARK: Answers and events

    private func restore(
        _ record: PromptRecord,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        guard try rows.insert(record, in: place.scope) else { return .known }
        try outdate([record.customer], place)
        return .added
    }

    /// Adds a difference, or ends an open one that had ended in the other storage.
    private func restore(_ drift: Drift, _ place: Restoration) throws(StorageError) -> Restored {
        let key = place.scope.key(drift.customer)
        if drift.healing != nil, try rows.change(drift, of: key) { return .added }
        guard try !rows.insert(drift, of: key) else { return .added }
        let isKnown = try statements[CommonSQL.hasDrift].first(
            in: place.scope,
            .text(drift.customer.text),
            .text(drift.id),
            read: { _ in true }
        )
        return isKnown == nil ? .contradicted : .known
    }

    private func restore(
        _ event: OutboxEvent,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let inserted = try statements[SQL.restoreEvent].run(
            .text(place.scope.app),
            .text(event.id.description),
            .text(place.scope.environment.rawValue),
            .text(event.customer.customer.text),
            .integer(event.version),
            .text(event.event.kind),
            .instant(event.event.at),
            .utf8(event.event.body)
        )
        return inserted == 1 ? .added : .known
    }

    private func restore(_ told: ToldName, _ place: Restoration) throws(StorageError) -> Restored {
        let key = place.scope.key(told.customer)
        return try rows.insert(name: told.name, of: told.event, to: key) ? .added : .known
    }

    /// Adds an answer, or raises the version of a stored one, which is then derived again.
    private func restore(
        _ row: CustomerRow,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let inserted = try statements[SQL.restoreCustomer].run(
            in: place.scope,
            .text(row.key.customer.text),
            .integer(row.version),
            .utf8(row.answer),
            .instant(row.validUntil),
            .instant(row.derivedAt),
            .instant(row.reconciledAt),
            .optional(PresentedText.write(row.presented)),
            .instant(place.now)
        )
        return inserted == 1 ? .added : .known
    }

    // MARK: Effects

    /// Marks the answers of customers as due, so that they are derived again before they are
    /// served.
    func outdate(
        _ concerned: [CustomerID],
        _ place: Restoration
    ) throws(StorageError) {
        for customer in Set(concerned) {
            let primary = try customers.primary(of: place.scope.key(customer))
            try statements[SQL.outdateCustomer].run(
                in: place.scope,
                .text(primary.customer.text),
                .instant(place.now)
            )
        }
    }
}
