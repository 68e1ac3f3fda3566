import TideoverCore
import TideoverJSON
import TideoverStorage

/// How far a walk through the history of notifications has come.
struct HistoryBookmark: Equatable {
    /// Everything the store sent by this instant has been read; nil before the first walk's end.
    var finishedUntil: Instant?
    /// The span that is being walked; nil between two walks.
    var window: Window?
    /// The page to go on at; nil for the first.
    var place: String?

    struct Window: Equatable {
        let from: Instant
        let to: Instant
    }
}

/// How far a replay has come.
struct ReplayBookmark: Equatable {
    /// Whether it adds what is new.
    let applies: Bool
    /// The piece of evidence up to which what is new has been added; nil at the beginning.
    let after: EvidenceID?
    /// Of the program by whose rules it read.
    let version: String
    /// How many runs have begun at this place and neither ended nor stopped with an error, the one
    /// under way included. After a crash it is the number of crashes here.
    var runs: Int

    /// How many crashes at one place make the server stop resuming a run by itself.
    static let mostCrashes = 2

    /// Whether a run of that kind by that program can go on behind this place.
    func goesOn(apply: Bool, _ version: String) -> Bool {
        applies && apply && self.version == version
    }

    /// Whether a server that finds this at its start leaves the run alone. Another version may have
    /// fixed what crashed.
    func isSetAside(by version: String) -> Bool {
        self.version == version && runs >= Self.mostCrashes
    }
}

extension ReplayBookmark {
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

/// The bookmarks of one app in one environment.
struct Bookmarks: Sendable {
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

    /// What was kept of a silence; where nothing was, it is listened from now on.
    func silence(of store: Store, startedAt now: Instant) throws(StorageError) -> Silence {
        let form = try form(Self.silence(of: store))
        return Silence(
            since: form?.root["since"]?.instant ?? now,
            startedAt: now,
            lastArrivedAt: form?.root["lastArrivedAt"]?.instant,
            raisedAt: form?.root["raisedAt"]?.instant
        )
    }

    func keep(_ silence: Silence, of store: Store) async throws(StorageError) {
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

    /// How far a replay has come that did not come to its end; nil if there is none.
    func replay() throws(StorageError) -> ReplayBookmark? {
        try form(Self.replay).flatMap { ReplayBookmark($0.root) }
    }

    func keep(_ mark: ReplayBookmark?) async throws(StorageError) {
        try await keep(
            [:],
            [
                "applies": mark.map { $0.applies ? "yes" : "no" }, "after": mark?.after?.hex,
                "version": mark?.version, "runs": mark.map { "\($0.runs)" },
            ],
            Self.replay
        )
    }

    /// Names the bookmark of a replay.
    static let replay = "replay"

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

    /// To whom something went, and when; nil if that was not kept.
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
