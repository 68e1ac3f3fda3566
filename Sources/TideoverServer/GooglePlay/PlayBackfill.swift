import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Queries Google Play for missing notifications, one run at a time.
extension PlayPoller {
    /// Runs once; nil if a run is in progress.
    func backfill() async -> BackfillReport? {
        guard book.begin() else { return nil }
        var first: BackfillStop?
        do {
            for step in BackfillStep.ofGooglePlay {
                do {
                    try await take(step)
                } catch let stop as BackfillStop where stop == Self.down {
                    // Some tokens may fail always; that is no reason not to read the list.
                    first = stop
                }
            }
        } catch {
            first = first ?? BackfillStop(error)
        }
        return book.end(first.map { .stopped($0) } ?? .completed)
    }

    private func take(_ step: BackfillStep) async throws {
        try Task.checkCancellation()
        book.begin(step)
        switch step {
        case .purchases: try await readLivingTokens()
        case .voidedPurchases: try await readVoidedPurchases()
        case .failedNotifications, .notifications, .statuses, .refunds:
            preconditionFailure("the App Store is asked for these")
        }
        book.tell(step, isEnd: true)
    }

    // MARK: Active tokens

    /// The maximum number of lineages in one run; the next run continues after them.
    private static let mostLineages = 20_000
    private static let pageLength = 100
    /// How long a run does not query a token again.
    private static let restOfLiving = Milliseconds.hours(24)
    /// The number of consecutive failures after which the store counts as down.
    private static let mostFailures = 5

    /// Queries each token that the store can still change, unless it was queried recently. After a
    /// gap in the list of voided orders it also queries one-time purchases, each once.
    private func readLivingTokens() async throws {
        let unlistedUntil = try await unlistedUntil()
        let name = "googlePlay:\(BackfillStep.purchases.rawValue)"
        var last = try cursors.text(name).flatMap { $0.isEmpty ? nil : $0 }
        var (asked, failures) = (0, 0)
        while true {
            let (storage, app, environment, after) = (context.storage, app.id, environment, last)
            let page = try await onPool {
                try storage.lineages(
                    in: AppScope(app, environment),
                    after: after,
                    limit: Self.pageLength
                )
            }
            for lineageRecord in page where lineageRecord.lineage.store == .googlePlay {
                try Task.checkCancellation()
                let questions = try questions(on: lineageRecord, unlistedUntil: unlistedUntil)
                guard !questions.isEmpty else { continue }
                let failed = try await read(questions, of: lineageRecord)
                failures = failed ? failures + 1 : 0
                guard failures < Self.mostFailures else {
                    // Tokens that fail always must not hide those after them.
                    try await cursors.keep(lineageRecord.lineage.key, name)
                    throw Self.down
                }
                asked += 1
                guard asked < Self.mostLineages else {
                    return try await cursors.keep(lineageRecord.lineage.key, name)
                }
            }
            last = page.last?.lineage.key ?? last
            guard page.count == Self.pageLength, let last else { break }
            try await cursors.keep(last, name)
        }
        try await cursors.keep("", name)
    }

    private static let down = BackfillStop(
        code: "unreachable",
        sentence: "Google Play did not answer several times in a row."
    )

    /// Returns the queries for a lineage's tokens that can still change, if the last response is a
    /// day old, and for one-time purchases that may have been voided in a gap of the list.
    private func questions(
        on lineageRecord: LineageRecord,
        unlistedUntil: Instant?
    ) throws -> [PlayPlan.Question] {
        let words = PlayLineageWords(lineageRecord.facts)
        let now = timing.clock()
        let living = try plan(for: lineageRecord).questions.filter { question in
            guard let read = try answeredAt(question.token, words, lineageRecord.lineage) else {
                return question.at <= now
            }
            return now >= read + Self.restOfLiving
        }
        guard let unlistedUntil else { return living }
        let unlisted = try bought(words, lineageRecord.lineage, readBefore: unlistedUntil)
            .filter { token in !living.contains { $0.token == token } }
        return living + unlisted.map { PlayPlan.Question(token: $0, kind: .product, at: now) }
    }

    /// Returns the bought one-time purchases of a lineage about which the store last answered
    /// before an instant, without those that cannot be queried.
    private func bought(
        _ words: PlayLineageWords,
        _ lineage: Lineage,
        readBefore instant: Instant
    ) throws -> [PlayToken] {
        try words.purchases.filter { token, read in
            guard read.state == .purchased, read.askedAt < instant,
                try cursors.instant(Self.settled(token, lineage)) == nil
            else { return false }
            return try answeredAt(token, words, lineage).map { $0 < instant } ?? false
        }.keys.sorted()
    }

    /// Returns when the store last answered about a token, with or without a new fact; nil for
    /// never.
    private func answeredAt(
        _ token: PlayToken,
        _ words: PlayLineageWords,
        _ lineage: Lineage
    ) throws(StorageError) -> Instant? {
        guard let read = words.answeredAt(token) else { return nil }
        return max(read, try cursors.instant(Self.confirmed(token, lineage)) ?? .distantPast)
    }

    /// Sends queries, and returns whether the store could not be reached.
    private func read(_ questions: [PlayPlan.Question], of lineageRecord: LineageRecord)
        async throws -> Bool
    {
        let answers = try await ask(questions, about: lineageRecord.lineage)
        book.note(.purchases) { sum in
            sum.pages += answers.count
            for answer in answers {
                guard case .told(let newFacts) = answer else { continue }
                sum.items += 1
                sum.newFacts += newFacts
                if newFacts == 0 { sum.known += 1 }
            }
        }
        for answer in answers {
            guard case .told(let newFacts) = answer else { continue }
            let word = newFacts == 0 ? "known" : "committed"
            context.metrics.count(.backfillItems, app.id, BackfillStep.purchases.rawValue, word)
        }
        return answers.contains(where: \.isRetryable)
    }

    // MARK: Immediate queries

    /// Queries one known purchase once for a waiting caller, if the store may be queried now and
    /// was not queried recently.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func askAtOnce(about lineage: Lineage) async throws -> UrgentOutcome {
        let lineageRecord = try context.storage.lineageRecord(lineage, app: app.id)
        let words = PlayLineageWords(lineageRecord.facts)
        let questions = try plan(for: lineageRecord).questions
        let asked =
            try questions.compactMap { try answeredAt($0.token, words, lineage) }.max()
            ?? .distantPast
        guard !questions.isEmpty else { return .nothingToAsk }
        guard timing.clock() >= asked + Self.restOfUrgent else { return .askedRecently }
        guard try await limiter.admitSoon(.purchases) else { return .busy }
        do {
            let answers = try await ask(questions, about: lineage, patience: .zero)
            if answers.contains(where: \.isRetryable) { book.want() }
            return answers.contains(where: \.isFailure) ? .failed : .answered
        } catch is BackfillStop {
            book.want()
            return .busy
        }
    }

    private static let restOfUrgent = Milliseconds.minutes(1)
}
