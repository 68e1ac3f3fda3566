import TideoverConfiguration
import TideoverLocks
import TideoverServer

/// The background workers of a service.
struct ServiceWork {
    private let service: Service
    private let task: Task<Void, Never>

    /// Starts the workers, on `threads` if there are any. Pruning runs only if a retention is given.
    init(
        _ service: Service,
        keeping retention: Configuration.Retention? = nil,
        on threads: TaskThreads? = nil
    ) {
        self.service = service
        task = Task(executorPreference: threads) { await service.work(keeping: retention) }
    }

    /// Stores the buffered counts.
    func flush() async { await service.flushTallies() }

    /// Stops the workers and stores the buffered counts.
    func stop() async {
        task.cancel()
        await task.value
        await flush()
    }
}
