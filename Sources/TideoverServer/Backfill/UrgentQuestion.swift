import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Queries with a waiting client.
extension Backfiller {
    /// Queries one known purchase once, if the store may be queried now and did not answer about it
    /// recently. If it cannot be reached, a run is requested.
    ///
    /// - Throws: `StorageError`.
    @discardableResult
    func askAtOnce(about lineage: Lineage) async throws -> UrgentOutcome {
        let lineageRecord = try ingest.storage.lineageRecord(lineage, app: app.id)
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
            try await ingest.note(lineage, answer.exchange, .answered)
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
            try await ingest.note(lineage, failure.exchange, outcome)
        }
        log(failure.code, failure.sentence)
        if failure.isRetryable { want() }
    }

    func count(_ kind: RequestKind, _ outcome: String) {
        ingest.metrics.count(.storeRequests, app.id, kind.rawValue, outcome)
    }

    private func log(_ code: String, _ detail: String) {
        ingest.log(
            LogLine(
                .warning,
                "a purchase could not be asked about",
                app: app.id,
                environment: environment,
                code: code,
                detail: detail
            )
        )
    }
}
