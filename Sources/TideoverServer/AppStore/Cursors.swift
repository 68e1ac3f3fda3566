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
            runs: Int(try fields.optional("runs", mark.map { "\($0.runs)" }) ?? "") ?? 0
        )
    }
}

extension AppContext {
    func cursors(in environment: Environment) -> Cursors {
        Cursors(app: app.id, environment: environment, storage: storage)
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
        let stored: StoredAlert? = try read(Self.silence(of: store))
        return MissingNotificationAlert(
            since: stored?.since ?? now,
            startedAt: now,
            lastArrivedAt: stored?.lastArrivedAt,
            raisedAt: stored?.raisedAt
        )
    }

    func keep(_ alert: MissingNotificationAlert, of store: Store) async throws(StorageError) {
        let stored = StoredAlert(
            since: alert.since,
            lastArrivedAt: alert.lastArrivedAt,
            raisedAt: alert.raisedAt
        )
        try await self.store(stored, Self.silence(of: store))
    }

    private static func silence(of store: Store) -> String {
        store == .appStore ? "silence" : "silence-\(store.rawValue)"
    }

    /// Returns the progress of an incomplete replay; nil if there is none.
    func replay() throws(StorageError) -> ReplayBookmark? { try read(ReplayBookmark.name) }

    func keep(_ mark: ReplayBookmark?) async throws(StorageError) {
        try await store(mark, ReplayBookmark.name)
    }

    func text(_ name: String) throws(StorageError) -> String? { try mark(name).value }

    func keep(_ text: String, _ name: String) async throws(StorageError) {
        try await store(Mark(value: text), name)
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
        guard let form = try storage.bookmark(key(name)) else { return nil }
        guard let document = try? JSONDocument(form, limits: .local) else {
            throw StorageError(.corrupt, place: name, detail: "a bookmark is no JSON")
        }
        return try? Value(form: document.root, name)
    }

    private func store<Value: FormObject>(
        _ value: Value?,
        _ name: String
    ) async throws(StorageError) {
        var writer = JSONWriter()
        writer.object { value?.writeFields(to: &$0) }
        try await storage.keep(writer.bytes, as: key(name))
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

/// What is stored of the arrival monitor.
private struct StoredAlert: FormObject {
    let since: Instant?
    let lastArrivedAt: Instant?
    let raisedAt: Instant?

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ alert: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            since: try fields.optional("since", alert?.since),
            lastArrivedAt: try fields.optional("lastArrivedAt", alert?.lastArrivedAt),
            raisedAt: try fields.optional("raisedAt", alert?.raisedAt)
        )
    }
}
