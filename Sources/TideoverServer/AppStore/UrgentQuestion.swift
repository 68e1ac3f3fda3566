import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Queries with a waiting client.
extension Backfiller {
    /// Queries one known purchase once, if the store may be queried now and did not answer about it
    /// recently. If it cannot be reached, a run is requested.
    ///
    /// - Throws: `StorageError`.
    func askAtOnce(about lineage: Lineage) async throws -> UrgentOutcome {
        let lineageRecord = try context.storage.lineageRecord(lineage, app: app.id)
        let now = timing.clock()
        guard !lineageRecord.facts.isEmpty else { return .nothingToAsk }
        guard !isResting(lineageRecord, at: now) else { return .askedRecently }
        guard try await limiter.admitSoon(.subscriptionStatuses) else { return .busy }
        return try await askNow(about: lineage) ? .answered : .failed
    }

    /// Queries one purchase that was just changed, once. If its turn is not soon, a run is
    /// requested.
    ///
    /// - Throws: `StorageError`.
    func askAgain(about lineage: Lineage) async throws {
        guard try await limiter.admitSoon(.subscriptionStatuses) else { return want() }
        _ = try await askNow(about: lineage)
    }

    /// Sends the query, and returns whether the store answered it.
    private func askNow(about lineage: Lineage) async throws -> Bool {
        do {
            let answer = try await api.subscriptionStatuses(of: lineage.id)
            count(.subscriptionStatuses, "answered")
            let (trust, content, now) = (trust, answer.content, timing.clock())
            let items = try await onPool { [api] in
                api.reader.read(content, check: trust.check(at: now))
            }
            _ = try await keep(items, in: .statuses)
            try await context.note(lineage, answer.exchange, .answered)
            return true
        } catch let failure as AppStoreAPIFailure {
            try await tell(failure, about: lineage)
        } catch let stop as BackfillStop {
            log(stop.code, stop.sentence)
        }
        return false
    }

    private func tell(_ failure: AppStoreAPIFailure, about lineage: Lineage) async throws {
        count(.subscriptionStatuses, failure.metricWord)
        _ = try await pause(after: failure)
        if let outcome = failure.outcome {
            try await context.note(lineage, failure.exchange, outcome)
        }
        log(failure.code, failure.sentence)
        if failure.isRetryable { want() }
    }

    func count(_ kind: RequestKind, _ outcome: String) {
        context.metrics.count(.storeRequests, app.id, kind.rawValue, outcome)
    }

    private func log(_ code: String, _ detail: String) {
        context.log(
            .warning,
            "a purchase could not be asked about",
            in: environment,
            code: code,
            detail: detail
        )
    }
}

/// The result of asking a store about one purchase while a client waits.
enum UrgentOutcome: String, Hashable, Sendable, CaseIterable {
    /// The store answered, and the answer is stored.
    case answered
    /// The store answered so recently that it was not asked again.
    case askedRecently
    /// The store did not answer, or with nothing that could be read.
    case failed
    /// The requests that the store permits are used up for now.
    case busy
    /// No question applies to the purchase.
    case nothingToAsk
    /// The configuration has no credentials to ask the store with.
    case notConfigured

    var sentence: String {
        switch self {
        case .answered: "The store answered; the answer counts from now on."
        case .askedRecently: "The store answered a short time ago. It was not asked again."
        case .failed: "The store did not answer. The server asks again by itself."
        case .busy: "Too many requests to the store are under way. The server asks later by itself."
        case .nothingToAsk: "There is nothing to ask the store about this purchase."
        case .notConfigured: "The configuration has no credentials for this store."
        }
    }
}
