import TideoverCore
import TideoverStorage

/// A storage that counts commits and failures, and reports each commit.
struct WatchedStorage: Storage {
    private let storage: any Storage
    private let metrics: Metrics
    private let uptime: @Sendable () -> Int64
    private let large: LargeCustomers
    /// Receives each committed commit request.
    private let told: @Sendable (CommitRequest) -> Void
    /// Called when a commit failed for a reason that the next one is likely to share.
    private let failed: @Sendable (StorageError.Reason) -> Void

    init(
        _ storage: any Storage,
        metrics: Metrics,
        uptime: @escaping @Sendable () -> Int64,
        log: @escaping Log = { _ in },
        told: @escaping @Sendable (CommitRequest) -> Void = { _ in },
        failed: @escaping @Sendable (StorageError.Reason) -> Void = { _ in }
    ) {
        self.storage = storage
        self.metrics = metrics
        self.uptime = uptime
        large = LargeCustomers(metrics: metrics, log: log, uptime: uptime)
        self.told = told
        self.failed = failed
    }

    func commit(
        _ commitRequests: [CommitRequest],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome] {
        let begun = uptime()
        do {
            let outcomes = try await storage.commit(commitRequests) { [large] lineages in
                large.note(lineages)
                return derive(lineages)
            }
            let nanoseconds = uptime() - begun
            for (commitRequest, outcome) in zip(commitRequests, outcomes) {
                metrics.committed(outcome.word, nanoseconds: nanoseconds)
                if case .committed = outcome { told(commitRequest) }
            }
            return outcomes
        } catch {
            metrics.committed("failed", nanoseconds: uptime() - begun)
            if error.reason.isLasting { failed(error.reason) }
            throw counted(error)
        }
    }

    func read<Answer>(
        _ questions: (any StorageReader) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        do {
            return try storage.read(questions)
        } catch {
            throw counted(error)
        }
    }

    func write<Answer: Sendable>(
        app: String?,
        _ changes: @escaping @Sendable (any StorageWriter) throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        do {
            return try await storage.write(app: app, changes)
        } catch {
            throw counted(error)
        }
    }

    func close() async {
        await storage.close()
    }

    private func counted(_ error: StorageError) -> StorageError {
        metrics.count(.storageFailures, error.reason.word)
        return error
    }
}

extension CommitOutcome {
    fileprivate var word: String {
        switch self {
        case .committed: "committed"
        case .duplicate: "duplicate"
        }
    }
}

extension StorageError.Reason {
    /// Whether the next write will fail too, unless the cause is fixed.
    fileprivate var isLasting: Bool {
        switch self {
        case .unavailable, .full, .readOnly, .notPermitted, .missingFolder, .corrupt,
            .notAStorage, .locked, .replaced, .io, .unconfirmed, .closed:
            true
        case .busy, .refused, .newerSchema, .olderSchema, .engine: false
        }
    }

    /// The words of all reasons.
    static let words = [
        Self.busy, .unavailable, .full, .readOnly, .notPermitted, .missingFolder, .corrupt,
        .notAStorage, .locked(holder: nil), .newerSchema(found: 0, known: 0),
        .olderSchema(found: 0, known: 0), .io, .unconfirmed, .replaced, .refused, .closed,
        .engine(code: 0),
    ].map(\.word)

    fileprivate var word: String {
        switch self {
        case .busy: "busy"
        case .unavailable: "unavailable"
        case .full: "full"
        case .readOnly: "read-only"
        case .notPermitted: "not-permitted"
        case .missingFolder: "missing-folder"
        case .corrupt: "corrupt"
        case .notAStorage: "not-a-storage"
        case .locked: "locked"
        case .newerSchema: "newer-schema"
        case .olderSchema: "older-schema"
        case .io: "io"
        case .unconfirmed: "unconfirmed"
        case .replaced: "replaced"
        case .refused: "refused"
        case .closed: "closed"
        case .engine: "engine"
        }
    }
}
