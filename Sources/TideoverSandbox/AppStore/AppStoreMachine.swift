/// A simulated App Store: customers, their subscriptions and the passing of time, as one value. It
/// reads no clock and draws every number from its seed. The same calls give the same notifications.
///
/// Its behaviour follows Apple's documents, foremost "Testing failing subscription renewals and
/// In-App Purchases" and "Reducing involuntary subscriber churn".
public struct AppStoreMachine: Codable, Sendable {
    /// A customer and the store's records about the customer.
    struct Account: Codable, Sendable {
        let customer: StoreCustomer
        let appTransactionId: String
        let originalPurchaseDate: Int64
        var paymentsFail = false
        /// The switch "Allow Purchases & Renewals" of a sandbox account.
        var allowsPurchases = true
        /// Groups with a used introductory offer.
        var triedGroups: [String] = []
        /// The places of family members' shares of this account's purchases, in the order of
        /// accounts.
        var followers: [Place] = []
        /// At most one for a group, in the order first bought.
        var subscriptions: [AppStoreSubscription] = []
        /// Products that do not renew, in the order bought.
        var purchases: [AppStoreOneTimePurchase] = []
        var pending: [AppStorePendingPurchase] = []
        var messages: [AppStoreMessage] = []
    }

    /// The app on sale.
    public let app: AppStoreApp
    /// The store's clock, in milliseconds since 1970.
    public private(set) var now: Int64
    var accounts: [Account] = []
    /// Products that are no longer for sale.
    var withdrawn: [String] = []
    /// The next instant at which the store changes each account by itself.
    private var agenda = Agenda()
    /// The index of each customer's account, by name.
    private var numbers: [String: Int] = [:]
    /// Earlier versions of the accounts, for reads that lag behind.
    var past: [[Version]] = []
    /// The renewal extensions requested for all subscribers of a product, done or not.
    var massExtensions: [MassExtension] = []
    /// The account of each transaction and of each `appTransactionId`.
    private(set) var owners: [String: Int] = [:]
    /// The transactions of each order.
    private(set) var orders: [String: [String]] = [:]
    var identifiers: AppStoreIdentifiers
    private var lastSigned: Int64
    /// A separate random stream, so that reads do not change the numbers that the store generates.
    private var reading: SeededRandom

    /// Creates a store without customers; its clock shows `now` (milliseconds since 1970).
    public init(app: AppStoreApp, seed: UInt64, now: Int64) {
        self.app = app
        self.now = now
        identifiers = AppStoreIdentifiers(seed: seed)
        lastSigned = now
        reading = SeededRandom(seed: seed ^ 0x7265_6164_696E_6773)
    }

    /// Adds a customer; refused with `customerExists` when the name is taken.
    public mutating func register(_ customer: StoreCustomer) throws(AppStoreRefusal) {
        guard numbers[customer.name] == nil else {
            throw AppStoreRefusal(reason: .customerExists, customer: customer.name, product: nil)
        }
        let number = identifiers.appTransaction()
        owners[number] = accounts.count
        numbers[customer.name] = accounts.count
        past.append([])
        accounts.append(
            Account(
                customer: customer,
                appTransactionId: number,
                originalPurchaseDate: now
            )
        )
    }

    /// Returns the store's state at an instant up to `now`; of several subscriptions the best one.
    public func truth(of customer: String, at instant: Int64) -> AppStoreExpectedState {
        precondition(instant <= now, "the store knows the truth only up to its own now")
        let account = account(of: customer)
        let subscriptions = account?.subscriptions.map { $0.truth(at: instant) } ?? []
        let purchases = account?.purchases.map { $0.truth(at: instant) } ?? []
        return (subscriptions + purchases).max { $0.rank < $1.rank } ?? .never
    }
}

// MARK: - Time

extension AppStoreMachine {
    /// The next instant at which the store does something by itself.
    public var nextEvent: Int64? {
        [agenda.first?.at, nextMassExtension?.at].compactMap(\.self).min()
    }

    /// Advances the clock, and performs everything that is due up to and including the instant.
    public mutating func advance(to instant: Int64) -> [AppStoreNotification] {
        precondition(instant >= now, "the store's clock never runs backwards")
        var notifications: [AppStoreNotification] = []
        while let next = nextEvent, next <= instant {
            now = next
            if let order = nextMassExtension, order.at <= now {
                notifications += extendAll(order.index)
                continue
            }
            guard let due = nextDue else { break }
            let event = happen(due.what, at: due.place)
            notifications.append(notify(event, of: due.place))
            notifications += tellFamily(of: due.place.account)
        }
        now = instant
        return notifications
    }

    /// The location of a subscription: the account's index and the index in the account.
    struct Place: Hashable, Codable, Sendable {
        let account: Int
        let subscription: Int
    }

    private typealias NextDue = (at: Int64, what: AppStoreSubscription.Due, place: Place)

    /// The next change that is due. At the same instant, the customer registered first comes first.
    private var nextDue: NextDue? {
        guard let next = agenda.first else { return nil }
        for (index, subscription) in accounts[next.number].subscriptions.enumerated() {
            guard let due = subscription.due, due.at == next.at else { continue }
            return (due.at, due.what, Place(account: next.number, subscription: index))
        }
        preconditionFailure("an entry of the agenda is due for a subscription of the account")
    }

    /// Updates the agenda of an account after a change of its subscriptions.
    private mutating func note(_ account: Int) {
        let due = accounts[account].subscriptions.lazy.compactMap { $0.due?.at }.min()
        agenda.set(account, to: due)
    }

    private mutating func happen(
        _ due: AppStoreSubscription.Due,
        at place: Place
    ) -> AppStoreEvent {
        remember(place.account)
        switch due {
        case .charge where withdrawn.contains(self[place].plan.product.id):
            return self[place].endUnavailable()
        case .charge where !isRenewable(place):
            let event = self[place].failToRenew()
            queueMessage(about: place)
            return event
        case .charge: return self[place].renew(drawTerm(for: place.account))
        case .voluntaryEnd: return self[place].endVoluntarily()
        case .priceEnd: return self[place].endForPrice()
        case .graceEnd: return self[place].endGrace()
        case .retryEnd: return self[place].endRetry()
        }
    }

    /// Whether a renewal succeeds now. A free period needs no payment.
    private func isRenewable(_ place: Place) -> Bool {
        let account = accounts[place.account]
        let isFree = self[place].nextOffer?.price.milliunits == 0
        return account.allowsPurchases && (isFree || !account.paymentsFail)
    }

    /// Draws the identifiers of a new transaction of an account.
    mutating func drawTerm(for account: Int) -> AppStoreSubscription.TermIds {
        let ids = identifiers.term()
        owners[ids.transactionId] = account
        orders[ids.orderId, default: []].append(ids.transactionId)
        return ids
    }

    subscript(place: Place) -> AppStoreSubscription {
        get { accounts[place.account].subscriptions[place.subscription] }
        set {
            accounts[place.account].subscriptions[place.subscription] = newValue
            note(place.account)
        }
    }
}

// MARK: - Actions

extension AppStoreMachine {
    /// Performs an action now, and returns the notifications that the store sends at once.
    public mutating func perform(
        _ action: AppStoreAction,
        by customer: String
    ) throws(AppStoreRefusal) -> [AppStoreNotification] {
        let account = try index(of: customer)
        remember(account)
        let notifications = try carryOut(action, account)
        return notifications + tellFamily(of: account)
    }

    private mutating func carryOut(
        _ action: AppStoreAction,
        _ account: Int
    ) throws(AppStoreRefusal) -> [AppStoreNotification] {
        if let product = app.oneTimeProduct(action.product)?.id ?? boughtLast(account, by: action),
            let notifications = try carryOut(action, onPurchaseOf: product, account)
        {
            return notifications
        }
        switch action {
        case .subscribe(let product, let trial):
            return [try subscribe(account, to: product, trial)]
        case .buy, .askToBuy, .approvePurchase, .declinePurchase, .interruptPurchase,
            .resumePurchase, .redeem:
            return try carryOutPurchase(action, account)
        case .failPayments:
            accounts[account].paymentsFail = true
            return []
        case .fixPayments:
            accounts[account].paymentsFail = false
            return collect(from: account)
        case .allowPurchases(let isAllowed):
            accounts[account].allowsPurchases = isAllowed
            return collect(from: account)
        case .removeFromSale(let product):
            guard app.product(product) != nil || app.oneTimeProduct(product) != nil else {
                throw refusal(.unknownProduct, account, product)
            }
            withdrawn.append(product)
            return []
        case .cancel(let product): return try cancel(place(account, product))
        case .reenable(let product): return [try reenable(place(account, product))]
        case .changePlan(let product): return [try changePlan(of: account, to: product)]
        case .share(let product, let member):
            return [try share(place(account, product), with: member)]
        case .stopSharing(let product, let member):
            return [try stopSharing(place(account, product), with: member)]
        case .extendRenewal(let product, let days):
            return [try extend(place(account, product), byDays: days)]
        case .raisePrice(let product, let price, let needsConsent):
            return [try raisePrice(place(account, product), to: price, needsConsent)]
        case .acceptPrice(let product): return [try acceptPrice(place(account, product))]
        case .requestRefund(let product, let reason, let stopsRenewal):
            return try requestRefund(place(account, product), reason, stopsRenewal)
        case .declineRefund(let product): return [try declineRefund(place(account, product))]
        case .refund(let product, let reason, let percent):
            return [try refund(place(account, product), reason, percent: percent)]
        case .reverseRefund(let product): return [try reverseRefund(place(account, product))]
        }
    }

    private mutating func carryOutPurchase(
        _ action: AppStoreAction,
        _ account: Int
    ) throws(AppStoreRefusal) -> [AppStoreNotification] {
        switch action {
        case .buy(let product, let isOutside):
            return [try sell(product, to: account, isOutside: isOutside)]
        case .askToBuy(let product):
            try postpone(product, until: .approval, account)
            return []
        case .approvePurchase(let product):
            return [try complete(product, after: .approval, account)]
        case .declinePurchase(let product):
            try take(product, waitingFor: .approval, account)
            return []
        case .interruptPurchase(let product):
            try postpone(product, until: .interruption, account)
            return []
        case .resumePurchase(let product):
            return [try complete(product, after: .interruption, account)]
        case .redeem(let product, let offer): return [try redeem(offer, of: product, account)]
        default: preconditionFailure("\(action) is no purchase")
        }
    }

    /// Returns the test notification that a server can request to check its delivery.
    public mutating func requestTestNotification() -> AppStoreNotification {
        let signed = sign(after: 1)
        return AppStoreNotification(
            at: now,
            signedDate: signed,
            uuid: identifiers.uuid(),
            event: .tested,
            customer: nil,
            data: AppStoreWire.data(app),
            transaction: nil,
            renewal: nil
        )
    }

    /// Returns the store's record of a customer; nil for an unknown customer.
    func account(of customer: String) -> Account? { numbers[customer].map { accounts[$0] } }

    func index(of customer: String) throws(AppStoreRefusal) -> Int {
        if let index = numbers[customer] { return index }
        throw AppStoreRefusal(reason: .unknownCustomer, customer: customer, product: nil)
    }

    private func place(_ account: Int, _ product: String?) throws(AppStoreRefusal) -> Place {
        let index = accounts[account].subscriptions.lastIndex {
            $0.sharedFrom == nil && (product == nil || $0.current.product.id == product)
        }
        guard let index else { throw refusal(.notSubscribed, account, product) }
        return Place(account: account, subscription: index)
    }

    func refusal(
        _ reason: AppStoreRefusal.Reason,
        _ account: Int,
        _ product: String?
    ) -> AppStoreRefusal {
        let customer = accounts[account].customer.name
        return AppStoreRefusal(reason: reason, customer: customer, product: product)
    }

    func refusal(_ reason: AppStoreRefusal.Reason, _ place: Place) -> AppStoreRefusal {
        refusal(reason, place.account, self[place].current.product.id)
    }
}

// MARK: - Buying

extension AppStoreMachine {
    mutating func subscribe(
        _ account: Int,
        to id: String,
        _ choice: AppStoreAction.TrialChoice,
        isOutside: Bool = false
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        guard let product = app.product(id) else { throw refusal(.unknownProduct, account, id) }
        let held = accounts[account].subscriptions.firstIndex {
            $0.sharedFrom == nil && $0.current.product.group == product.group
        }
        if let held, accounts[account].subscriptions[held].isAlive {
            throw refusal(.alreadySubscribed, account, id)
        }
        let offer = try introduction(to: product, for: account, choice)
        try checkPayment(account, id)
        if offer != nil { accounts[account].triedGroups.append(product.group) }
        let purchase = purchase(of: product, offer, for: account)
        return buy(purchase, for: account, held, isOutside: isOutside)
    }

    /// Returns the introductory offer for a purchase; nil if there is none.
    private func introduction(
        to product: AppStoreProduct,
        for account: Int,
        _ choice: AppStoreAction.TrialChoice
    ) throws(AppStoreRefusal) -> AppStoreOffer? {
        let isTried = accounts[account].triedGroups.contains(product.group)
        switch choice {
        case .declined: return nil
        case .ifEligible: return isTried ? nil : product.introductory
        case .required:
            guard let offer = product.introductory else {
                throw refusal(.trialNotOffered, account, product.id)
            }
            guard !isTried else { throw refusal(.trialAlreadyUsed, account, product.id) }
            return offer
        }
    }

    /// Records a purchase. One outside of the app lacks the token that the app would set.
    mutating func buy(
        _ purchase: AppStoreSubscription.Purchase,
        for account: Int,
        _ held: Int?,
        isOutside: Bool = false
    ) -> AppStoreNotification {
        let token = isOutside ? nil : accounts[account].customer.appAccountToken
        if let held {
            let place = Place(account: account, subscription: held)
            self[place].appAccountToken = token
            return notify(self[place].resubscribe(purchase), of: place)
        }
        accounts[account].subscriptions.append(
            AppStoreSubscription(
                purchase,
                appAccountToken: token,
                app.tempo
            )
        )
        note(account)
        let place = Place(
            account: account,
            subscription: accounts[account].subscriptions.count - 1
        )
        let term = purchase.term
        return notify(.subscribed(until: term.end, trial: term.isTrial, again: false), of: place)
    }

    /// Adds a family member's share.
    mutating func add(
        _ shared: AppStoreSubscription,
        to account: Int,
        sharedBy owner: Int
    ) -> Place {
        accounts[account].subscriptions.append(shared)
        let place = Place(
            account: account,
            subscription: accounts[account].subscriptions.count - 1
        )
        accounts[owner].followers.append(place)
        accounts[owner].followers.sort {
            ($0.account, $0.subscription) < ($1.account, $1.subscription)
        }
        return place
    }

    /// Retries at once every outstanding charge that succeeds now.
    private mutating func collect(from account: Int) -> [AppStoreNotification] {
        var notifications: [AppStoreNotification] = []
        for index in accounts[account].subscriptions.indices {
            let place = Place(account: account, subscription: index)
            guard self[place].sharedFrom == nil, self[place].isAlive,
                self[place].phase != .running, isRenewable(place)
            else { continue }
            let event = self[place].recover(at: now, drawTerm(for: account))
            notifications.append(notify(event, of: place))
        }
        return notifications
    }
}

// MARK: - Cancelling and refunding

extension AppStoreMachine {
    private mutating func cancel(_ place: Place) throws(AppStoreRefusal) -> [AppStoreNotification] {
        guard self[place].isAlive else { throw refusal(.ended, place) }
        guard self[place].renews else { throw refusal(.renewalAlreadyOff, place) }
        return self[place].turnRenewalOff(at: now).map { notify($0, of: place) }
    }

    private mutating func reenable(_ place: Place) throws(AppStoreRefusal) -> AppStoreNotification {
        guard self[place].isAlive else { throw refusal(.ended, place) }
        guard !self[place].renews else { throw refusal(.renewalAlreadyOn, place) }
        return notify(self[place].turnRenewalOn(), of: place)
    }

    private mutating func refund(
        _ place: Place,
        _ reason: AppStoreAction.RefundReason,
        percent: Int64
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let term = self[place].termToRefund
        guard self[place].terms[term].revocation == nil else {
            throw refusal(.alreadyRefunded, place)
        }
        return notify(self[place].refund(reason, percent: percent, at: now), of: place, term)
    }

    private mutating func reverseRefund(
        _ place: Place
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        guard let term = self[place].refundedTerm else { throw refusal(.notRefunded, place) }
        return notify(self[place].reverseRefund(of: term, at: now), of: place, term)
    }
}

// MARK: - Changing

extension AppStoreMachine {
    private mutating func changePlan(
        of account: Int,
        to id: String
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        guard let product = app.product(id) else { throw refusal(.unknownProduct, account, id) }
        let held = accounts[account].subscriptions.firstIndex {
            $0.sharedFrom == nil && $0.current.product.group == product.group
        }
        guard let held else { throw refusal(.notSubscribed, account, id) }
        let place = Place(account: account, subscription: held)
        try checkRunning(place)
        guard self[place].plan.product != product else { throw refusal(.samePlan, account, id) }
        guard product.isTakenAtOnce(after: self[place].current.product) else {
            return notify(self[place].planRenewal(into: product), of: place)
        }
        try checkPayment(account, id)
        let purchase = purchase(of: product, nil, for: account)
        return notify(self[place].upgrade(purchase, at: now), of: place)
    }

    private func checkRunning(_ place: Place) throws(AppStoreRefusal) {
        guard self[place].isAlive else { throw refusal(.ended, place) }
        guard self[place].phase == .running else { throw refusal(.notRunning, place) }
    }

    private mutating func raisePrice(
        _ place: Place,
        to price: StorePrice,
        _ needsConsent: Bool
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        try checkRunning(place)
        let current = self[place].plan.price
        guard price.currency == current.currency, price.milliunits > current.milliunits else {
            throw refusal(.notHigher, place)
        }
        return notify(self[place].raisePrice(to: price, needsConsent: needsConsent), of: place)
    }

    private mutating func acceptPrice(
        _ place: Place
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        try checkRunning(place)
        guard self[place].priceIncrease?.isAccepted == false else {
            throw refusal(.noPriceToAccept, place)
        }
        return notify(self[place].acceptPrice(), of: place)
    }

    private mutating func requestRefund(
        _ place: Place,
        _ reason: AppStoreAction.RefundRequestReason,
        _ stopsRenewal: Bool
    ) throws(AppStoreRefusal) -> [AppStoreNotification] {
        guard !self[place].isRevoked else { throw refusal(.alreadyRefunded, place) }
        let asked = notify(self[place].requestRefund(reason), of: place)
        guard stopsRenewal, self[place].isAlive, self[place].renews else { return [asked] }
        return [asked] + self[place].turnRenewalOff(at: now).map { notify($0, of: place) }
    }

    private mutating func declineRefund(
        _ place: Place
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        guard let term = self[place].requestedTerm else {
            throw refusal(.refundNotRequested, place)
        }
        return notify(self[place].declineRefund(), of: place, term)
    }
}

extension AppStoreProduct {
    /// Whether choosing this product takes effect at once, not at the next renewal.
    func isTakenAtOnce(after other: AppStoreProduct) -> Bool {
        self != other && (level < other.level || (level == other.level && period == other.period))
    }
}

// MARK: - Extending

extension AppStoreMachine {
    /// Extends a renewal date by whole days.
    mutating func extend(
        _ place: Place,
        byDays days: Int64
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        guard self[place].isExtendable else { throw refusal(.notExtendable, place) }
        guard self[place].hasExtensionsLeft(at: now) else {
            throw refusal(.extensionsUsedUp, place)
        }
        remember(place.account)
        return notify(self[place].extend(byDays: days, at: now), of: place)
    }
}

// MARK: - Notifying

extension AppStoreMachine {
    /// Creates the store's notification about a subscription after the event, with the transaction
    /// of a term; by default of the newest one.
    mutating func notify(
        _ event: AppStoreEvent,
        of place: Place,
        _ term: Int? = nil
    ) -> AppStoreNotification {
        let account = accounts[place.account]
        let subscription = self[place]
        let subject = AppStoreWire.Subject(app: app, account: account, subscription: subscription)
        let transaction = subject.transaction(
            subscription.terms[term ?? subscription.terms.count - 1],
            signedDate: sign(after: identifiers.signingTime())
        )
        let renewal = subject.renewalInfo(signedDate: sign(after: identifiers.signingTime()))
        let signed = sign(after: identifiers.signingTime())
        return AppStoreNotification(
            at: now,
            signedDate: signed,
            uuid: identifiers.uuid(),
            event: event,
            customer: account.customer.name,
            data: AppStoreWire.data(app, status: subject.status, event),
            transaction: transaction,
            renewal: renewal
        )
    }

    /// Returns the date of a signature made for a read.
    mutating func signForReading() -> Int64 { sign(after: reading.number(in: 1...40)) }

    /// Returns the date of a signature: later than the change it covers, and than every signature
    /// before it.
    mutating func sign(after milliseconds: Int64) -> Int64 {
        lastSigned = max(now, lastSigned) + milliseconds
        return lastSigned
    }
}
