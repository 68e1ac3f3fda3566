import TideoverAppStore
import TideoverCore
import TideoverStorage

extension Backfiller {
    /// The maximum number of attempts of a query before a run stops.
    private static let mostAttempts = 4
    /// The pause after throttling if the store states none.
    private static let usualPause = Milliseconds.minutes(1)

    /// Sends a query as soon as the limits allow, and repeats it after a retryable failure;
    /// `failed` receives each failure. If the store throttles, it waits up to `patience`, by
    /// default that of all background work.
    ///
    /// - Throws: `AppStoreAPIFailure` of the last attempt, `BackfillStop` if there was no attempt,
    ///   or the errors of `failed`.
    func ask<Content>(
        _ kind: RequestKind,
        patience: Milliseconds? = nil,
        _ question: () async throws -> AppStoreAnswer<Content>,
        failed: (AppStoreAPIFailure) async throws -> Void = { _ in }
    ) async throws -> AppStoreAnswer<Content> {
        var attempts = 0
        while true {
            try await limiter.admit(kind, patience: patience)
            do {
                let answer = try await question()
                context.metrics.count(.storeRequests, app.id, kind.rawValue, "answered")
                return answer
            } catch let failure as AppStoreAPIFailure {
                // Our own cancellation says nothing about the store.
                try Task.checkCancellation()
                attempts += 1
                context.metrics.count(.storeRequests, app.id, kind.rawValue, failure.metricWord)
                let pause = try await pause(after: failure)
                try await failed(failure)
                guard failure.isRetryable, attempts < Self.mostAttempts else { throw failure }
                if let pause, pause > timing.clock() + (patience ?? timing.patience) {
                    throw failure
                }
                if pause == nil { try await timing.sleep(.seconds(1 << (2 * (attempts - 1)))) }
            }
        }
    }

    /// Pauses queries if the store throttles, and stores the end of the pause for a later process.
    ///
    /// - Returns: the end of the pause.
    func pause(after failure: AppStoreAPIFailure) async throws -> Instant? {
        guard case .throttled = failure.reason else { return nil }
        let until = failure.retryAt ?? timing.clock() + Self.usualPause
        await limiter.pause(until: until)
        try await cursors.keep(until, Self.pause)
        return until
    }
}

extension AppStoreAPIFailure {
    var metricWord: String {
        switch reason {
        case .throttled: "throttled"
        case .unauthorised, .unsigned: "unauthorised"
        case .unreachable, .malformedJSON: "unreachable"
        case .unaskable, .refused, .status, .malformed, .endless: "refused"
        }
    }

    /// Whether all other queries would fail too.
    var stopsEverything: Bool {
        switch reason {
        case .unsigned, .unauthorised, .throttled: true
        // The store may fail in this way about one purchase or one page each time, which must not
        // block the other steps. If it is down, each of them ends after a few queries.
        case .unaskable, .unreachable, .refused, .status, .malformed, .malformedJSON, .endless:
            false
        }
    }
}
