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
        let question = try CustomerQuestion(request, customer: customer, of: app, now: clock())
        return .json(
            // It reads all facts of a customer, so it leaves the thread that reads sockets.
            bytes: try await onPool {
                let reading = try CustomerReading(question, in: app, storage: storage)
                var writer = JSONWriter()
                CustomerStory(reading).write(to: &writer)
                return writer.bytes
            },
            headers: ["Cache-Control": "private, no-store"]
        )
    }
}
