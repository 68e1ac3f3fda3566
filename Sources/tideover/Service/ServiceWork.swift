import TideoverConfiguration
import TideoverServer

/// The background workers of a service.
struct ServiceWork {
    private let service: Service
    private let tasks: [Task<Void, Never>]

    /// Starts the workers. Pruning runs only if a retention is given.
    init(_ service: Service, keeping retention: Configuration.Retention? = nil) {
        self.service = service
        var tasks = [
            Task { await service.run() },
            Task { await service.meetDeadlines() },
            Task { await service.backfill() },
            Task { await service.keepUp() },
            Task { await service.replay() },
            Task { await service.watchForSilence() },
            Task { await service.watchForLockouts() },
            Task { await service.pullNotifications() },
            Task { await service.checkRevocation() },
            Task { await service.deliverWebhooks() },
        ]
        if let retention { tasks.append(Task { await service.prune(keeping: retention) }) }
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
