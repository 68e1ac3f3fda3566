package import TideoverCore

/// Polling of Google Play.
extension Service {
    /// Does the work that is due now; false if it failed.
    package func keepUpNow() async -> Bool {
        do {
            for poller in clients.pollers {
                try await poller.begin()
                while try await poller.look() {}
            }
            for worker in consumptionWorkers { try await worker.look() }
            return true
        } catch {
            return false
        }
    }
}

extension Service {
    /// When work is due next, by the stored facts; nil if none is.
    package var nextUpkeep: Instant? {
        (clients.pollers.compactMap(\.pollQueue.next)
            + consumptionWorkers.compactMap(\.queue.nextAt)).min()
    }
}
