package import TideoverConfiguration
import TideoverCore

/// The background work of the server.
extension Service {
    /// Runs the workers of some kinds until cancelled.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of work; all without it.
    ///   - retention: The length of time to keep rows; without it nothing is pruned.
    ///   - sleep: Suspends a worker for a duration instead of the service's own function; throws on
    ///     cancellation.
    package func work(
        on kinds: Set<Worker.Kind>? = nil,
        keeping retention: Configuration.Retention? = nil,
        sleep: Sleep? = nil
    ) async {
        let workers = workers(keeping: retention).filter { kinds?.contains($0.id.kind) ?? true }
        await supervise(workers, sleep: sleep)
    }

    /// Runs workers until cancelled, and starts each again that fails.
    package func supervise(_ workers: [Worker], sleep: Sleep? = nil) async {
        let supervisor = Supervisor(
            watch: workerWatch,
            metrics: metrics,
            uptime: probes.uptime,
            log: log,
            sleep: sleep ?? self.sleep
        )
        await supervisor.run(workers)
    }

    private func workers(keeping retention: Configuration.Retention?) -> [Worker] {
        let ofServer: [Worker?] = [
            countsWorker, deadlineWorker().worker, revocationWorker?.worker, webhookWorker?.worker,
            retention.map { retentionWorker($0).worker },
        ]
        let ofStores =
            clients.backfillers.map { BackfillWorker(backfiller: $0).worker }
            + clients.pollers.flatMap {
                [PlayPollWorker(poller: $0).worker, BackfillWorker(poller: $0).worker]
            }
            + consumptionWorkers.map(\.worker)
        let ofApps =
            replayers.map(\.worker) + silenceWorkers.map(\.worker) + pullers.map(\.worker)
            + figuresWorkers.map(\.worker) + experimentWorkers.map(\.worker)
        return ofServer.compactMap(\.self) + ofStores + ofApps
    }

    /// Stores the counts of the last second.
    private var countsWorker: Worker {
        Worker(.counts, every: .seconds(1)) {
            await flushTallies()
            watchWriteAheadLog()
        }
    }

    /// Calls a function for each app and each of its environments, in the order of the apps' ids.
    /// Returns the results without nil.
    func eachPlace<Result>(_ make: (AppContext, Environment) -> Result?) -> [Result] {
        orderedContexts.flatMap { context in
            context.app.environments.compactMap { make(context, $0) }
        }
    }
}
