import TideoverConfiguration
import TideoverLocks
import TideoverServer

/// The background workers of a service.
struct ServiceWork {
    private let service: Service
    private let tasks: [Task<Void, Never>]

    /// Starts the workers, on `threads` if there are any. Pruning runs only if a retention is given.
    init(
        _ service: Service,
        keeping retention: Configuration.Retention? = nil,
        on threads: BlockingThreads? = nil
    ) {
        self.service = service
        var tasks = [
            Task(executorPreference: threads) { await service.run() },
            Task(executorPreference: threads) { await service.meetDeadlines() },
            Task(executorPreference: threads) { await service.backfill() },
            Task(executorPreference: threads) { await service.keepUp() },
            Task(executorPreference: threads) { await service.replay() },
            Task(executorPreference: threads) { await service.watchForSilence() },
            Task(executorPreference: threads) { await service.watchForLockouts() },
            Task(executorPreference: threads) { await service.pullNotifications() },
            Task(executorPreference: threads) { await service.checkRevocation() },
            Task(executorPreference: threads) { await service.deliverWebhooks() },
            Task(executorPreference: threads) { await service.watchExperiments() },
            Task(executorPreference: threads) { await service.keepFigures() },
        ]
        if let retention {
            tasks.append(
                Task(executorPreference: threads) { await service.prune(keeping: retention) }
            )
        }
        self.tasks = tasks
    }

    /// Stores the buffered counts.
    func flush() async { await service.flushTallies() }

    /// Stops the workers and stores the buffered counts.
    func stop() async {
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await flush()
    }
}
