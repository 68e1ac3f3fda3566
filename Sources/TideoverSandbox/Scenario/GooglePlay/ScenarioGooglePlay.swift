/// The part of a scenario that takes place in Google Play.
public struct ScenarioGooglePlay: Hashable, Sendable {
    /// What is on sale there.
    public let app: GooglePlayApp
    /// What each product unlocks: entitlements by product id.
    public let entitlements: [String: [String]]
    /// Who buys there, in the order of the file.
    public let customers: [GooglePlayCustomer]
    /// How well messages are delivered.
    public let habits: PubSubHabits
    /// Whether the back end has a service account to ask with.
    public let hasCredentials: Bool

    func takes(_ customer: String) -> Bool { customers.contains { $0.name == customer } }
}

/// What a step can do in Google Play, and whether the store must refuse it.
public struct ScenarioPlayAction: Hashable, Sendable {
    /// What is done.
    public let deed: Deed
    /// The reason for which the store must refuse it; nil if it must not.
    public let refusal: GooglePlayRefusal.Reason?

    /// What can be done.
    public enum Deed: Hashable, Sendable {
        /// By the customer; a purchase is acknowledged by the app at once, where that can be done.
        case act(GooglePlayAction, acknowledges: Bool)
        /// By the developer, to the customer's newest purchase.
        case write(Write)
        /// The operator asks for a test notification.
        case requestTestNotification
        /// What is pushed is lost from now on, though Pub/Sub takes it for acknowledged; or is not.
        case loseNotifications(Bool)
        /// From now on pushes go wrong.
        case disturbNotifications(PlayWireFaultRule)
        /// From now on calls go wrong.
        case disturb(PlayFaultRule)
        /// From now on messages are delivered otherwise.
        case disturbPubSub(PubSubHabits)
        /// Calls go wrong no more, and messages are delivered as the scenario has it.
        case endDisturbances
    }

    /// What a developer can do with a purchase or its newest order.
    public enum Write: Hashable, Sendable {
        case acknowledge
        /// Says that what was bought once is used up.
        case consume
        case cancel
        case postpone(milliseconds: Int64)
        case revoke(GooglePlayWrite.Revocation)
        case refundOrder(revokes: Bool)
    }
}
