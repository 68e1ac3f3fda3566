/// The Google Play part of a scenario.
public struct ScenarioGooglePlay: Hashable, Sendable {
    /// The app on sale in Google Play.
    public let app: GooglePlayApp
    /// The entitlements that each product unlocks, by product id.
    public let entitlements: [String: [String]]
    /// The customers who buy in Google Play, in the order of the file.
    public let customers: [GooglePlayCustomer]
    /// How reliably messages are delivered.
    public let habits: PubSubDeliveryFaults
    /// Whether the back end has a service account for Google's APIs.
    public let hasCredentials: Bool

    func takes(_ customer: String) -> Bool { customers.contains { $0.name == customer } }
}

/// An action of a step in Google Play, and the required refusal, if any.
public struct ScenarioPlayAction: Hashable, Sendable {
    /// The action.
    public let deed: Deed
    /// The reason the store must give for refusing it; nil if it must not refuse.
    public let refusal: GooglePlayRefusal.Reason?

    /// The possible actions.
    public enum Deed: Hashable, Sendable {
        /// By the customer. The app acknowledges a purchase at once, if it can be acknowledged.
        case act(GooglePlayAction, acknowledges: Bool)
        /// By the developer, to the customer's newest purchase.
        case write(Write)
        /// The operator asks for a test notification.
        case requestTestNotification
        /// Starts or stops losing pushes, although Pub/Sub records them as acknowledged.
        case loseNotifications(Bool)
        /// Starts a fault in pushes.
        case disturbNotifications(PlayWireFaultRule)
        /// Starts a fault in API calls.
        case disturb(PlayFaultRule)
        /// Changes how messages are delivered.
        case disturbPubSub(PubSubDeliveryFaults)
        /// Ends all faults, and restores the scenario's delivery of messages.
        case endDisturbances
    }

    /// A developer's writes to a purchase or its newest order.
    public enum Write: Hashable, Sendable {
        case acknowledge
        /// Consumes a one-time purchase.
        case consume
        case cancel
        case postpone(milliseconds: Int64)
        case revoke(GooglePlayWrite.Revocation)
        case refundOrder(revokes: Bool)
    }
}
