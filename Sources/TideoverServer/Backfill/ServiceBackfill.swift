public import TideoverCore
public import TideoverHTTP

/// Asking the stores, by schedule and at once.
extension Service {
    /// Asks the stores for what has not arrived by itself: at once, then by each app's schedule, on demand
    /// and after a gap, until cancelled.
    public func backfill() async {
        await withTaskGroup { group in
            for backfiller in backfillers {
                let worker = BackfillWorker(backfiller: backfiller)
                group.addTask { await worker.run() }
            }
        }
    }

    /// Asks the store about one app in one environment now, and answers as `GET
    /// /v1/apps/{app}/backfill` does; 409 where it cannot be asked.
    public func backfillNow(app: String, environment: Environment) async -> Response {
        guard let backfiller = backfillers.first(app, environment) else {
            return Problem.storeCannotBeAsked(app, environment).response
        }
        let report = await backfiller.run() ?? backfiller.report
        return .json(bytes: BackfillRoute.answer(report, isWanted: false))
    }
}
