package import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverStorage

/// The progress of a walk through the history of notifications.
struct HistoryBookmark: FormObject, Equatable {
    /// The end of the history that has been read; nil before the first complete walk.
    var finishedUntil: Instant?
    /// The current window; nil between two walks.
    var window: Window?
    /// The next page; nil for the first.
    var place: String?

    struct Window: Equatable {
        let from: Instant
        let to: Instant
    }

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ mark: Self?
    ) throws(Fields.Failure) -> Self {
        let finishedUntil = try fields.optional("finishedUntil", mark?.finishedUntil)
        let from = try fields.optional("from", mark?.window?.from)
        let to = try fields.optional("to", mark?.window?.to)
        return Self(
            finishedUntil: finishedUntil,
            window: from.flatMap { from in to.map { Window(from: from, to: $0) } },
            place: try fields.optional("place", mark?.place)
        )
    }
}

/// The progress of a replay.
package struct ReplayBookmark: FormObject, Equatable {
    /// The name of its bookmark.
    package static let name = "replay"

    /// Whether it adds new facts.
    let applies: Bool
    /// The last piece of evidence with its new facts added; nil at the beginning.
    let after: EvidenceID?
    /// The version of the program that read it.
    let version: String
    /// The number of runs started at this place that neither completed nor stopped with an error,
    /// including the current one. After a crash it is the number of crashes here.
    var runs: Int
    /// The id of the server that runs it, if several can use the storage.
    var server: String?

    /// The number of crashes at one place after which the server stops resuming a run by itself.
    static let mostCrashes = 2

    /// Returns whether a run of that kind and version can continue after this place.
    func goesOn(apply: Bool, _ version: String) -> Bool {
        applies && apply && self.version == version
    }

    /// Returns whether a server that finds this at startup does not resume the run. Another version
    /// may have fixed the crash.
    func isSetAside(by version: String) -> Bool {
        self.version == version && runs >= Self.mostCrashes
    }
}

extension ReplayBookmark {
    /// Returns whether a server that finds this stored bookmark at startup does not resume the run.
    package static func isSetAside(_ form: [UInt8], by version: String) -> Bool {
        guard let document = try? JSONDocument(form, limits: .local) else { return false }
        return (try? Self(form: document.root, name))?.isSetAside(by: version) == true
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ mark: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            applies: try fields.required("applies", mark.map { $0.applies ? "yes" : "no" })
                == "yes",
            after: try fields.optional("after", mark?.after),
            version: try fields.optional("version", mark?.version) ?? "",
            runs: Int(try fields.optional("runs", mark.map { "\($0.runs)" }) ?? "") ?? 0,
            server: try fields.optional("server", mark?.server)
        )
    }
}

extension AppContext {
    func cursors(in environment: Environment) -> Cursors {
        Cursors(app: app.id, environment: environment, storage: storage)
    }
}

/// A bookmark as it was read. A replacement is made only while it is still stored.
struct Stored<Value: Sendable>: Sendable {
    /// Nil for a bookmark that was never written or is empty.
    var value: Value? = nil
    fileprivate var form: [UInt8]? = nil

    init() {}

    fileprivate init(value: Value?, form: [UInt8]?) {
        self.value = value
        self.form = form
    }
}

/// The bookmarks of one app in one environment.
struct Cursors: Sendable {
    let app: String
    let environment: Environment
    let storage: any Storage

    func history(_ name: String) throws(StorageError) -> HistoryBookmark {
        try read(name) ?? HistoryBookmark()
    }

    func keep(_ mark: HistoryBookmark, _ name: String) async throws(StorageError) {
        try await store(mark, name)
    }

    /// Returns the stored state of the arrival monitor; without one, it starts now.
    func silence(of store: Store, startedAt now: Instant) throws(StorageError)
        -> MissingNotificationAlert
    {
        let stored = try arrivals(of: store).value
        return MissingNotificationAlert(
            since: stored?.since ?? now,
            startedAt: now,
            lastArrivedAt: stored?.lastArrivedAt,
            raisedAt: stored?.raisedAt
        )
    }

    /// Returns what the servers stored about a store's notifications.
    func arrivals(of store: Store) throws(StorageError) -> Stored<StoredArrivals> {
        let name = Self.silence(of: store)
        let form = try storage.bookmark(key(name))
        return Stored(value: try decode(form, name), form: form)
    }

    /// Replaces that; returns false if another writer did since it was read.
    func replace(
        _ former: Stored<StoredArrivals>,
        by arrivals: StoredArrivals,
        of store: Store
    ) async throws(StorageError) -> Bool {
        let key = key(Self.silence(of: store))
        return try await storage.replace(former.form, by: encode(arrivals), as: key)
    }

    private static func silence(of store: Store) -> String {
        store == .appStore ? "silence" : "silence-\(store.rawValue)"
    }

    /// Returns the progress of an incomplete replay; nil if there is none.
    func replay() throws(StorageError) -> ReplayBookmark? { try storedReplay().value }

    /// Returns the same as it is stored now, to replace it.
    func storedReplay() throws(StorageError) -> Stored<ReplayBookmark> {
        let form = try storage.bookmark(key(ReplayBookmark.name))
        return Stored(value: try decode(form, ReplayBookmark.name), form: form)
    }

    /// Replaces that; returns false if another server did since it was read.
    func replace(
        _ former: Stored<ReplayBookmark>,
        by mark: ReplayBookmark
    ) async throws(StorageError) -> Bool {
        let key = key(ReplayBookmark.name)
        return try await storage.replace(former.form, by: encode(mark), as: key)
    }

    func keep(_ mark: ReplayBookmark?) async throws(StorageError) {
        try await store(mark, ReplayBookmark.name)
    }

    func text(_ name: String) throws(StorageError) -> String? { try mark(name).value }

    func keep(_ text: String, _ name: String) async throws(StorageError) {
        try await store(Mark(value: text), name)
    }

    /// Returns a text as it is stored now, to replace it.
    func stored(_ name: String) throws(StorageError) -> Stored<String> {
        try stored(try storage.bookmark(key(name)), name)
    }

    /// Returns the texts with names that begin with `prefix`, by name.
    func stored(prefix: String) throws(StorageError) -> [String: Stored<String>] {
        let forms = try storage.bookmarks(in: AppScope(app, environment), prefix: prefix)
        var texts: [String: Stored<String>] = [:]
        for (name, form) in forms { texts[name] = try stored(form, name) }
        return texts
    }

    /// Replaces a text, dated or not, and returns the new one as stored; nil if another writer
    /// replaced it since it was read.
    func replace(
        _ former: Stored<String>,
        by text: String,
        at instant: Instant? = nil,
        _ name: String
    ) async throws(StorageError) -> Stored<String>? {
        let form = encode(Mark(at: instant, value: text))
        guard try await storage.replace(former.form, by: form, as: key(name)) else { return nil }
        return Stored(value: text, form: form)
    }

    private func stored(
        _ form: [UInt8]?,
        _ name: String
    ) throws(StorageError) -> Stored<String> {
        let mark: Mark? = try decode(form, name)
        return Stored(value: mark?.value, form: form)
    }

    func instant(_ name: String) throws(StorageError) -> Instant? { try mark(name).at }

    func keep(_ instant: Instant, _ name: String) async throws(StorageError) {
        try await store(Mark(at: instant), name)
    }

    /// Returns the recipient and the time of a transfer; nil if none is stored.
    func transfer(_ name: String) throws(StorageError) -> (to: CustomerID, at: Instant)? {
        let mark = try mark(name)
        guard let to = mark.value.flatMap({ CustomerID($0) }), let at = mark.at else { return nil }
        return (to, at)
    }

    func keep(
        _ transfer: (to: CustomerID, at: Instant),
        _ name: String
    ) async throws(StorageError) {
        try await store(Mark(at: transfer.at, value: transfer.to.text), name)
    }

    /// Returns when and in which version a customer got the app; nil if that is not stored.
    func appOrigin(_ name: String) throws(StorageError) -> SDKCustomerInfo.Origin? {
        let mark = try mark(name)
        return mark.value.map { SDKCustomerInfo.Origin(version: $0, purchasedAt: mark.at) }
    }

    func keep(_ origin: SDKCustomerInfo.Origin, _ name: String) async throws(StorageError) {
        try await store(Mark(at: origin.purchasedAt, value: origin.version), name)
    }

    /// Removes the content of a bookmark.
    func empty(_ name: String) async throws(StorageError) {
        try await store(nil as Mark?, name)
    }

    private func mark(_ name: String) throws(StorageError) -> Mark { try read(name) ?? Mark() }

    /// Returns nil for a bookmark that was never written or is empty.
    private func read<Value: FormObject>(_ name: String) throws(StorageError) -> Value? {
        try decode(try storage.bookmark(key(name)), name)
    }

    private func decode<Value: FormObject>(
        _ form: [UInt8]?,
        _ name: String
    ) throws(StorageError) -> Value? {
        guard let form else { return nil }
        guard let document = try? JSONDocument(form, limits: .local) else {
            throw StorageError(.corrupt, place: name, detail: "a bookmark is no JSON")
        }
        return try? Value(form: document.root, name)
    }

    private func store<Value: FormObject>(
        _ value: Value?,
        _ name: String
    ) async throws(StorageError) {
        try await storage.keep(encode(value), as: key(name))
    }

    private func encode<Value: FormObject>(_ value: Value?) -> [UInt8] {
        JSONWriter.object { value?.writeFields(to: &$0) }
    }

    private func key(_ name: String) -> BookmarkKey {
        BookmarkKey(app: app, environment: environment, name: name)
    }
}

/// A bookmark of an instant, a text or both.
private struct Mark: FormObject {
    var at: Instant?
    var value: String?

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ mark: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            at: try fields.optional("at", mark?.at),
            value: try fields.optional("value", mark?.value)
        )
    }
}
