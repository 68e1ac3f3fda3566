import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Runs workers in one task group. A worker that ends before it is cancelled is logged, counted,
/// and started again after a pause.
struct Supervisor: Sendable {
    let watch: WorkerWatch
    let metrics: Metrics
    /// A monotonic clock in nanoseconds.
    let uptime: @Sendable () -> Int64
    let log: Log
    let sleep: Sleep

    /// The pause before a worker starts again: a second, doubled each time up to the longest. It is a
    /// second again after the worker has run for ten minutes.
    private struct RestartPause {
        private static let first = Duration.seconds(1)
        private static let longRun: Int64 = 600_000_000_000

        private let longest: Duration
        private var next = first

        init(longest: Duration) { self.longest = longest }

        /// Returns the pause after a run of a length in nanoseconds.
        mutating func pause(afterRun length: Int64) -> Duration {
            let pause = length >= Self.longRun ? Self.first : next
            next = min(pause * 2, longest)
            return pause
        }
    }

    /// Runs the workers until cancelled.
    func run(_ workers: [Worker]) async {
        await withDiscardingTaskGroup { group in
            for worker in workers { group.addTask { await supervise(worker) } }
        }
    }

    private func supervise(_ worker: Worker) async {
        metrics.count(.workerRestarts, worker.id.kind.rawValue, by: 0)
        defer { watch.remove(worker.id) }
        var restart = RestartPause(longest: worker.longestPause)
        while true {
            let start = uptime()
            guard let error = await failure(of: worker) else { return }
            let pause = restart.pause(afterRun: uptime() - start)
            watch.note(worker.id) { $0.failed(at: uptime()) }
            log(LogLine(worker.id, failed: error, startsAfter: pause))
            do { try await sleep(pause) } catch { return }
            metrics.count(.workerRestarts, worker.id.kind.rawValue)
        }
    }

    /// Runs a worker; returns why it ended, or nil if it was cancelled.
    private func failure(of worker: Worker) async -> (any Error)? {
        watch.note(worker.id) { $0.began(at: uptime()) }
        do {
            try await worker.run { try await self.pause($0, worker.id) }
            return Task.isCancelled ? nil : EndedEarly()
        } catch is Cancelled {
            return nil
        } catch {
            return Task.isCancelled ? nil : error
        }
    }

    /// Ends a round of a worker and pauses; without a length, only for other tasks.
    private func pause(_ length: Duration, _ id: Worker.ID) async throws(Cancelled) {
        watch.note(id) { $0.completed() }
        do {
            if length > .zero { try await sleep(length) } else { await Task.yield() }
            try Task.checkCancellation()
        } catch {
            throw Cancelled()
        }
        watch.note(id) { $0.began(at: uptime()) }
    }

    /// The pause of a worker was cancelled.
    private struct Cancelled: Error {}

    /// A worker returned before it was cancelled.
    fileprivate struct EndedEarly: Error {}
}

extension LogLine {
    /// Creates the line of a worker that ended. Errors of other types may contain personal data, so
    /// only their type is logged.
    fileprivate init(_ id: Worker.ID, failed error: any Error, startsAfter pause: Duration) {
        let (code, reason) =
            switch error {
            case let error as StorageError: ("storage", error.description)
            case let error as PubSubFailure: (error.code, error.sentence)
            case is Supervisor.EndedEarly: ("internal", "it returned")
            default: ("internal", String(reflecting: type(of: error)))
            }
        self.init(
            .error,
            "worker failed",
            app: id.app,
            environment: id.environment,
            code: code,
            detail: "\(id.kind.rawValue) starts again in \(pause.components.seconds) s: \(reason)"
        )
    }
}
