/// A rehearsal: what is on sale, who the customers are, what happens to them and what the system under
/// test must then answer. Instants and spans are in milliseconds (since 1970).
public struct Scenario: Hashable, Sendable {
    /// One sentence that names the case.
    public let name: String
    /// The document that says how it must come out.
    public let source: String
    /// The app that the customers use.
    public let app: ScenarioApp
    /// What takes place in Google Play; nil where all of it is the App Store's.
    public let googlePlay: ScenarioGooglePlay?
    /// What RevenueCat is told and tells; nil where there is none.
    public var revenueCat: ScenarioRevenueCat? = nil
    /// How often the system under test prompts customers whose payments fail; nil for always.
    public var prompts: ScenarioPrompts? = nil
    /// When the story starts.
    public let start: Int64
    /// What every number the store gives away follows from.
    public let seed: UInt64
    /// How long after its signature a notification arrives.
    public let lag: Int64
    /// Who takes part, in the order of the file.
    public let customers: [StoreCustomer]
    /// What the author wants the reader to know of a customer, by name.
    public internal(set) var notes: [String: String] = [:]
    /// In order of time.
    public internal(set) var steps: [ScenarioStep]
}

/// The app a scenario is about, as the system under test and the store know it.
public struct ScenarioApp: Hashable, Sendable {
    /// The id in the system under test.
    public let id: String
    /// The store's side, products included.
    public let store: AppStoreApp
    /// What each product unlocks: entitlements by product id.
    public let entitlements: [String: [String]]
}

/// One line of a scenario: time passes, then something is done, then something is expected.
public struct ScenarioStep: Hashable, Sendable {
    /// The line of the file it stands on, from 1.
    public let line: Int
    /// When it happens, unless the step before takes longer.
    public let at: Int64
    /// The name of the customer it is about; nil for what concerns nobody in particular.
    public let customer: String?
    /// What is done.
    public let action: ScenarioAction?
    /// The reason for which the store must refuse the action; nil if it must not.
    public let refusal: AppStoreRefusal.Reason?
    /// What the answer about the customer must say afterwards.
    public internal(set) var expectations: [ScenarioExpectation]
    /// The kinds of the events that must have been told of the customer since the step above that said so;
    /// nil for whichever were.
    public internal(set) var events: [String]?
    /// What the author wants the reader of a report to know.
    public let note: String?
    /// What RevenueCat's own answer about the customer must say.
    public var relayed: [Relayed] = []

    /// Whether RevenueCat gives access to an entitlement.
    public struct Relayed: Hashable, Sendable {
        /// The entitlement's name.
        public let entitlement: String
        /// As its SDK says.
        public let isActive: Bool
    }
}

/// What a step can do.
public enum ScenarioAction: Hashable, Sendable {
    case store(AppStoreAction)
    /// The operator asks the store for a test notification.
    case requestTestNotification
    /// What the store sends is lost from now on, though the store takes it for delivered; or is not.
    case loseNotifications(Bool)
    /// What is done in Google Play.
    case googlePlay(ScenarioPlayAction)
    /// What is done with RevenueCat.
    case revenueCat(ScenarioRelayAction)
    /// The customer opens the app, and the device reconciles.
    case openApp(DeviceVisit)
    /// The app shows the customer a prompt, and reports it.
    case showPrompt(ScenarioShownPrompt)
    /// The system under test asks the store for what it missed, as it does at every start.
    case catchUp
    /// From now on something goes wrong with what the store sends.
    case disturbNotifications(AppStoreWireFaultRule)
    /// From now on something goes wrong with what the store is asked.
    case disturbServerAPI(AppStoreFaultRule)
    /// Nothing goes wrong any more.
    case endDisturbances
}

/// One time that a customer opens the app: what the device does of what it should.
public struct DeviceVisit: Hashable, Sendable {
    /// Whether it looks at what its store tells now; else it concludes from what it saw last.
    public var looks = true
    /// Whether it presents what the store has signed for it.
    public var presents = true
    /// Whether it can verify what it sees.
    public var verifies = true
    /// Whether it has finished its transactions.
    public var finishes = true
    /// How far its clock is ahead, in milliseconds; negative for one that is behind.
    public var clockOffset: Int64 = 0
    /// The customer whose store account is signed in on it; nil for the customer's own.
    public var account: String?
    /// The environment it says it looks at; nil for that of the system under test. In another one there
    /// is nothing to see.
    public var environment: String?
    /// Whether the app keeps the store's messages back for a better moment.
    public var delaysMessages = false
    /// What must become of the message of a billing problem; nil for whatever does.
    public var message: AppStoreMessageOutcome?

    /// One that does everything right.
    public init() {}
}
