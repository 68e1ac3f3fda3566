public import TideoverJSON

/// One event of the simulated RevenueCat. Its format is written only from RevenueCat's
/// documentation, and shares no type with its readers.
/// https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
public struct RelayEvent: Hashable, Sendable {
    /// The same in every delivery.
    public let id: String
    /// The type of the event.
    public let type: EventType
    /// When RevenueCat created it, in milliseconds since 1970; the same in every delivery.
    public let at: Int64
    /// The id that the app set for the customer; for a transfer, that of the new owner.
    public let customer: String
    /// The members of `event` except `type`, `id` and `event_timestamp_ms`.
    public let content: JSONObject

    /// RevenueCat's `type`, limited to those that a store's notification can cause.
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

/// An event of a store's notification before it has an id and an instant.
struct RelayNews: Hashable, Sendable {
    let type: RelayEvent.EventType
    /// The members of this type in addition to those of every event of a purchase.
    var more: JSONObject = [:]
}
