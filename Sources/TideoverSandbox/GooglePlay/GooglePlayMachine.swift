/// A simulated Google Play: customers, their purchases and the passing of time, as one value. It
/// reads no clock and draws every number from its seed. The same calls give the same notifications
/// and the same resources.
///
/// Its behaviour follows Google's documents, foremost "Subscription lifecycle".
/// https://developer.android.com/google/play/billing/lifecycle/subscriptions
public struct GooglePlayMachine: Codable, Sendable {
    /// A customer and the store's records about the customer.
    struct Account: Codable, Sendable {
        let customer: GooglePlayCustomer
        var paymentsFail = false
        /// The number of purchases begun.
        var begun = 0
        /// One for each purchase token, in the order bought.
        var subscriptions: [GooglePlaySubscription] = []
        /// In the order bought.
        var purchases: [GooglePlayPurchase] = []

        var tempo: GooglePlayBillingSpeed {
            GooglePlayBillingSpeed(isTest: customer.isLicenceTester)
        }
    }

    /// A location: the account's index and the index in the account.
    struct Place: Hashable, Codable, Sendable {
        let account: Int
        let index: Int
    }

    /// The purchase that a token identifies.
    enum Holding: Hashable, Codable, Sendable {
        case subscription(Place)
        case purchase(Place)
    }

    /// The app on sale.
    public let app: GooglePlayApp
    /// The store's clock, in milliseconds since 1970.
    public private(set) var now: Int64
    var accounts: [Account] = []
    /// The next instant at which the store changes each account by itself.
    private var agenda = Agenda()
    /// The index of each customer's account, by name.
    private var numbers: [String: Int] = [:]
    /// The purchase of every token issued.
    var tokens: [String: Holding] = [:]
    var orders: [String: GooglePlayOrder] = [:]
    /// In the order recorded.
    var voids: [GooglePlayVoidedPurchase] = []
    var identifiers: GooglePlayIdentifiers

    /// Creates a store without customers; its clock shows `now` (milliseconds since 1970).
    public init(app: GooglePlayApp, seed: UInt64, now: Int64) {
        self.app = app
        self.now = now
        identifiers = GooglePlayIdentifiers(seed: seed)
    }

    /// Adds a customer; refused with `customerExists` when the name is taken.
    public mutating func register(_ customer: GooglePlayCustomer) throws(GooglePlayRefusal) {
        guard numbers[customer.name] == nil else {
            throw GooglePlayRefusal(.customerExists, customer.name)
        }
        numbers[customer.name] = accounts.count
        accounts.append(Account(customer: customer))
    }

    subscript(place: Place) -> GooglePlaySubscription {
        get { accounts[place.account].subscriptions[place.index] }
        set {
            accounts[place.account].subscriptions[place.index] = newValue
            note(place.account)
        }
    }

    subscript(purchase place: Place) -> GooglePlayPurchase {
        get { accounts[place.account].purchases[place.index] }
        set {
            accounts[place.account].purchases[place.index] = newValue
            note(place.account)
        }
    }

    /// Updates the agenda of an account after a change of its purchases.
    mutating func note(_ account: Int) {
        let subscriptions = accounts[account].subscriptions.compactMap(\.due)
        let purchases = accounts[account].purchases.compactMap(\.due)
        agenda.set(account, to: (subscriptions + purchases).min())
    }
}

// MARK: - Time

extension GooglePlayMachine {
    /// The next instant at which the store does something by itself.
    public var nextEvent: Int64? { agenda.first?.at }

    /// Advances the clock, and performs everything that is due up to and including the instant.
    public mutating func advance(to instant: Int64) -> [GooglePlayNotification] {
        precondition(instant >= now, "the store's clock never runs backwards")
        var notifications: [GooglePlayNotification] = []
        while let next = nextDue, next.at <= instant {
            now = next.at
            switch next.holding {
            case .subscription(let place): notifications += happen(at: place)
            case .purchase(let place): notifications += giveBackUnacknowledged(place)
            }
        }
        now = instant
        return notifications
    }

    /// The next change that is due. At the same instant, the customer registered first comes first.
    private var nextDue: (at: Int64, holding: Holding)? {
        guard let (at, account) = agenda.first else { return nil }
        let holder = accounts[account]
        if let index = holder.subscriptions.firstIndex(where: { $0.due == at }) {
            return (at, .subscription(Place(account: account, index: index)))
        }
        if let index = holder.purchases.firstIndex(where: { $0.due == at }) {
            return (at, .purchase(Place(account: account, index: index)))
        }
        preconditionFailure("an entry of the agenda is due for a purchase of the account")
    }

    private mutating func happen(at place: Place) -> [GooglePlayNotification] {
        guard self[place].acknowledgeBy != now else { return revokeUnacknowledged(place) }
        var kinds = self[place].endUnconsented(at: now)
        kinds += self[place].pauseItems(at: now)
        kinds += charge(self[place].itemsToCharge(at: now), of: place)
        kinds += self[place].endItems(at: now)
        kinds += self[place].moveOn(at: now)
        return notify(kinds, of: place)
    }

    /// Tries to collect the payment that is due for some of a subscription's items.
    mutating func charge(_ items: [Int], of place: Place) -> [GooglePlaySubscription.Kind] {
        guard !items.isEmpty else { return [] }
        if accounts[place.account].paymentsFail { return self[place].fail(items, at: now) }
        let order = self[place].nextOrder()
        let kinds = self[place].renew(items, at: now, order: order)
        book(order, of: place)
        return kinds
    }
}

// MARK: - Actions

extension GooglePlayMachine {
    /// Performs an action now, and returns the notifications that the store sends at once.
    public mutating func perform(
        _ action: GooglePlayAction,
        by customer: String
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let account = try index(of: customer)
        switch action {
        case .subscribe(let choices, let payment, let place):
            return try subscribe(account, to: choices, payment, from: place)
        case .replace(let product, let choice, let mode):
            return try replace(running(account, product), product, with: choice, mode)
        case .changeItems(let product, let added, let removed):
            return try changeItems(running(account, product), adding: added, removing: removed)
        case .topUp(let product): return try topUp(running(account, product), product)
        case .buy(let product, let quantity, let payment):
            return try buy(account, product, quantity, payment)
        case .completePayment(let product): return try completePayment(account, product)
        case .dropPayment(let product): return try dropPayment(account, product)
        case .failPayments:
            accounts[account].paymentsFail = true
            return []
        case .fixPayments: return fixPayments(of: account)
        case .cancel, .cancelBySystem, .restart, .pause, .resume, .changePrice, .acceptPrice,
            .askStepUpConsent, .acceptStepUp:
            return try change(action, account)
        case .requestRefund(let product): return try requestRefund(account, product)
        case .refund(let product, let reason, let quantity, let revokes):
            return try refund(account, product, reason, quantity, revokes)
        }
    }

    /// The notification that the Play Console sends on request.
    public func requestTestNotification() -> GooglePlayNotification {
        GooglePlayNotification(packageName: app.packageName, at: now, event: .tested, customer: nil)
    }

    /// Returns the store's record of a customer; nil for an unknown customer.
    func account(of customer: String) -> Account? { numbers[customer].map { accounts[$0] } }

    func index(of customer: String) throws(GooglePlayRefusal) -> Int {
        if let index = numbers[customer] { return index }
        throw GooglePlayRefusal(.unknownCustomer, customer)
    }

    /// Returns the customer's newest subscription with a product that has not ended.
    func running(_ account: Int, _ product: String?) throws(GooglePlayRefusal) -> Place {
        let subscriptions = accounts[account].subscriptions
        let alive = subscriptions.lastIndex { $0.isAlive && $0.has(product, where: \.isLive) }
        if let alive { return Place(account: account, index: alive) }
        let isKnown = subscriptions.contains { $0.has(product) { _ in true } }
        throw refusal(isKnown ? .ended : .notSubscribed, account, product)
    }

    func refusal(
        _ reason: GooglePlayRefusal.Reason,
        _ account: Int,
        _ product: String? = nil
    ) -> GooglePlayRefusal {
        GooglePlayRefusal(reason, accounts[account].customer.name, product: product)
    }

    private mutating func fixPayments(of account: Int) -> [GooglePlayNotification] {
        accounts[account].paymentsFail = false
        var notifications: [GooglePlayNotification] = []
        for index in accounts[account].subscriptions.indices {
            let place = Place(account: account, index: index)
            notifications += notify(charge(self[place].outstanding, of: place), of: place)
        }
        return notifications
    }
}

extension GooglePlaySubscription {
    /// Whether an item of the product, or any item if none is named, satisfies the condition.
    func has(_ product: String?, where holds: (GooglePlayItem) -> Bool) -> Bool {
        items.contains { (product == nil || $0.plan.product == product) && holds($0) }
    }
}

// MARK: - Notifying

extension GooglePlayMachine {
    /// Records a change of a subscription, and creates the store's notifications about it.
    mutating func notify(
        _ kinds: [GooglePlaySubscription.Kind],
        of place: Place
    ) -> [GooglePlayNotification] {
        self[place].record(at: now)
        let token = self[place].token
        return kinds.map { notification(.subscription($0, token: token), place.account) }
    }

    func notification(_ event: GooglePlayEvent, _ account: Int) -> GooglePlayNotification {
        GooglePlayNotification(
            packageName: app.packageName,
            at: now,
            event: event,
            customer: accounts[account].customer.name
        )
    }

    /// Records an order for the items of a subscription that were just paid.
    mutating func book(_ order: String, of place: Place) {
        let subscription = self[place]
        let lines = subscription.items.filter { $0.orderId == order }.map { item in
            GooglePlayOrder.Line(
                product: item.plan.product,
                listing: item.price,
                paid: item.charged,
                period: GooglePlayOrder.Period(
                    basePlan: item.plan.basePlan.id,
                    offer: item.plan.offer?.id,
                    kind: item.kind,
                    start: item.start,
                    end: item.end
                )
            )
        }
        orders[order] = GooglePlayOrder(
            id: order,
            token: subscription.token,
            type: .subscription,
            at: now,
            region: subscription.buyer.region,
            lines: lines
        )
    }
}
