import TideoverCore
import TideoverJSON
import TideoverStorage

/// Reads all records of an app in an environment through one connection, a page of one kind at a
/// time.
struct RecordQueries {
    let connection: Connection
    let scope: AppScope
    let limit: Int

    /// A smaller limit, because a piece of evidence can have megabytes.
    private static let mostEvidence = 32

    /// A record, and its key.
    private typealias Found = (StoredRecord, [String])

    /// Returns the records of the place's kind after that place; an empty list at the end.
    func page(
        from place: RecordPlace,
        pieces: (Answer) throws(StorageError) -> [Evidence]
    ) throws(StorageError) -> RecordPage {
        let found = try found(Key(place.key), place.kind, pieces)
        return RecordPage(
            records: found.map(\.0),
            next: found.last.map { RecordPlace(place.kind, key: $0.1) }
        )
    }

    private func found(
        _ key: Key,
        _ kind: StoredRecord.Kind,
        _ pieces: (Answer) throws(StorageError) -> [Evidence]
    ) throws(StorageError) -> [Found] {
        switch kind {
        case .evidence:
            let most = min(limit, Self.mostEvidence)
            let answer = try ask(SQL.evidenceRecords, key.text(0), key.text(1), most: most)
            let marks = try answer.all(\.idleMark)
            return zip(try pieces(answer), marks).map { piece, mark in
                (.evidence(piece, idle: mark), [piece.id.hex, piece.dedupeKey])
            }
        case .fact:
            return try ask(SQL.factRecords, key.text(0), key.integer(1), key.bytes(2)).all(fact)
        case .owner:
            let position = key.integer(1, otherwise: -1)
            return try ask(SQL.ownerRecords, key.text(0), position).all(owner)
        case .alias: return try ask(SQL.aliasRecords, key.text(0)).all(alias)
        case .attribute:
            return try ask(SQL.attributeRecords, key.text(0), key.text(1)).all(attribute)
        case .prompt: return try ask(SQL.promptRecords, key.text(0), key.text(1)).all(prompt)
        case .drift:
            return try ask(SQL.driftRecords, key.text(0), key.text(1)).all(difference)
        case .event: return try ask(SQL.eventRecords, key.text(0)).all(event)
        case .told: return try ask(SQL.toldRecords, key.text(0), key.text(1)).all(toldName)
        case .audit: return try ask(SQL.auditRecords, key.text(0)).all(auditRecord)
        case .bookmark: return try bookmarks(after: key.name)
        case .policy:
            return try ask(SQL.policyRecords, key.integer(0)).all { row in
                let version = row.policyVersion
                return (.policy(version), ["\(version.effectiveAt.millisecondsSince1970)"])
            }
        case .customer: return try ask(SQL.customerRecords, key.text(0)).all(customer)
        }
    }

    private func ask(
        _ sql: StaticString,
        _ key: SQLValue...,
        most: Int? = nil
    ) throws(StorageError) -> Answer {
        let place = [SQLValue.text(scope.app), .text(scope.environment.rawValue)]
        return try connection.ask(sql, with: place + key + [.limit(most ?? limit)])
    }

    // MARK: Rows

    private func fact(_ row: Row) throws(StorageError) -> Found {
        guard let form = try? JSONDocument(row.bytes(0), limits: .local),
            let fact = try? Fact(json: form.root)
        else { throw unreadable("a fact") }
        let identity = Base64.encodeString(row.bytes(3), .standard)
        return (.fact(fact), [row.text(1), "\(row.integer(2))", identity])
    }

    private func owner(_ row: Row) throws(StorageError) -> Found {
        guard let form = try? JSONDocument(row.bytes(0), limits: .local),
            let owner = try? OwnershipEntry(json: form.root)
        else { throw unreadable("an owner") }
        let position = row.integer(2)
        return (.owner(owner, position: Int(position)), [row.text(1), "\(position)"])
    }

    private func alias(_ row: Row) throws(StorageError) -> Found {
        let alias = CustomerAlias(
            alias: try id(row.text(0)),
            customer: try id(row.text(1)),
            from: row.instant(2),
            why: row.text(3),
            by: row.text(4)
        )
        return (.alias(alias), [alias.alias.text])
    }

    private func attribute(_ row: Row) throws(StorageError) -> Found {
        let record = AttributeRecord(customer: try id(row.text(3)), attribute: row.attribute)
        return (.attribute(record), [record.customer.text, record.attribute.name])
    }

    private func prompt(_ row: Row) throws(StorageError) -> Found {
        guard let kind = PromptExposure.Kind(rawValue: row.text(1)) else {
            throw unreadable("a prompt")
        }
        let exposure = PromptExposure(
            id: row.text(0),
            kind: kind,
            shownAt: row.instant(2),
            response: row.optionalText(3).flatMap { PromptExposure.Response(rawValue: $0) }
        )
        let record = PromptRecord(customer: try id(row.text(4)), exposure: exposure)
        return (.prompt(record), [record.customer.text, exposure.id])
    }

    private func difference(_ row: Row) throws(StorageError) -> Found {
        guard let form = try? JSONDocument(row.bytes(0), limits: .local),
            let drift = try? Drift(json: form.root)
        else { throw unreadable("a drift") }
        return (.drift(drift), [row.text(1), row.text(2)])
    }

    private func event(_ row: Row) throws(StorageError) -> Found {
        guard let id = EventID(row.text(0)) else { throw unreadable("an event") }
        let event = OutboxEvent(
            id: id,
            customer: scope.key(try self.id(row.text(2))),
            version: row.integer(3),
            event: Event(kind: row.text(4), at: row.instant(5), body: row.bytes(6))
        )
        return (.event(event), [id.description])
    }

    private func toldName(_ row: Row) throws(StorageError) -> Found {
        guard let event = EventID(row.text(2)) else { throw unreadable("the name of an event") }
        let told = ToldName(customer: try id(row.text(0)), name: row.text(1), event: event)
        return (.told(told), [told.customer.text, told.name])
    }

    private func auditRecord(_ row: Row) throws(StorageError) -> Found {
        guard let id = EventID(row.text(0)), let environment = Environment(rawValue: row.text(1)),
            let form = try? JSONDocument(row.bytes(2), limits: .local),
            var entry = try? AuditEntry(form: form.root, "audit")
        else { throw unreadable("a line of the audit") }
        entry.name = row.isNull(3) ? nil : row.text(3)
        let record = AuditRecord(id: id, environment: environment, entry: entry)
        return (.audit(record), [id.description])
    }

    /// Returns the bookmarks of the first range after a name that has any.
    private func bookmarks(after name: String) throws(StorageError) -> [Found] {
        for range in BookmarkRecord.ranges(after: name) {
            let answer = try ask(SQL.bookmarkRecords, .text(range.first), .text(range.last))
            let found: [Found] = try answer.all { row in
                let bookmark = BookmarkRecord(name: row.text(0), form: row.bytes(1))
                return (.bookmark(bookmark), [bookmark.name])
            }
            if !found.isEmpty { return found }
        }
        return []
    }

    private func customer(_ row: Row) throws(StorageError) -> Found {
        let customer = try id(row.text(0))
        let stored = CustomerRow(
            key: scope.key(customer),
            version: row.integer(1),
            answer: row.bytes(2),
            validUntil: row.optionalInstant(3),
            fingerprint: "",
            derivedAt: row.instant(4),
            reconciledAt: row.optionalInstant(5),
            presented: row.isNull(6) ? PresentedStores() : PresentedText.read(row.text(6))
        )
        return (.customer(stored), [customer.text])
    }

    private func id(_ text: String) throws(StorageError) -> CustomerID {
        guard let customer = CustomerID(text) else { throw unreadable("a customer's id") }
        return customer
    }

    private func unreadable(_ what: String) -> StorageError {
        StorageError(.corrupt, place: connection.place, detail: "\(what) cannot be read")
    }
}

extension Row {
    /// Decodes the mark of evidence without new facts.
    fileprivate var idleMark: IdleMark? {
        optionalInstant(6).map { IdleMark(since: $0, subject: optionalText(7)) }
    }

    /// Decodes a version of catalogue and policy from its columns.
    var policyVersion: PolicyVersion {
        PolicyVersion(effectiveAt: instant(0), fingerprint: text(1), form: bytes(2))
    }
}

/// The parts of a place's key as SQL parameters. An invalid key precedes every record, or matches
/// none.
private struct Key {
    private let parts: [String]

    init(_ parts: [String]) {
        self.parts = parts
    }

    /// The first part, as text.
    var name: String { part(0) ?? "" }

    func text(_ index: Int) -> SQLValue { .text(part(index) ?? "") }

    func integer(_ index: Int, otherwise: Int64 = .min) -> SQLValue {
        .integer(part(index).flatMap { Int64($0) } ?? otherwise)
    }

    func bytes(_ index: Int) -> SQLValue {
        .bytes(part(index).flatMap { Base64.decode($0.utf8, .standard) } ?? [])
    }

    private func part(_ index: Int) -> String? { index < parts.count ? parts[index] : nil }
}
