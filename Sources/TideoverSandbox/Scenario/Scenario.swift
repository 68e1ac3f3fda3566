/// A rehearsal: the catalogue, the customers, the actions, and the answers that the system under
/// test must give after them. Instants and durations are in milliseconds (since 1970).
public struct Scenario: Hashable, Sendable {
    /// One sentence that names the case.
    public let name: String
    /// The document that specifies the expected outcome.
    public let source: String
    /// The app that the customers use.
    public let app: ScenarioApp
    /// The Google Play part; nil if the scenario uses only the App Store.
    public let googlePlay: ScenarioGooglePlay?
    /// The RevenueCat part; nil if the scenario has none.
    public var revenueCat: ScenarioRevenueCat? = nil
    /// How often the system under test prompts customers with failing payments; nil for always.
    public var prompts: ScenarioPrompts? = nil
    /// Whether the operator declares that customers consent to consumption information.
    public var customersConsent = false
    /// The instant at which the scenario starts.
    public let start: Int64
    /// The seed of every number that the store generates.
    public let seed: UInt64
    /// The delay between a notification's signature and its delivery.
    public let lag: Int64
    /// The customers, in the order of the file.
    public let customers: [StoreCustomer]
    /// The author's notes for the reader, by customer name.
    public internal(set) var notes: [String: String] = [:]
    /// The steps, in order of time.
    public internal(set) var steps: [ScenarioStep]
}

/// The app of a scenario, as the system under test and the store define it.
public struct ScenarioApp: Hashable, Sendable {
    /// The id in the system under test.
    public let id: String
    /// The store's definition of the app, products included.
    public let store: AppStoreApp
    /// The entitlements that each product unlocks, by product id.
    public let entitlements: [String: [String]]
}

/// One line of a scenario: time passes, then an action runs, then expectations are checked.
public struct ScenarioStep: Hashable, Sendable {
    /// The line number in the file, from 1.
    public let line: Int
    /// The instant of the step, unless the step before takes longer.
    public let at: Int64
    /// The customer's name; nil for a step that concerns no particular customer.
    public let customer: String?
    /// The action to perform.
    public let action: ScenarioAction?
    /// The reason the store must give for refusing the action; nil if it must not refuse.
    public let refusal: AppStoreRefusal.Reason?
    /// The required content of the answer about the customer afterwards.
    public internal(set) var expectations: [ScenarioExpectation]
    /// The kinds of the events that must have been published for the customer since the last step
    /// with this expectation; nil to accept any.
    public internal(set) var events: [String]?
    /// The author's note for the reader of a report.
    public let note: String?
    /// How many consumption reports the App Store must have received so far; nil to accept any.
    public var consumptions: Int64?
    /// The required content of RevenueCat's own answer about the customer.
    public var relayed: [Relayed] = []

    /// Whether the step has an expectation.
    var isJudged: Bool {
        !expectations.isEmpty || events != nil || !relayed.isEmpty || consumptions != nil
    }

    /// Whether RevenueCat gives access to an entitlement.
    public struct Relayed: Hashable, Sendable {
        /// The entitlement's name.
        public let entitlement: String
        /// The value that RevenueCat's SDK returns.
        public let isActive: Bool
    }
}

/// The actions that a step can perform.
public enum ScenarioAction: Hashable, Sendable {
    case store(AppStoreAction)
    /// The operator asks the store for a test notification.
    case requestTestNotification
    /// Starts or stops losing notifications, although the store records them as delivered.
    case loseNotifications(Bool)
    /// An action in Google Play.
    case googlePlay(ScenarioPlayAction)
    /// An action in RevenueCat.
    case revenueCat(ScenarioRelayAction)
    /// The customer opens the app, and the device reconciles.
    case openApp(DeviceVisit)
    /// The app shows the customer a prompt, and reports it.
    case showPrompt(ScenarioShownPrompt)
    /// The operator requests a change of the customer's newest purchase from the system under test.
    case storeAction(ScenarioStoreAction)
    /// The system under test asks the store for missed notifications, as it does at every start.
    case catchUp
    /// Starts a fault in the notifications that the store sends.
    case disturbNotifications(AppStoreWireFaultRule)
    /// Starts a fault in the store's Server API.
    case disturbServerAPI(AppStoreFaultRule)
    /// Ends all faults.
    case endDisturbances
}

/// One visit to the app: which of its expected actions the device performs.
public struct DeviceVisit: Hashable, Sendable {
    /// Whether the device reads the store's current state; if not, it uses the state it read last.
    public var looks = true
    /// Whether the device sends the transactions that the store signed.
    public var presents = true
    /// Whether the device can verify the signatures.
    public var verifies = true
    /// Whether the device has finished its transactions.
    public var finishes = true
    /// How far its clock is ahead, in milliseconds; negative for a clock that is behind.
    public var clockOffset: Int64 = 0
    /// The customer who is signed in to the store on the device; nil for the customer's own
    /// account.
    public var account: String?
    /// The environment that the device reports; nil for that of the system under test. Any other
    /// environment has no purchases.
    public var environment: String?
    /// Whether the app delays the store's messages.
    public var delaysMessages = false
    /// The expected outcome of the billing problem message; nil to accept any.
    public var message: AppStoreMessageOutcome?

    /// Creates a visit in which the device does everything right.
    public init() {}
}
