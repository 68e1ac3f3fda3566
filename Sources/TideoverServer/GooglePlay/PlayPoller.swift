import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay
import TideoverLocks
import TideoverStorage

/// Keeps the Google Play purchases of one app in one environment up to date. It queries each token
/// at its boundaries, acknowledges granted purchases, and queries for missing notifications.
///
/// All responses are committed like notifications. The queries follow from the stored facts, so an
/// interrupted query is sent again.
final class PlayPoller: Sendable {
    let environment: Environment
    let trust: PlayTrust
    let api: PlayAPI
    let context: AppContext
    let cursors: Cursors
    let timing: Timing
    let limiter: RequestLimiter
    let pollQueue: PollQueue
    let book: BackfillBook
    let expectedVoids = Locked(PlayExpectedVoids())

    var app: App { context.app }
    /// The client that queries the store and finds the lineages of tokens.
    var playLookup: PlayLookup { PlayLookup(context: context, trust: trust) }

    /// Returns nil if Google Play cannot be queried about the app.
    ///
    /// - Throws: `StorageError` if the end of the store's throttling cannot be read.
    init?(
        _ environment: Environment,
        _ pollQueue: PollQueue,
        context: AppContext,
        timing: Timing
    ) throws(StorageError) {
        guard let trust = context.app.googlePlay, let api = trust.api else { return nil }
        self.pollQueue = pollQueue
        self.environment = environment
        self.trust = trust
        self.api = api
        self.context = context
        self.timing = timing
        cursors = context.cursors(in: environment)
        book = BackfillBook(.googlePlay, environment, context: context, timing: timing)
        context.metrics.expectUpkeep(of: context.app, environment)
        let pausedUntil = try cursors.instant(Self.pause)
        if let pausedUntil { pollQueue.rest(until: pausedUntil) }
        // Google's quotas are shared by licence testers and other customers.
        limiter = RequestLimiter(
            environment: .production,
            timing: timing,
            pausedUntil: pausedUntil
        )
    }

    /// The name of the bookmark for the end of the store's throttling.
    static let pause = "googlePlay:pause"

    // MARK: Plans

    /// Returns the queries and acknowledgements for a lineage, from its stored facts; it blocks its
    /// thread.
    func plan(for lineageRecord: LineageRecord) throws(StorageError) -> PlayPlan {
        let words = PlayLineageWords(lineageRecord.facts)
        let history = LineageHistory(
            lineage: lineageRecord.lineage,
            facts: lineageRecord.facts,
            catalogue: app.catalogue
        )
        return PlayPlan(words, pace: history.pace, try memory(of: lineageRecord.lineage, words))
    }

    private func memory(
        of lineage: Lineage,
        _ words: PlayLineageWords
    ) throws(StorageError) -> PlayMemory {
        var memory = PlayMemory()
        memory.failed = try cursors.instant(Self.failed(lineage))
        for token in words.tokens {
            memory.confirmed[token] = try cursors.instant(Self.confirmed(token, lineage))
            memory.settled[token] = try cursors.instant(Self.settled(token, lineage))
        }
        return memory
    }

    /// The name of the bookmark for the last response that confirmed a token without a new fact.
    /// The token that names its lineage needs no part of its own.
    static func confirmed(_ token: PlayToken, _ lineage: Lineage) -> String {
        let name = "googlePlay:confirmed:\(lineage.key)"
        return token.id == lineage.id ? name : "\(name):\(token.id)"
    }

    /// The name of the bookmark for when a token of a lineage was given up.
    static func settled(_ token: PlayToken, _ lineage: Lineage) -> String {
        "googlePlay:settled:\(lineage.key):\(token.id)"
    }

    /// The name of the bookmark for the last failed query that was not stored as a fact.
    static func failed(_ lineage: Lineage) -> String { "googlePlay:failed:\(lineage.key)" }

    /// Returns the names of all bookmarks about a lineage.
    static func bookmarks(of lineageRecord: LineageRecord) -> [String] {
        let lineage = lineageRecord.lineage
        return [failed(lineage)]
            + PlayLineageWords(lineageRecord.facts).tokens.flatMap {
                [confirmed($0, lineage), settled($0, lineage)]
            }
    }

    // MARK: Work

    /// Adds every lineage to the agenda. Those that continue an expired purchase count as changed,
    /// because an earlier process can have ended before it inferred their owners.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func begin() async throws {
        let (storage, app, environment) = (context.storage, app.id, environment)
        try await onQuietThread { read in
            try storage.eachLineageRecord(in: AppScope(app, environment)) { lineageRecord in
                try read.goOn()
                guard lineageRecord.lineage.store == .googlePlay else { return }
                try self.schedule(lineageRecord, notBefore: .distantPast)
                if lineageRecord.followsExpired { self.pollQueue.note(lineageRecord.lineage) }
            }
        }
    }

    /// Does the work that is due; false if there was none.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func look() async throws -> Bool {
        let changed = pollQueue.takeChanged()
        let inference = OwnerInference(context: context, trust: trust)
        var hasInferred = false
        do {
            for lineage in changed {
                try Task.checkCancellation()
                let lineageRecord = try context.storage.lineageRecord(lineage, app: app.id)
                try schedule(lineageRecord)
                if try await inference.infer(around: lineageRecord) { hasInferred = true }
            }
        } catch {
            // They must be examined again.
            for lineage in changed { pollQueue.note(lineage) }
            throw error
        }
        try await readExpectedVoids()
        tellOfLate()
        let due = pollQueue.due(at: timing.clock(), limit: Self.batch)
        for lineage in due {
            try Task.checkCancellation()
            // Due lineages remain due.
            guard !pollQueue.isResting(at: timing.clock()) else { return hasInferred }
            do {
                try await tend(lineage)
            } catch is BackfillStop {
                return hasInferred
            } catch {
                pollQueue.putOff(lineage, until: timing.clock() + Self.rest)
                throw error
            }
        }
        return !due.isEmpty || hasInferred
    }

    /// The number of lineages processed in one call.
    private static let batch = 100
    /// How long a lineage waits after a storage failure.
    private static let rest = Milliseconds.minutes(1)

    /// Sends the due queries about a lineage, and acknowledges its purchases.
    func tend(_ lineage: Lineage) async throws {
        let now = timing.clock()
        let plan = try plan(for: try context.storage.lineageRecord(lineage, app: app.id))
        let due = plan.questions.filter { $0.at <= now }
        if !due.isEmpty { try await ask(due, about: lineage) }
        try await acknowledge(lineage)
        let lineageRecord = try context.storage.lineageRecord(lineage, app: app.id)
        try schedule(lineageRecord, notBefore: now + PollSchedule.floor)
    }

    private func schedule(
        _ lineageRecord: LineageRecord,
        notBefore: Instant = .distantPast
    ) throws(StorageError) {
        pollQueue.put(
            try plan(for: lineageRecord),
            of: lineageRecord.lineage,
            notBefore: notBefore,
            acknowledges: app.playChoices.acknowledges
        )
    }
}
