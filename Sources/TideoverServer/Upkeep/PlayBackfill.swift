import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Asking Google Play for whatever has not arrived by itself: one run at a time.
extension PlayUpkeep {
    /// Runs once; nil if a run is under way already.
    func backfill() async -> BackfillReport? {
        guard book.begin() else { return nil }
        do {
            for step in BackfillStep.ofGooglePlay {
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
            return book.end(.completed)
        } catch {
            return book.end(.stopped(BackfillStop(error)))
        }
    }

    /// Runs once, behind a run that is under way; nil when cancelled while it waits for that.
    func backfillNext() async -> BackfillReport? {
        while true {
            if let report = await backfill() { return report }
            do { try await timing.sleep(.seconds(1)) } catch { return nil }
        }
    }

    // MARK: Tokens that live

    /// How many lineages one run asks about; the next run goes on behind them.
    private static let mostLineages = 20_000
    private static let pageLength = 100
    /// How long a token is not asked about again by a run.
    private static let restOfLiving = Milliseconds.hours(24)
    /// How many answers may fail in a row before the store is taken to be down.
    private static let mostFailures = 5

    /// Asks about every token that the store can still change, unless it was asked about lately.
    private func readLivingTokens() async throws {
        let name = "googlePlay:\(BackfillStep.purchases.rawValue)"
        var last = try bookmarks.text(name).flatMap { $0.isEmpty ? nil : $0 }
        var (asked, failures) = (0, 0)
        while true {
            let (storage, app, environment, after) = (ingest.storage, app.id, environment, last)
            let page = try await onPool {
                try storage.lineages(
                    app: app,
                    environment: environment,
                    after: after,
                    limit: Self.pageLength
                )
            }
            for holding in page where holding.lineage.store == .googlePlay {
                try Task.checkCancellation()
                let questions = try livingQuestions(on: holding)
                guard !questions.isEmpty else { continue }
                let failed = try await read(questions, of: holding)
                failures = failed ? failures + 1 : 0
                guard failures < Self.mostFailures else { throw Self.down }
                asked += 1
                guard asked < Self.mostLineages else {
                    return try await bookmarks.keep(holding.lineage.key, name)
                }
            }
            last = page.last?.lineage.key ?? last
            guard page.count == Self.pageLength, let last else { break }
            try await bookmarks.keep(last, name)
        }
        try await bookmarks.keep("", name)
    }

    private static let down = BackfillStop(
        code: "unreachable",
        sentence: "Google Play did not answer several times in a row."
    )

    /// Those of a lineage's tokens that there is anything left to ask about, where the last answer is a day
    /// old.
    private func livingQuestions(on holding: Holding) throws -> [PlayPlan.Question] {
        let words = PlayLineageWords(holding.facts)
        let confirmed = try bookmarks.instant(Self.confirmed(holding.lineage)) ?? .distantPast
        let now = timing.clock()
        return try plan(for: holding).questions.filter { question in
            let reads = [
                words.subscriptions[question.token]?.askedAt,
                words.purchases[question.token]?.askedAt,
            ]
            guard let read = reads.compactMap(\.self).max() else { return question.at <= now }
            return now >= max(read, confirmed) + Self.restOfLiving
        }
    }

    /// Whether the store could not be asked.
    private func read(_ questions: [PlayPlan.Question], of holding: Holding) async throws -> Bool {
        let answers = try await ask(questions, about: holding.lineage)
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
            ingest.metrics.count(.backfillItems, app.id, BackfillStep.purchases.rawValue, word)
        }
        return answers.contains(.failed(retryable: true))
    }

    // MARK: At once

    /// Asks about one purchase that we know, once, if the store may be asked now and did not answer about
    /// it lately: somebody waits for it.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func askAtOnce(about lineage: Lineage) async throws {
        let holding = try ingest.storage.holding(lineage, app: app.id)
        let words = PlayLineageWords(holding.facts)
        let confirmed = try bookmarks.instant(Self.confirmed(lineage)) ?? .distantPast
        let questions = try plan(for: holding).questions
        let reads = questions.flatMap { question in
            [
                words.subscriptions[question.token]?.askedAt,
                words.purchases[question.token]?.askedAt,
            ].compactMap(\.self)
        }
        let asked = max(reads.max() ?? .distantPast, confirmed)
        guard !questions.isEmpty, timing.clock() >= asked + Self.restOfUrgent,
            try await limiter.admitSoon(.purchases)
        else { return }
        do {
            let answers = try await ask(questions, about: lineage, patience: .zero)
            if answers.contains(.failed(retryable: true)) { book.want() }
        } catch is BackfillStop {
            book.want()
        }
    }

    private static let restOfUrgent = Milliseconds.minutes(1)
}
