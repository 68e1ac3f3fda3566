package import TideoverCore

/// Polling of Google Play.
extension Service {
    /// Queries each Google Play purchase at its boundaries, acknowledges granted purchases, and
    /// queries by schedule for missing notifications, until cancelled.
    public func keepUp() async {
        await withTaskGroup { group in
            for upkeep in upkeeps {
                group.addTask { await PlayUpkeepWorker(upkeep: upkeep).run() }
                group.addTask { await BackfillWorker(upkeep: upkeep).run() }
            }
        }
    }

    /// Does the work that is due now; false if it failed.
    package func keepUpNow() async -> Bool {
        do {
            for upkeep in upkeeps {
                try await upkeep.begin()
                while try await upkeep.look() {}
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
        (upkeeps.compactMap(\.agenda.next) + consumptionWorkers.compactMap(\.queue.nextAt)).min()
    }
}

extension [PlayUpkeep] {
    func first(_ app: String, _ environment: Environment) -> PlayUpkeep? {
        first { $0.app.id == app && $0.environment == environment }
    }
}
