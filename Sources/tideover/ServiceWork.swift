import TideoverServer

/// What a service does by itself beside answering requests, until it is stopped.
struct ServiceWork {
    private let service: Service
    private let tasks: [Task<Void, Never>]

    /// Starts all of it; pruning only where a retention is given.
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
        ]
        if let retention { tasks.append(Task { await service.prune(keeping: retention) }) }
        self.tasks = tasks
    }

    /// Stores what was counted.
    func flush() async { await service.flushTallies() }

    /// Ends it, and stores what was counted.
    func stop() async {
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await flush()
    }
}
