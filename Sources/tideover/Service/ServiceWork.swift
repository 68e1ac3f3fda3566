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
        var work: [@Sendable () async -> Void] = [
            { await service.run() },
            { await service.meetDeadlines() },
            { await service.backfill() },
            { await service.keepUp() },
            { await service.replay() },
            { await service.watchForSilence() },
            { await service.pullNotifications() },
            { await service.checkRevocation() },
            { await service.deliverWebhooks() },
            { await service.watchExperiments() },
            { await service.keepFigures() },
        ]
        if let retention { work.append { await service.prune(keeping: retention) } }
        tasks = work.map { work in Task(executorPreference: threads) { await work() } }
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
