/// The Google Play part of a story: its catalogue, its actions and its faults.
struct GooglePlayStoryGenerator {
    private let app: GooglePlayApp
    private let offer: String?
    private static let pro = "cards.pro"
    private static let extra = "cards.extra"
    private static let lifetime = "cards.forever"
    private static let coins = "cards.gems"

    init(_ random: inout SeededRandom) {
        let grace: Int64 = random.choice([0, 0, 3, 7, 14, 30])
        let hold: Int64? = random.choice([nil, 0, 30])
        offer = random.choice(["launch", nil])
        let trial = GooglePlayOffer(
            id: "launch",
            phases: [GooglePlayOffer.Phase(period: StorePeriod(ofStory: "P1W"))]
        )
        func plan(
            _ id: String,
            _ period: String,
            _ milliunits: Int64,
            _ kind: GooglePlayBasePlan.Kind = .autoRenewing,
            offers: [GooglePlayOffer] = []
        ) -> GooglePlayBasePlan {
            GooglePlayBasePlan(
                id: id,
                kind: kind,
                period: StorePeriod(ofStory: period),
                price: Self.price(milliunits),
                graceDays: kind == .prepaid ? 0 : grace,
                holdDays: kind == .prepaid ? 0 : hold,
                offers: offers
            )
        }
        app = GooglePlayApp(
            packageName: "com.example.cards",
            subscriptions: [
                GooglePlaySubscriptionProduct(
                    id: Self.pro,
                    basePlans: [
                        plan("monthly", "P1M", 9_990, offers: [trial]),
                        plan("yearly", "P1Y", 99_990),
                        plan("prepaid", "P1M", 10_990, .prepaid),
                    ]
                ),
                GooglePlaySubscriptionProduct(
                    id: Self.extra,
                    basePlans: [plan("monthly", "P1M", 2_990)]
                ),
            ],
            products: [
                GooglePlayOneTimeProduct(id: Self.lifetime, price: Self.price(199_990)),
                GooglePlayOneTimeProduct(
                    id: Self.coins,
                    isConsumable: true,
                    price: Self.price(990)
                ),
            ]
        )
    }

    private static func price(_ milliunits: Int64) -> GooglePlayPrice {
        GooglePlayPrice(StorePrice(milliunits: milliunits, currency: "USD"))
    }

    /// Returns the part of a story with these customers. Their purchases use the same tokens as
    /// those in the App Store.
    func part(of customers: [StoreCustomer]) -> ScenarioGooglePlay {
        ScenarioGooglePlay(
            app: app,
            entitlements: [
                Self.pro: ["premium"], Self.extra: ["premium"], Self.lifetime: ["premium"],
            ],
            customers: customers.map { customer in
                GooglePlayCustomer(
                    name: customer.name,
                    obfuscatedAccountId: customer.appAccountToken
                )
            },
            habits: PubSubDeliveryFaults(),
            hasCredentials: true
        )
    }

    // MARK: Actions

    var beginning: ScenarioPlayAction { .bought(subscription("monthly")) }

    func action(_ random: inout SeededRandom) -> ScenarioPlayAction {
        if random.happens(onceIn: 60) {
            return .bought(.buy(product: Self.lifetime, quantity: 1, payment: .prompt))
        }
        let mode = random.choice(GooglePlayAction.ReplacementMode.allCases)
        let days = random.number(in: 1...20)
        return random.choice(subscribing(mode) + paying + developing(days * StoryGenerator.day))
    }

    private func subscription(
        _ plan: String,
        _ payment: GooglePlayAction.Payment = .prompt
    ) -> GooglePlayAction {
        .subscribe(to: [choice(plan)], payment: payment, from: .app)
    }

    private func choice(_ plan: String) -> GooglePlayChoice {
        GooglePlayChoice(Self.pro, basePlan: plan, offer: plan == "monthly" ? offer : nil)
    }

    private func subscribing(
        _ mode: GooglePlayAction.ReplacementMode
    ) -> [ScenarioPlayAction] {
        let extra = GooglePlayChoice(Self.extra)
        let plain = GooglePlayChoice(Self.pro, basePlan: "monthly")
        return [
            .bought(subscription("monthly")), .bought(subscription("monthly")),
            .bought(subscription("prepaid")), .bought(subscription("monthly", .delayed)),
            .bought(subscription("prepaid", .delayed)),
            .done(subscription("monthly")),
            .bought(.completePayment(product: nil)), .bought(.completePayment(product: nil)),
            .done(.dropPayment(product: nil)), .bought(.topUp(product: nil)),
            .bought(.replace(product: Self.pro, with: choice("yearly"), mode: mode)),
            .bought(.replace(product: Self.pro, with: plain, mode: mode)),
            .bought(.changeItems(product: nil, adding: [extra], removing: [])),
            .done(.changeItems(product: nil, adding: [], removing: [Self.extra])),
            .done(.pause(product: nil, StorePeriod(ofStory: "P1M"))), .done(.resume(product: nil)),
            .done(.cancel(product: nil, survey: nil)), .done(.cancelBySystem(product: nil)),
            .done(.restart(product: nil)), .done(.restart(product: nil)),
        ]
    }

    private var paying: [ScenarioPlayAction] {
        let (dear, dearer) = (Self.price(12_990).standard, Self.price(13_990).standard)
        return [
            // Often enough that quiet points also include grace and hold.
            .done(.failPayments), .done(.failPayments), .done(.failPayments), .done(.failPayments),
            .done(.failPayments), .done(.failPayments), .done(.failPayments), .done(.failPayments),
            .done(.fixPayments), .done(.fixPayments), .done(.fixPayments), .done(.fixPayments),
            .done(.changePrice(product: nil, to: dear, .increase)),
            .done(.changePrice(product: nil, to: dearer, .optOutIncrease)),
            .done(.changePrice(product: nil, to: Self.price(4_990).standard, .decrease)),
            .done(.acceptPrice(product: nil)), .done(.requestRefund(product: nil)),
            .done(.refund(product: nil, .remorse, quantity: nil, revokes: false)),
            .done(.refund(product: nil, .chargeback, quantity: nil, revokes: true)),
            .bought(.buy(product: Self.coins, quantity: 1, payment: .prompt)),
        ]
    }

    private func developing(_ length: Int64) -> [ScenarioPlayAction] {
        [
            .written(.acknowledge), .written(.cancel), .written(.postpone(milliseconds: length)),
            .written(.revoke(.fullRefund)), .written(.revoke(.proratedRefund)),
            .written(.refundOrder(revokes: false)),
        ]
    }

    // MARK: Faults

    /// Uses a copy of the generator, so that the rest of a story does not depend on it.
    private func pushFaults(_ random: SeededRandom) -> [ScenarioPlayAction] {
        var random = random
        let faults: [PlayWireFault] = [
            .noAnswer, .duplicate, .delay(6 * StoryGenerator.hour), .reorder, .truncate, .corrupt,
            .wrongPackage, .unknownType, .expiredToken, .wrongAudience, .wrongAccount,
        ]
        var rules: [PlayWireFaultRule] = []
        for fault in faults where random.number(in: 0...2) > 0 {
            let percent = Int(random.number(in: 5...30))
            rules.append(PlayWireFaultRule(fault, times: nil, percent: percent))
        }
        // Creating a key is slow.
        for fault in [PlayWireFault.rotateKey, .unknownKey] where random.happens(onceIn: 4) {
            rules.append(PlayWireFaultRule(fault))
        }
        return rules.map { ScenarioPlayAction(deed: .disturbNotifications($0), refusal: nil) }
    }

    /// Never reports a live token as unknown or gone: a back end may then ignore the token for
    /// longer than a story lasts. Tideover ignores it for a week (`docs/operating.md`, "Google
    /// Play").
    func disturbances(_ random: inout SeededRandom) -> [ScenarioAction] {
        var habits = PubSubDeliveryFaults()
        if random.number(in: 0...2) > 0 { habits.lost = random.number(in: 5...50) }
        if random.number(in: 0...2) > 0 { habits.scatter = 6 * StoryGenerator.hour }
        if random.number(in: 0...2) > 0 {
            habits.lag = random.number(in: 1000...StoryGenerator.hour)
        }
        if random.number(in: 0...2) > 0 { habits.redelivered = 30 }
        if random.number(in: 0...2) > 0 { habits.republished = 30 }
        var rules = [ScenarioPlayAction(deed: .disturbPubSub(habits), refusal: nil)]
        rules += pushFaults(random)
        let troubles: [PlayFault] = [
            .rateLimited(seconds: random.number(in: 0...7_200)), .unavailable(status: 503),
            .unavailable(status: 504),
            .refused(.internalError), .refused(.unauthorised), .truncated, .slow(30_000),
            .stale(by: random.number(in: StoryGenerator.hour...StoryGenerator.day)),
        ]
        for fault in troubles where random.number(in: 0...2) > 0 {
            let rule = PlayFaultRule(fault, times: nil, percent: 15)
            rules.append(ScenarioPlayAction(deed: .disturb(rule), refusal: nil))
        }
        return rules.map(ScenarioAction.googlePlay)
    }
}

extension ScenarioPlayAction {
    /// Creates a purchase that the app acknowledges.
    fileprivate static func bought(_ action: GooglePlayAction) -> ScenarioPlayAction {
        ScenarioPlayAction(deed: .act(action, acknowledges: true), refusal: nil)
    }

    /// Creates an action without an acknowledgement.
    fileprivate static func done(_ action: GooglePlayAction) -> ScenarioPlayAction {
        ScenarioPlayAction(deed: .act(action, acknowledges: false), refusal: nil)
    }

    fileprivate static func written(_ write: Write) -> ScenarioPlayAction {
        ScenarioPlayAction(deed: .write(write), refusal: nil)
    }

    /// Ends all faults of Google.
    static var endOfDisturbances: ScenarioPlayAction {
        ScenarioPlayAction(deed: .endDisturbances, refusal: nil)
    }
}
