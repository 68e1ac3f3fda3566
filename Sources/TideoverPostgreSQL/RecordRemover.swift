import TideoverCore
import TideoverStorage

/// Removes single records in a transaction that has locked the app, and rebuilds what is derived
/// from them.
struct RecordRemover {
    let session: WriteSession
    let scope: AppScope
    let now: Instant

    private var connection: Connection { session.connection }

    func remove(_ records: [StoredRecord]) throws(StorageError) {
        let lineages = Set(records.compactMap(\.lineage)).sorted()
        var concerned = Set(
            try parts(of: lineages).values.flatMap(\.owners).map(\.customer)
        )
        var names: [String: Set<PurchaseName>] = [:]
        for record in records {
            try remove(record)
            switch record {
            case .fact(let fact): names[fact.lineage.key, default: []].formUnion(fact.names)
            case .alias(let alias):
                concerned.insert(alias.customer)
                for customer in [alias.alias, alias.customer] {
                    let subject = FiguresSubject(.customer, customer.text)
                    try session.figures.remove(subject, in: scope)
                    try session.figures.mark(subject, in: scope)
                }
            case .prompt(let prompt): concerned.insert(prompt.customer)
            default: continue
            }
        }
        let left = try parts(of: lineages)
        for lineage in lineages {
            try rebuild(lineage, left[lineage] ?? .init(), without: names[lineage] ?? [])
        }
        let importer = RecordImporter(session: session, scope: scope, now: now)
        try importer.outdate(Array(concerned))
    }

    private func parts(
        of lineages: [String]
    ) throws(StorageError) -> [String: CustomerQueries.LineageParts] {
        guard !lineages.isEmpty else { return [:] }
        let customers = session.customers
        return try customers.lineageParts(try customers.askLineages(lineages, in: scope))
    }

    private func remove(_ record: StoredRecord) throws(StorageError) {
        switch record {
        case .evidence(let evidence, _):
            let id = SQLValue.text(evidence.id.hex)
            try ask(CommonSQL.removeEvidence, .text(evidence.dedupeKey), id)
        case .fact(let fact):
            let lineage = SQLValue.text(fact.lineage.key)
            let identity = SQLValue.bytes(FactRow(fact).identity)
            try ask(CommonSQL.removeFact, lineage, .instant(fact.assertedAt), identity)
        case .owner(let entry, let position):
            try ask(CommonSQL.removeOwners, .text(entry.lineage.key), .integer(Int64(position)))
        case .alias(let alias): try ask(CommonSQL.removeAlias, .text(alias.alias.text))
        case .attribute(let record):
            let name = SQLValue.text(record.attribute.name)
            try ask(CommonSQL.removeAttribute, .text(record.customer.text), name)
        case .prompt(let record):
            let id = SQLValue.text(record.exposure.id)
            try ask(CommonSQL.removePrompt, .text(record.customer.text), id)
        case .drift(let drift):
            try ask(CommonSQL.removeDrift, .text(drift.customer.text), .text(drift.id))
        case .event(let event): try ask(CommonSQL.removeEvent, .text(event.id.description))
        case .told(let told):
            try ask(CommonSQL.removeTold, .text(told.customer.text), .text(told.name))
        case .audit(let record): try ask(CommonSQL.removeAudit, .text(record.id.description))
        case .bookmark(let bookmark): try ask(CommonSQL.removeBookmark, .text(bookmark.name))
        case .policy(let version): try ask(CommonSQL.removePolicy, .instant(version.effectiveAt))
        case .customer(let row):
            try ask(CommonSQL.forgetCustomer, .text(row.key.customer.text))
            try session.figures.remove(row.key.customer, in: scope)
        }
    }

    private func ask(_ sql: StaticString, _ key: SQLValue...) throws(StorageError) {
        let place = [SQLValue.text(scope.app), .text(scope.environment.rawValue)]
        try connection.ask(sql, with: place + key)
    }

    /// Rebuilds what is derived from the facts and owners of a lineage: the index of names, the list
    /// of purchases without an owner, and the marks.
    private func rebuild(
        _ lineage: String,
        _ left: CustomerQueries.LineageParts,
        without names: Set<PurchaseName>
    ) throws(StorageError) {
        for name in names {
            try ask(CommonSQL.eraseName, .text(lineage), .text(name.kind), .text(name.text))
        }
        for fact in left.facts where !names.isDisjoint(with: fact.names) {
            try session.insertNames(of: fact, in: scope)
        }
        let isUnclaimed = left.owners.isEmpty && left.facts.contains(where: \.isPurchase)
        try session.mark(lineage, isClaimed: !isUnclaimed, in: scope)
        try session.unsettle(lineage, in: scope)
        let subject = FiguresSubject(.lineage, lineage)
        if left.facts.isEmpty, left.owners.isEmpty {
            try session.figures.remove(subject, in: scope)
        } else {
            try session.figures.mark(subject, in: scope)
        }
    }
}
