import TideoverAppStore
import TideoverCore
import TideoverStorage

extension Backfiller {
    /// How often a question is asked before a run gives up.
    private static let mostAttempts = 4
    /// How long the store is left alone if it does not say for how long.
    private static let usualPause = Milliseconds.minutes(1)

    /// Asks the store as soon as the limits allow it, and again where that may help; `failed` is told of
    /// every attempt that brought no answer. A store that wants to be left alone is waited for on the spot for
    /// as long as `patience` says, by default that of all long work.
    ///
    /// - Throws: `AppStoreAPIFailure` of the last attempt, `BackfillStop` where there was none, or what `failed`
    ///   throws.
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
                ingest.metrics.count(.storeRequests, app.id, kind.rawValue, "answered")
                return answer
            } catch let failure as AppStoreAPIFailure {
                // What we gave up ourselves says nothing of the store.
                try Task.checkCancellation()
                attempts += 1
                ingest.metrics.count(.storeRequests, app.id, kind.rawValue, failure.metricWord)
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

    /// Leaves the store alone if it wants that, and remembers it for a process that comes after.
    ///
    /// - Returns: until when.
    func pause(after failure: AppStoreAPIFailure) async throws -> Instant? {
        guard case .throttled = failure.reason else { return nil }
        let until = failure.retryAt ?? timing.clock() + Self.usualPause
        await limiter.pause(until: until)
        try await bookmarks.keep(until, Self.pause)
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

    /// Whether nothing else will be answered either.
    var stopsEverything: Bool {
        switch reason {
        case .unsigned, .unreachable, .unauthorised, .throttled, .malformedJSON: true
        case .unaskable, .refused, .malformed, .endless: false
        case .status(let status): !(400..<500).contains(status)
        }
    }

    /// The store's number for what is wrong, where it gave one that we know.
    var knownCode: AppStoreErrorCode? {
        guard case .refused(let code, _) = reason else { return nil }
        return code.known
    }
}
