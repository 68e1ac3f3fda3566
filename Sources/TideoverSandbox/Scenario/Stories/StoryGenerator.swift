/// Generates a story from a seed.
struct StoryGenerator {
    static let start: Int64 = 1_777_629_600_000
    static let hour: Int64 = 3_600_000
    static let day = 24 * hour
    /// The time without faults until a quiet point; all retries are due before its end.
    static let recovery = 2 * day

    let seed: UInt64
    let kind: StoryKind
    var random: SeededRandom
    private var steps: [ScenarioStep] = []
    private var now = StoryGenerator.start

    init(seed: UInt64, _ kind: StoryKind) {
        self.seed = seed
        self.kind = kind
        random = SeededRandom(seed: seed ^ 0x7374_6F72_79)
    }

    mutating func story() -> Scenario {
        let appStore = AppStoreStoryGenerator(&random)
        let googlePlay = GooglePlayStoryGenerator(&random)
        begin(appStore, googlePlay)
        for _ in 1...3 {
            for rule in disturbances(appStore, googlePlay) { add(rule) }
            live(appStore, googlePlay, upTo: 5, asking: true)
            settle()
            live(appStore, googlePlay, upTo: 2, asking: false)
        }
        return scenario(appStore, googlePlay)
    }

    // MARK: Parts of a story

    private var takesAppStore: Bool { kind != .googlePlay }
    private var takesGooglePlay: Bool { kind != .appStore }

    private mutating func begin(
        _ appStore: AppStoreStoryGenerator,
        _ googlePlay: GooglePlayStoryGenerator
    ) {
        if takesAppStore { add(.store(appStore.beginning)) }
        if takesGooglePlay { add(.googlePlay(googlePlay.beginning)) }
    }

    private mutating func disturbances(
        _ appStore: AppStoreStoryGenerator,
        _ googlePlay: GooglePlayStoryGenerator
    ) -> [ScenarioAction] {
        var rules: [ScenarioAction] = []
        if takesAppStore { rules += appStore.disturbances(&random) }
        if takesGooglePlay { rules += googlePlay.disturbances(&random) }
        return rules
    }

    /// Generates weeks with occasional actions of customers, and reads in between. During faults
    /// the stores are also read now and then, as by the regular schedule.
    private mutating func live(
        _ appStore: AppStoreStoryGenerator,
        _ googlePlay: GooglePlayStoryGenerator,
        upTo most: Int64,
        asking: Bool
    ) {
        for _ in 1...random.number(in: 2...max(2, most)) {
            for _ in 1...2 {
                now += random.number(in: Self.hour...12 * Self.day)
                look()
            }
            if asking { add(.catchUp) }
            let isInAppStore = takesAppStore && (!takesGooglePlay || random.number(in: 0...1) == 0)
            guard isInAppStore else {
                add(.googlePlay(googlePlay.action(&random)))
                continue
            }
            let action = appStore.action(&random)
            add(.store(action))
            // A share lacks the app's token, so only the member's device can identify its owner.
            if case .share = action { add(.openApp(DeviceVisit()), by: "ben") }
        }
    }

    /// Generates two days without faults. At their end the customers open the app, and the store is
    /// asked for lost notifications. If all messages about a Google Play purchase were lost, only
    /// the app reports it.
    private mutating func settle() {
        add(.endDisturbances)
        if takesGooglePlay { add(.googlePlay(.endOfDisturbances)) }
        now += Self.recovery
        for customer in customers { add(.openApp(DeviceVisit()), by: customer.name) }
        add(.catchUp)
        now += Self.hour
        look()
    }

    /// Reads the answers about all customers.
    private mutating func look() {
        let place = ["entitlements", "premium", "access"]
        let expectation = ScenarioExpectation(
            label: "premium.access",
            path: place,
            requirement: .present(true)
        )
        for customer in customers { add(nil, by: customer.name, [expectation]) }
    }

    private mutating func add(
        _ action: ScenarioAction?,
        by customer: String = "anna",
        _ expectations: [ScenarioExpectation] = []
    ) {
        steps.append(
            ScenarioStep(
                line: steps.count + 1,
                at: now,
                customer: customer,
                action: action,
                refusal: nil,
                expectations: expectations,
                events: nil,
                note: nil
            )
        )
    }

    // MARK: Catalogue and customers

    /// In the App Store, Ben uses the subscription that Anna shares.
    private var customers: [StoreCustomer] {
        let anna = StoreCustomer(name: "anna", appAccountToken: SeededRandom.token(of: seed))
        let ben = StoreCustomer(name: "ben", appAccountToken: SeededRandom.token(of: ~seed))
        return kind == .appStore ? [anna, ben] : [anna]
    }

    private func scenario(
        _ appStore: AppStoreStoryGenerator,
        _ googlePlay: GooglePlayStoryGenerator
    ) -> Scenario {
        Scenario(
            name: "Generated from \(seed)",
            source: "Tideover, a story by a seed",
            app: ScenarioApp(
                id: "cards",
                store: appStore.store,
                entitlements: appStore.entitlements
            ),
            googlePlay: takesGooglePlay ? googlePlay.part(of: customers) : nil,
            start: Self.start,
            seed: seed,
            lag: 1000,
            customers: customers,
            steps: steps
        )
    }
}

extension SeededRandom {
    fileprivate static func token(of seed: UInt64) -> String {
        var random = SeededRandom(seed: seed ^ 0x746F_6B65_6E)
        return random.uuid()
    }

    /// Returns one of several elements with equal probability.
    mutating func choice<Element>(_ elements: [Element]) -> Element {
        elements[Int(number(in: 0...Int64(elements.count - 1)))]
    }

    /// Returns true with a probability of one in `times`.
    mutating func happens(onceIn times: Int64) -> Bool { number(in: 1...times) == 1 }
}

extension StorePeriod {
    /// Creates a period of a story from valid text.
    init(ofStory text: String) {
        guard let period = StorePeriod(iso: text) else {
            preconditionFailure("periods of a story are written as ISO 8601 has them")
        }
        self = period
    }
}
