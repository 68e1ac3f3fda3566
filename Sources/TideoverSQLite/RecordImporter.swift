import TideoverCore
import TideoverJSON
import TideoverStorage

/// The destination of imported records.
struct Restoration {
    let app: String
    let environment: Environment
    let now: Instant
}

/// Imports records of another storage through the writing connection.
final class RecordImporter {
    private let customers: CustomerQueries
    private let insertEvidence: Statement
    private let hasHeader: Statement
    private let insertHeader: Statement
    private let insertFact: Statement
    private let insertName: Statement
    private let insertOwner: Statement
    private let unsettle: Statement
    private let insertUnclaimed: Statement
    private let deleteUnclaimed: Statement
    private let insertAlias: Statement
    private let attributes: AttributeLedger
    private let forgetCustomer: Statement
    private let changeDrift: Statement
    private let insertDrift: Statement
    private let hasDrift: Statement
    private let insertEvent: Statement
    private let insertTold: Statement
    private let insertAudit: Statement
    private let insertPolicy: Statement
    private let policyFingerprint: Statement
    private let insertCustomer: Statement
    private let outdateCustomer: Statement

    init(_ connection: Connection, _ customers: CustomerQueries) throws(StorageError) {
        self.customers = customers
        insertEvidence = try Statement(SQL.insertEvidence, on: connection)
        hasHeader = try Statement(SQL.hasHeader, on: connection)
        insertHeader = try Statement(SQL.insertHeader, on: connection)
        insertFact = try Statement(SQL.insertFact, on: connection)
        insertName = try Statement(SQL.insertName, on: connection)
        insertOwner = try Statement(SQL.insertOwner, on: connection)
        unsettle = try Statement(SQL.unsettle, on: connection)
        insertUnclaimed = try Statement(SQL.insertUnclaimed, on: connection)
        deleteUnclaimed = try Statement(SQL.deleteUnclaimed, on: connection)
        attributes = try AttributeLedger(connection)
        insertAlias = try Statement(SQL.insertAlias, on: connection)
        forgetCustomer = try Statement(SQL.forgetCustomer, on: connection)
        changeDrift = try Statement(SQL.changeDrift, on: connection)
        insertDrift = try Statement(SQL.insertDrift, on: connection)
        hasDrift = try Statement(SQL.hasDrift, on: connection)
        insertEvent = try Statement(SQL.restoreEvent, on: connection)
        insertTold = try Statement(SQL.insertTold, on: connection)
        insertAudit = try Statement(SQL.insertAudit, on: connection)
        insertPolicy = try Statement(SQL.restorePolicy, on: connection)
        policyFingerprint = try Statement(SQL.policyFingerprint, on: connection)
        insertCustomer = try Statement(SQL.restoreCustomer, on: connection)
        outdateCustomer = try Statement(SQL.outdateCustomer, on: connection)
    }

    func restore(_ row: RestoredRow, _ place: Restoration) throws(StorageError) -> Restored {
        switch row.record {
        case .evidence:
            guard let evidence = row.evidence else {
                preconditionFailure("a record of evidence has the row of it")
            }
            return try restore(evidence, place)
        case .fact:
            guard let fact = row.fact else {
                preconditionFailure("a record of a fact has the row of it")
            }
            return try restore(fact, place)
        case .owner(let entry, let position): return try restore(entry, position, place)
        case .alias(let alias): return try restore(alias, place)
        case .attribute(let record):
            let customer = key(record.customer, place)
            return try attributes.put(record.attribute, of: customer, at: place.now)
                ? .added : .known
        case .drift(let drift): return try restore(drift, place)
        case .event(let event): return try restore(event, place)
        case .told(let told): return try restore(told, place)
        case .audit(let record): return try restore(record, place)
        case .policy(let version): return try restore(version, place)
        case .customer(let row): return try restore(row, place)
        }
    }

    // MARK: Evidence and facts

    private func restore(
        _ row: EvidenceRow,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let inserted = try insertEvidence.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(row.evidence.dedupeKey),
            .text(row.evidence.id.hex),
            .text(row.evidence.source.rawValue),
            .instant(row.evidence.signedAt),
            .instant(row.evidence.receivedAt),
            .bytes(row.form)
        )
        guard inserted == 1 else { return .known }
        for (fingerprint, text) in row.headers
        where try hasHeader.first(.bytes(fingerprint.bytes), read: { _ in true }) == nil {
            try insertHeader.run(.bytes(fingerprint.bytes), .bytes(text))
        }
        return .added
    }

    private func restore(_ row: FactRow, _ place: Restoration) throws(StorageError) -> Restored {
        let lineage = row.fact.lineage.key
        let inserted = try insertFact.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(lineage),
            .bytes(row.identity),
            .instant(row.fact.assertedAt),
            .utf8(row.form)
        )
        guard inserted == 1 else { return .known }
        for name in row.fact.names {
            try insertName.run(
                .text(place.app),
                .text(name.kind),
                .text(name.text),
                .text(place.environment.rawValue),
                .text(lineage)
            )
        }
        let owners = try customers.owners(of: lineage, app: place.app, place.environment)
        if owners.isEmpty, row.fact.isPurchase {
            try mark(insertUnclaimed, lineage, place)
        }
        try mark(unsettle, lineage, place)
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
        let owners = try customers.owners(of: lineage, app: place.app, place.environment)
        if position < owners.count {
            return owners[position] == entry ? .known : .contradicted
        }
        guard position == owners.count else { return .contradicted }
        try insertOwner.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(lineage),
            .integer(Int64(position)),
            .text(entry.customer.text),
            .utf8(entry.form)
        )
        if owners.isEmpty { try mark(deleteUnclaimed, lineage, place) }
        try mark(unsettle, lineage, place)
        try outdate((owners + [entry]).map(\.customer), place)
        return .added
    }

    private func restore(
        _ alias: CustomerAlias,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let known = try customers.identity(of: key(alias.alias, place))
        guard known.primary == alias.alias, known.aliases.isEmpty else {
            return known.aliases.contains(alias) ? .known : .contradicted
        }
        guard try customers.primary(of: key(alias.customer, place)).customer == alias.customer
        else { return .contradicted }
        try insertAlias.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(alias.alias.text),
            .text(alias.customer.text),
            .instant(alias.from),
            .text(alias.why),
            .text(alias.by)
        )
        try forgetCustomer.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(alias.alias.text)
        )
        try outdate([alias.customer], place)
        return .added
    }

    private func restore(
        _ record: AuditRecord,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        var writer = JSONWriter()
        writer.object { record.entry.writeFields(to: &$0) }
        let inserted = try insertAudit.run(
            .text(place.app),
            .text(record.id.description),
            .text(place.environment.rawValue),
            .text(record.entry.customer?.text ?? SQL.noCustomer),
            record.entry.other.map { .text($0.text) } ?? .null,
            record.entry.name.map { .text($0) } ?? .null,
            .utf8(writer.bytes)
        )
        return inserted == 1 ? .added : .known
    }

    private func restore(
        _ version: PolicyVersion,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let app = SQLValue.text(place.app)
        let environment = SQLValue.text(place.environment.rawValue)
        let inserted = try insertPolicy.run(
            app,
            environment,
            .instant(version.effectiveAt),
            .text(version.fingerprint),
            .utf8(version.form)
        )
        guard inserted == 0 else { return .added }
        let known = try policyFingerprint.first(app, environment, .instant(version.effectiveAt)) {
            $0.text(0)
        }
        return known == version.fingerprint ? .known : .contradicted
    }

    // MARK: Answers and events

    /// Adds a difference, or ends an open one that had ended in the other storage.
    private func restore(_ drift: Drift, _ place: Restoration) throws(StorageError) -> Restored {
        if let healing = drift.healing {
            let changed = try changeDrift.run(
                .text(place.app),
                .text(place.environment.rawValue),
                .text(drift.customer.text),
                .text(drift.id),
                .instant(healing.at),
                .utf8(drift.form)
            )
            if changed == 1 { return .added }
        }
        let inserted = try insertDrift.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(drift.customer.text),
            .text(drift.id),
            .text(drift.entitlement),
            .instant(drift.openedAt),
            .instant(drift.healing?.at),
            .utf8(drift.form)
        )
        guard inserted == 0 else { return .added }
        let isKnown = try hasDrift.first(
            .text(place.app),
            .text(place.environment.rawValue),
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
        let inserted = try insertEvent.run(
            .text(place.app),
            .text(event.id.description),
            .text(place.environment.rawValue),
            .text(event.customer.customer.text),
            .integer(event.version),
            .text(event.event.kind),
            .instant(event.event.at),
            .utf8(event.event.body)
        )
        return inserted == 1 ? .added : .known
    }

    private func restore(_ told: ToldName, _ place: Restoration) throws(StorageError) -> Restored {
        let inserted = try insertTold.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(told.customer.text),
            .text(told.name),
            .text(told.event.description)
        )
        return inserted == 1 ? .added : .known
    }

    private func restore(
        _ row: CustomerRow,
        _ place: Restoration
    ) throws(StorageError) -> Restored {
        let inserted = try insertCustomer.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(row.key.customer.text),
            .integer(row.version),
            .utf8(row.answer),
            .instant(row.validUntil),
            .instant(row.derivedAt),
            .instant(row.reconciledAt)
        )
        return inserted == 1 ? .added : .known
    }

    // MARK: Effects

    private func mark(
        _ statement: Statement,
        _ lineage: String,
        _ place: Restoration
    ) throws(StorageError) {
        try statement.run(
            .text(place.app),
            .text(place.environment.rawValue),
            .text(lineage)
        )
    }

    /// Marks the answers of customers as due, so that they are derived again before they are
    /// served.
    private func outdate(
        _ concerned: [CustomerID],
        _ place: Restoration
    ) throws(StorageError) {
        for customer in Set(concerned) {
            let primary = try customers.primary(of: key(customer, place))
            try outdateCustomer.run(
                .text(place.app),
                .text(place.environment.rawValue),
                .text(primary.customer.text),
                .instant(place.now)
            )
        }
    }

    private func key(_ customer: CustomerID, _ place: Restoration) -> CustomerKey {
        CustomerKey(app: place.app, environment: place.environment, customer: customer)
    }
}
