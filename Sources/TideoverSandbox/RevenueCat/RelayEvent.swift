public import TideoverJSON

/// One event that the simulated RevenueCat tells of. Its wire is written from RevenueCat's documentation
/// alone: no type is shared with anything that reads it.
/// https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
public struct RelayEvent: Hashable, Sendable {
    /// The same in every delivery.
    public let id: String
    /// What happened.
    public let type: EventType
    /// When RevenueCat made it, in milliseconds since 1970; the same in every delivery.
    public let at: Int64
    /// The id that the app gave the customer; of a transfer that of whoever has the purchases now.
    public let customer: String
    /// The members of `event` but for `type`, `id` and `event_timestamp_ms`.
    public let content: JSONObject

    /// RevenueCat's `type`, of those that a store's word can bring about.
    public enum EventType: String, Hashable, Sendable {
        case initialPurchase = "INITIAL_PURCHASE"
        case renewal = "RENEWAL"
        case nonRenewingPurchase = "NON_RENEWING_PURCHASE"
        case cancellation = "CANCELLATION"
        case uncancellation = "UNCANCELLATION"
        case billingIssue = "BILLING_ISSUE"
        case expiration = "EXPIRATION"
        case subscriptionPaused = "SUBSCRIPTION_PAUSED"
        case productChange = "PRODUCT_CHANGE"
        case transfer = "TRANSFER"
        case subscriptionExtended = "SUBSCRIPTION_EXTENDED"
        case refundReversed = "REFUND_REVERSED"
    }

    /// The body of a webhook.
    public var body: [UInt8] {
        var event = content
        event["type"] = .string(type.rawValue)
        event["id"] = .string(id)
        event["event_timestamp_ms"] = .integer(at)
        return JSONValue.object(["api_version": "1.0", "event": .object(event)]).encoded()
    }
}

/// What a store's word comes to before it has an id and an instant.
struct RelayNews: Hashable, Sendable {
    let type: RelayEvent.EventType
    /// What this type has beside what every event of a purchase has.
    var more: JSONObject = [:]
}
