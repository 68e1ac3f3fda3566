package import TideoverCore

/// Keeping up with Google Play.
extension Service {
    /// Asks about each purchase on Google Play at its boundaries, tells the store of what was granted, and
    /// asks by schedule for what has not arrived by itself, until cancelled.
    public func keepUp() async {
        await withTaskGroup { group in
            for upkeep in upkeeps {
                group.addTask { await PlayUpkeepWorker(upkeep: upkeep).run() }
                group.addTask { await BackfillWorker(upkeep: upkeep).run() }
            }
        }
    }

    /// Does what is due now; false where it could not be done.
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
    /// When something falls due next by the stored facts; nil where nothing does.
    package var nextUpkeep: Instant? {
        (upkeeps.compactMap(\.agenda.next) + consumptionWorkers.compactMap(\.queue.nextAt)).min()
    }
}

extension [PlayUpkeep] {
    func first(_ app: String, _ environment: Environment) -> PlayUpkeep? {
        first { $0.app.id == app && $0.environment == environment }
    }
}
