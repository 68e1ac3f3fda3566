package import TideoverCore
package import TideoverHTTP

/// Queries of the stores, by schedule and on request.
extension Service {
    /// Queries the stores about one app in one environment now. Returns the response of `GET
    /// /v1/apps/{app}/backfill`, or 409 if no store can be queried.
    package func backfillNow(app: String, environment: Environment) async -> Response {
        let books = clients.books(app, environment)
        guard !books.isEmpty else {
            return Problem.storeCannotBeAsked(app, environment).response
        }
        _ = await clients.backfillers.first(app, environment)?.run()
        _ = await clients.pollers.first(app, environment)?.backfill()
        return .json(bytes: BackfillRoute.answer(books))
    }

    /// Returns when a throttling store can be queried again, so that the last run of one app in one
    /// environment can resume; nil if no run waits.
    package func backfillGoesOn(app: String, environment: Environment) -> Instant? {
        clients.books(app, environment).compactMap { book in
            guard case .stopped(let stop) = book.report?.outcome else { return nil }
            return stop.retryAt
        }.min()
    }
}
