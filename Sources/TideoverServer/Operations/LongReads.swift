import TideoverHTTP
import TideoverLocks

/// Stops a long read on its own thread when the result is no longer needed.
package final class LongRead: Sendable {
    private let isUnwanted = Locked(false)
    /// Whether the server is stopping; nil for work with another end.
    private let isStopping: Locked<Bool>?

    fileprivate init(until isStopping: Locked<Bool>? = nil) {
        self.isStopping = isStopping
    }

    /// Checks for cancellation; call it between customers or pages.
    ///
    /// - Throws: `CancellationError` once the caller has gone or the server stops.
    package func goOn() throws(CancellationError) {
        if let isStopping, isStopping.withLock({ $0 }) { throw CancellationError() }
        guard !isUnwanted.withLock({ $0 }) else { throw CancellationError() }
    }

    fileprivate func stop() { isUnwanted.withLock { $0 = true } }
}

/// Runs work that reads the whole storage on a thread of its own with low priority: on a processor
/// that notifications keep busy it gets about a thirtieth of the time.
///
/// Swift's pool has as many threads as there are processors. That many long reads would block all
/// notifications and requests until one of them ended.
///
/// - Throws: the errors of `work`, or `NoThread`.
package func onQuietThread<Answer: Sendable>(
    _ work: @escaping @Sendable (LongRead) throws -> Answer
) async throws -> Answer {
    try await onQuietThread(LongRead(), work)
}

private func onQuietThread<Answer: Sendable>(
    _ read: LongRead,
    _ work: @escaping @Sendable (LongRead) throws -> Answer
) async throws -> Answer {
    try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Answer, _>) in
            let code = startThread(niceness: 15) {
                caller.resume(with: Result { try work(read) })
            }
            if code != 0 { caller.resume(throwing: NoThread()) }
        }
    } onCancel: {
        read.stop()
    }
}

/// The system cannot create a thread.
package struct NoThread: Error {}

/// Allows one report at a time to read the storage for each app, with a short queue.
package struct LongReads: Sendable {
    package static let limits = WorkLimits(running: 1, waiting: 4)

    private let concurrencyLimiters: [String: ConcurrencyLimiter]
    private let isStopping: Locked<Bool>

    /// Shares the gates of the former service, so that one report of an app runs at a time in both.
    init(apps: [String], succeeding former: LongReads? = nil) {
        concurrencyLimiters = Dictionary(
            uniqueKeysWithValues: apps.map {
                ($0, former?.concurrencyLimiters[$0] ?? ConcurrencyLimiter(Self.limits))
            }
        )
        isStopping = former?.isStopping ?? Locked(false)
    }

    package subscript(_ app: String) -> ConcurrencyLimiter {
        guard let concurrencyLimiter = concurrencyLimiters[app] else {
            preconditionFailure("reports are made of apps that the service has")
        }
        return concurrencyLimiter
    }

    /// Cancels current and future reads, because the server stops.
    func stop() { isStopping.withLock { $0 = true } }

    /// - Throws: `reports-busy`, `CancellationError`, or the errors of `work`.
    func read<Answer: Sendable>(
        of app: String,
        _ work: @escaping @Sendable (LongRead) throws -> Answer
    ) async throws -> Answer {
        do {
            return try await self[app].pass { [isStopping] in
                try await onQuietThread(LongRead(until: isStopping), work)
            }
        } catch {
            throw error is ConcurrencyLimiter.Full || error is NoThread
                ? Problem.reportsBusy : error
        }
    }
}

extension AppContext {
    /// Reads the storage for a report of the app.
    ///
    /// - Throws: `reports-busy`, `CancellationError`, or the errors of `work`.
    func longRead<Answer: Sendable>(
        _ work: @escaping @Sendable (LongRead) throws -> Answer
    ) async throws -> Answer {
        try await longReads.read(of: app.id, work)
    }
}
