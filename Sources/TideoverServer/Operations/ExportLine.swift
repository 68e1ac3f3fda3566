package import TideoverCore
package import TideoverJSON
package import TideoverStorage

/// The greatest version of an answer that an import takes, so that it can still rise: JavaScript reads
/// it exactly.
private let greatestVersion: Int64 = 1 << 53

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
        JSONWriter.object { writer in
            switch self {
            case .header(let header): _ = ExportHeader.form(&writer, header)
            case .record(let record, let environment):
                let place = LinePlace(kind: record.kind.rawValue, environment: environment)
                _ = LinePlace.form(&writer, place)
                record.writeFields(to: &writer)
            }
        }
    }
}

extension StoredRecord {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        switch self {
        case .evidence(let evidence, let mark):
            _ = Evidence.form(&writer, evidence)
            IdleMark.form(&writer, mark)
        case .fact(let fact): _ = writer.required(kind.rawValue, fact)
        case .owner(let owner, let position):
            _ = OwnerLine.form(&writer, OwnerLine(position, owner))
        case .alias(let alias): _ = CustomerAlias.form(&writer, alias)
        case .attribute(let record): _ = AttributeRecord.form(&writer, record)
        case .prompt(let record): _ = PromptRecord.form(&writer, record)
        case .drift(let drift): _ = writer.required(kind.rawValue, drift)
        case .event(let event): _ = EventLine.form(&writer, EventLine(event))
        case .told(let told): _ = ToldName.form(&writer, told)
        case .audit(let record): _ = AuditLine.form(&writer, AuditLine(record))
        case .bookmark(let bookmark): _ = BookmarkRecord.form(&writer, bookmark)
        case .policy(let version): _ = PolicyVersion.form(&writer, version)
        case .customer(let row): _ = CustomerLine.form(&writer, CustomerLine(row))
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
        guard document.root.kind == .object else { throw .notJSON("it is no JSON object") }
        var fields = LineFields(document.root)
        if document.root["format"] != nil {
            self = .header(try ExportHeader(&fields))
            return
        }
        let place = try LinePlace.form(&fields, nil)
        guard let kind = StoredRecord.Kind(rawValue: place.kind) else {
            throw .unknownKind(place.kind)
        }
        let key = { CustomerKey(app: app, environment: place.environment, customer: $0) }
        self = .record(try StoredRecord(kind, &fields, place, key), place.environment)
    }
}

extension ExportHeader {
    fileprivate init(_ fields: inout LineFields) throws(ExportFault) {
        guard try fields.required("format", String?.none) == Self.format else {
            throw .notAnExport
        }
        let version = try fields.required("version", Int64?.none)
        guard version == Self.version else { throw .otherVersion(version) }
        self = try Self.form(&fields, nil)
    }
}

extension StoredRecord {
    fileprivate init(
        _ kind: Kind,
        _ fields: inout LineFields,
        _ place: LinePlace,
        _ key: (CustomerID) -> CustomerKey
    ) throws(ExportFault) {
        switch kind {
        case .evidence:
            let evidence = try Evidence.form(&fields, nil)
            guard EvidenceID(of: evidence.bytes) == evidence.id else { throw .digest }
            self = .evidence(evidence, idle: try IdleMark.form(&fields, nil))
        case .fact:
            let fact = try fields.required(kind.rawValue, Fact?.none)
            try fact.lineage.check(place)
            self = .fact(fact)
        case .owner:
            let line = try OwnerLine.form(&fields, nil)
            try line.owner.lineage.check(place)
            guard line.position >= 0, line.position < 1 << 31 else {
                throw .wrong(field: "position")
            }
            try line.owner.customer.check()
            self = .owner(line.owner, position: line.position)
        case .alias:
            let alias = try CustomerAlias.form(&fields, nil)
            try alias.alias.check("alias")
            try alias.customer.check()
            self = .alias(alias)
        case .attribute:
            let record = try AttributeRecord.form(&fields, nil)
            try record.customer.check()
            self = .attribute(record)
        case .prompt:
            let record = try PromptRecord.form(&fields, nil)
            try record.customer.check()
            self = .prompt(record)
        case .drift:
            let drift = try fields.required(kind.rawValue, Drift?.none)
            try drift.customer.check()
            self = .drift(drift)
        case .event:
            let line = try EventLine.form(&fields, nil)
            try line.customer.check()
            guard !line.kind.isEmpty else { throw .wrong(field: "event") }
            guard line.id.isCountable else { throw .wrong(field: "id") }
            guard line.version <= greatestVersion else { throw .wrong(field: "customerVersion") }
            self = .event(line.event(of: key(line.customer)))
        case .told:
            let told = try ToldName.form(&fields, nil)
            try told.customer.check()
            self = .told(told)
        case .audit:
            let line = try AuditLine.form(&fields, nil)
            guard line.id.isCountable else { throw .wrong(field: "id") }
            try line.entry.customer?.check()
            try line.entry.other?.check("other")
            self = .audit(line.record(in: place.environment))
        case .bookmark:
            let bookmark = try BookmarkRecord.form(&fields, nil)
            guard BookmarkRecord.includes(bookmark.name) else { throw .wrong(field: "name") }
            let form = try? JSONDocument(bookmark.form, limits: .local)
            guard form?.root.kind == .object else { throw .wrong(field: "bookmark") }
            self = .bookmark(bookmark)
        case .policy:
            let version = try PolicyVersion.form(&fields, nil)
            guard (try? AppRules(recorded: version)) != nil else { throw .wrong(field: "policy") }
            self = .policy(version)
        case .customer:
            let line = try CustomerLine.form(&fields, nil)
            try line.customer.check()
            guard line.version > 0, line.version <= greatestVersion else {
                throw .wrong(field: "customerVersion")
            }
            self = .customer(line.row(of: key(line.customer)))
        }
    }
}

extension CustomerID {
    /// Rejects an id that no route accepts: its data could be neither read nor erased.
    fileprivate func check(_ field: String = "customer") throws(ExportFault) {
        guard isStorable else { throw .wrong(field: field) }
    }
}

extension Lineage {
    fileprivate func check(_ place: LinePlace) throws(ExportFault) {
        guard environment == place.environment else { throw .wrong(field: "environment") }
    }
}

/// The members of a line, which are read with the faults of an import.
private struct LineFields: FormFields {
    private var root: FormReader

    init(_ root: JSONNode) {
        self.root = FormReader(root)
    }

    mutating func required<Value: FormValue>(
        _ name: String,
        _: Value?
    ) throws(ExportFault) -> Value {
        guard let value = try optional(name, Value?.none) else { throw .missing(field: name) }
        return value
    }

    mutating func optional<Value: FormValue>(
        _ name: String,
        _: Value?
    ) throws(ExportFault) -> Value? {
        do {
            return try root.optional(name, Value?.none)
        } catch {
            throw ExportFault(error, in: name)
        }
    }

    mutating func present<Value: FormValue>(
        _ name: String,
        _: Value?
    ) throws(ExportFault) -> Value? {
        do {
            return try root.present(name, Value?.none)
        } catch {
            throw ExportFault(error, in: name)
        }
    }

    mutating func derived<Value: FormValue>(_: String, _: Value?) {}

    mutating func variant<Value: FormVariant>(_: Value?) throws(ExportFault) -> Value {
        do {
            return try root.variant(Value?.none)
        } catch {
            throw ExportFault(error, in: Value.reportedMember)
        }
    }
}

extension ExportFault {
    /// The fault of an error in a member of the line.
    fileprivate init(_ error: FormError, in member: String) {
        func path(_ field: String) -> String { field == member ? field : "\(member).\(field)" }
        switch error {
        case .missing(let field): self = .missing(field: path(field))
        case .wrongType(let field), .unknownWord(let field, _): self = .wrong(field: path(field))
        }
    }
}

// MARK: - Members

extension ExportHeader {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ header: Self?
    ) throws(Fields.Failure) -> Self {
        fields.derived("format", format)
        fields.derived("version", version)
        return Self(
            app: try fields.required("app", header?.app),
            holds: try fields.required("holds", header?.holds)
        )
    }
}

extension ExportHeader.Content: FormWord {}

/// What every record has.
private struct LinePlace {
    /// The raw value of a `StoredRecord.Kind` that an import may not know.
    let kind: String
    let environment: Environment

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ place: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            kind: try fields.required("kind", place?.kind),
            environment: try fields.required("environment", place?.environment)
        )
    }
}

extension Evidence {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ evidence: Evidence?
    ) throws(Fields.Failure) -> Evidence {
        Evidence(
            id: try fields.required("id", evidence?.id),
            dedupeKey: try fields.required("dedupeKey", evidence?.dedupeKey),
            source: try fields.required("source", evidence?.source),
            signedAt: try fields.nullable("signedAt", evidence.map(\.signedAt)),
            receivedAt: try fields.required("receivedAt", evidence?.receivedAt),
            bytes: try form(&fields, bytes: evidence?.bytes)
        )
    }

    /// `text` for bytes that are UTF-8, `base64` for others.
    private static func form<Fields: FormFields>(
        _ fields: inout Fields,
        bytes: [UInt8]?
    ) throws(Fields.Failure) -> [UInt8] {
        let text = bytes.flatMap { String(validating: $0, as: UTF8.self) }
        if let text = try fields.optional("text", text) { return Array(text.utf8) }
        return try fields.required("base64", bytes.map(Base64Text.init)).bytes
    }

    private struct Base64Text: FormText {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        init?(formText: String) {
            guard let bytes = Base64.decode(formText.utf8, .standard) else { return nil }
            self.bytes = bytes
        }

        var formText: String { Base64.encodeString(bytes, .standard) }
    }
}

extension IdleMark {
    /// The members of evidence without new facts; none for other evidence.
    @discardableResult
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ mark: Self?
    ) throws(Fields.Failure) -> Self? {
        let since = try fields.optional("idleSince", mark?.since)
        let subject = try fields.optional("idleSubject", mark?.subject)
        return since.map { Self(since: $0, subject: subject) }
    }
}

private struct OwnerLine {
    let position: Int
    let owner: OwnershipEntry

    init(_ position: Int, _ owner: OwnershipEntry) {
        self.position = position
        self.owner = owner
    }

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ line: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            try fields.required("position", line?.position),
            try fields.required("owner", line?.owner)
        )
    }
}

extension CustomerAlias {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ alias: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            alias: try fields.required("alias", alias?.alias),
            customer: try fields.required("customer", alias?.customer),
            from: try fields.required("from", alias?.from),
            why: try fields.required("why", alias?.why),
            by: try fields.required("by", alias?.by)
        )
    }
}

extension AttributeRecord {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ record: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            customer: try fields.required("customer", record?.customer),
            attribute: CustomerAttribute(
                name: try fields.required("name", record?.attribute.name),
                value: try fields.nullable("value", record.map(\.attribute.value)),
                updatedAt: try fields.required("updatedAt", record?.attribute.updatedAt)
            )
        )
    }
}

extension PromptRecord {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ record: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            customer: try fields.required("customer", record?.customer),
            exposure: PromptExposure(
                id: try fields.required("id", record?.exposure.id),
                kind: try fields.required("prompt", record?.exposure.kind),
                shownAt: try fields.required("shownAt", record?.exposure.shownAt),
                response: try fields.nullable("response", record.map(\.exposure.response))
            )
        )
    }
}

extension PromptExposure.Kind: FormWord {}

extension PromptExposure.Response: FormWord {}

/// An event without its app and environment.
private struct EventLine {
    let id: EventID
    let customer: CustomerID
    let version: Int64
    let kind: String
    let at: Instant
    let data: [UInt8]

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ line: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            id: try fields.required("id", line?.id),
            customer: try fields.required("customer", line?.customer),
            version: try fields.required("customerVersion", line?.version),
            kind: try fields.required("event", line?.kind),
            at: try fields.required("effectiveAt", line?.at),
            data: try fields.required("data", (line?.data).map(FormSource.init)).bytes
        )
    }

    func event(of customer: CustomerKey) -> OutboxEvent {
        OutboxEvent(
            id: id,
            customer: customer,
            version: version,
            event: Event(kind: kind, at: at, body: data)
        )
    }
}

extension EventLine {
    init(_ event: OutboxEvent) {
        id = event.id
        customer = event.customer.customer
        version = event.version
        kind = event.event.kind
        at = event.event.at
        data = event.event.body
    }
}

extension ToldName {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ told: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            customer: try fields.required("customer", told?.customer),
            name: try fields.required("name", told?.name),
            event: try fields.required("event", told?.event)
        )
    }
}

/// A line of the audit without its environment.
private struct AuditLine {
    let id: EventID
    let entry: AuditEntry

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ line: Self?
    ) throws(Fields.Failure) -> Self {
        let id = try fields.required("id", line?.id)
        let name = try fields.nullable("name", line.map(\.entry.name))
        var entry = try fields.required("audit", line?.entry)
        entry.name = name
        return Self(id: id, entry: entry)
    }

    func record(in environment: Environment) -> AuditRecord {
        AuditRecord(id: id, environment: environment, entry: entry)
    }
}

extension AuditLine {
    init(_ record: AuditRecord) {
        id = record.id
        entry = record.entry
    }
}

extension BookmarkRecord {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ bookmark: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            name: try fields.required("name", bookmark?.name),
            form: try fields.required("bookmark", (bookmark?.form).map(FormSource.init)).bytes
        )
    }
}

extension PolicyVersion {
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ version: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            effectiveAt: try fields.required("effectiveAt", version?.effectiveAt),
            fingerprint: try fields.required("fingerprint", version?.fingerprint),
            form: try fields.required("policy", (version?.form).map(FormSource.init)).bytes
        )
    }
}

/// A customer's answer without its app and environment.
private struct CustomerLine {
    let customer: CustomerID
    let version: Int64
    let derivedAt: Instant
    let dueAt: Instant?
    let reconciledAt: Instant?
    let presented: PresentedForm
    let answer: [UInt8]

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ line: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            customer: try fields.required("customer", line?.customer),
            version: try fields.required("customerVersion", line?.version),
            derivedAt: try fields.required("derivedAt", line?.derivedAt),
            dueAt: try fields.nullable("dueAt", line.map(\.dueAt)),
            reconciledAt: try fields.nullable("reconciledAt", line.map(\.reconciledAt)),
            presented: try fields.optional("presented", line?.presented, else: PresentedForm()),
            answer: try fields.required("answer", (line?.answer).map(FormSource.init)).bytes
        )
    }

    /// Returns the row of a customer. Its answer is derived again at the first read.
    func row(of customer: CustomerKey) -> CustomerRow {
        CustomerRow(
            key: customer,
            version: version,
            answer: answer,
            validUntil: dueAt,
            fingerprint: "",
            derivedAt: derivedAt,
            reconciledAt: reconciledAt,
            presented: presented.presented
        )
    }
}

/// What devices presented: each store with the instant of the first device that presented
/// everything, then the offers.
private struct PresentedForm: FormObject, Equatable {
    var instants: [Store: Instant] = [:]
    var accountOffers: [AccountOfferForm] = []

    init(_ presented: PresentedStores = PresentedStores()) {
        instants = presented.instants
        accountOffers = presented.accountOffers.map(AccountOfferForm.init).sorted {
            ($0.productId, $0.store.rawValue, $0.at) < ($1.productId, $1.store.rawValue, $1.at)
        }
    }

    var presented: PresentedStores {
        var offers: [AccountOffer: Instant] = [:]
        for form in accountOffers { offers[form.offer] = form.at }
        return PresentedStores(instants, accountOffers: offers)
    }

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ form: Self?
    ) throws(Fields.Failure) -> Self {
        var read = Self()
        for store in Store.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            let instant = try fields.optional(store.rawValue, form?.instants[store])
            read.instants[store] = instant
        }
        read.accountOffers = try fields.optional(
            "accountOffers",
            form?.accountOffers,
            else: []
        )
        return read
    }
}

/// An introductory offer of a store account that paid for another customer's purchase.
private struct AccountOfferForm: FormObject, Equatable {
    let store: Store
    let productId: String
    let isUsed: Bool
    let at: Instant

    var offer: AccountOffer { AccountOffer(store: store, productId: productId, isUsed: isUsed) }

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ offer: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            store: try fields.required("store", offer?.store),
            productId: try fields.required("productId", offer?.productId),
            isUsed: try fields.required("isUsed", offer?.isUsed),
            at: try fields.required("at", offer?.at)
        )
    }
}

extension AccountOfferForm {
    init(_ offer: AccountOffer, _ at: Instant) {
        self.init(store: offer.store, productId: offer.productId, isUsed: offer.isUsed, at: at)
    }
}

extension CustomerLine {
    init(_ row: CustomerRow) {
        customer = row.key.customer
        version = row.version
        derivedAt = row.derivedAt
        dueAt = row.validUntil
        reconciledAt = row.reconciledAt
        presented = PresentedForm(row.presented)
        answer = row.answer
    }
}
