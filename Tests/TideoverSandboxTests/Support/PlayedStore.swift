import Testing
import TideoverJSON
import TideoverSandbox

/// A simulated Google Play with one customer, with a developer's reads and writes.
struct PlayedStore {
    private(set) var machine: GooglePlayMachine
    /// Every notification of the store, in order.
    private(set) var notifications: [GooglePlayNotification] = []

    init(
        at start: String = "2026-05-01T10:00:00Z",
        seed: UInt64 = 7,
        _ customer: GooglePlayCustomer = .anna
    ) throws {
        let now = try #require(InstantText.read(start))
        machine = GooglePlayMachine(app: try .cards(), seed: seed, now: now)
        try machine.register(customer)
    }

    /// Creates a store with an acknowledged purchase of the customer.
    init(subscribedTo choice: GooglePlayChoice, at start: String = "2026-05-01T10:00:00Z") throws {
        try self.init(at: start)
        try subscribe(choice)
        try write(.acknowledge(token: token))
    }

    // MARK: Acting

    @discardableResult
    mutating func act(_ action: GooglePlayAction) throws -> [String] {
        hear(try machine.perform(action, by: "anna")).map { name(of: $0.event) }
    }

    @discardableResult
    mutating func write(_ write: GooglePlayWrite) throws -> [String] {
        hear(try machine.write(write)).map { name(of: $0.event) }
    }

    @discardableResult
    mutating func subscribe(_ choices: GooglePlayChoice...) throws -> [String] {
        try act(.subscribe(to: choices, payment: .prompt, from: .app))
    }

    /// Returns the notifications until an instant, as `2026-06-01 10:00:00 2`.
    @discardableResult
    mutating func pass(until instant: String) throws -> [String] {
        let target = try #require(InstantText.read(instant))
        return hear(machine.advance(to: target)).map {
            "\(InstantText.writeForPeople($0.at)) \(name(of: $0.event))"
        }
    }

    private mutating func hear(_ new: [GooglePlayNotification]) -> [GooglePlayNotification] {
        notifications += new
        return new
    }

    /// Returns the number of a subscription's notification, or a name and the number of another's.
    private func name(of event: GooglePlayEvent) -> String {
        switch event {
        case .subscription(let type, _): "\(type.rawValue)"
        case .oneTimeProduct(let type, _, _): "once \(type.rawValue)"
        case .voidedPurchase(_, _, let product, let refund):
            "voided \(product.rawValue) \(refund.rawValue)"
        case .pendingRefundReview: "review"
        case .tested: "test"
        }
    }

    // MARK: Reading

    /// The newest purchase token.
    var token: String {
        get throws { try #require(machine.tokens(of: "anna").last) }
    }

    var tokens: [String] { machine.tokens(of: "anna") }

    /// Returns the API's answer about the newest subscription.
    func read() throws -> JSONValue { try read(token) }

    func read(_ token: String) throws -> JSONValue {
        .object(try #require(machine.subscription(token: token)))
    }

    /// Returns the state without its prefix.
    func state(_ token: String? = nil) throws -> String {
        let resource = try token.map(read) ?? read()
        let state = try #require(resource["subscriptionState"]?.string)
        return String(state.dropFirst("SUBSCRIPTION_STATE_".count))
    }

    func items(_ token: String? = nil) throws -> [JSONValue] {
        try #require(try (token.map(read) ?? read())["lineItems"]?.array)
    }

    /// Returns the expiry of an item of the newest purchase, to the second.
    func expiry(_ item: Int = 0, _ token: String? = nil) throws -> String {
        try PlayedStore.instant(items(token)[item]["expiryTime"])
    }

    /// Returns the member of `canceledStateContext`.
    func cancellation(_ token: String? = nil) throws -> String? {
        try (token.map(read) ?? read())["canceledStateContext"]?.object?.first?.key
    }

    /// Returns the member of `offerPhase`.
    func phase() throws -> String? { try items()[0]["offerPhase"]?.object?.first?.key }

    func order() throws -> JSONValue {
        let id = try #require(try items()[0]["latestSuccessfulOrderId"]?.string)
        return .object(try #require(machine.order(id)))
    }

    func truth(at instant: String? = nil) throws -> GooglePlayExpectedState {
        let at = try instant.map { try #require(InstantText.read($0)) }
        return machine.truth(of: "anna", at: at ?? machine.now)
    }

    /// Returns the total of an order, as `9.99 USD`.
    static func amount(_ money: JSONValue?) throws -> String {
        let money = try #require(money)
        let units = money["units"]?.string ?? "0"
        let cents = (money["nanos"]?.int64 ?? 0) / 10_000_000
        let currency = try #require(money["currencyCode"]?.string)
        return "\(units).\(cents < 10 ? "0" : "")\(cents) \(currency)"
    }

    static func instant(_ value: JSONValue?) throws -> String {
        InstantText.writeForPeople(try #require(value?.string.flatMap { InstantText.read($0) }))
    }
}

extension GooglePlayCustomer {
    static let anna = GooglePlayCustomer(
        name: "anna",
        obfuscatedAccountId: "account-1",
        obfuscatedProfileId: "profile-1"
    )
    static let tester = GooglePlayCustomer(name: "anna", isLicenceTester: true)
}

extension GooglePlayChoice {
    static let monthly = GooglePlayChoice("cards.pro", basePlan: "monthly")
    static let plus = GooglePlayChoice("cards.plus")
    static let extra = GooglePlayChoice("cards.extra")

    static func pro(_ basePlan: String, _ offer: String? = nil) -> GooglePlayChoice {
        GooglePlayChoice("cards.pro", basePlan: basePlan, offer: offer)
    }
}

extension GooglePlayApp {
    /// Returns an app with a product in plans of every kind, a higher one, an add-on, and two
    /// one-time products.
    static func cards() throws -> GooglePlayApp {
        GooglePlayApp(
            packageName: "com.example.cards",
            subscriptions: [
                GooglePlaySubscriptionProduct(id: "cards.pro", basePlans: try plans()),
                GooglePlaySubscriptionProduct(
                    id: "cards.plus",
                    basePlans: [try plan("monthly", price: "20.00 USD")]
                ),
                GooglePlaySubscriptionProduct(
                    id: "cards.extra",
                    basePlans: [try plan("monthly", price: "2.00 USD")]
                ),
            ],
            products: [
                GooglePlayOneTimeProduct(id: "cards.lifetime", price: try price("50.00 USD")),
                GooglePlayOneTimeProduct(
                    id: "cards.coins",
                    isConsumable: true,
                    price: try price("1.00 USD")
                ),
            ]
        )
    }

    private static func plans() throws -> [GooglePlayBasePlan] {
        [
            try plan("monthly", offers: try offers()),
            try plan("yearly", period: "P1Y", price: "120.00 USD", grace: 30, hold: 30),
            try plan("nograce", grace: 0),
            try plan("nohold", grace: 30, hold: 0),
            try plan("prepaid", .prepaid),
            try plan("prepaid-3-days", .prepaid, period: "P3D"),
            try plan("instalments", .instalments(payments: 3, renewsCommitment: false)),
            try plan("committed", .instalments(payments: 3, renewsCommitment: true)),
        ]
    }

    private static func offers() throws -> [GooglePlayOffer] {
        let week = try #require(StorePeriod(iso: "P1W"))
        let month = try #require(StorePeriod(iso: "P1M"))
        let half = try price("5.00 USD")
        return [
            GooglePlayOffer(id: "trial", tags: ["new"], phases: [.init(period: week)]),
            GooglePlayOffer(
                id: "launch",
                phases: [.init(period: week), .init(period: month, price: half, count: 2)]
            ),
        ]
    }

    static func plan(
        _ id: String,
        _ kind: GooglePlayBasePlan.Kind = .autoRenewing,
        period: String = "P1M",
        price text: String = "10.00 USD",
        grace: Int64 = 7,
        hold: Int64? = 30,
        offers: [GooglePlayOffer] = []
    ) throws -> GooglePlayBasePlan {
        GooglePlayBasePlan(
            id: id,
            kind: kind,
            period: try #require(StorePeriod(iso: period)),
            price: try price(text),
            graceDays: grace,
            holdDays: grace == 0 ? nil : hold,
            offers: offers
        )
    }

    private static func price(_ text: String) throws -> GooglePlayPrice {
        let standard = try #require(StorePrice(text))
        let euros = StorePrice(milliunits: standard.milliunits * 9 / 10, currency: "EUR")
        return GooglePlayPrice(standard, regions: ["DE": euros])
    }
}
