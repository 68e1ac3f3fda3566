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

    /// Asks the stores about one app in one environment now, and answers as `GET
    /// /v1/apps/{app}/backfill` does; 409 where none can be asked.
    public func backfillNow(app: String, environment: Environment) async -> Response {
        let backfiller = backfillers.first(app, environment)
        let upkeep = upkeeps.first(app, environment)
        let books = [backfiller?.book, upkeep?.book].compactMap(\.self)
        guard !books.isEmpty else {
            return Problem.storeCannotBeAsked(app, environment).response
        }
        _ = await backfiller?.run()
        _ = await upkeep?.backfill()
        return .json(bytes: BackfillRoute.answer(books))
    }

    /// When a store that wanted to be left alone can be asked for what the last run about one app in one
    /// environment did not come to; nil where none is waited for.
    package func backfillGoesOn(app: String, environment: Environment) -> Instant? {
        let books = [
            backfillers.first(app, environment)?.book, upkeeps.first(app, environment)?.book,
        ]
        return books.compactMap { book in
            guard case .stopped(let stop) = book?.report?.outcome else { return nil }
            return stop.retryAt
        }.min()
    }
}
