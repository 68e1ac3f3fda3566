public import TideoverHTTP
import TideoverJSON

/// The RevenueCat beside the system under test, in a scenario that has one.
public struct ScenarioRevenueCat: Hashable, Sendable {
    /// The configuration of its project.
    public let setup: RelaySetup
    /// Whether the stores notify only RevenueCat. If so, the system under test receives only its
    /// webhooks.
    public let isAlone: Bool
}

/// The actions of a step in RevenueCat.
public enum ScenarioRelayAction: Hashable, Sendable {
    /// Starts or stops losing webhooks, although RevenueCat records them as delivered.
    case loseWebhooks(Bool)
    /// Transfers a customer's purchases to another customer.
    case transfer(to: String)
}

/// The configuration of RevenueCat's access to the system under test.
public struct ScenarioRelayTarget: Sendable {
    /// The path to which webhooks are posted; `{app}` is replaced with the app's id.
    public var deliverPath = "/v1/apps/{app}/notifications/revenuecat"
    /// Receives RevenueCat's API before a scenario begins, for a system that calls it.
    public var meetRevenueCat: @Sendable (_ api: @escaping Handler) async -> Void = { _ in }

    /// Creates a system with Tideover's own paths.
    public init() {}
}

/// One webhook, and the response of the system under test.
public struct RelayedWebhook: Hashable, Sendable {
    /// The event that RevenueCat sent.
    public let event: RelayEvent
    /// The response's status; nil without a response.
    public let status: Int?
    /// The answer about the event's customer, read directly after the webhook.
    public let reading: Reading?

    /// Whether RevenueCat counts it as delivered.
    public var isTaken: Bool { status == 200 }

    /// The event, in one sentence.
    public var words: String { "RevenueCat reports \(event.type.rawValue)." }
}
