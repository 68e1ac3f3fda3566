import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/events`: an app's events by page, in commit order; with `latest`,
/// the newest ones instead of a page.
struct EventsRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    static let usualLimit = 100
    static let greatestLimit = 1_000
    /// The age below which no configuration, present or past, lets retention remove an event.
    private static let leastAge = Milliseconds.days(Configuration.Retention.leastDaysOfEvents)

    func respond(to request: Request) async throws -> Response {
        let after = try request.eventID("after")
        let limit = try request.limit("limit")
        let latest =
            request.queryValue("latest") == nil ? nil : try request.limit("latest")
        // A page can be long, so it leaves the thread that reads sockets.
        return .json(
            bytes: try await onPool {
                try latest.map { try newest($0) } ?? page(after: after, limit)
            },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private func newest(_ count: Int) throws -> [UInt8] {
        let events = try context.storage.latestEvents(app: app.id, limit: count)
        return Self.bytes(events[...], next: events.last?.id, hasMore: false)
    }

    private func page(after: EventID?, _ limit: Int) throws -> [UInt8] {
        let found = try context.storage.outbox(app: app.id, after: after, limit: limit + 1)
        // An erasure also removes younger events, which no reader needs.
        if let after, after < EventID.earliest(at: context.clock() - Self.leastAge),
            try hasRemovedEvents(after: after)
        {
            throw Problem.eventsRemoved("after")
        }
        let page = found.prefix(limit)
        return Self.bytes(page, next: page.last?.id ?? after, hasMore: found.count > limit)
    }

    /// Returns whether retention removed an event after a cursor. It removes old events, the oldest
    /// first, and never the latest.
    private func hasRemovedEvents(after cursor: EventID) throws -> Bool {
        let newest = try context.cursors(in: .production).text(RemovedEvents.name)
        if let newest = newest.flatMap({ EventID($0) }) { return cursor < newest }
        // Earlier versions stored no bookmark, and may have removed events.
        let oldest = try context.storage.outbox(app: app.id, after: nil, limit: 1).first
        return oldest.map { cursor < $0.id } ?? false
    }

    private static func bytes(
        _ events: ArraySlice<OutboxEvent>,
        next: EventID?,
        hasMore: Bool
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.field("events", each: events) { $0.write(to: &$1) }
            writer.field("next", next?.description)
            writer.field("more", hasMore)
        }
    }
}

extension OutboxEvent {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Writes the members of the event, in the feed and in webhooks.
    func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id.description)
        writer.field("kind", event.kind)
        writer.field("effectiveAt", event.at.rfc3339)
        writer.field("customer", customer.customer.text)
        writer.field("environment", customer.environment.rawValue)
        writer.field("customerVersion", version)
        writer.key("data")
        writer.raw(event.body)
    }
}

extension Request {
    func eventID(_ name: String) throws -> EventID? {
        guard let text = queryValue(name) else { return nil }
        guard let id = EventID(text) else { throw Problem.badCursor(name, found: text) }
        return id
    }

    func limit(_ name: String) throws -> Int {
        guard let text = queryValue(name) else { return EventsRoute.usualLimit }
        guard let limit = Int(text), (1...EventsRoute.greatestLimit).contains(limit) else {
            throw Problem.badLimit(name, found: text, greatest: EventsRoute.greatestLimit)
        }
        return limit
    }
}
