import TideoverCore
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// The outcome of the request with one idempotency key.
struct StoreActionRecord: FormObject, Hashable, Sendable {
    /// The digest of the request; the same key with another digest is rejected.
    let digest: String
    var state: State
    /// The store's response as JSON text; nil before it.
    var answer: String?

    enum State: String, FormWord, Hashable, Sendable {
        /// It was sent or about to be sent; its outcome is unknown.
        case begun
        case completed
        /// It was not carried out.
        case failed
    }

    /// Decodes the form in `text`; nil for any other text.
    init?(_ text: String) {
        guard let root = try? JSONDocument(Array(text.utf8), limits: .local).root,
            let record = try? Self(form: root, "action")
        else { return nil }
        self = record
    }

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ record: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            digest: try fields.required("digest", record?.digest),
            state: try fields.required("state", record?.state),
            answer: try fields.nullable("answer", record.map(\.answer))
        )
    }

    init(digest: String, state: State, answer: String? = nil) {
        self.digest = digest
        self.state = state
        self.answer = answer
    }

    var text: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// The name of a store request, derived from its idempotency key.
struct StoreActionName: Hashable, Sendable {
    /// The name in hexadecimal digits.
    let id: String

    init(_ key: IdempotencyKey?, app: String, _ environment: Environment) {
        var writer = JSONWriter()
        writer.array { writer in
            for part in [app, environment.rawValue, key?.text ?? ""] { writer.value(part) }
        }
        id = Hexadecimal.text(SHA256.hash(writer.bytes).prefix(16))
    }

    /// The name as a UUID, for the App Store.
    var uuid: String {
        var rest = Substring(id)
        let groups = [8, 4, 4, 4, 12].map { length in
            defer { rest = rest.dropFirst(length) }
            return String(rest.prefix(length))
        }
        return groups.joined(separator: "-")
    }

    /// The name of the record's bookmark. It is kept for ever, so that a repetition years later
    /// changes nothing.
    var bookmark: String { "storeAction:\(id)" }

    /// Returns the name of the audit line for an outcome; each is written once.
    func auditName(_ outcome: AuditEntry.StoreChange.Outcome) -> String {
        "storeAction\n\(id)\n\(outcome.rawValue)"
    }
}

extension Cursors {
    func storeAction(_ name: StoreActionName) throws(StorageError) -> StoreActionRecord? {
        try text(name.bookmark).flatMap { StoreActionRecord($0) }
    }

    func keep(_ record: StoreActionRecord, _ name: StoreActionName) async throws(StorageError) {
        try await keep(record.text, name.bookmark)
    }
}
