import TideoverCore

/// What a piece of RevenueCat's comes to.
struct RelayedStatements: Hashable, Sendable {
    var statements: [Statement] = []
    var notes: [RevenueCatNote] = []
}

extension Lineage {
    /// The store's own chain where RevenueCat names it: the App Store's by its first transaction,
    /// Google Play's by its order without the number of the renewal. What neither store keeps is a
    /// lineage of RevenueCat's own. Nil without an id.
    init?(
        relayedFrom store: RevenueCatStore,
        in environment: Environment,
        original: String?,
        transaction: String?,
        ownership: Ownership
    ) {
        let ids = [original, transaction].compactMap(\.self).filter { !$0.isEmpty }
        guard let id = ids.first else { return nil }
        switch store {
        case .appStore, .macAppStore:
            self.init(store: .appStore, environment: environment, id: id, ownership: ownership)
        case .playStore:
            let order = PurchaseName(order: id).text
            self.init(store: .googlePlay, environment: environment, id: order, ownership: ownership)
        case .stripe, .amazon, .promotional, .roku, .rcBilling, .paddle, .external, .testStore:
            self.init(
                store: .revenueCat,
                environment: environment,
                id: "\(store.rawValue.lowercased()):\(id)",
                ownership: ownership
            )
        }
    }
}

extension RevenueCatStore {
    /// The product as the catalogue has it: Google Play's with its base plan where that is listed, else
    /// without. RevenueCat's events write the plan behind a colon, its answers beside the product.
    func productId(of text: String, plan: String? = nil, in catalogue: Catalogue) -> String {
        guard self == .playStore else { return text }
        let product = text.firstIndex(of: ":").map { String(text[..<$0]) } ?? text
        let withPlan = plan.map { "\(product):\($0)" } ?? text
        return catalogue[withPlan] == nil ? product : withPlan
    }
}

extension RevenueCatPeriodType {
    /// What a period was discounted by; a trial and a discounted introduction are told apart, though
    /// RevenueCat does not say by which kind of offer.
    var offer: Offer? {
        switch self {
        case .trial: Offer(kind: .introductory, discount: .freeTrial)
        case .intro: Offer(kind: .introductory)
        case .normal, .promotional, .prepaid: nil
        }
    }
}

extension Catalogue {
    /// What something was that RevenueCat only calls non-renewing.
    func plan(ofNonRenewing productId: String, endingAt end: Instant?) -> Term.Plan {
        switch self[productId]?.kind {
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        case .nonRenewing: .nonRenewing
        case .autoRenewable, nil: end == nil ? .nonConsumable : .nonRenewing
        }
    }
}

extension Outlook.Lapse {
    init(_ reason: Stated<RevenueCatReason>) {
        self =
            switch reason.known {
            case .unsubscribe: .cancelled
            case .billingError: .billingError
            case .priceIncrease: .priceIncrease
            case .developerInitiated, .customerSupport, .subscriptionPaused, .unknown: .other
            case nil: .unrecognised(reason.raw)
            }
    }
}
