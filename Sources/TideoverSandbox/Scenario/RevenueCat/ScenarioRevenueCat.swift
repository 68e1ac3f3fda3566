public import TideoverHTTP
import TideoverJSON

/// A RevenueCat beside the system under test, in a scenario that has one.
public struct ScenarioRevenueCat: Hashable, Sendable {
    /// How its project is set up.
    public let setup: RelaySetup
    /// Whether the stores notify it alone: then the system under test hears only what it relays.
    public let isAlone: Bool
}

/// What a step can do with it.
public enum ScenarioRelayAction: Hashable, Sendable {
    /// Webhooks are lost from now on, though RevenueCat takes them for delivered; or are not.
    case loseWebhooks(Bool)
    /// What a customer has becomes another's.
    case transfer(to: String)
}

/// The system under test, as RevenueCat meets it.
public struct ScenarioRelayTarget: Sendable {
    /// Where webhooks are posted; `{app}` stands for the app's id.
    public var deliverPath = "/v1/apps/{app}/notifications/revenuecat"
    /// Told of RevenueCat's API before a scenario begins, for a system that asks.
    public var meetRevenueCat: @Sendable (_ api: @escaping Handler) async -> Void = { _ in }

    /// A system with the paths that Tideover itself has.
    public init() {}
}

/// One webhook, and how the system under test took it.
public struct RelayedWebhook: Hashable, Sendable {
    /// What RevenueCat told of.
    public let event: RelayEvent
    /// The status answered; nil when no answer came.
    public let status: Int?
    /// The answer right after it, for the customer it is about.
    public let reading: Reading?

    /// Whether RevenueCat takes it for delivered.
    public var isTaken: Bool { status == 200 }

    /// What happened, in one sentence.
    public var words: String { "RevenueCat tells of \(event.type.rawValue)." }
}
