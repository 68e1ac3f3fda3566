package import TideoverCore
import TideoverJSON

// The JSON form of the kept state. Unknown members are ignored; a file with another format is
// treated as missing.

extension KeptState: FormObject {
    package static let format = 1

    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// Fails if the bytes do not have this form.
    package init?(json bytes: [UInt8]) {
        let limits = JSONLimits(maxBytes: 8 << 20, maxDepth: 8)
        guard let root = try? JSONDocument(bytes, limits: limits).root,
            root["format"]?.int64 == Int64(Self.format),
            let state = try? Self(form: root, "state")
        else { return nil }
        self = state
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ state: KeptState?
    ) throws(Fields.Failure) -> KeptState {
        fields.derived("format", format)
        var form = KeptState(customer: try fields.required("customer", state?.customer))
        form.queue = try Lenient.list(&fields, "queue", state?.queue)
        form.pass = try Lenient.form(&fields, "pass", state.map(\.pass))
        form.candidate = try Lenient.form(&fields, "candidate", state.map(\.candidate))
        form.keys = try Lenient.list(&fields, "keys", state?.keys)
        form.lastSeen = try Count.form(&fields, "lastSeen", state.map(\.lastSeen))
        form.waiting = try Lenient.list(&fields, "waiting", state?.waiting)
        form.granted = try Lenient.list(&fields, "granted", state?.granted)
        form.artifacts = try Lenient.list(&fields, "artifacts", state?.artifacts)
        return form
    }
}

extension QueuedPurchase: FormObject {
    /// Only verified purchases are queued.
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ queued: QueuedPurchase?
    ) throws(Fields.Failure) -> QueuedPurchase {
        let purchase = queued?.purchase
        return QueuedPurchase(
            SignedPurchase(
                transactionId: try fields.required(
                    "transactionId",
                    (purchase?.transactionId).map(TransactionID.init)
                ).number,
                productId: try fields.required("productId", purchase?.productId),
                isVerified: true,
                isConsumable: try Lenient.form(
                    &fields,
                    "isConsumable",
                    (purchase?.isConsumable).map(Optional.some)
                ) ?? false,
                jws: try fields.required("jws", purchase?.jws)
            ),
            of: try Lenient.form(&fields, "customer", queued.map(\.customer)),
            isRefused: try Lenient.form(
                &fields,
                "isRefused",
                (queued?.isRefused).map(Optional.some)
            ) ?? false,
            refusedAt: try Count.form(&fields, "refusedAt", queued.map(\.refusedAt)),
            isAnswered: try Lenient.form(
                &fields,
                "isAnswered",
                (queued?.isAnswered).map(Optional.some)
            ) ?? false
        )
    }

    private struct TransactionID: FormText {
        let number: UInt64

        init(_ number: UInt64) {
            self.number = number
        }

        init?(formText: String) {
            guard let number = UInt64(formText) else { return nil }
            self.number = number
        }

        var formText: String { "\(number)" }
    }
}

extension PassKey: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ key: PassKey?
    ) throws(Fields.Failure) -> PassKey {
        PassKey(
            id: try fields.required("id", key?.id),
            bytes: try fields.required("bytes", (key?.bytes).map(Encoded.init)).bytes
        )
    }

    private struct Encoded: FormText {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        init?(formText: String) {
            guard let bytes = Base64.decode(formText.utf8, .urlSafe) else { return nil }
            self.bytes = bytes
        }

        var formText: String { Base64.encodeString(bytes, .urlSafe) }
    }
}

extension WaitingPurchase: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ waiting: WaitingPurchase?
    ) throws(Fields.Failure) -> WaitingPurchase {
        WaitingPurchase(
            productId: try fields.required("productId", waiting?.productId),
            until: try fields.required("until", (waiting?.until).map(Count.init)).instant
        )
    }
}

extension GrantedNote: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ note: GrantedNote?
    ) throws(Fields.Failure) -> GrantedNote {
        GrantedNote(
            entitlement: try fields.required("entitlement", note?.entitlement),
            until: try Count.form(&fields, "until", note.map(\.until))
        )
    }
}

extension KeptArtifacts: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ kept: KeptArtifacts?
    ) throws(Fields.Failure) -> KeptArtifacts {
        KeptArtifacts(
            entitlement: try fields.required("entitlement", kept?.entitlement),
            until: try Count.form(&fields, "until", kept.map(\.until))
        )
    }
}

/// A value that is nil if it cannot be read, so that the rest of the state is not lost with it.
private struct Lenient<Value: FormValue>: FormValue {
    let value: Value?

    init(_ value: Value?) {
        self.value = value
    }

    init(form node: JSONNode, _ field: String) {
        value = try? Value(form: node, field)
    }

    func write(to writer: inout JSONWriter) { value.write(to: &writer) }

    /// A member that is null for nil.
    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ name: String,
        _ value: Value??
    ) throws(Fields.Failure) -> Value? {
        try fields.optional(name, value.map { Lenient($0) })?.value
    }

    /// The elements of a list that can be read.
    static func list<Fields: FormFields>(
        _ fields: inout Fields,
        _ name: String,
        _ list: [Value]?
    ) throws(Fields.Failure) -> [Value] {
        let elements = list.map { $0.map { Lenient($0) } }
        return try Lenient<[Lenient]>.form(&fields, name, elements)?.compactMap { $0.value } ?? []
    }
}

/// An instant as its milliseconds since 1970.
private struct Count: FormValue {
    let instant: Instant

    init(_ instant: Instant) {
        self.instant = instant
    }

    init(form node: JSONNode, _ field: String) throws(FormError) {
        instant = Instant(millisecondsSince1970: try Int64(form: node, field))
    }

    func write(to writer: inout JSONWriter) { writer.value(instant.millisecondsSince1970) }

    /// A member that is null for nil.
    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ name: String,
        _ instant: Instant??
    ) throws(Fields.Failure) -> Instant? {
        try Lenient.form(&fields, name, instant.map { $0.map(Count.init) })?.instant
    }
}
