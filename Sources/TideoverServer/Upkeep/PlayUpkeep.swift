import TideoverCore
import TideoverGooglePlay
import TideoverLocks
import TideoverStorage

/// Keeps what is known of the purchases on Google Play of one app in one environment as the store knows
/// it: asks about each token at its boundaries, tells the store of what was granted, and asks for
/// whatever has not arrived by itself.
///
/// All that an answer brings goes through the one door. What is to be asked follows from what is stored:
/// interrupted anywhere, it is asked again.
final class PlayUpkeep: Sendable {
    let app: App
    let environment: Environment
    let trust: PlayTrust
    let api: PlayAPI
    let ingest: Ingest
    let bookmarks: Bookmarks
    let timing: Timing
    let limiter: RequestLimiter
    let agenda: PlayAgenda
    let book: BackfillBook
    let expectedVoids = Locked(PlayExpectedVoids())

    /// What knows where tokens belong.
    var asking: PlayAsking { PlayAsking(ingest: ingest, trust: trust) }

    /// Nil where Google Play cannot be asked about the app.
    ///
    /// - Throws: `StorageError` when it cannot be read whether the store wants to be left alone.
    init?(
        _ environment: Environment,
        _ agenda: PlayAgenda,
        ingest: Ingest,
        timing: Timing
    ) throws(StorageError) {
        guard let trust = ingest.app.googlePlay, let api = trust.api else { return nil }
        app = ingest.app
        self.agenda = agenda
        self.environment = environment
        self.trust = trust
        self.api = api
        self.ingest = ingest
        self.timing = timing
        bookmarks = Bookmarks(
            app: ingest.app.id,
            environment: environment,
            storage: ingest.storage
        )
        book = BackfillBook(.googlePlay, environment, ingest: ingest, timing: timing)
        ingest.metrics.expectUpkeep(of: ingest.app, environment)
        let pausedUntil = try bookmarks.instant(Self.pause)
        if let pausedUntil { agenda.rest(until: pausedUntil) }
        // Google's quotas do not tell licence testers from others.
        limiter = RequestLimiter(
            environment: .production,
            timing: timing,
            pausedUntil: pausedUntil
        )
    }

    /// The bookmark that says until when the store is left alone.
    static let pause = "googlePlay:pause"

    // MARK: Plans

    /// What is to be done about a lineage, by what is stored; it blocks its thread.
    func plan(for holding: Holding) throws(StorageError) -> PlayPlan {
        let words = PlayLineageWords(holding.facts)
        let history = LineageHistory(
            lineage: holding.lineage,
            facts: holding.facts,
            catalogue: app.catalogue
        )
        return PlayPlan(words, pace: history.pace, try memory(of: holding.lineage, words))
    }

    private func memory(
        of lineage: Lineage,
        _ words: PlayLineageWords
    ) throws(StorageError) -> PlayMemory {
        var memory = PlayMemory(confirmedAt: try bookmarks.instant(Self.confirmed(lineage)))
        for token in words.tokens {
            memory.settled[token] = try bookmarks.instant(Self.settled(token, lineage))
        }
        return memory
    }

    /// The bookmark that says when an answer about a lineage last told nothing new.
    static func confirmed(_ lineage: Lineage) -> String { "googlePlay:confirmed:\(lineage.key)" }

    /// The bookmark that says since when a token is not asked about because of a lineage.
    static func settled(_ token: PlayToken, _ lineage: Lineage) -> String {
        "googlePlay:settled:\(lineage.key):\(token.id)"
    }

    // MARK: Tending

    /// Puts every lineage on the agenda.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func begin() async throws {
        let (storage, app, environment) = (ingest.storage, app.id, environment)
        try await onQuietThread { read in
            try storage.eachHolding(app: app, environment: environment) { holding in
                try read.goOn()
                guard holding.lineage.store == .googlePlay else { return }
                try self.schedule(holding, notBefore: .distantPast)
            }
        }
    }

    /// Does what is due; false where there was nothing to do.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func look() async throws -> Bool {
        let changed = agenda.takeChanged()
        do {
            for lineage in changed {
                try schedule(try ingest.storage.holding(lineage, app: app.id))
            }
        } catch {
            // They are still to be looked at.
            for lineage in changed { agenda.note(lineage) }
            throw error
        }
        try await readExpectedVoids()
        tellOfLate()
        let due = agenda.due(at: timing.clock(), limit: Self.batch)
        for lineage in due {
            try Task.checkCancellation()
            // What is due stays so.
            guard !agenda.isResting(at: timing.clock()) else { return false }
            do {
                try await tend(lineage)
            } catch is BackfillStop {
                return false
            } catch {
                agenda.putOff(lineage, until: timing.clock() + Self.rest)
                throw error
            }
        }
        return !due.isEmpty
    }

    /// How many lineages are tended to in one go.
    private static let batch = 100
    /// How long a lineage is left alone that the storage failed.
    private static let rest = Milliseconds.minutes(1)

    /// Asks what is due about a lineage, and tells the store what it is to be told.
    func tend(_ lineage: Lineage) async throws {
        let now = timing.clock()
        let plan = try plan(for: try ingest.storage.holding(lineage, app: app.id))
        let due = plan.questions.filter { $0.at <= now }
        if !due.isEmpty { try await ask(due, about: lineage) }
        try await acknowledge(lineage)
        let holding = try ingest.storage.holding(lineage, app: app.id)
        try schedule(holding, notBefore: now + PlayRhythm.floor)
    }

    private func schedule(
        _ holding: Holding,
        notBefore: Instant = .distantPast
    ) throws(StorageError) {
        agenda.put(
            try plan(for: holding),
            of: holding.lineage,
            notBefore: notBefore,
            acknowledges: app.playChoices.acknowledges
        )
    }
}
