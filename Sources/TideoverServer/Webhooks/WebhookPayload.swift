import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// The body of a message: the event in the form of `GET .../events`, the members `type` and
/// `timestamp` of Standard Webhooks, and `sequence`, which rises with the events of the app.
///
/// `data.answer` is the customer's answer after the event, under `customerVersion`. It does not
/// depend on the attempt, so each attempt has the same body.
enum WebhookPayload {
    static func body(of event: OutboxEvent) -> [UInt8] {
        JSONWriter.object { writer in
            writer.field("type", event.event.kind)
            writer.field("timestamp", event.event.at.rfc3339)
            writer.field("sequence", event.id.sequence)
            event.writeFields(to: &writer)
        }
    }

    /// The kind of the message that checks a receiver.
    static let testKind = "webhook_test"

    static func test(id: String, app: String, at now: Instant) -> [UInt8] {
        JSONWriter.object { writer in
            writer.field("type", testKind)
            writer.field("timestamp", now.rfc3339)
            writer.field("id", id)
            writer.field("kind", testKind)
            writer.key("data")
            writer.object { $0.field("app", app) }
        }
    }
}

extension WebhookEndpoint {
    func request(id: String, body: [UInt8], at now: Instant) -> Request {
        Request(
            method: "POST",
            path: "/",
            headers: headers(id: id, body: body, at: now),
            body: body
        )
    }

    /// Returns the headers of a message. Those of Standard Webhooks are in each format, so that one
    /// verification serves both.
    private func headers(id: String, body: [UInt8], at now: Instant) -> Headers {
        var headers = signer.headers(id: id, at: now, body: body)
        headers["Authorization"] = authorization
        if format == .revenueCat, !signer.secrets.isEmpty {
            headers["X-RevenueCat-Webhook-Signature"] =
                signer.revenueCatSignature(at: now, body: body)
        }
        return headers
    }
}
