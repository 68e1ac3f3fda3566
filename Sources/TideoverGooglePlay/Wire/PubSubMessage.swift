package import TideoverCore
package import TideoverHTTP
import TideoverJSON

/// One Pub/Sub message from a push, in either of its formats.
/// https://cloud.google.com/pubsub/docs/push
package struct PubSubMessage: Hashable, Sendable {
    /// The ID that all deliveries of one message share, unique within its topic. Nil for an
    /// unwrapped payload without metadata.
    package let messageId: String?
    /// When Pub/Sub received the message.
    package let publishTime: Instant?
    /// `projects/P/subscriptions/S`, if stated.
    package let subscription: String?
    /// The number of this delivery attempt, if a dead-letter topic is configured.
    package let deliveryAttempt: Int64?
    /// The published data: the text of a ``DeveloperNotification``.
    package let data: [UInt8]
    /// Whether the message came inside an envelope.
    package let isWrapped: Bool

    /// The maximum length of an accepted ID.
    private static let longestId = 128
}

extension PubSubMessage {
    /// Reads a push: the message in its envelope, or only its data, with the metadata in the
    /// headers.
    package init(_ request: Request) throws(PlayRefusal) {
        let body = try WireFields(JSONDocument(google: request.body).root)
        if let message = try body.fields("message") {
            try self.init(message, in: body)
        } else {
            try self.init(unwrapped: request)
        }
    }

    /// Reads a message inside the envelope of a push or a pull.
    init(_ message: WireFields, in body: WireFields) throws(PlayRefusal) {
        guard let text = try message.value("data", { $0.utf8 }) else {
            throw message.missing("data")
        }
        guard let data = Base64.decode(text, .standard) else { throw message.malformed("data") }
        self.data = data
        // Pub/Sub writes both spellings; emulators and older clients write only one.
        let (id, olderId) = (try message.text("messageId"), try message.text("message_id"))
        guard let id = id ?? olderId else { throw message.missing("messageId") }
        guard Self.isId(id) else { throw message.malformed("messageId") }
        messageId = id
        let (time, olderTime) = (
            try message.date("publishTime"), try message.date("publish_time")
        )
        publishTime = time ?? olderTime
        subscription = try body.text("subscription")
        deliveryAttempt = try body.integer("deliveryAttempt")
        isWrapped = true
    }

    private init(unwrapped request: Request) throws(PlayRefusal) {
        data = request.body
        let headers = request.headers
        let id = headers["x-goog-pubsub-message-id"]
        if let id, !Self.isId(id) { throw .malformed(field: "x-goog-pubsub-message-id") }
        messageId = id
        publishTime = headers["x-goog-pubsub-publish-time"].flatMap { Instant(rfc3339: $0) }
        subscription = headers["x-goog-pubsub-subscription-name"]
        deliveryAttempt = headers["x-goog-pubsub-delivery-attempt"].flatMap { Int64($0) }
        isWrapped = false
    }

    private static func isId(_ text: String) -> Bool {
        (1...longestId).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Reads the published data as a notification.
    package func notification() throws(PlayRefusal) -> DeveloperNotification {
        let document = try JSONDocument(google: data)
        return try DeveloperNotification(payload: document.root)
    }
}
