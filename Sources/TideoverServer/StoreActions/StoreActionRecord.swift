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
    /// When a server began to send it; nil after it ended, with whatever outcome.
    var begunAt: Instant?

    /// How long after its beginning a change counts as being sent, unless its server records an
    /// outcome. It ends the wait for a server that was killed.
    static let longest = Milliseconds.minutes(2)

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
            answer: try fields.nullable("answer", record.map(\.answer)),
            begunAt: try fields.optional("begunAt", record?.begunAt)
        )
    }

    init(digest: String, state: State, answer: String? = nil, begunAt: Instant? = nil) {
        self.digest = digest
        self.state = state
        self.answer = answer
        self.begunAt = begunAt
    }

    /// Returns whether a server is sending the change. Clocks of servers may differ, but one that
    /// is far ahead must not make a change wait for it.
    func isUnderWay(at now: Instant) -> Bool {
        guard state == .begun, let begunAt else { return false }
        return begunAt < now + Self.longest && now < begunAt + Self.longest
    }

    var text: String { String(decoding: JSONWriter.text { write(to: &$0) }, as: UTF8.self) }
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

/// The record of a change as it is stored.
struct StoredStoreAction: Sendable {
    let record: StoreActionRecord?
    fileprivate let text: Stored<String>
}

extension Cursors {
    func storeAction(_ name: StoreActionName) throws(StorageError) -> StoredStoreAction {
        let text = try stored(name.bookmark)
        return StoredStoreAction(
            record: text.value.flatMap { StoreActionRecord($0) },
            text: text
        )
    }

    /// Replaces a record and returns the new one as stored; nil if another writer replaced it since
    /// it was read.
    func replace(
        _ former: StoredStoreAction,
        by record: StoreActionRecord,
        _ name: StoreActionName
    ) async throws(StorageError) -> StoredStoreAction? {
        try await replace(former.text, by: record.text, name.bookmark).map {
            StoredStoreAction(record: record, text: $0)
        }
    }

    /// Stores a completed record, whatever another server began meanwhile; an earlier completed one
    /// is kept.
    func complete(
        _ begun: StoredStoreAction,
        _ record: StoreActionRecord,
        _ name: StoreActionName
    ) async throws(StorageError) {
        var former = begun
        while try await replace(former, by: record, name) == nil {
            former = try storeAction(name)
            if former.record?.state == .completed { return }
        }
    }
}
