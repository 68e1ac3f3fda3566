import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

/// The webhook events of RevenueCat for the events of the feed, with the customer as stored when
/// they are sent.
struct RevenueCatMessages: Sendable {
    let contexts: [String: AppContext]

    /// Returns the messages of an event; none for an event that RevenueCat does not have.
    func messages(of event: OutboxEvent) async throws -> [WebhookMessage] {
        guard let context = contexts[event.customer.app] else { return [] }
        let (app, storage) = (context.app, context.storage)
        let data = try JSONDocument(event.event.body, limits: .local).root
        return try await onPool {
            let record = Projector(app: app, issuesPasses: false).record(
                of: try storage.knownLineages(of: event.customer, now: event.event.at)
            )
            let messages = messages(of: data, record, id: event.id.description, app: app.id)
            guard !messages.isEmpty else { return [] }
            let attributes = try app.attributes(of: record.identity, in: storage)
            return messages.map { WebhookMessage(id: $0.id, body: $0.with(attributes).body) }
        }
    }

    private func messages(
        of data: JSONNode,
        _ record: CustomerRecord,
        id: String,
        app: String
    ) -> [RevenueCatMessage] {
        if let move = RevenueCatMove(data, record) { return [move.message(app: app)] }
        if let change = RevenueCatChange(data, record) {
            return [change.message(app: app)].compactMap(\.self)
        }
        let translation = RevenueCatTranslation(data, record)
        return translation?.messages(id: id, app: app, identity: record.identity) ?? []
    }
}

/// One request to a receiver.
struct WebhookMessage: Hashable, Sendable {
    let id: String
    let body: [UInt8]
}

extension WebhookMessage {
    /// The message that checks a receiver of RevenueCat's events.
    static func revenueCatTest(id: String, app: String, at now: Instant) -> WebhookMessage {
        let message = RevenueCatMessage(
            .test,
            id: id,
            timestamp: now,
            app: app,
            content: .customer(RevenueCatMessage.Customer(id: "tideover-test"), nil)
        )
        return WebhookMessage(id: id, body: message.body)
    }
}

extension WebhookSigner {
    /// Returns the header by which RevenueCat signs: the time and a code of time and body for each
    /// secret. The secret is used as it is written.
    func revenueCatSignature(at now: Instant, body: [UInt8]) -> String {
        let seconds = now.millisecondsSince1970 / 1_000
        let message = Array("\(seconds).".utf8) + body
        let codes = secrets.map { secret in
            "v1="
                + Hexadecimal.text(
                    HMACSHA256.code(of: message, under: Array(secret.text.utf8))
                )
        }
        return (["t=\(seconds)"] + codes).joined(separator: ",")
    }
}
