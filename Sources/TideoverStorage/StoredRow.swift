package import TideoverCore
import TideoverJSON

/// A row of a storage's answer, valid only while it is read. Columns count from 0.
package protocol StoredRow {
    func isNull(_ column: Int32) -> Bool

    func integer(_ column: Int32) -> Int64

    func text(_ column: Int32) -> String

    /// Returns the bytes of a blob, or of a UTF-8 text.
    func bytes(_ column: Int32) -> [UInt8]
}

extension StoredRow {
    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    package func instant(_ column: Int32) -> Instant {
        Instant(millisecondsSince1970: integer(column))
    }

    package func optionalInstant(_ column: Int32) -> Instant? {
        isNull(column) ? nil : instant(column)
    }

    /// The attribute in the first three columns.
    package var attribute: CustomerAttribute {
        CustomerAttribute(name: text(0), value: optionalText(1), updatedAt: instant(2))
    }

    /// A version of catalogue and policy.
    package var policyVersion: PolicyVersion {
        PolicyVersion(effectiveAt: instant(0), fingerprint: text(1), form: bytes(2))
    }

    /// The mark of evidence without new facts.
    var idleMark: IdleMark? {
        optionalInstant(6).map { IdleMark(since: $0, subject: optionalText(7)) }
    }

    /// The pass of an answer. Its columns are either all null, except `pass_renew_at`, or all set.
    fileprivate var pass: IssuedPass? {
        guard let issuedAt = optionalInstant(7) else { return nil }
        return IssuedPass(
            compact: bytes(5),
            signer: text(6),
            issuedAt: issuedAt,
            renewAt: optionalInstant(8)
        )
    }
}

/// Decodes rows, in the order of columns that the statements of every storage have. Rows that cannot
/// be decoded are reported as damage of the storage.
package struct StoredRowReader: Sendable {
    private let place: String

    /// - Parameter place: the file or server, for errors.
    package init(_ place: String) {
        self.place = place
    }

    package func damaged(_ detail: String) -> StorageError {
        StorageError(.corrupt, place: place, detail: detail)
    }

    // MARK: Customers

    package func customer(_ text: String) throws(StorageError) -> CustomerID {
        guard let customer = CustomerID(text) else { throw damaged("a customer has no id") }
        return customer
    }

    package func listedCustomer(_ row: some StoredRow) throws(StorageError) -> ListedCustomer {
        ListedCustomer(
            id: try customer(row.text(0)),
            customer: try customer(row.text(1)),
            derivedAt: row.optionalInstant(2)
        )
    }

    package func alias(_ row: some StoredRow) throws(StorageError) -> CustomerAlias {
        CustomerAlias(
            alias: try customer(row.text(0)),
            customer: try customer(row.text(1)),
            from: row.instant(2),
            why: row.text(3),
            by: row.text(4)
        )
    }

    package func answer(
        _ row: some StoredRow,
        in scope: AppScope
    ) throws(StorageError) -> CustomerRow {
        CustomerRow(
            key: scope.key(try customer(row.text(10))),
            version: row.integer(0),
            answer: row.bytes(1),
            validUntil: row.optionalInstant(2),
            fingerprint: row.text(3),
            derivedAt: row.instant(4),
            pass: row.pass,
            reconciledAt: row.optionalInstant(9),
            presented: row.optionalText(11).map(PresentedText.read) ?? PresentedStores()
        )
    }

    package func prompt(_ row: some StoredRow) throws(StorageError) -> PromptExposure {
        guard let kind = PromptExposure.Kind(rawValue: row.text(1)) else {
            throw damaged("a prompt has no known kind")
        }
        return PromptExposure(
            id: row.text(0),
            kind: kind,
            shownAt: row.instant(2),
            response: row.optionalText(3).flatMap { PromptExposure.Response(rawValue: $0) }
        )
    }

    package func drift(_ row: some StoredRow) throws(StorageError) -> Drift {
        try readable { try Drift(json: JSONDocument(row.bytes(0), limits: .local).root) }
    }

    /// Reports a stored form that `read` cannot read.
    package func readable<Value>(_ read: () throws -> Value) throws(StorageError) -> Value {
        do {
            return try read()
        } catch let error as FormError {
            switch error {
            case .missing(let field), .wrongType(let field), .unknownWord(let field, _):
                throw damaged("a stored form cannot be read at “\(field)”")
            }
        } catch {
            throw damaged("a stored form is no JSON")
        }
    }

    // MARK: Events and webhooks

    package func event(
        _ row: some StoredRow,
        of app: String
    ) throws(StorageError) -> OutboxEvent {
        guard let id = EventID(row.text(0)),
            let environment = Environment(rawValue: row.text(1)),
            let customer = CustomerID(row.text(2))
        else { throw damaged("an event cannot be read") }
        return OutboxEvent(
            id: id,
            customer: CustomerKey(app: app, environment: environment, customer: customer),
            version: row.integer(3),
            event: Event(kind: row.text(4), at: row.instant(5), body: row.bytes(6))
        )
    }

    package func webhook(
        _ row: some StoredRow,
        of app: String
    ) throws(StorageError) -> WebhookRecord {
        WebhookRecord(
            WebhookKey(app: app, id: row.text(0)),
            form: row.bytes(1),
            position: try eventID(row.text(2)),
            failingSince: row.optionalInstant(3),
            disabled: row.optionalText(4),
            disabledAt: row.optionalInstant(5)
        )
    }

    package func delivery(_ row: some StoredRow) throws(StorageError) -> WebhookDelivery {
        WebhookDelivery(
            event: try eventID(row.text(0)),
            attempts: Int(row.integer(1)),
            nextAt: row.instant(2)
        )
    }

    package func attempt(_ row: some StoredRow) throws(StorageError) -> WebhookAttempt {
        WebhookAttempt(
            number: row.integer(0),
            event: try eventID(row.text(1)),
            at: row.instant(2),
            ordinal: Int(row.integer(3)),
            outcome: row.text(4),
            status: row.isNull(5) ? nil : Int(row.integer(5)),
            detail: row.optionalText(6)
        )
    }

    private func eventID(_ text: String) throws(StorageError) -> EventID {
        guard let id = EventID(text) else { throw damaged("the id of an event cannot be read") }
        return id
    }

    // MARK: Everything else

    package func auditRecord(_ row: some StoredRow) throws(StorageError) -> AuditRecord {
        guard let id = EventID(row.text(0)), let environment = Environment(rawValue: row.text(1))
        else { throw damaged("a line of the audit cannot be read") }
        let entry = try AuditEntry.read(stored: row.bytes(2), place: place)
        return AuditRecord(id: id, environment: environment, entry: entry)
    }

    package func key(_ row: some StoredRow) throws(StorageError) -> KeyRecord {
        let digest = row.bytes(1)
        guard digest.count == KeyRecord.digestCount, let kind = KeyKind(rawValue: row.text(2)),
            let apps = apps(row.bytes(3))
        else { throw damaged("a key cannot be read") }
        return KeyRecord(
            id: row.text(0),
            digest: digest,
            kind: kind,
            apps: apps,
            name: row.text(4),
            createdAt: row.instant(5),
            revokedAt: row.optionalInstant(6)
        )
    }

    /// An unreadable list must not be treated as empty: an empty list permits every app.
    private func apps(_ form: [UInt8]) -> [String]? {
        guard let list = try? JSONDocument(form).root, list.kind == .array else { return nil }
        let apps = list.elements.compactMap(\.string)
        return apps.count == list.count ? apps : nil
    }

    package func tally(_ row: some StoredRow) throws(StorageError) -> (Tally, Int64) {
        let name = row.text(0)
        let environment = Environment(rawValue: name)
        guard environment != nil || name.isEmpty else {
            throw damaged("a count has an unknown environment")
        }
        let tally = Tally(environment: environment, kind: row.text(1), name: row.text(2))
        return (tally, row.integer(3))
    }

    package func staleFigures(_ row: some StoredRow) throws(StorageError) -> StaleFigures {
        guard let kind = FiguresSubject.Kind(rawValue: row.text(0)) else {
            throw damaged("stale figures have no kind")
        }
        return StaleFigures(
            subject: FiguresSubject(kind, row.text(1)),
            mark: row.integer(2),
            form: row.isNull(3) ? nil : row.bytes(3)
        )
    }
}

extension KeyRecord {
    /// The stored form of the list of apps.
    package var appsForm: [UInt8] { JSONValue.array(apps.map(JSONValue.string)).encoded() }
}
