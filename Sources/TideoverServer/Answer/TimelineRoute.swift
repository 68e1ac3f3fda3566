import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers/{customer}/timeline`.
struct TimelineRoute: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock

    func respond(to request: Request, customer: String) async throws -> Response {
        guard let customer = CustomerID(customer) else { throw Problem.badCustomer }
        let key = CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
        let at = try request.instant("at")
        let asKnownAt = try request.instant("asKnownAt")
        let now = clock()
        return .json(
            // A whole life is told: this leaves the thread that reads sockets.
            bytes: try await onPool {
                let story = try CustomerStory(
                    of: key,
                    in: app,
                    storage: storage,
                    at: at,
                    asKnownAt: asKnownAt,
                    now: now
                )
                var writer = JSONWriter()
                story.write(to: &writer)
                return writer.bytes
            },
            headers: ["Cache-Control": "private, no-store"]
        )
    }
}
