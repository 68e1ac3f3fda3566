package import TideoverCore
package import TideoverJSON
package import TideoverStorage

/// One line of an export: the header or a record. `docs/export.md` lists the formats.
package enum ExportLine: Hashable, Sendable {
    case header(ExportHeader)
    case record(StoredRecord, Environment)

    /// The limits of a line. The longest contains 4 MiB of evidence, where every byte can take six.
    package static let limits = JSONLimits(maxBytes: 32 << 20, maxDepth: 64)
}

/// The format, the version and the app of an export.
package struct ExportHeader: Hashable, Sendable {
    package static let format = "tideover-export"
    /// Incremented with each change that makes an older reader lose data.
    package static let version: Int64 = 1

    package let app: String
    package let holds: Content

    package enum Content: String, Hashable, Sendable {
        case everything
        /// Customers with their answers only, for other databases; it cannot be imported.
        case answers
    }

    package init(app: String, holds: Content) {
        self.app = app
        self.holds = holds
    }
}

/// The reason why a line is not imported.
package enum ExportFault: Error, Hashable, Sendable {
    /// It is not a JSON object, or exceeds the limits; with the reader's message.
    case notJSON(String)
    /// The first line is not the header of an export.
    case notAnExport
    case otherVersion(Int64)
    /// It is an export of answers only.
    case answersOnly
    /// It is an export of another app.
    case otherApp(String)
    /// A header in the place of a record, or the reverse.
    case misplaced
    case unknownKind(String)
    case missing(field: String)
    case wrong(field: String)
    /// The app does not serve the environment.
    case notServed(Environment)
    /// The id of the evidence is not the digest of its bytes.
    case digest
    /// No evidence with this id is stored.
    case unproven(EvidenceID)
    /// The evidence is invalid or not understood, with the code of the rejection.
    case disbelieved(EvidenceID, code: String)
    /// The evidence does not contain the fact.
    case unstated(EvidenceID)
    /// A different record is stored in its place.
    case contradicted(StoredRecord.Kind)
}

// MARK: - Writing

extension ExportLine {
    /// The line as JSON text, without its line break.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            switch self {
            case .header(let header): header.writeFields(to: &writer)
            case .record(let record, let environment):
                writer.field("kind", record.kind.rawValue)
                writer.field("environment", environment.rawValue)
                record.writeFields(to: &writer)
            }
        }
        return writer.bytes
    }
}

extension ExportHeader {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("format", Self.format)
        writer.field("version", Self.version)
        writer.field("app", app)
        writer.field("holds", holds.rawValue)
    }
}

extension StoredRecord {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        switch self {
        case .evidence(let evidence): evidence.writeFields(to: &writer)
        case .fact(let fact):
            writer.key("fact")
            fact.write(to: &writer)
        case .owner(let owner, let position):
            writer.field("position", position)
            writer.key("owner")
            owner.write(to: &writer)
        case .alias(let alias):
            writer.field("alias", alias.alias.text)
            writer.field("customer", alias.customer.text)
            writer.field("from", alias.from.rfc3339)
            writer.field("why", alias.why)
            writer.field("by", alias.by)
        case .attribute(let record):
            writer.field("customer", record.customer.text)
            writer.field("name", record.attribute.name)
            writer.field("value", record.attribute.value)
            writer.field("updatedAt", record.attribute.updatedAt.rfc3339)
        case .drift(let drift):
            writer.key("drift")
            drift.write(to: &writer)
        case .event(let event):
            writer.field("id", event.id.description)
            writer.field("customer", event.customer.customer.text)
            writer.field("customerVersion", event.version)
            writer.field("event", event.event.kind)
            writer.field("effectiveAt", event.event.at.rfc3339)
            writer.key("data")
            writer.raw(event.event.body)
        case .told(let told):
            writer.field("customer", told.customer.text)
            writer.field("name", told.name)
            writer.field("event", told.event.description)
        case .audit(let record):
            writer.field("id", record.id.description)
            writer.field("name", record.entry.name)
            writer.field("audit", object: { record.entry.writeFields(to: &$0) })
        case .policy(let version):
            writer.field("effectiveAt", version.effectiveAt.rfc3339)
            writer.field("fingerprint", version.fingerprint)
            writer.key("policy")
            writer.raw(version.form)
        case .customer(let row):
            writer.field("customer", row.key.customer.text)
            writer.field("customerVersion", row.version)
            writer.field("derivedAt", row.derivedAt.rfc3339)
            writer.field("dueAt", row.validUntil?.rfc3339)
            writer.field("reconciledAt", row.reconciledAt?.rfc3339)
            writer.key("answer")
            writer.raw(row.answer)
        }
    }
}

extension Evidence {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id.hex)
        writer.field("dedupeKey", dedupeKey)
        writer.field("source", source.rawValue)
        writer.field("signedAt", signedAt?.rfc3339)
        writer.field("receivedAt", receivedAt.rfc3339)
        if let text = String(validating: bytes, as: UTF8.self) {
            writer.field("text", text)
        } else {
            writer.field("base64", Base64.encodeString(bytes, .standard))
        }
    }
}

// MARK: - Reading

extension ExportLine {
    /// Parses a line of an export of `app`.
    package init(_ line: [UInt8], app: String) throws(ExportFault) {
        let document: JSONDocument
        do {
            document = try JSONDocument(line, limits: Self.limits)
        } catch {
            throw .notJSON("\(error)")
        }
        let fields = LineFields(document.root)
        guard document.root.kind == .object else { throw .notJSON("it is no JSON object") }
        if document.root["format"] != nil {
            self = .header(try ExportHeader(fields))
            return
        }
        let kind = try fields.text("kind")
        let environment: Environment = try fields.word("environment")
        guard let kind = StoredRecord.Kind(rawValue: kind) else { throw .unknownKind(kind) }
        let place = LinePlace(app: app, environment: environment)
        self = .record(try StoredRecord(kind, fields, place), environment)
    }
}

/// The app and environment of a line.
private struct LinePlace {
    let app: String
    let environment: Environment

    func key(_ customer: CustomerID) -> CustomerKey {
        CustomerKey(app: app, environment: environment, customer: customer)
    }
}

extension ExportHeader {
    fileprivate init(_ fields: LineFields) throws(ExportFault) {
        guard try fields.text("format") == Self.format else { throw .notAnExport }
        let version = try fields.integer("version")
        guard version == Self.version else { throw .otherVersion(version) }
        app = try fields.text("app")
        holds = try fields.word("holds")
    }
}

extension StoredRecord {
    fileprivate init(
        _ kind: Kind,
        _ fields: LineFields,
        _ place: LinePlace
    ) throws(ExportFault) {
        switch kind {
        case .evidence: self = .evidence(try Evidence(fields))
        case .fact:
            let fact = try fields.form("fact") { json throws(FormError) in try Fact(json: json) }
            try fact.lineage.check(place)
            self = .fact(fact)
        case .owner:
            let owner = try fields.form("owner") { json throws(FormError) in
                try OwnershipEntry(json: json)
            }
            try owner.lineage.check(place)
            let position = try fields.integer("position")
            guard position >= 0, position < 1 << 31 else { throw .wrong(field: "position") }
            self = .owner(owner, position: Int(position))
        case .alias:
            self = .alias(
                CustomerAlias(
                    alias: try fields.customer("alias"),
                    customer: try fields.customer("customer"),
                    from: try fields.instant("from"),
                    why: try fields.text("why"),
                    by: try fields.text("by")
                )
            )
        case .attribute:
            self = .attribute(
                AttributeRecord(
                    customer: try fields.customer("customer"),
                    attribute: CustomerAttribute(
                        name: try fields.text("name"),
                        value: try fields.optional("value", fields.text),
                        updatedAt: try fields.instant("updatedAt")
                    )
                )
            )
        case .drift:
            self = .drift(
                try fields.form("drift") { json throws(FormError) in try Drift(json: json) }
            )
        case .event: self = .event(try OutboxEvent(fields, place))
        case .told:
            self = .told(
                ToldName(
                    customer: try fields.customer("customer"),
                    name: try fields.text("name"),
                    event: try fields.eventID("event")
                )
            )
        case .audit:
            guard var entry = AuditEntry(json: try fields.node("audit")) else {
                throw .wrong(field: "audit")
            }
            entry.name = try fields.optional("name", fields.text)
            self = .audit(
                AuditRecord(
                    id: try fields.eventID("id"),
                    environment: place.environment,
                    entry: entry
                )
            )
        case .policy: self = .policy(try PolicyVersion(fields))
        case .customer: self = .customer(try CustomerRow(fields, place))
        }
    }
}

extension Lineage {
    fileprivate func check(_ place: LinePlace) throws(ExportFault) {
        guard environment == place.environment else { throw .wrong(field: "environment") }
    }
}

extension Evidence {
    fileprivate init(_ fields: LineFields) throws(ExportFault) {
        let bytes: [UInt8]
        if let text = try fields.optional("text", fields.text) {
            bytes = Array(text.utf8)
        } else {
            let text = try fields.text("base64")
            guard let decoded = Base64.decode(text.utf8, .standard) else {
                throw .wrong(field: "base64")
            }
            bytes = decoded
        }
        let id = EvidenceID(hex: try fields.text("id"))
        guard EvidenceID(of: bytes) == id else { throw .digest }
        self.init(
            id: id,
            dedupeKey: try fields.text("dedupeKey"),
            source: try fields.word("source"),
            signedAt: try fields.optional("signedAt", fields.instant),
            receivedAt: try fields.instant("receivedAt"),
            bytes: bytes
        )
    }
}

extension OutboxEvent {
    fileprivate init(_ fields: LineFields, _ place: LinePlace) throws(ExportFault) {
        let kind = try fields.text("event")
        guard !kind.isEmpty else { throw .wrong(field: "event") }
        self.init(
            id: try fields.eventID("id"),
            customer: place.key(try fields.customer("customer")),
            version: try fields.integer("customerVersion"),
            event: Event(
                kind: kind,
                at: try fields.instant("effectiveAt"),
                body: Array(try fields.node("data").source)
            )
        )
    }
}

extension PolicyVersion {
    fileprivate init(_ fields: LineFields) throws(ExportFault) {
        let node = try fields.node("policy")
        self.init(
            effectiveAt: try fields.instant("effectiveAt"),
            fingerprint: try fields.text("fingerprint"),
            form: Array(node.source)
        )
        do {
            _ = try AppRules(json: node)
        } catch {
            throw .wrong(field: "policy")
        }
    }
}

extension CustomerRow {
    fileprivate init(_ fields: LineFields, _ place: LinePlace) throws(ExportFault) {
        let version = try fields.integer("customerVersion")
        guard version > 0 else { throw .wrong(field: "customerVersion") }
        self.init(
            key: place.key(try fields.customer("customer")),
            version: version,
            answer: Array(try fields.node("answer").source),
            validUntil: try fields.optional("dueAt", fields.instant),
            fingerprint: "",
            derivedAt: try fields.instant("derivedAt"),
            reconciledAt: try fields.optional("reconciledAt", fields.instant)
        )
    }
}

/// The members of a line, by name.
private struct LineFields {
    private let root: JSONNode

    init(_ root: JSONNode) {
        self.root = root
    }

    func node(_ field: String) throws(ExportFault) -> JSONNode {
        guard let node = root[field], !node.isNull else { throw .missing(field: field) }
        return node
    }

    func text(_ field: String) throws(ExportFault) -> String {
        guard let text = try node(field).string else { throw .wrong(field: field) }
        return text
    }

    func integer(_ field: String) throws(ExportFault) -> Int64 {
        guard let number = try node(field).int64 else { throw .wrong(field: field) }
        return number
    }

    func instant(_ field: String) throws(ExportFault) -> Instant {
        guard let instant = Instant(rfc3339: try text(field)) else { throw .wrong(field: field) }
        return instant
    }

    func customer(_ field: String) throws(ExportFault) -> CustomerID {
        guard let customer = CustomerID(try text(field)) else { throw .wrong(field: field) }
        return customer
    }

    func eventID(_ field: String) throws(ExportFault) -> EventID {
        guard let id = EventID(try text(field)) else { throw .wrong(field: field) }
        return id
    }

    func word<Word: RawRepresentable<String>>(_ field: String) throws(ExportFault) -> Word {
        guard let word = Word(rawValue: try text(field)) else { throw .wrong(field: field) }
        return word
    }

    func form<Value>(
        _ field: String,
        _ read: (JSONNode) throws(FormError) -> Value
    ) throws(ExportFault) -> Value {
        let node = try node(field)
        do {
            return try read(node)
        } catch {
            switch error {
            case .missing(let inner): throw .missing(field: "\(field).\(inner)")
            case .wrongType(let inner), .unknownWord(let inner, _):
                throw .wrong(field: "\(field).\(inner)")
            }
        }
    }

    /// Returns nil if the member is absent or null.
    func optional<Value>(
        _ field: String,
        _ read: (String) throws(ExportFault) -> Value
    ) throws(ExportFault) -> Value? {
        guard let node = root[field], !node.isNull else { return nil }
        return try read(field)
    }
}
