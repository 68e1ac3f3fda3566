package import TideoverCore

/// Polling of Google Play.
extension Service {
    /// Queries each Google Play purchase at its boundaries, acknowledges granted purchases, and
    /// queries by schedule for missing notifications, until cancelled.
    package func keepUp() async {
        await withTaskGroup { group in
            for poller in pollers {
                group.addTask { await PlayPollWorker(poller: poller).run() }
                group.addTask { await BackfillWorker(poller: poller).run() }
            }
        }
    }

    /// Does the work that is due now; false if it failed.
    package func keepUpNow() async -> Bool {
        do {
            for poller in pollers {
                try await poller.begin()
                while try await poller.look() {}
            }
            for worker in consumptionWorkers {
                guard await worker.look() else { return false }
            }
            return true
        } catch {
            return false
        }
    }
}

extension Service {
    /// When work is due next, by the stored facts; nil if none is.
    package var nextUpkeep: Instant? {
        (pollers.compactMap(\.pollQueue.next) + consumptionWorkers.compactMap(\.queue.nextAt)).min()
    }
}

extension [PlayPoller] {
    func first(_ app: String, _ environment: Environment) -> PlayPoller? {
        first { $0.app.id == app && $0.environment == environment }
    }
}
