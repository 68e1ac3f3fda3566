public import TideoverJSON

extension Drift: FormObject {
    /// Writes the drift as one JSON object; omits unknown members.
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    public init(json: JSONNode) throws(FormError) {
        try self.init(form: json, "drift")
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ drift: Drift?
    ) throws(Fields.Failure) -> Drift {
        fields.derived("id", drift?.id)
        let customer = try fields.required("customer", drift?.customer)
        let environment = try fields.required("environment", drift?.environment)
        let entitlement = try fields.required("entitlement", drift?.entitlement)
        let lineage = try fields.optional("lineage", drift?.lineage)
        let direction = try fields.required("direction", drift?.direction)
        let cause = try fields.required("cause", drift?.cause)
        fields.derived("sentence", cause.sentence)
        let openedAt = try fields.required("openedAt", drift?.openedAt)
        let healing = try Healing.form(&fields, drift?.healing)
        fields.derived("lockoutMinutes", (drift?.lockout).map { Double($0.count) / 60_000 })
        return Drift(
            customer: customer,
            environment: environment,
            entitlement: entitlement,
            lineage: lineage,
            direction: direction,
            cause: cause,
            openedAt: openedAt,
            healing: healing,
            device: try fields.required("device", drift?.device),
            server: try fields.required("server", drift?.server)
        )
    }
}

extension Drift.Direction: FormWord {}
extension Drift.Cause: FormWord {}
extension Drift.Healer: FormWord {}

extension Drift.Healing {
    /// Members of the drift; none if it is open.
    fileprivate static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ healing: Self?
    ) throws(Fields.Failure) -> Self? {
        guard let at = try fields.optional("healedAt", healing?.at) else { return nil }
        return Self(
            at: at,
            by: try fields.required("healedBy", healing?.by),
            access: try fields.required("agreedAccess", healing?.access)
        )
    }
}

extension DeviceConclusion {
    /// The names of its members.
    public static let members = ["deviceTime", "askedAt", "environment", "entitlements"]

    /// Reads a device's report: `{"deviceTime", "askedAt", "environment", "entitlements":
    /// {"premium": {"access": true, "until", "productId", "originalTransactionId", "verified",
    /// "unfinished": []}}}`. Only `access` is required; an `until` of null means permanent.
    public init(json: JSONNode) throws(FormError) {
        guard json.kind == .object else { throw .wrongType(field: "device") }
        var fields = FormReader(json)
        self.init(
            at: try fields.optional("deviceTime", nil),
            askedAt: try fields.optional("askedAt", nil),
            environment: try fields.optional("environment", StoreName?.none)?.text
        )
        guard let list = json["entitlements"], !list.isNull else { return }
        guard list.kind == .object else { throw .wrongType(field: "entitlements") }
        for (name, node) in list.members { words[name] = try DeviceWord(form: node, name) }
    }
}

extension DeviceWord: FormObject {
    /// The names of its members.
    public static let members = [
        "access", "until", "productId", "originalTransactionId", "verified", "unfinished",
    ]

    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ word: DeviceWord?
    ) throws(Fields.Failure) -> DeviceWord {
        DeviceWord(
            access: try fields.required("access", word?.access),
            end: try fields.present("until", word?.end.unlessUnsaid) ?? .unsaid,
            productId: try fields.optional("productId", (word?.productId).map(StoreName.init))?
                .text,
            originalTransactionId: try fields.optional(
                "originalTransactionId",
                (word?.originalTransactionId).map(StoreName.init)
            )?.text,
            isVerified: try fields.optional("verified", word?.isVerified) ?? true,
            unfinished: try fields.optional(
                "unfinished",
                (word?.unfinished).map(StoreNames.init),
                else: StoreNames([])
            ).list
        )
    }
}

extension DeviceWord.End: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        self = node.isNull ? .never : .at(try Instant(form: node, field))
    }

    package func write(to writer: inout JSONWriter) {
        if case .at(let instant) = self { instant.write(to: &writer) } else { writer.null() }
    }

    fileprivate var unlessUnsaid: Self? { self == .unsaid ? nil : self }
}

/// An ID of the store. A longer text is not an ID and must not be stored.
private struct StoreName: FormValue, Equatable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    package init(form node: JSONNode, _ field: String) throws(FormError) {
        text = try String(form: node, field)
        guard text.utf8.count <= 255 else {
            throw .unknownWord(field: field, value: String(text.prefix(32)))
        }
    }

    package func write(to writer: inout JSONWriter) { writer.value(text) }
}

/// At most as many IDs as one request can present.
private struct StoreNames: FormValue, Equatable {
    let list: [String]

    init(_ list: [String]) {
        self.list = list
    }

    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard node.count <= 32 else { throw .wrongType(field: field) }
        list = try [StoreName](form: node, field).map(\.text)
    }

    package func write(to writer: inout JSONWriter) { list.write(to: &writer) }
}

extension ServerWord: FormObject {
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ word: ServerWord?
    ) throws(Fields.Failure) -> ServerWord {
        fields.derived("access", word?.access)
        return ServerWord(
            state: try fields.required("state", word?.state),
            confidence: try fields.required("confidence", word?.confidence),
            until: try fields.present("until", word.map(\.until)) ?? nil,
            productId: try fields.optional("productId", word?.productId),
            lineage: try fields.optional("lineage", word?.lineage),
            saidAt: try fields.optional("saidAt", word?.saidAt)
        )
    }
}
