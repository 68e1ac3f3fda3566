package import TideoverCore
package import TideoverJSON

/// Translates a stored event about a purchase to RevenueCat's events.
///
/// RevenueCat reports some changes by two events: a failed payment is a billing issue and a
/// cancellation, and the loss of access is always an expiration.
package struct RevenueCatTranslation {
    private let event: StoredTransition
    private let history: LineageHistory?
    private let purchases: [ListedPurchase]
    /// When a paused subscription resumes.
    private let resumesAt: Instant?

    /// Reads an event's data. Nil for an event that is no transition of a purchase, such as a
    /// reminder. `record` is the customer as stored.
    package init?(_ data: JSONNode, _ record: CustomerRecord) {
        guard let event = StoredTransition(data) else { return nil }
        self.event = event
        history = record.history.lineageRecords.map(\.history)
            .first { $0.lineage == event.lineage }
        purchases = history?.purchases(by: event.at) ?? []
        let known = max(event.at, event.learnedAt)
        let read = PlayReads(record, of: event.lineage, by: known).latest
        resumesAt = read?.resumesAt ?? purchases.last?.resumesAt
    }

    /// Returns the messages of the event, in order; none for a change that RevenueCat does not
    /// report.
    package func messages(
        id: String,
        app: String,
        identity: CustomerIdentity
    ) -> [RevenueCatMessage] {
        parts.enumerated().map { position, part in
            RevenueCatMessage(
                part.type,
                id: position == 0 ? id : "\(id)-\(position + 1)",
                timestamp: max(event.at, event.learnedAt),
                app: app,
                content: .customer(RevenueCatMessage.Customer(identity), part.purchase)
            )
        }
    }

    private typealias Part = (type: RevenueCatMessage.Kind, purchase: RevenueCatMessage.Purchase)

    private var parts: [Part] {
        switch event.kind {
        case .started, .trialStarted: [(begins, purchase)]
        case .trialConverted: [renewal(isTrialConversion: true)]
        case .renewed, .resubscribed, .resumed: [renewal()]
        // The first payment after a trial has an event of its own.
        case .billingIssueRecovered: convertsTrial ? [] : [renewal()]
        case .recoveredByNewPurchase:
            // So has a purchase of another lineage.
            event.recoveredByItself && !convertsTrial ? [renewal()] : []
        case .cancelled, .trialCancelled: [cancellation(.unsubscribe)]
        case .uncancelled: [(.uncancellation, purchase)]
        case .paused: [(.subscriptionPaused, purchase), expiration]
        case .billingIssueEntered:
            [(.billingIssue, purchase), cancellation(.billingError)] + expirationIfOver
        case .graceEnded: expirationIfOver
        case .expired, .trialEnded: event.reason.isReplacement ? [] : expirationIfOver
        case .refunded: refund
        case .revoked: expirationIfOver
        case .refundReversed, .reinstated: [(.refundReversed, purchase)]
        case .productChanged: productChange
        case .cleanupDue: []
        }
    }

    private var begins: RevenueCatMessage.Kind {
        switch current?.kind {
        case .oneTime, .grant: .nonRenewingPurchase
        case .subscription, .prepaid, nil: .initialPurchase
        }
    }

    private func renewal(isTrialConversion: Bool = false) -> Part {
        var purchase = purchase
        purchase.isTrialConversion = isTrialConversion
        return (.renewal, purchase)
    }

    private func cancellation(_ reason: RevenueCatReason) -> Part {
        var purchase = purchase
        purchase.cancelReason = reason
        return (.cancellation, purchase)
    }

    private var expiration: Part {
        var purchase = purchase
        purchase.expirationReason = event.reason.expiration
        purchase.expiresAt = min(purchase.expiresAt ?? event.at, event.at)
        return (.expiration, purchase)
    }

    private var expirationIfOver: [Part] { event.state.givesAccess ? [] : [expiration] }

    /// RevenueCat reports only a refund of the newest period, as a cancellation.
    private var refund: [Part] {
        guard !event.state.givesAccess else { return [] }
        var part = cancellation(.customerSupport)
        part.purchase.expiresAt = event.at
        part.purchase.price = event.money.map {
            Money(milliunits: $0.milliunits.negatedSaturated, currency: $0.currency)
        }
        return [part] + expirationIfOver
    }

    /// The change, and a renewal if the new product began within the period of the former one. A
    /// later change, and one of a trial, come with a renewal of their own.
    private var productChange: [Part] {
        var change = purchase
        change.product = event.formerProduct ?? change.product
        change.newProduct = event.product
        let isAtEnd = former?.endsAt.map { $0 <= event.at + .minutes(1) } ?? true
        return [(.productChange, change)] + (isAtEnd || followsTrial ? [] : [renewal()])
    }

    // MARK: The purchase

    /// The newest purchase by the event.
    private var current: ListedPurchase? { purchases.last }

    /// The purchase before it.
    private var former: ListedPurchase? { purchases.dropLast().last }

    private var followsTrial: Bool { former?.revenueCatPeriod == .trial }

    /// Whether the newest purchase is the first paid one after a trial.
    private var convertsTrial: Bool { followsTrial && current?.revenueCatPeriod != .trial }

    private var purchase: RevenueCatMessage.Purchase {
        var purchase = RevenueCatMessage.Purchase(of: event.lineage)
        purchase.product = product
        purchase.entitlements = event.entitlements
        purchase.price = event.money
        purchase.country = event.storefront.flatMap(CountryCode.alpha2)
        purchase.resumesAt = resumesAt
        purchase.describe(purchases)
        return purchase
    }

    private var product: String {
        if let product = event.product, !product.isEmpty { return product }
        guard let current, let entitlement = current.grantedEntitlement else { return "" }
        return SDKProduct.grant(of: entitlement, isForEver: current.endsAt == nil)
    }
}

extension RevenueCatMessage.Purchase {
    init(of lineage: Lineage) {
        self.init(
            store: lineage.revenueCatStore,
            environment: lineage.environment.revenueCat,
            isFamilyShare: lineage.ownership == .familyShared
        )
    }

    /// Sets the store of a grant, the period, the dates and the transactions, from the purchases of
    /// one lineage by an instant.
    mutating func describe(_ purchases: [ListedPurchase]) {
        guard let current = purchases.last else { return }
        // A grant that RevenueCat reported is of no external store.
        if current.kind == .grant { store = .promotional }
        period = current.revenueCatPeriod
        purchasedAt = current.startedAt
        expiresAt = current.endsAt
        graceUntil = current.graceUntil
        transactionId = current.transactionId
        // The App Store names a lineage by its first transaction.
        originalTransactionId =
            current.lineage.store == .appStore
            ? current.lineage.id : purchases.first?.transactionId
        number = purchases.count
        // RevenueCat also names the App Store's promotional and win-back offers here.
        let isNamed = current.offer?.kind == .code || current.lineage.store == .appStore
        offerCode = isNamed ? current.offer?.identifier : nil
    }
}

/// The members of a stored transition that RevenueCat's events need.
private struct StoredTransition {
    let kind: Transition.Kind
    let at: Instant
    let learnedAt: Instant
    let lineage: Lineage
    let state: State
    let reason: Reason
    let product: String?
    let formerProduct: String?
    let entitlements: [String]
    let money: Money?
    let storefront: String?
    /// Whether the purchase that ended a billing issue is of the same lineage.
    let recoveredByItself: Bool

    init?(_ data: JSONNode) {
        guard let kind = data["kind"]?.string.flatMap(Transition.Kind.init(rawValue:)),
            let at = data["at"]?.string.flatMap({ Instant(rfc3339: $0) }),
            let lineage = data["lineage"].flatMap({ try? Lineage(json: $0) }),
            let state = data["state"]?.string.flatMap(State.init(rawValue:)),
            let reason = data["reason"]?.string.flatMap(Reason.init(rawValue:))
        else { return nil }
        self.kind = kind
        self.at = at
        self.lineage = lineage
        self.state = state
        self.reason = reason
        learnedAt = data["learnedAt"]?.string.flatMap { Instant(rfc3339: $0) } ?? at
        product = data["productId"]?.string
        formerProduct = data["previousProductId"]?.string
        entitlements = data["entitlements"]?.elements.compactMap(\.string) ?? []
        money = Self.money(data["money"])
        storefront = data["storefront"]?.string
        let recoveredBy = data["recoveredBy"].flatMap { try? Lineage(json: $0) }
        recoveredByItself = recoveredBy == lineage
    }

    private static func money(_ node: JSONNode?) -> Money? {
        guard let amount = node?["milliunits"]?.int64, let currency = node?["currency"]?.string
        else { return nil }
        return Money(milliunits: amount, currency: currency)
    }
}

extension Environment {
    var revenueCat: RevenueCatEnvironment { self == .production ? .production : .sandbox }
}

extension Reason {
    /// Whether another product or purchase gives the access from then on.
    fileprivate var isReplacement: Bool { self == .changedProduct || self == .replaced }

    fileprivate var expiration: RevenueCatReason {
        switch self {
        case .cancelled, .ended: .unsubscribe
        case .billingError, .billingIssue, .billingRetry, .accountHold, .keptByPolicy: .billingError
        case .priceIncrease: .priceIncrease
        case .refunded: .customerSupport
        case .paused: .subscriptionPaused
        default: .unknown
        }
    }
}

extension ListedPurchase {
    fileprivate var revenueCatPeriod: RevenueCatPeriodType {
        switch kind {
        case .grant: .promotional
        case .prepaid: .prepaid
        case .oneTime: .normal
        case .subscription:
            offer.map { $0.discount == .freeTrial ? .trial : .intro } ?? .normal
        }
    }
}
