import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverStorage

/// The progress of a walk through the history of notifications.
struct HistoryBookmark: Equatable {
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
}

/// The progress of a replay.
package struct ReplayBookmark: Equatable {
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
        return ReplayBookmark(document.root)?.isSetAside(by: version) == true
    }

    init?(_ root: JSONNode) {
        guard let applies = root["applies"]?.string else { return nil }
        self.init(
            applies: applies == "yes",
            after: root["after"]?.string.map { EvidenceID(hex: $0) },
            version: root["version"]?.string ?? "",
            runs: root["runs"]?.string.flatMap { Int($0) } ?? 0
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
        guard let form = try form(name) else { return HistoryBookmark() }
        let from = form.root["from"]?.instant
        let to = form.root["to"]?.instant
        return HistoryBookmark(
            finishedUntil: form.root["finishedUntil"]?.instant,
            window: from.flatMap { from in to.map { .init(from: from, to: $0) } },
            place: form.root["place"]?.string
        )
    }

    func keep(_ mark: HistoryBookmark, _ name: String) async throws(StorageError) {
        try await keep(
            [
                "finishedUntil": mark.finishedUntil, "from": mark.window?.from,
                "to": mark.window?.to,
            ],
            ["place": mark.place],
            name
        )
    }

    /// Returns the stored state of the arrival monitor; without one, it starts now.
    func silence(of store: Store, startedAt now: Instant) throws(StorageError)
        -> MissingNotificationAlert
    {
        let form = try form(Self.silence(of: store))
        return MissingNotificationAlert(
            since: form?.root["since"]?.instant ?? now,
            startedAt: now,
            lastArrivedAt: form?.root["lastArrivedAt"]?.instant,
            raisedAt: form?.root["raisedAt"]?.instant
        )
    }

    func keep(_ silence: MissingNotificationAlert, of store: Store) async throws(StorageError) {
        try await keep(
            [
                "since": silence.since, "lastArrivedAt": silence.lastArrivedAt,
                "raisedAt": silence.raisedAt,
            ],
            [:],
            Self.silence(of: store)
        )
    }

    private static func silence(of store: Store) -> String {
        store == .appStore ? "silence" : "silence-\(store.rawValue)"
    }

    /// Returns the progress of an incomplete replay; nil if there is none.
    func replay() throws(StorageError) -> ReplayBookmark? {
        try form(ReplayBookmark.name).flatMap { ReplayBookmark($0.root) }
    }

    func keep(_ mark: ReplayBookmark?) async throws(StorageError) {
        try await keep(
            [:],
            [
                "applies": mark.map { $0.applies ? "yes" : "no" }, "after": mark?.after?.hex,
                "version": mark?.version, "runs": mark.map { "\($0.runs)" },
            ],
            ReplayBookmark.name
        )
    }

    func text(_ name: String) throws(StorageError) -> String? {
        try form(name)?.root["value"]?.string
    }

    func keep(_ text: String, _ name: String) async throws(StorageError) {
        try await keep([:], ["value": text], name)
    }

    func instant(_ name: String) throws(StorageError) -> Instant? {
        try form(name)?.root["at"]?.instant
    }

    func keep(_ instant: Instant, _ name: String) async throws(StorageError) {
        try await keep(["at": instant], [:], name)
    }

    /// Returns the recipient and the time of a transfer; nil if none is stored.
    func transfer(_ name: String) throws(StorageError) -> (to: CustomerID, at: Instant)? {
        let root = try form(name)?.root
        guard let to = root?["value"]?.string.flatMap({ CustomerID($0) }),
            let at = root?["at"]?.instant
        else { return nil }
        return (to, at)
    }

    func keep(
        _ transfer: (to: CustomerID, at: Instant),
        _ name: String
    ) async throws(StorageError) {
        try await keep(["at": transfer.at], ["value": transfer.to.text], name)
    }

    /// Returns when and in which version a customer got the app; nil if that is not stored.
    func appOrigin(_ name: String) throws(StorageError) -> SDKCustomerInfo.Origin? {
        let root = try form(name)?.root
        return root?["value"]?.string.map {
            SDKCustomerInfo.Origin(version: $0, purchasedAt: root?["at"]?.instant)
        }
    }

    func keep(_ origin: SDKCustomerInfo.Origin, _ name: String) async throws(StorageError) {
        try await keep(["at": origin.purchasedAt], ["value": origin.version], name)
    }

    /// Removes the content of a bookmark.
    func empty(_ name: String) async throws(StorageError) {
        try await keep([:], [:], name)
    }

    private func form(_ name: String) throws(StorageError) -> JSONDocument? {
        guard let form = try storage.bookmark(key(name)) else { return nil }
        do {
            return try JSONDocument(form, limits: .local)
        } catch {
            throw StorageError(.corrupt, place: name, detail: "a bookmark is no JSON")
        }
    }

    private func keep(
        _ instants: KeyValuePairs<String, Instant?>,
        _ texts: KeyValuePairs<String, String?>,
        _ name: String
    ) async throws(StorageError) {
        var writer = JSONWriter()
        writer.object { writer in
            for (field, instant) in instants {
                if let instant { writer.field(field, instant.rfc3339) }
            }
            for (field, text) in texts { if let text { writer.field(field, text) } }
        }
        try await storage.keep(writer.bytes, as: key(name))
    }

    private func key(_ name: String) -> BookmarkKey {
        BookmarkKey(app: app, environment: environment, name: name)
    }
}

extension JSONNode {
    fileprivate var instant: Instant? { string.flatMap { Instant(rfc3339: $0) } }
}
