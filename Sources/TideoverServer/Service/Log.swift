package import TideoverCore
import TideoverJSON
import TideoverSignatures

/// A line of the server's log: an event with fields from a fixed list.
///
/// Only the listed fields exist, so that no secret, token, signed payload or customer id can be
/// logged by accident. A customer appears as a short digest at most.
package struct LogLine: Sendable {
    package enum Level: String, Sendable { case info, warning, error }

    package var level: Level
    /// The event in a few fixed words.
    package var event: String
    package var app: String?
    package var environment: Environment?
    /// A stable code, such as a rejection's.
    package var code: String?
    package var detail: String?
    package var method: String?
    /// The route's template, never the path as sent.
    package var route: String?
    package var status: Int?
    /// The request's id, which its response contains as `X-Request-Id`.
    package var request: String?
    /// The id of the request's key, never the key itself.
    package var key: String?
    /// The network of the request, not its exact address.
    package var network: String?
    /// The duration of a request.
    package var durationMicroseconds: Int64?
    /// The store's id of the notification that the line is about.
    package var notificationUUID: String?

    package init(
        _ level: Level,
        _ event: String,
        app: String? = nil,
        environment: Environment? = nil,
        code: String? = nil,
        detail: String? = nil,
        method: String? = nil,
        route: String? = nil,
        status: Int? = nil,
        request: String? = nil,
        key: String? = nil,
        network: String? = nil,
        durationMicroseconds: Int64? = nil,
        notificationUUID: String? = nil
    ) {
        self.level = level
        self.event = event
        self.app = app
        self.environment = environment
        self.code = code
        self.detail = detail
        self.method = method
        self.route = route
        self.status = status
        self.request = request
        self.key = key
        self.network = network
        self.durationMicroseconds = durationMicroseconds
        self.notificationUUID = notificationUUID
    }

    /// Returns the line as one JSON object without a line break; unset fields are omitted.
    package func json(at instant: Instant) -> [UInt8] {
        JSONWriter.object { writer in
            writer.field("time", instant.rfc3339)
            writer.field("level", level.rawValue)
            writer.field("event", event)
            func text(_ name: String, _ value: String?) {
                if let value { writer.field(name, value) }
            }
            text("app", app)
            text("environment", environment?.rawValue)
            text("code", code)
            text("detail", detail)
            text("method", method)
            text("route", route)
            text("request", request)
            text("key", key)
            text("network", network)
            text("notificationUUID", notificationUUID)
            if let status { writer.field("status", status) }
            if let durationMicroseconds {
                writer.field("durationMs", Double(durationMicroseconds) / 1_000)
            }
        }
    }
}

/// Receives log lines.
package typealias Log = @Sendable (LogLine) -> Void
