import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Queries about subscriptions with an overdue notification.
extension Backfiller {
    /// The number of lineages between two bookmarks.
    private static let pageLength = 100

    /// Queries each lineage with an answer based on an assumption, such as a due renewal without
    /// notification. It also queries each lineage with a message of the store that could not be
    /// read.
    func askAboutSilentLineages() async throws {
        try await walkLineages(BackfillStep.statuses.rawValue) { lineageRecord in
            guard try await isSilent(lineageRecord, at: timing.clock()) else { return true }
            try await askAboutStatus(of: lineageRecord.lineage)
            return true
        }
    }

    /// Calls `each` for the App Store lineages after the bookmark, until the end or until `each`
    /// returns false. The next walk continues after that lineage.
    func walkLineages(
        _ name: String,
        each: (LineageRecord) async throws -> Bool
    ) async throws {
        // Empty between two walks.
        var last = try cursors.text(name).flatMap { $0.isEmpty ? nil : $0 }
        while true {
            let page = try await lineages(after: last)
            for lineageRecord in page {
                try Task.checkCancellation()
                let goesOn =
                    lineageRecord.lineage.store != .appStore ? true : try await each(lineageRecord)
                last = lineageRecord.lineage.key
                guard goesOn else { return try await cursors.keep(lineageRecord.lineage.key, name) }
            }
            guard page.count == Self.pageLength, let last else { break }
            try await cursors.keep(last, name)
        }
        try await cursors.keep("", name)
    }

    private func lineages(after key: String?) async throws -> [LineageRecord] {
        let (storage, app, environment) = (context.storage, app.id, environment)
        return try await onPool {
            try storage.lineages(
                in: AppScope(app, environment),
                after: key,
                limit: Self.pageLength
            )
        }
    }

    private func isSilent(
        _ lineageRecord: LineageRecord,
        at now: Instant
    ) async throws -> Bool {
        if lineageRecord.hasUnreadMessage { return true }
        let history = LineageHistory(
            lineage: lineageRecord.lineage,
            facts: lineageRecord.facts,
            catalogue: app.catalogue
        )
        guard history.standing(at: now, policy: app.policy).asksStore else { return false }
        guard !isResting(lineageRecord, at: now) else { return false }
        return try await !concernsFamilyCopy(lineageRecord)
    }

    /// Returns whether a lineage without a term has a family-shared copy with one. A device's
    /// renewal info does not state the ownership type, so it then concerns the copy, and no
    /// response of the store adds a term to the lineage.
    private func concernsFamilyCopy(_ lineageRecord: LineageRecord) async throws -> Bool {
        guard lineageRecord.lineage.ownership == .purchased, !lineageRecord.hasTerm else {
            return false
        }
        var shared = lineageRecord.lineage
        shared.ownership = .familyShared
        let (storage, app, copy) = (context.storage, app.id, shared)
        return try await onPool { try storage.lineageRecord(copy, app: app).hasTerm }
    }

    /// Returns whether the store answered about it so recently that it is not queried again.
    func isResting(_ lineageRecord: LineageRecord, at now: Instant) -> Bool {
        lineageRecord.facts.contains { fact in
            guard case .inquiry(let inquiry) = fact.assertion else { return false }
            return now < fact.learnedAt + rest(after: inquiry.outcome)
        }
    }

    /// Returns how long a lineage is not queried again after a response that left the question
    /// open.
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
                try await context.note(lineage, failure.exchange, outcome)
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
        try await context.note(lineage, answer.exchange, .answered)
        note(.statuses) { $0.pages += 1 }
    }
}

extension LineageRecord {
    fileprivate var hasTerm: Bool {
        facts.contains { if case .term = $0.assertion { true } else { false } }
    }

    /// Whether the store sent an unreadable message about it and has answered no query since. The
    /// history of notifications contains nothing more about that message.
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
    /// Whether a query of another purchase may still succeed.
    var speaksOfThePurchase: Bool {
        switch reason {
        case .unaskable: true
        case .refused: outcome == .gone || outcome == .refused
        case .malformed, .malformedJSON: true
        case .unsigned, .unreachable, .unauthorised, .throttled, .status, .endless: false
        }
    }
}
