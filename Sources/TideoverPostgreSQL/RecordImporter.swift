import TideoverCore
import TideoverStorage

/// Imports records of another storage in a transaction that has locked the app.
struct RecordImporter {
    let session: WriteSession
    let scope: AppScope
    let now: Instant

    private var connection: Connection { session.connection }

    func restore(_ row: RestoredRow) throws(StorageError) -> Restored {
        switch row.record {
        case .evidence(_, let mark):
            guard let evidence = row.evidence else {
                preconditionFailure("a record of evidence has the row of it")
            }
            return try restore(evidence, mark)
        case .fact:
            guard let fact = row.fact else {
                preconditionFailure("a record of a fact has the row of it")
            }
            return try restore(fact, keepsMarks: row.keepsMarks)
        case .owner(let entry, let position): return try restore(entry, position)
        case .alias(let alias): return try restore(alias)
        case .attribute(let record):
            let ledger = AttributeLedger(connection: connection)
            let customer = scope.key(record.customer)
            return try Self.outcome(try ledger.put(record.attribute, of: customer, at: now))
        case .prompt(let record): return try restore(record)
        case .drift(let drift): return try restore(drift)
        case .event(let event): return try restore(event)
        case .told(let told): return try restore(told)
        case .audit(let record): return try restore(record)
        case .bookmark(let bookmark): return try restore(bookmark)
        case .policy(let version): return try restore(version)
        case .customer(let row): return try restore(row)
        }
    }

    private static func outcome(_ answer: Answer) throws(StorageError) -> Restored {
        try answer.count() == 1 ? .added : .known
    }

    // MARK: Evidence and facts

    private func restore(
        _ row: EvidenceRow,
        _ mark: IdleMark?
    ) throws(StorageError) -> Restored {
        let answer = try session.ask(toInsert: row, in: scope)
        try session.send(headersOf: row)
        guard try answer.count() == 1 else { return .known }
        if let mark {
            try connection.ask(
                SQL.idle,
                in: scope,
                .text(row.evidence.dedupeKey),
                .instant(mark.since),
                .optional(mark.subject)
            )
        }
        return .added
    }

    private func restore(
        _ row: FactRow,
        keepsMarks: Bool
    ) throws(StorageError) -> Restored {
        let lineage = row.fact.lineage.key
        let inserted = try session.ask(toInsert: row, in: scope)
        let owners = try session.customers.owners(of: lineage, in: scope)
        guard try inserted.count() == 1 else { return .known }
        if !keepsMarks {
            try connection.ask(
                SQL.unidleProof,
                .text(scope.app),
                .text(row.fact.evidence.hex),
                .text(scope.environment.rawValue)
            )
        }
        try session.figures.mark(FiguresSubject(.lineage, lineage), in: scope)
        try session.insertNames(of: row.fact, in: scope)
        if owners.isEmpty, row.fact.isPurchase {
            try session.mark(lineage, isClaimed: false, in: scope)
        }
        try session.unsettle(lineage, in: scope)
        try outdate(owners.map(\.customer))
        return .added
    }

    // MARK: Owners and aliases

    private func restore(
        _ entry: OwnershipEntry,
        _ position: Int
    ) throws(StorageError) -> Restored {
        let lineage = entry.lineage.key
        let owners = try session.customers.owners(of: lineage, in: scope)
        if position < owners.count {
            return owners[position] == entry ? .known : .contradicted
        }
        guard position == owners.count else { return .contradicted }
        try session.insert(entry, at: position, in: scope)
        if owners.isEmpty { try session.mark(lineage, isClaimed: true, in: scope) }
        try session.unsettle(lineage, in: scope)
        try outdate((owners + [entry]).map(\.customer))
        return .added
    }

    private func restore(_ alias: CustomerAlias) throws(StorageError) -> Restored {
        let customers = session.customers
        let known = try customers.identity(of: scope.key(alias.alias))
        guard known.primary == alias.alias, known.aliases.isEmpty else {
            return known.aliases.contains(alias) ? .known : .contradicted
        }
        guard try customers.primary(of: scope.key(alias.customer)).customer == alias.customer
        else { return .contradicted }
        try session.insert(alias, in: scope)
        try outdate([alias.customer])
        return .added
    }

    private func restore(_ record: AuditRecord) throws(StorageError) -> Restored {
        let entry = record.entry
        let answer = try connection.ask(
            CommonSQL.insertAudit,
            .text(scope.app),
            .text(record.id.description),
            .text(scope.environment.rawValue),
            .text(entry.customer?.text ?? SQL.noCustomer),
            .optional(entry.other?.text),
            .optional(entry.name),
            .bytes(entry.storedForm)
        )
        return try Self.outcome(answer)
    }

    /// Adds a bookmark. A stored one stays: a server may have changed it since the export. Of the
    /// newest removed events the later one counts: the storage may lack events before it.
    private func restore(_ bookmark: BookmarkRecord) throws(StorageError) -> Restored {
        let answer = try connection.ask(
            bookmark.name == RemovedEvents.name
                ? CommonSQL.raiseBookmark : CommonSQL.restoreBookmark,
            in: scope,
            .text(bookmark.name),
            .bytes(bookmark.form)
        )
        return try Self.outcome(answer)
    }

    private func restore(_ version: PolicyVersion) throws(StorageError) -> Restored {
        let inserted = try connection.ask(
            CommonSQL.restorePolicy,
            in: scope,
            .instant(version.effectiveAt),
            .text(version.fingerprint),
            .bytes(version.form)
        )
        let stored = try connection.ask(
            CommonSQL.policyFingerprint,
            in: scope,
            .instant(version.effectiveAt)
        )
        guard try inserted.count() == 0 else { return .added }
        let known = try stored.first { $0.text(0) }
        return known == version.fingerprint ? .known : .contradicted
    }

    // MARK: Answers and events

    private func restore(_ record: PromptRecord) throws(StorageError) -> Restored {
        let answer = try connection.ask(
            CommonSQL.restorePrompt,
            in: scope,
            .text(record.customer.text),
            .text(record.exposure.id),
            .text(record.exposure.kind.rawValue),
            .instant(record.exposure.shownAt),
            .optional(record.exposure.response?.rawValue)
        )
        guard try answer.count() == 1 else { return .known }
        try outdate([record.customer])
        return .added
    }

    /// Adds a difference, or ends an open one that had ended in the other storage.
    private func restore(_ drift: Drift) throws(StorageError) -> Restored {
        let key = scope.key(drift.customer)
        if drift.healing != nil, try session.ask(toChange: drift, of: key).count() == 1 {
            return .added
        }
        let inserted = try session.ask(toInsert: drift, of: key)
        let stored = try connection.ask(
            CommonSQL.hasDrift,
            in: scope,
            .text(drift.customer.text),
            .text(drift.id)
        )
        guard try inserted.count() == 0 else { return .added }
        return try stored.first { _ in true } == nil ? .contradicted : .known
    }

    private func restore(_ event: OutboxEvent) throws(StorageError) -> Restored {
        let answer = try connection.ask(
            SQL.restoreEvent,
            .text(scope.app),
            .text(event.id.description),
            .text(scope.environment.rawValue),
            .text(event.customer.customer.text),
            .integer(event.version),
            .text(event.event.kind),
            .instant(event.event.at),
            .bytes(event.event.body)
        )
        return try Self.outcome(answer)
    }

    private func restore(_ told: ToldName) throws(StorageError) -> Restored {
        let answer = try connection.ask(
            CommonSQL.insertTold,
            in: scope,
            .text(told.customer.text),
            .text(told.name),
            .text(told.event.description)
        )
        return try Self.outcome(answer)
    }

    /// Adds an answer, or raises the version of a stored one, which is then derived again.
    private func restore(_ row: CustomerRow) throws(StorageError) -> Restored {
        let answer = try connection.ask(
            SQL.restoreCustomer,
            in: scope,
            .text(row.key.customer.text),
            .integer(row.version),
            .bytes(row.answer),
            .instant(row.validUntil),
            .instant(row.derivedAt),
            .instant(row.reconciledAt),
            .optional(PresentedText.write(row.presented)),
            .instant(now)
        )
        return try Self.outcome(answer)
    }

    // MARK: Effects

    /// Marks the answers of customers as due, so that they are derived again before they are
    /// served.
    func outdate(_ concerned: [CustomerID]) throws(StorageError) {
        guard !concerned.isEmpty else { return }
        let primaries = try session.customers.primaries(of: Set(concerned), in: scope)
        for customer in Set(concerned.map { primaries[$0] ?? $0 }) {
            try connection.ask(
                SQL.outdateCustomer,
                in: scope,
                .text(customer.text),
                .instant(now)
            )
        }
    }
}
