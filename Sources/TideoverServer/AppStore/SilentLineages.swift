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
    ///
    /// - Returns: the first failure that concerned one purchase only.
    func askAboutSilentLineages() async throws -> AppStoreAPIFailure? {
        var failures = PurchaseFailures()
        try await walkLineages(BackfillStep.statuses.rawValue) { lineageRecord in
            guard try await isSilent(lineageRecord, at: timing.clock()) else { return true }
            try await ask(about: lineageRecord.lineage, &failures) { lineage in
                try await askAboutStatus(of: lineage)
            }
            return true
        }
        return failures.first
    }

    /// Calls `each` for the App Store lineages after the bookmark and then for those before it,
    /// until it returns false or throws a failure of the store. The next walk continues after that
    /// lineage, so that one lineage never blocks all others.
    func walkLineages(
        _ name: String,
        each: (LineageRecord) async throws -> Bool
    ) async throws {
        // Empty after a walk to the end.
        let begun = try cursors.text(name).flatMap { $0.isEmpty ? nil : $0 }
        guard try await walk(name, after: begun, until: nil, each) else { return }
        if let begun {
            guard try await walk(name, after: nil, until: begun, each) else { return }
        }
        try await cursors.keep("", name)
    }

    /// Calls `each` for the App Store lineages between two keys. Returns false if `each` did.
    private func walk(
        _ name: String,
        after start: String?,
        until end: String?,
        _ each: (LineageRecord) async throws -> Bool
    ) async throws -> Bool {
        var last = start
        while true {
            let page = try await lineages(after: last)
            for lineageRecord in page {
                try Task.checkCancellation()
                let lineage = lineageRecord.lineage
                if let end, end < lineage.key { return true }
                last = lineage.key
                guard lineage.store == .appStore else { continue }
                do {
                    if try await each(lineageRecord) { continue }
                } catch let failure as AppStoreAPIFailure {
                    try await cursors.keep(lineage.key, name)
                    throw failure
                }
                try await cursors.keep(lineage.key, name)
                return false
            }
            guard page.count == Self.pageLength, let last else { return true }
            try await cursors.keep(last, name)
        }
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
        guard !isRestingAfterFailures(lineageRecord, at: now) else { return false }
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

    /// The number of queries without an answer after which a lineage rests: the attempts of a run.
    private static let mostFailures = 4

    /// Returns whether so many queries about it failed since the last answer that a run leaves it
    /// out. Each failure is stored, so a purchase that always fails must not be queried in each
    /// run.
    private func isRestingAfterFailures(_ lineageRecord: LineageRecord, at now: Instant) -> Bool {
        let failures = lineageRecord.unanswered
        guard failures.count >= Self.mostFailures, let last = failures.max() else { return false }
        let doubled = Milliseconds.minutes(1).count << min(failures.count - Self.mostFailures, 10)
        let longest = environment == .production ? Milliseconds.hours(6) : .minutes(10)
        return now < last + min(Milliseconds(doubled), longest)
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
        let answer = try await ask(.subscriptionStatuses) {
            try await api.subscriptionStatuses(of: lineage.id)
        } failed: { failure in
            guard let outcome = failure.outcome else { return }
            try await context.note(lineage, failure.exchange, outcome)
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

    /// When the queries since the last answer had no response from a working store.
    fileprivate var unanswered: [Instant] {
        var answeredAt = Instant.distantPast
        var failures: [Instant] = []
        for fact in facts {
            guard case .inquiry(let inquiry) = fact.assertion else { continue }
            if !inquiry.outcome.isFailure { answeredAt = max(answeredAt, fact.learnedAt) }
            if inquiry.outcome == .unreachable { failures.append(fact.learnedAt) }
        }
        return failures.filter { $0 > answeredAt }
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
