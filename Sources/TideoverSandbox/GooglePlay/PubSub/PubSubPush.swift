import TideoverHTTP
import TideoverJSON

/// A push subscription: its account, audience and format. https://cloud.google.com/pubsub/docs/push
public struct PubSubPush: Hashable, Sendable {
    /// `projects/P/subscriptions/S`
    public var subscription = "projects/tideover-rehearsal/subscriptions/push"
    /// `aud` of the tokens.
    public var audience: String
    /// The service account in its tokens.
    public var email: String
    /// The format of the body.
    public var form = Form.wrapped

    /// The formats of a push.
    public enum Form: Hashable, Sendable {
        /// The message with its metadata, in an envelope.
        case wrapped
        /// Only the published content, with the metadata in headers if it is written.
        case unwrapped(writesMetadata: Bool)
    }

    /// Creates a subscription that pushes in envelopes.
    public init(audience: String, email: String) {
        self.audience = audience
        self.email = email
    }

    /// Returns the request body.
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

    /// Returns the headers of a push with a token.
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
