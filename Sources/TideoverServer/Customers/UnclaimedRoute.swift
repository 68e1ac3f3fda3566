import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/unclaimed`: the purchases without a customer, page by page, in the
/// format of `lookup`.
struct UnclaimedRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    /// The maximum count in the metric.
    static let mostCounted = 10_000
    /// The maximum length of a lineage's key.
    private static let longestKey = 500

    func respond(to request: Request) async throws -> Response {
        let environment = try app.environment(askedIn: request)
        let after = request.queryValue("after")
        if let after, after.isEmpty || after.utf8.count > Self.longestKey {
            throw Problem.badCursor("after", found: "")
        }
        let limit = try request.limit("limit")
        // It reads all facts of the purchases, so it leaves the thread that reads sockets.
        return .json(
            bytes: try await onPool { try page(environment, after: after, limit) },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private func page(
        _ environment: Environment,
        after: String?,
        _ limit: Int
    ) throws -> [UInt8] {
        let found = try context.storage.unclaimed(
            in: AppScope(app.id, environment),
            after: after,
            limit: limit + 1
        )
        let page = found.prefix(limit)
        let now = context.clock()
        return JSONWriter.object { writer in
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            writer.field("purchases", each: page) { lineageRecord, writer in
                lineageRecord.write(to: &writer, of: app, at: now)
            }
            writer.field("next", page.last?.lineage.key ?? after)
            writer.field("more", found.count > limit)
        }
    }
}
