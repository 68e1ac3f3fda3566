import TideoverCore
import TideoverJSON

/// Decodes the rows of records, in the order of columns that the statements of every storage have.
package struct StoredRecordReader {
    /// A record, and its key in the form of a `RecordPlace`.
    package typealias Found = (record: StoredRecord, key: [String])

    private let scope: AppScope
    private let rows: StoredRowReader

    /// - Parameters:
    ///   - scope: the app and the environment of the records.
    ///   - place: the file or server, for errors.
    package init(_ scope: AppScope, _ place: String) {
        self.scope = scope
        rows = StoredRowReader(place)
    }

    /// A record of evidence, which has the columns of its mark behind its own ones.
    package func evidence(_ evidence: Evidence, _ row: some StoredRow) -> Found {
        (.evidence(evidence, idle: row.idleMark), [evidence.id.hex, evidence.dedupeKey])
    }

    package func fact(_ row: some StoredRow) throws(StorageError) -> Found {
        guard let form = try? JSONDocument(row.bytes(0), limits: .local),
            let fact = try? Fact(json: form.root)
        else { throw rows.damaged("a fact cannot be read") }
        let identity = Base64.encodeString(row.bytes(3), .standard)
        return (.fact(fact), [row.text(1), "\(row.integer(2))", identity])
    }

    package func owner(_ row: some StoredRow) throws(StorageError) -> Found {
        guard let form = try? JSONDocument(row.bytes(0), limits: .local),
            let owner = try? OwnershipEntry(json: form.root)
        else { throw rows.damaged("an owner cannot be read") }
        let position = row.integer(2)
        return (.owner(owner, position: Int(position)), [row.text(1), "\(position)"])
    }

    package func alias(_ row: some StoredRow) throws(StorageError) -> Found {
        let alias = try rows.alias(row)
        return (.alias(alias), [alias.alias.text])
    }

    package func attribute(_ row: some StoredRow) throws(StorageError) -> Found {
        let customer = try rows.customer(row.text(3))
        let record = AttributeRecord(customer: customer, attribute: row.attribute)
        return (.attribute(record), [record.customer.text, record.attribute.name])
    }

    package func prompt(_ row: some StoredRow) throws(StorageError) -> Found {
        let exposure = try rows.prompt(row)
        let record = PromptRecord(customer: try rows.customer(row.text(4)), exposure: exposure)
        return (.prompt(record), [record.customer.text, exposure.id])
    }

    package func drift(_ row: some StoredRow) throws(StorageError) -> Found {
        (.drift(try rows.drift(row)), [row.text(1), row.text(2)])
    }

    package func event(_ row: some StoredRow) throws(StorageError) -> Found {
        let event = try rows.event(row, of: scope.app)
        return (.event(event), [event.id.description])
    }

    package func told(_ row: some StoredRow) throws(StorageError) -> Found {
        guard let event = EventID(row.text(2)) else {
            throw rows.damaged("the name of an event cannot be read")
        }
        let customer = try rows.customer(row.text(0))
        let told = ToldName(customer: customer, name: row.text(1), event: event)
        return (.told(told), [told.customer.text, told.name])
    }

    package func audit(_ row: some StoredRow) throws(StorageError) -> Found {
        let read = try rows.auditRecord(row)
        var entry = read.entry
        entry.name = row.optionalText(3)
        let record = AuditRecord(id: read.id, environment: read.environment, entry: entry)
        return (.audit(record), [record.id.description])
    }

    package func bookmark(_ row: some StoredRow) -> Found {
        let bookmark = BookmarkRecord(name: row.text(0), form: row.bytes(1))
        return (.bookmark(bookmark), [bookmark.name])
    }

    package func policy(_ row: some StoredRow) -> Found {
        let version = row.policyVersion
        return (.policy(version), ["\(version.effectiveAt.millisecondsSince1970)"])
    }

    package func customer(_ row: some StoredRow) throws(StorageError) -> Found {
        let customer = try rows.customer(row.text(0))
        let stored = CustomerRow(
            key: scope.key(customer),
            version: row.integer(1),
            answer: row.bytes(2),
            validUntil: row.optionalInstant(3),
            fingerprint: "",
            derivedAt: row.instant(4),
            reconciledAt: row.optionalInstant(5),
            presented: row.optionalText(6).map(PresentedText.read) ?? PresentedStores()
        )
        return (.customer(stored), [customer.text])
    }
}

extension RecordPage {
    /// Creates the page of the records found of a kind, in order.
    package init(_ found: [StoredRecordReader.Found], of kind: StoredRecord.Kind) {
        self.init(
            records: found.map(\.record),
            next: found.last.map { RecordPlace(kind, key: $0.key) }
        )
    }
}

/// The parts of the key. An invalid key precedes every record, or matches none.
extension RecordPlace {
    package func text(_ index: Int) -> String { part(index) ?? "" }

    package func integer(_ index: Int, otherwise: Int64 = .min) -> Int64 {
        part(index).flatMap { Int64($0) } ?? otherwise
    }

    package func bytes(_ index: Int) -> [UInt8] {
        part(index).flatMap { Base64.decode($0.utf8, .standard) } ?? []
    }

    private func part(_ index: Int) -> String? { index < key.count ? key[index] : nil }
}
