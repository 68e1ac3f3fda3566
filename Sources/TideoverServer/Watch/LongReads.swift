import TideoverHTTP
import TideoverLocks

/// Tells work on a thread of its own whether anybody still waits for it.
package final class LongRead: Sendable {
    private let isUnwanted = Locked(false)
    /// Whether the server stops; nil for work that has another end.
    private let isStopping: Locked<Bool>?

    fileprivate init(until isStopping: Locked<Bool>? = nil) {
        self.isStopping = isStopping
    }

    /// To be called between customers or pages.
    ///
    /// - Throws: `CancellationError` once whoever asked has gone or the server stops.
    package func goOn() throws(CancellationError) {
        if let isStopping, isStopping.withLock({ $0 }) { throw CancellationError() }
        guard !isUnwanted.withLock({ $0 }) else { throw CancellationError() }
    }

    fileprivate func stop() { isUnwanted.withLock { $0 = true } }
}

/// Runs work that walks the storage on a thread of its own, which stands back for all others.
///
/// Swift's pool has as many threads as there are processors: as many walks would keep every
/// notification and read waiting until one of them ended.
///
/// - Throws: what `work` throws, or `NoThread`.
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
            let code = startThread(niceness: 10) {
                caller.resume(with: Result { try work(read) })
            }
            if code != 0 { caller.resume(throwing: NoThread()) }
        }
    } onCancel: {
        read.stop()
    }
}

/// The system has no thread left.
package struct NoThread: Error {}

/// Lets one report at a time walk the storage for each app, and a few wait.
package struct LongReads: Sendable {
    package static let limits = WorkLimits(running: 1, waiting: 4)

    private let gates: [String: Gate]
    private let isStopping: Locked<Bool>

    /// Those of a former service go on: one report of an app runs at a time, whoever began it.
    init(apps: [String], succeeding former: LongReads? = nil) {
        gates = Dictionary(
            uniqueKeysWithValues: apps.map { ($0, former?.gates[$0] ?? Gate(Self.limits)) }
        )
        isStopping = former?.isStopping ?? Locked(false)
    }

    package subscript(_ app: String) -> Gate {
        guard let gate = gates[app] else {
            preconditionFailure("reports are made of apps that the service has")
        }
        return gate
    }

    /// Ends what runs and whatever begins later, because the server stops.
    func stop() { isStopping.withLock { $0 = true } }

    /// - Throws: `reports-busy`, `CancellationError`, or what `work` throws.
    func read<Answer: Sendable>(
        of app: String,
        _ work: @escaping @Sendable (LongRead) throws -> Answer
    ) async throws -> Answer {
        do {
            return try await self[app].pass { [isStopping] in
                try await onQuietThread(LongRead(until: isStopping), work)
            }
        } catch {
            throw error is Gate.Full || error is NoThread ? Problem.reportsBusy : error
        }
    }
}
