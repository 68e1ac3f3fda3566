import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers/{customer}/timeline`.
struct TimelineRoute: Sendable {
    let context: AppContext

    func respond(to request: Request, customer: String) async throws -> Response {
        let now = context.clock()
        let question = try CustomerQuestion(request, customer: customer, of: context.app, now: now)
        return .json(
            // It reads all facts of a customer, so it leaves the thread that reads sockets.
            bytes: try await onPool {
                let reading = try CustomerReading(question, in: context)
                return JSONWriter.text { CustomerStory(reading).write(to: &$0) }
            },
            headers: ["Cache-Control": "private, no-store"]
        )
    }
}
