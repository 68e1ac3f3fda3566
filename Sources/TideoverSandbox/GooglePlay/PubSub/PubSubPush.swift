import TideoverHTTP
import TideoverJSON

/// A subscription that pushes: as whom, to which audience and in which form.
/// https://cloud.google.com/pubsub/docs/push
public struct PubSubPush: Hashable, Sendable {
    /// `projects/P/subscriptions/S`
    public var subscription = "projects/tideover-rehearsal/subscriptions/push"
    /// `aud` of the tokens.
    public var audience: String
    /// The service account in whose name it pushes.
    public var email: String
    /// How the body is made.
    public var form = Form.wrapped

    /// What a push brings.
    public enum Form: Hashable, Sendable {
        /// The message with its metadata, in an envelope.
        case wrapped
        /// What was published and nothing else; the metadata in headers, if it is written at all.
        case unwrapped(writesMetadata: Bool)
    }

    /// A subscription that pushes in envelopes.
    public init(audience: String, email: String) {
        self.audience = audience
        self.email = email
    }

    /// The body that is posted.
    func body(of message: PlayMessage) -> [UInt8] {
        switch form {
        case .unwrapped: return message.data
        case .wrapped:
            let body: JSONObject = [
                "message": .object(message.resource), "subscription": .string(subscription),
            ]
            return JSONValue.object(body).encoded()
        }
    }

    /// What stands in the headers of a push that bears a token.
    func headers(of message: PlayMessage, bearing token: String, _ body: [UInt8]) -> Headers {
        var headers: Headers = [
            "Authorization": "Bearer \(token)",
            "Content-Type": "application/json",
            "Content-Length": String(body.count),
        ]
        guard form == .unwrapped(writesMetadata: true) else { return headers }
        headers["x-goog-pubsub-subscription-name"] = subscription
        headers["x-goog-pubsub-message-id"] = message.id
        headers["x-goog-pubsub-publish-time"] = InstantText.write(message.publishedAt)
        return headers
    }
}
