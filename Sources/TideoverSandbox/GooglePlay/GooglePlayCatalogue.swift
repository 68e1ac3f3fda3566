/// An app as defined in the Play Console, with its products.
public struct GooglePlayApp: Hashable, Codable, Sendable {
    /// The application id, such as `com.example.cards`.
    public let packageName: String
    /// The subscriptions on sale.
    public let subscriptions: [GooglePlaySubscriptionProduct]
    /// The one-time products on sale.
    public let products: [GooglePlayOneTimeProduct]

    /// Creates an app that sells these subscriptions and products.
    public init(
        packageName: String,
        subscriptions: [GooglePlaySubscriptionProduct] = [],
        products: [GooglePlayOneTimeProduct] = []
    ) {
        self.packageName = packageName
        self.subscriptions = subscriptions
        self.products = products
    }

    func product(_ id: String) -> GooglePlayOneTimeProduct? {
        products.first { $0.id == id }
    }

    /// Returns the plan of a choice; nil if it is not on sale. Without a base plan, returns the
    /// first.
    func plan(_ choice: GooglePlayChoice) -> GooglePlayPlan? {
        let subscription = subscriptions.first { $0.id == choice.product }
        guard
            let basePlan = subscription?.basePlans.first(where: {
                choice.basePlan == nil || $0.id == choice.basePlan
            })
        else { return nil }
        let offer = basePlan.offers.first { $0.id == choice.offer }
        guard choice.offer == nil || offer != nil else { return nil }
        return GooglePlayPlan(product: choice.product, basePlan: basePlan, offer: offer)
    }
}

/// A base plan of a product, with an offer.
struct GooglePlayPlan: Hashable, Codable, Sendable {
    let product: String
    let basePlan: GooglePlayBasePlan
    let offer: GooglePlayOffer?
}

/// A subscription on sale, with its base plans.
public struct GooglePlaySubscriptionProduct: Hashable, Codable, Sendable {
    /// The product id, such as `cards.pro`.
    public let id: String
    /// Never empty.
    public let basePlans: [GooglePlayBasePlan]

    /// Creates a subscription with these base plans.
    public init(id: String, basePlans: [GooglePlayBasePlan]) {
        self.id = id
        self.basePlans = basePlans
    }
}

/// The payment terms of a subscription.
public struct GooglePlayBasePlan: Hashable, Codable, Sendable {
    /// The base plan's id, such as `monthly`.
    public let id: String
    /// How it continues at its expiry.
    public let kind: Kind
    /// The period that one payment covers.
    public let period: StorePeriod
    /// The price of one period.
    public let price: GooglePlayPrice
    /// Days of service after a failed payment: 0 to 30, and at most one period.
    public let graceDays: Int64
    /// Days without service in which the payment is retried: 0 to 60.
    public let holdDays: Int64
    /// The offers that a customer can choose.
    public let offers: [GooglePlayOffer]

    /// How a plan continues at its expiry.
    public enum Kind: Hashable, Codable, Sendable {
        case autoRenewing
        /// It ends unless the customer tops it up.
        case prepaid
        /// The customer commits to a number of payments, and afterwards to as many again or to
        /// none.
        case instalments(payments: Int64, renewsCommitment: Bool)
    }

    /// Creates a base plan. By default the hold is Google's own: 60 days less the grace.
    public init(
        id: String,
        kind: Kind = .autoRenewing,
        period: StorePeriod,
        price: GooglePlayPrice,
        graceDays: Int64 = 0,
        holdDays: Int64? = nil,
        offers: [GooglePlayOffer] = []
    ) {
        self.id = id
        self.kind = kind
        self.period = period
        self.price = price
        self.graceDays = graceDays
        self.holdDays = holdDays ?? 60 - graceDays
        self.offers = offers
    }
}

/// An offer at the start of a base plan.
public struct GooglePlayOffer: Hashable, Codable, Sendable {
    /// The offer's id, such as `launch`.
    public let id: String
    /// The developer's own tags.
    public let tags: [String]
    /// The phases before the base plan's own price, in this order.
    public let phases: [Phase]

    /// A part of an offer with its own price.
    public struct Phase: Hashable, Codable, Sendable {
        /// The period that one payment, or the free trial, covers.
        public let period: StorePeriod
        /// The price of a period; nil for a free trial.
        public let price: GooglePlayPrice?
        /// The number of periods.
        public let count: Int

        /// Creates a phase; without a price, a free trial.
        public init(period: StorePeriod, price: GooglePlayPrice? = nil, count: Int = 1) {
            self.period = period
            self.price = price
            self.count = count
        }
    }

    /// Creates an offer with these phases.
    public init(id: String, tags: [String] = [], phases: [Phase]) {
        self.id = id
        self.tags = tags
        self.phases = phases
    }
}

/// A product that is sold once.
public struct GooglePlayOneTimeProduct: Hashable, Codable, Sendable {
    /// The product id, such as `cards.lifetime`.
    public let id: String
    /// Whether it is consumed, and can then be bought again.
    public let isConsumable: Bool
    /// The price of one.
    public let price: GooglePlayPrice

    /// Creates a product, not consumable by default.
    public init(id: String, isConsumable: Bool = false, price: GooglePlayPrice) {
        self.id = id
        self.isConsumable = isConsumable
        self.price = price
    }
}

/// A price, which can differ from country to country.
public struct GooglePlayPrice: Hashable, Codable, Sendable {
    /// The price in countries without one of their own.
    public let standard: StorePrice
    /// Prices by ISO 3166-1 alpha-2 code.
    public let regions: [String: StorePrice]

    /// Creates a price with these exceptions.
    public init(_ standard: StorePrice, regions: [String: StorePrice] = [:]) {
        self.standard = standard
        self.regions = regions
    }

    func price(in region: String) -> StorePrice { regions[region] ?? standard }
}

/// A person with a Google account who uses the app.
public struct GooglePlayCustomer: Hashable, Codable, Sendable {
    /// The person's name in the scenario; never sent.
    public let name: String
    /// The id that the app sets at every purchase (`setObfuscatedAccountId`).
    public let obfuscatedAccountId: String?
    /// The id that the app sets at every purchase (`setObfuscatedProfileId`).
    public let obfuscatedProfileId: String?
    /// The country of the payments profile, ISO 3166-1 alpha-2.
    public let region: String
    /// Whether purchases are tests, with periods of minutes.
    public let isLicenceTester: Bool

    /// Creates a customer, by default of the United States.
    public init(
        name: String,
        obfuscatedAccountId: String? = nil,
        obfuscatedProfileId: String? = nil,
        region: String = "US",
        isLicenceTester: Bool = false
    ) {
        self.name = name
        self.obfuscatedAccountId = obfuscatedAccountId
        self.obfuscatedProfileId = obfuscatedProfileId
        self.region = region
        self.isLicenceTester = isLicenceTester
    }
}
