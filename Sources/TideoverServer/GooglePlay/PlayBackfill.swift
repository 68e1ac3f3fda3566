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
                let stop = try await take(step)
                first = first ?? stop
            }
        } catch {
            first = BackfillStop(error)
        }
        return book.end(first.map { .stopped($0) } ?? .completed)
    }

    /// Takes a step to its end. Returns the first failure that does not stop the run.
    private func take(_ step: BackfillStep) async throws -> BackfillStop? {
        try Task.checkCancellation()
        book.begin(step)
        var stop: BackfillStop?
        switch step {
        // The list is read even if some tokens always fail.
        case .purchases: stop = try await readLivingTokens()
        case .voidedPurchases: try await readVoidedPurchases()
        case .failedNotifications, .notifications, .statuses, .refunds:
            preconditionFailure("the App Store is asked for these")
        }
        book.tell(step, isEnd: true)
        return stop
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
    ///
    /// - Returns: the first failure.
    /// - Throws: `BackfillStop` if every other query would fail too.
    private func readLivingTokens() async throws -> BackfillStop? {
        let unlistedUntil = try await unlistedUntil()
        let name = "googlePlay:\(BackfillStep.purchases.rawValue)"
        var last = try cursors.text(name).flatMap { $0.isEmpty ? nil : $0 }
        var (asked, inRow) = (0, 0)
        var first: BackfillStop?
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
                let failure = try await read(questions, of: lineageRecord)
                first = first ?? failure.map { BackfillStop($0, about: "a purchase") }
                inRow = failure == nil ? 0 : inRow + 1
                asked += 1
                let concernsAll = failure?.concernsAll ?? false
                if concernsAll || inRow == Self.mostFailures || asked == Self.mostLineages {
                    // Tokens that fail always must not hide those after them.
                    try await cursors.keep(lineageRecord.lineage.key, name)
                    if concernsAll, let failure { throw BackfillStop(failure, about: "a purchase") }
                    return first
                }
            }
            last = page.last?.lineage.key ?? last
            guard page.count == Self.pageLength, let last else { break }
            try await cursors.keep(last, name)
        }
        try await cursors.keep("", name)
        return first
    }

    /// Returns the queries for a lineage's tokens that can still change, if the last response is a
    /// day old, and for one-time purchases that may have been voided in a gap of the list.
    private func questions(
        on lineageRecord: LineageRecord,
        unlistedUntil: Instant?
    ) throws -> [PlayPlan.Question] {
        let words = PlayLineageWords(lineageRecord.facts)
        let now = timing.clock()
        let living = try plan(for: lineageRecord).questions.filter { question in
            let (token, lineage) = (question.token, lineageRecord.lineage)
            guard let read = try answeredAt(token, words, lineage) else {
                return question.at <= now
            }
            // One that the store did not know is queried when the poller does.
            if let settledAt = try cursors.instant(Self.settled(token, lineage)),
                settledAt > read, now < settledAt + PollSchedule.restOfUnknown
            {
                return false
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
            // A consumed purchase unlocks nothing, refunded or not.
            guard read.state == .purchased, !read.items.allSatisfy(\.isConsumed),
                try cursors.instant(Self.settled(token, lineage)) == nil,
                let answered = try answeredAt(token, words, lineage)
            else { return false }
            return answered < instant && !isResting(words.failures.filter { $0 > answered })
        }.keys.sorted()
    }

    /// The number of failures after which a bought one-time purchase is read less often.
    private static let mostFailuresOfOne = 3

    /// Returns whether queries about a purchase failed so often since its last answer that it is
    /// not read in each run.
    private func isResting(_ failures: [Instant]) -> Bool {
        guard failures.count >= Self.mostFailuresOfOne, let last = failures.last else {
            return false
        }
        return timing.clock() < last + PollSchedule.restOfUnknown
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

    /// Sends queries. Returns a failure that another token could have too; one that concerns all
    /// queries comes before others.
    private func read(_ questions: [PlayPlan.Question], of lineageRecord: LineageRecord)
        async throws -> Failure?
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
        let failures = answers.filter(\.isOpen).compactMap(\.failure)
        return failures.first(where: \.concernsAll) ?? failures.first
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
