import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers the routes under `/v1/apps/{app}/webhooks`.
struct WebhooksRoutes: Sendable {
    let context: AppContext
    let book: WebhookBook
    let sending: WebhookSending?

    private var app: App { context.app }

    private static let headers: Headers = ["Cache-Control": "no-store"]
    /// The maximum number of events that one request replays.
    private static let mostReplayed = 10_000

    func list() throws -> Response {
        let entries = try book.entries(of: app.id)
        let now = sendingClock()
        let counts = try entries.map {
            try context.storage.webhookQueue(of: $0.endpoint.key, now: now, limit: 0).count
        }
        return .json(headers: Self.headers) { writer in
            writer.field("webhooks", objects: zip(entries, counts)) { row, writer in
                row.0.writeFields(to: &writer, waiting: row.1)
            }
        }
    }

    /// Adds a webhook, and returns its secret this once.
    func add(_ request: Request) async throws -> Response {
        let wish = try WebhookWish(request.body)
        let secret = WebhookSecret(random: context.random)
        let id = EventID.next(after: nil, at: sendingClock(), random: context.random()).description
        let endpoint = WebhookEndpoint(
            app: app.id,
            id: id,
            url: wish.url,
            events: wish.events,
            environments: wish.environments,
            secret: secret,
            format: wish.format,
            authorization: wish.authorization
        )
        try await book.put(endpoint)
        context.log(.info, "webhook added", detail: id)
        let entry = try entry(id)
        return .json(status: 201, headers: Self.headers) { writer in
            entry.writeFields(to: &writer, waiting: 0)
            writer.field("secret", secret.text)
        }
    }

    /// Sends a test message, and returns what the receiver answered.
    func test(_ id: String) async throws -> Response {
        let endpoint = try entry(id).endpoint
        guard let sending else { throw Problem.webhooksNotSent }
        let now = sending.clock()
        let message = EventID.next(after: nil, at: now, random: context.random()).description
        let body =
            switch endpoint.format {
            case .tideover: WebhookPayload.test(id: message, app: app.id, at: now)
            case .revenueCat:
                WebhookMessage.revenueCatTest(id: message, app: app.id, at: now).body
            }
        let request = endpoint.request(id: message, body: body, at: now)
        let result = await sending.send(endpoint.url, endpoint.allowNetworks, request)
        let isDelivered = WebhookVerdict(result, at: now) == .delivered
        return .json(headers: Self.headers) { writer in
            writer.field("id", message)
            writer.field("delivered", isDelivered)
            writer.field("status", result.status.map { Int64($0) })
            writer.field("detail", result.failure)
        }
    }

    /// Disables a webhook, or enables it; deliveries that wait are then due at their instants.
    func set(_ id: String, isDisabled: Bool) async throws -> Response {
        let key = try entry(id).endpoint.key
        let reason = isDisabled ? "operator" : nil
        _ = try await context.storage.setWebhook(key, disabled: reason, at: sendingClock())
        context.log(
            .info,
            isDisabled ? "webhook disabled" : "webhook enabled",
            code: reason,
            detail: id
        )
        let entry = try entry(id)
        let count = try context.storage.webhookQueue(of: key, now: sendingClock(), limit: 0).count
        return .json(headers: Self.headers) { entry.writeFields(to: &$0, waiting: count) }
    }

    /// Removes an added webhook with its secret, its waiting events and its attempts. A configured
    /// one would be stored again at the next start.
    func remove(_ id: String) async throws -> Response {
        let entry = try entry(id)
        guard !entry.endpoint.isConfigured else { throw Problem.configuredWebhook }
        let key = entry.endpoint.key
        let count = try context.storage.webhookQueue(of: key, now: sendingClock(), limit: 0).count
        try await context.storage.remove(key)
        context.log(.info, "webhook removed", detail: id)
        return .json(headers: Self.headers) { entry.writeFields(to: &$0, waiting: count) }
    }

    func attempts(_ id: String, _ request: Request) throws -> Response {
        let key = try entry(id).endpoint.key
        let limit = try request.limit("limit")
        let text = request.queryValue("before")
        let before = text.flatMap { Int64($0) }
        guard (text == nil) == (before == nil) else {
            throw Problem.badCursor("before", found: text ?? "")
        }
        let found = try context.storage.webhookAttempts(of: key, before: before, limit: limit + 1)
        let page = found.prefix(limit)
        return .json(headers: Self.headers) { writer in
            writer.field("attempts", objects: page) { $0.writeFields(to: &$1) }
            writer.field("next", found.count > limit ? page.last?.number.description : nil)
        }
    }

    /// Queues stored events again, under their own ids.
    func replay(_ id: String, _ request: Request) async throws -> Response {
        let endpoint = try entry(id).endpoint
        let range = try WebhookReplay(request.body)
        var matching: [EventID] = []
        var position: EventID? = range.after
        var isMore = true
        while isMore, matching.count < Self.mostReplayed {
            let page = try context.storage.outbox(app: app.id, after: position, limit: 1_000)
            let within = page.filter { $0.id < range.end }
            matching += within.filter(endpoint.receives).map(\.id)
            position = within.last?.id ?? position
            isMore = !within.isEmpty && within.count == page.count
        }
        if range.isOne, matching.isEmpty { throw Problem.unknownEvent }
        try await context.storage.queue(matching, to: endpoint.key, at: sendingClock())
        let next = isMore ? position?.description : nil
        return .json(status: 202, headers: Self.headers) { writer in
            writer.field("queued", Int64(matching.count))
            writer.field("next", next)
        }
    }

    private func sendingClock() -> Instant { sending?.clock() ?? context.clock() }

    private func entry(_ id: String) throws -> WebhookBook.Entry {
        guard let entry = try book.entry(WebhookKey(app: app.id, id: id)) else {
            throw Problem.unknownWebhook
        }
        return entry
    }
}

extension WebhookBook.Entry {
    /// Writes the public fields, without secrets. The path of the URL can be one.
    fileprivate func writeFields(to writer: inout JSONWriter, waiting: Int) {
        writer.field("id", endpoint.id)
        writer.field("url", ShownURL.origin(endpoint.url))
        writer.field("events", .array(endpoint.events.patterns.map(JSONValue.string)))
        writer.field(
            "environments",
            .array(endpoint.environments.map { JSONValue.string($0.rawValue) })
        )
        writer.field("format", endpoint.format.rawValue)
        writer.field("configured", endpoint.isConfigured)
        writer.field("disabled", record.disabled)
        writer.field("disabledAt", record.disabledAt?.rfc3339)
        writer.field("failingSince", record.failingSince?.rfc3339)
        writer.field("waiting", Int64(waiting))
    }
}

extension WebhookAttempt {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("event", event.description)
        writer.field("at", at.rfc3339)
        writer.field("attempt", Int64(ordinal))
        writer.field("outcome", outcome)
        writer.field("status", status.map { Int64($0) })
        writer.field("detail", detail)
    }
}

/// A request to add a webhook: `{"url": "https://example.com/hooks", "events": ["*"]}`, with
/// `format` and `authorization` for one in RevenueCat's form.
struct WebhookWish: Hashable, Sendable {
    let url: String
    let events: WebhookFilter
    /// All if empty.
    let environments: [Environment]
    let format: WebhookFormat
    let authorization: String?

    init(_ body: [UInt8]) throws(Problem) {
        let known = ["url", "events", "environments", "format", "authorization"]
        let root = try webhookObject(body, known: known)
        format = try Self.format(root["format"])
        authorization = try Self.authorization(root["authorization"])
        url = try Self.url(root["url"])
        environments = try Self.environments(root["environments"])
        guard let list = root["events"] else {
            events = .all
            return
        }
        let patterns = list.elements.compactMap(\.string)
        guard list.kind == .array, patterns.count == list.count,
            let filter = WebhookFilter(patterns)
        else {
            throw .badWebhookRequest("`events` is a list of kinds, such as [\"refund*\"].")
        }
        events = filter
    }

    private static func url(_ node: JSONNode?) throws(Problem) -> String {
        guard let url = node?.string, WebhookURL.isReceiver(url) else {
            throw .badWebhookRequest("`url` is the URL of a receiver, with https.")
        }
        switch WebhookURL.objection(to: url, []) {
        case nil: return url
        case .unprotected:
            throw .badWebhookRequest("`url` is the URL of a receiver, with https.")
        case .notPublic(let use):
            throw .badWebhookRequest(
                "The receiver's address must be public, and \(use). Add the webhook to the "
                    + "configuration, with its network in `allowNetworks`."
            )
        }
    }

    private static func environments(_ node: JSONNode?) throws(Problem) -> [Environment] {
        guard let node else { return [] }
        let environments = node.elements.compactMap(\.string).compactMap(
            Environment.init(rawValue:)
        )
        guard node.kind == .array, !environments.isEmpty, environments.count == node.count,
            Set(environments).count == environments.count, !environments.contains(.xcode)
        else {
            throw .badWebhookRequest("`environments` is a list such as [\"production\"].")
        }
        return environments
    }

    private static func format(_ node: JSONNode?) throws(Problem) -> WebhookFormat {
        guard let node else { return .tideover }
        guard let format = node.string.flatMap(WebhookFormat.init(rawValue:)) else {
            throw .badWebhookRequest("`format` is \"tideover\" or \"revenuecat\".")
        }
        return format
    }

    private static func authorization(_ node: JSONNode?) throws(Problem) -> String? {
        guard let node else { return nil }
        guard let text = node.string, !text.isEmpty, text.utf8.count <= 1_000,
            FieldSyntax.isValue(text)
        else { throw .badWebhookRequest("`authorization` is the value of a header field.") }
        return text
    }
}

/// The events to send again: `{"event": ID}`, or `{"from": INSTANT, "to": INSTANT}` by the time
/// they were stored, or `after` an event.
struct WebhookReplay: Hashable, Sendable {
    /// Events after this one.
    let after: EventID?
    /// Events before this one.
    let end: EventID
    let isOne: Bool

    init(_ body: [UInt8]) throws(Problem) {
        let root = try webhookObject(body, known: ["event", "from", "to", "after"])
        if let text = root["event"] {
            guard let id = text.string.flatMap({ EventID($0) }), root.count == 1 else {
                throw .badWebhookRequest(
                    "`event` is the id of an event, and excludes the other members."
                )
            }
            (after, end, isOne) = (id.predecessor, id.successor, true)
            return
        }
        isOne = false
        end =
            try Self.instant(root, "to").map { .earliest(at: $0) } ?? .earliest(at: .distantFuture)
        if let text = root["after"] {
            guard let id = text.string.flatMap({ EventID($0) }), root["from"] == nil else {
                throw .badWebhookRequest("`after` is the id of an event, and replaces `from`.")
            }
            after = id
        } else if let start = try Self.instant(root, "from") {
            after = .earliest(at: start)
        } else {
            throw .badWebhookRequest("Send `event`, `from` or `after`.")
        }
    }

    private static func instant(_ root: JSONNode, _ name: String) throws(Problem) -> Instant? {
        guard let node = root[name] else { return nil }
        guard let instant = node.string.flatMap({ Instant(rfc3339: $0) }) else {
            throw .badWebhookRequest("`\(name)` is an instant such as 2026-05-01T10:00:00Z.")
        }
        return instant
    }
}

/// Reads the object of a request. Unknown members are rejected: a misspelt one would change which
/// events are sent.
private func webhookObject(_ body: [UInt8], known: [String]) throws(Problem) -> JSONNode {
    let root: JSONNode
    do {
        root = try JSONDocument(body).root
    } catch {
        throw .badWebhookRequest("The body is not strict JSON: \(error).")
    }
    guard root.kind == .object, root.members.allSatisfy({ known.contains($0.key) }) else {
        let names = known.map { "`\($0)`" }.joined(separator: ", ")
        throw .badWebhookRequest("The body is an object with no members but \(names).")
    }
    return root
}

extension Problem {
    fileprivate static let unknownWebhook = Problem(
        "unknown-webhook",
        detail: "`tideover webhooks list` shows the ids of an app's webhooks."
    )

    fileprivate static let configuredWebhook = Problem(
        "configured-webhook",
        detail: "Remove it from `webhooks` in the configuration and reload."
    )

    fileprivate static let unknownEvent = Problem(
        "unknown-event",
        detail: "It was removed, or the webhook does not receive events of its kind."
    )

    fileprivate static func badWebhookRequest(_ detail: String) -> Problem {
        Problem("bad-webhook-request", detail: detail)
    }

    fileprivate static let webhooksNotSent = Problem(
        "webhooks-not-sent",
        detail: "Send the request to a running server.",
        retryAfter: 30
    )
}
