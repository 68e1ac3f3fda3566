import TideoverCore
import TideoverJSON
import TideoverStorage

/// Reads all records of an app in an environment through one connection, a page of one kind at a
/// time.
final class RecordQueries {
    /// The scope of a page.
    struct Scope {
        let app: String
        let environment: Environment
        let limit: Int
    }

    /// A smaller limit, because a piece of evidence can have megabytes.
    private static let mostEvidence = 32

    private let place: String
    private let evidence: Statement
    private let facts: Statement
    private let owners: Statement
    private let aliases: Statement
    private let attributes: Statement
    private let prompts: Statement
    private let drift: Statement
    private let events: Statement
    private let told: Statement
    private let audit: Statement
    private let bookmarks: Statement
    private let policies: Statement
    private let customers: Statement

    init(_ connection: Connection) throws(StorageError) {
        place = connection.place
        evidence = try Statement(SQL.evidenceRecords, on: connection)
        facts = try Statement(SQL.factRecords, on: connection)
        owners = try Statement(SQL.ownerRecords, on: connection)
        aliases = try Statement(SQL.aliasRecords, on: connection)
        attributes = try Statement(SQL.attributeRecords, on: connection)
        prompts = try Statement(SQL.promptRecords, on: connection)
        drift = try Statement(SQL.driftRecords, on: connection)
        events = try Statement(SQL.eventRecords, on: connection)
        told = try Statement(SQL.toldRecords, on: connection)
        audit = try Statement(SQL.auditRecords, on: connection)
        bookmarks = try Statement(SQL.bookmarkRecords, on: connection)
        policies = try Statement(SQL.policyRecords, on: connection)
        customers = try Statement(SQL.customerRecords, on: connection)
    }

    /// A record, and its key.
    private typealias Found = (StoredRecord, [String])

    /// Returns the records of the place's kind after that place; an empty list at the end.
    func page(
        _ scope: Scope,
        from place: RecordPlace,
        piece: (Row) throws(StorageError) -> Evidence
    ) throws(StorageError) -> RecordPage {
        let found = try found(scope, Key(place.key), place.kind, piece)
        return RecordPage(
            records: found.map(\.0),
            next: found.last.map { RecordPlace(place.kind, key: $0.1) }
        )
    }

    private func found(
        _ scope: Scope,
        _ key: Key,
        _ kind: StoredRecord.Kind,
        _ piece: (Row) throws(StorageError) -> Evidence
    ) throws(StorageError) -> [Found] {
        let app = SQLValue.text(scope.app)
        let environment = SQLValue.text(scope.environment.rawValue)
        let limit = SQLValue.integer(Int64(max(0, scope.limit)))
        switch kind {
        case .evidence:
            let most = SQLValue.integer(Int64(max(0, min(scope.limit, Self.mostEvidence))))
            return try evidence.all(app, environment, key.text(0), key.text(1), most) {
                row throws(StorageError) in
                let evidence = try piece(row)
                let record = StoredRecord.evidence(evidence, idle: row.idleMark)
                return (record, [evidence.id.hex, evidence.dedupeKey])
            }
        case .fact:
            return try facts.all(
                app,
                environment,
                key.text(0),
                key.integer(1),
                key.bytes(2),
                limit,
                read: fact
            )
        case .owner:
            return try owners.all(
                app,
                environment,
                key.text(0),
                key.integer(1, otherwise: -1),
                limit,
                read: owner
            )
        case .alias:
            return try aliases.all(app, environment, key.text(0), limit, read: alias)
        case .attribute:
            return try attributes.all(
                app,
                environment,
                key.text(0),
                key.text(1),
                limit,
                read: attribute
            )
        case .prompt:
            return try prompts.all(
                app,
                environment,
                key.text(0),
                key.text(1),
                limit,
                read: prompt
            )
        case .drift:
            return try drift.all(
                app,
                environment,
                key.text(0),
                key.text(1),
                limit,
                read: difference
            )
        case .event:
            return try events.all(app, environment, key.text(0), limit) {
                row throws(StorageError) in try event(row, scope)
            }
        case .told:
            return try told.all(
                app,
                environment,
                key.text(0),
                key.text(1),
                limit,
                read: toldName
            )
        case .audit:
            return try audit.all(app, environment, key.text(0), limit, read: auditRecord)
        case .bookmark: return try bookmarks(scope, after: key.name)
        case .policy:
            return try policies.all(app, environment, key.integer(0), limit) {
                row throws(StorageError) in
                let version = row.policyVersion
                return (.policy(version), ["\(version.effectiveAt.millisecondsSince1970)"])
            }
        case .customer:
            return try customers.all(app, environment, key.text(0), limit) {
                row throws(StorageError) in try customer(row, scope)
            }
        }
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
            response: row.isNull(3) ? nil : PromptExposure.Response(rawValue: row.text(3))
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

    private func event(_ row: Row, _ scope: Scope) throws(StorageError) -> Found {
        guard let id = EventID(row.text(0)) else { throw unreadable("an event") }
        let event = OutboxEvent(
            id: id,
            customer: CustomerKey(
                app: scope.app,
                environment: scope.environment,
                customer: try self.id(row.text(2))
            ),
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
    private func bookmarks(_ scope: Scope, after name: String) throws(StorageError) -> [Found] {
        for range in BookmarkRecord.ranges(after: name) {
            let found: [Found] = try bookmarks.all(
                .text(scope.app),
                .text(scope.environment.rawValue),
                .text(range.first),
                .text(range.last),
                .integer(Int64(max(0, scope.limit)))
            ) { row in
                let bookmark = BookmarkRecord(name: row.text(0), form: row.bytes(1))
                return (.bookmark(bookmark), [bookmark.name])
            }
            if !found.isEmpty { return found }
        }
        return []
    }

    private func customer(_ row: Row, _ scope: Scope) throws(StorageError) -> Found {
        let customer = try id(row.text(0))
        let stored = CustomerRow(
            key: CustomerKey(
                app: scope.app,
                environment: scope.environment,
                customer: customer
            ),
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
        StorageError(.corrupt, place: place, detail: "\(what) cannot be read")
    }
}

extension Row {
    /// Decodes the mark of evidence without new facts.
    fileprivate var idleMark: IdleMark? {
        optionalInstant(6).map { IdleMark(since: $0, subject: isNull(7) ? nil : text(7)) }
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
