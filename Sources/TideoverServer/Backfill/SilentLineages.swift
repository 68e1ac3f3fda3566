import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Subscriptions of which the store should have told something by now and has not.
extension Backfiller {
    /// How many lineages are looked at between two bookmarks.
    private static let pageLength = 100

    /// Asks about every lineage whose answer rests on an assumption: its renewal is due, say, and
    /// nothing was heard; and about every one of which the store said what we could not read.
    func askAboutSilentLineages() async throws {
        try await walkLineages(BackfillStep.statuses.rawValue) { holding in
            guard isSilent(holding, at: timing.clock()) else { return true }
            try await askAboutStatus(of: holding.lineage)
            return true
        }
    }

    /// Walks through the lineages of the App Store from the bookmark on, until the end or until `each`
    /// says false; the next walk then goes on behind that lineage.
    func walkLineages(
        _ name: String,
        each: (Holding) async throws -> Bool
    ) async throws {
        // Empty between two walks.
        var last = try bookmarks.text(name).flatMap { $0.isEmpty ? nil : $0 }
        while true {
            let page = try await lineages(after: last)
            for holding in page {
                try Task.checkCancellation()
                let goesOn = holding.lineage.store != .appStore ? true : try await each(holding)
                last = holding.lineage.key
                guard goesOn else { return try await bookmarks.keep(holding.lineage.key, name) }
            }
            guard page.count == Self.pageLength, let last else { break }
            try await bookmarks.keep(last, name)
        }
        try await bookmarks.keep("", name)
    }

    private func lineages(after key: String?) async throws -> [Holding] {
        let (storage, app, environment) = (ingest.storage, app.id, environment)
        return try await onPool {
            try storage.lineages(
                app: app,
                environment: environment,
                after: key,
                limit: Self.pageLength
            )
        }
    }

    private func isSilent(_ holding: Holding, at now: Instant) -> Bool {
        if holding.hasUnreadMessage { return true }
        let history = LineageHistory(
            lineage: holding.lineage,
            facts: holding.facts,
            catalogue: app.catalogue
        )
        guard history.standing(at: now, policy: app.policy).asksStore else { return false }
        return !isResting(holding, at: now)
    }

    /// Whether the store answered about it so lately that it is not asked again.
    func isResting(_ holding: Holding, at now: Instant) -> Bool {
        holding.facts.contains { fact in
            guard case .inquiry(let inquiry) = fact.assertion else { return false }
            return now < fact.learnedAt + rest(after: inquiry.outcome)
        }
    }

    /// How long a lineage is not asked about again after an answer that left the question open.
    private func rest(after outcome: Inquiry.Outcome) -> Milliseconds {
        switch outcome {
        case .unreachable, .throttled: .zero
        case .answered, .refused, .unrecognised:
            environment == .production ? .hours(1) : .minutes(1)
        case .gone: .days(7)
        }
    }

    private func askAboutStatus(of lineage: Lineage) async throws {
        let answer: AppStoreAnswer<SubscriptionStatusesAnswer>
        do {
            answer = try await ask(.subscriptionStatuses) {
                try await api.subscriptionStatuses(of: lineage.id)
            } failed: { failure in
                guard let outcome = failure.outcome else { return }
                try await ingest.note(lineage, failure.exchange, outcome)
            }
        } catch let failure as AppStoreAPIFailure {
            guard failure.speaksOfThePurchase else { throw failure }
            return
        }
        let (trust, now, content) = (trust, timing.clock(), answer.content)
        let items = try await onPool { [api] in
            api.reader.read(content, check: trust.check(at: now))
        }
        try await take(items, in: .statuses)
        try await ingest.note(lineage, answer.exchange, .answered)
        note(.statuses) { $0.pages += 1 }
    }
}

extension Holding {
    /// Whether the store said something of it of which no more was understood than that it was said, and
    /// has answered nothing since. The history of notifications brings nothing more of that.
    fileprivate var hasUnreadMessage: Bool {
        var unreadAt: Instant?
        var answeredAt: Instant?
        for fact in facts {
            switch fact.assertion {
            case .unrecognised(let word) where word.leavesMessageUnread:
                unreadAt = max(unreadAt ?? fact.learnedAt, fact.learnedAt)
            case .inquiry(let inquiry) where !inquiry.outcome.isFailure:
                answeredAt = max(answeredAt ?? fact.learnedAt, fact.learnedAt)
            default: break
            }
        }
        return unreadAt.map { $0 > answeredAt ?? .distantPast } ?? false
    }
}

extension AppStoreAPIFailure {
    /// Whether another purchase may well be answered about.
    var speaksOfThePurchase: Bool {
        switch reason {
        case .unaskable: true
        case .refused: outcome == .gone || outcome == .refused
        case .malformed, .malformedJSON: true
        case .unsigned, .unreachable, .unauthorised, .throttled, .status, .endless: false
        }
    }
}
