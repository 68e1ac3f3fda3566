import TideoverCore
import TideoverStorage

/// Removes single records through the writing connection, and rebuilds what is derived from them.
struct RecordRemover {
    let statements: Statements
    let customers: CustomerQueries
    let rows: RowWriter
    let figures: FiguresLedger
    let importer: RecordImporter

    func remove(_ records: [StoredRecord], _ place: Restoration) throws(StorageError) {
        var concerned: Set<CustomerID> = []
        let lineages = Set(records.compactMap(\.lineage))
        for lineage in lineages {
            concerned.formUnion(try owners(of: lineage, place).map(\.customer))
        }
        var names: [String: Set<PurchaseName>] = [:]
        for record in records {
            try remove(record, place)
            switch record {
            case .fact(let fact): names[fact.lineage.key, default: []].formUnion(fact.names)
            case .alias(let alias):
                concerned.insert(alias.customer)
                for customer in [alias.alias, alias.customer] {
                    try figures.mark(FiguresSubject(.customer, customer.text), in: place.scope)
                }
            case .prompt(let prompt): concerned.insert(prompt.customer)
            default: continue
            }
        }
        for lineage in lineages { try rebuild(lineage, without: names[lineage] ?? [], place) }
        try importer.outdate(Array(concerned), place)
    }

    private func owners(
        of lineage: String,
        _ place: Restoration
    ) throws(StorageError) -> [OwnershipEntry] {
        try customers.owners(of: lineage, in: place.scope)
    }

    private func remove(_ record: StoredRecord, _ place: Restoration) throws(StorageError) {
        switch record {
        case .evidence(let evidence, _):
            let id = SQLValue.text(evidence.id.hex)
            try statements[CommonSQL.removeEvidence].run(
                in: place.scope,
                .text(evidence.dedupeKey),
                id
            )
        case .fact(let fact):
            let lineage = SQLValue.text(fact.lineage.key)
            let identity = SQLValue.bytes(FactRow(fact).identity)
            for statement in [CommonSQL.removeFact, SQL.removeFactByKey] {
                try statements[statement].run(
                    in: place.scope,
                    lineage,
                    .instant(fact.assertedAt),
                    identity
                )
            }
        case .owner(let entry, let position):
            let lineage = SQLValue.text(entry.lineage.key)
            try statements[CommonSQL.removeOwners].run(
                in: place.scope,
                lineage,
                .integer(Int64(position))
            )
        case .alias(let alias):
            try statements[CommonSQL.removeAlias].run(in: place.scope, .text(alias.alias.text))
        case .attribute(let record):
            let customer = SQLValue.text(record.customer.text)
            try statements[CommonSQL.removeAttribute].run(
                in: place.scope,
                customer,
                .text(record.attribute.name)
            )
        case .prompt(let record):
            let customer = SQLValue.text(record.customer.text)
            try statements[CommonSQL.removePrompt].run(
                in: place.scope,
                customer,
                .text(record.exposure.id)
            )
        case .drift(let drift):
            let customer = SQLValue.text(drift.customer.text)
            try statements[CommonSQL.removeDrift].run(in: place.scope, customer, .text(drift.id))
        case .event(let event):
            let id = SQLValue.text(event.id.description)
            for statement in [CommonSQL.removeEvent, SQL.removeEventByKey] {
                try statements[statement].run(in: place.scope, id)
            }
        case .told(let told):
            try statements[CommonSQL.removeTold].run(
                in: place.scope,
                .text(told.customer.text),
                .text(told.name)
            )
        case .audit(let record):
            try statements[CommonSQL.removeAudit].run(in: place.scope, .text(record.id.description))
        case .bookmark(let bookmark):
            try statements[CommonSQL.removeBookmark].run(in: place.scope, .text(bookmark.name))
        case .policy(let version):
            try statements[CommonSQL.removePolicy].run(
                in: place.scope,
                .instant(version.effectiveAt)
            )
        case .customer(let row):
            try statements[CommonSQL.forgetCustomer].run(
                in: place.scope,
                .text(row.key.customer.text)
            )
        }
    }

    /// Rebuilds what is derived from the facts and owners of a lineage: the index of names, the list
    /// of purchases without an owner, and the marks.
    private func rebuild(
        _ lineage: String,
        without names: Set<PurchaseName>,
        _ place: Restoration
    ) throws(StorageError) {
        let scope = place.scope
        let facts = try customers.facts(of: lineage, in: scope)
        let owners = try owners(of: lineage, place)
        for name in names {
            try statements[CommonSQL.eraseName].run(
                in: scope,
                .text(lineage),
                .text(name.kind),
                .text(name.text)
            )
        }
        for fact in facts where !names.isDisjoint(with: fact.names) {
            try rows.insertNames(of: fact, in: scope)
        }
        let isUnclaimed = owners.isEmpty && facts.contains(where: \.isPurchase)
        try rows.mark(lineage, isClaimed: !isUnclaimed, in: scope)
        try rows.unsettle(lineage, in: scope)
        let subject = FiguresSubject(.lineage, lineage)
        if facts.isEmpty, owners.isEmpty {
            try figures.remove(subject, in: scope)
        } else {
            try figures.mark(subject, in: scope)
        }
    }
}
