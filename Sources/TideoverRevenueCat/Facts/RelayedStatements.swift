import TideoverCore

/// The statements and notes from one RevenueCat event or response.
struct RelayedStatements: Hashable, Sendable {
    var statements: [Statement] = []
    var notes: [RevenueCatNote] = []
}

extension Lineage {
    /// Identifies the store's own lineage. The App Store uses the first transaction; Google Play
    /// uses the order without the renewal number. Purchases of other stores get a RevenueCat
    /// lineage. Nil without an ID.
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
        case .stripe, .amazon, .promotional, .roku, .rcBilling, .paddle, .external, .testStore,
            .galaxy:
            self.init(
                store: .revenueCat,
                environment: environment,
                id: "\(store.rawValue.lowercased()):\(id)",
                ownership: ownership
            )
        }
    }
}

extension Lineage {
    /// The store, as RevenueCat names it. The ID of a purchase in a store that RevenueCat alone
    /// reads begins with its name.
    var revenueCatStore: RevenueCatStore {
        switch store {
        case .appStore: .appStore
        case .googlePlay: .playStore
        case .tideover: .promotional
        case .revenueCat:
            RevenueCatStore(rawValue: id.prefix { $0 != ":" }.uppercased()) ?? .external
        }
    }
}

extension RevenueCatStore {
    /// The name in responses of the REST API.
    var apiText: String { rawValue.lowercased() }

    /// Returns the catalogue's product ID. For Google Play it includes the base plan, unless the
    /// catalogue lists only the product. A plan that it does not list yet may be listed later.
    /// RevenueCat's events append the plan after a colon; its API responses have a separate field.
    func productId(of text: String, plan: String? = nil, in catalogue: Catalogue) -> String {
        guard self == .playStore else { return text }
        let product = text.firstIndex(of: ":").map { String(text[..<$0]) } ?? text
        let withPlan = plan.map { "\(product):\($0)" } ?? text
        return catalogue[withPlan] == nil && catalogue[product] != nil ? product : withPlan
    }
}

extension RevenueCatPeriodType {
    /// The offer of a period. RevenueCat separates trials from discounted introductions, but does
    /// not state the kind of offer.
    var offer: Offer? {
        switch self {
        case .trial: Offer(kind: .introductory, discount: .freeTrial)
        case .intro: Offer(kind: .introductory)
        case .normal, .promotional, .prepaid: nil
        }
    }
}

extension Catalogue {
    /// Returns the plan of a product that RevenueCat only calls non-renewing.
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
    init(_ reason: OpenEnum<RevenueCatReason>) {
        self =
            switch reason.known {
            case .unsubscribe: .cancelled
            case .billingError: .billingError
            case .priceIncrease: .priceIncrease
            case .subscriptionPaused: .paused
            case .developerInitiated, .customerSupport, .unknown: .other
            case nil: .unrecognised(reason.raw)
            }
    }
}
