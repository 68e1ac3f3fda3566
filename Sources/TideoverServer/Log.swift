public import TideoverCore
import TideoverJSON
import TideoverSignatures

/// A line of the server's log: what happened, with fields from a fixed list.
///
/// Only the listed fields exist, so that no secret, token, signed payload or customer id can reach
/// a log by accident; a customer appears as a short digest at most.
public struct LogLine: Sendable {
    public enum Level: String, Sendable { case info, warning, error }

    public var level: Level
    /// What happened, in a few fixed words.
    public var event: String
    public var app: String?
    public var environment: Environment?
    /// A stable code, such as a refusal's.
    public var code: String?
    public var detail: String?
    public var method: String?
    /// The route's template, never the path as sent.
    public var route: String?
    public var status: Int?
    /// The request's id, which its answer carries as `X-Request-Id`.
    public var request: String?
    /// The id of the key that a request presented, never the key.
    public var key: String?
    /// The network that a request came from: its sender stays one of many.
    public var network: String?
    /// How long a request took to answer.
    public var durationMicroseconds: Int64?
    /// The store's id of the notification that the line is about.
    public var notificationUUID: String?

    public init(
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

    /// The line as one JSON object without a line break; what is not set is left out.
    public func json(at instant: Instant) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("time", instant.rfc3339)
            writer.field("level", level.rawValue)
            writer.field("event", event)
            let texts = [
                ("app", app), ("environment", environment?.rawValue), ("code", code),
                ("detail", detail), ("method", method), ("route", route), ("request", request),
                ("key", key), ("network", network), ("notificationUUID", notificationUUID),
            ]
            for (name, value) in texts {
                if let value { writer.field(name, value) }
            }
            if let status { writer.field("status", status) }
            if let durationMicroseconds {
                writer.field("durationMs", Double(durationMicroseconds) / 1_000)
            }
        }
        return writer.bytes
    }
}

/// Where log lines go.
public typealias Log = @Sendable (LogLine) -> Void
