/// An app as the Play Console knows it, and what it sells.
public struct GooglePlayApp: Hashable, Codable, Sendable {
    /// The application id, such as `com.example.cards`.
    public let packageName: String
    /// What is sold by subscription.
    public let subscriptions: [GooglePlaySubscriptionProduct]
    /// What is sold once.
    public let products: [GooglePlayOneTimeProduct]

    /// An app that sells these subscriptions and products.
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

    /// What a choice means; nil if it is not on sale. Without a base plan the first is meant.
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

/// A base plan of a product, and the offer it is taken with.
struct GooglePlayPlan: Hashable, Codable, Sendable {
    let product: String
    let basePlan: GooglePlayBasePlan
    let offer: GooglePlayOffer?
}

/// A subscription on sale, with the plans it can be had in.
public struct GooglePlaySubscriptionProduct: Hashable, Codable, Sendable {
    /// The product id, such as `cards.pro`.
    public let id: String
    /// Never empty.
    public let basePlans: [GooglePlayBasePlan]

    /// A subscription with these base plans.
    public init(id: String, basePlans: [GooglePlayBasePlan]) {
        self.id = id
        self.basePlans = basePlans
    }
}

/// How a subscription is paid for.
public struct GooglePlayBasePlan: Hashable, Codable, Sendable {
    /// The base plan's id, such as `monthly`.
    public let id: String
    /// How it goes on at its expiry.
    public let kind: Kind
    /// How long one payment lasts.
    public let period: StorePeriod
    /// What one period costs.
    public let price: GooglePlayPrice
    /// Days of service after a failed payment: 0 to 30, and at most one period.
    public let graceDays: Int64
    /// Days without service in which the payment is still tried: 0 to 60.
    public let holdDays: Int64
    /// What a customer can take it with.
    public let offers: [GooglePlayOffer]

    /// How a plan goes on at its expiry.
    public enum Kind: Hashable, Codable, Sendable {
        case autoRenewing
        /// It ends unless the customer tops it up.
        case prepaid
        /// The customer commits to a number of payments, and after them to as many again or to none.
        case instalments(payments: Int64, renewsCommitment: Bool)
    }

    /// A base plan. Without a length of the hold Google's own holds: 60 days less the grace.
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

/// What a base plan begins with.
public struct GooglePlayOffer: Hashable, Codable, Sendable {
    /// The offer's id, such as `launch`.
    public let id: String
    /// Words of the developer's own.
    public let tags: [String]
    /// What comes before the base plan's own price, in this order.
    public let phases: [Phase]

    /// A stretch of time at a price of its own.
    public struct Phase: Hashable, Codable, Sendable {
        /// How long one payment, or the free trial, lasts.
        public let period: StorePeriod
        /// What a period costs; nil for a free trial.
        public let price: GooglePlayPrice?
        /// How many periods it lasts.
        public let count: Int

        /// A phase; without a price a free trial.
        public init(period: StorePeriod, price: GooglePlayPrice? = nil, count: Int = 1) {
            self.period = period
            self.price = price
            self.count = count
        }
    }

    /// An offer of these phases.
    public init(id: String, tags: [String] = [], phases: [Phase]) {
        self.id = id
        self.tags = tags
        self.phases = phases
    }
}

/// Something sold once.
public struct GooglePlayOneTimeProduct: Hashable, Codable, Sendable {
    /// The product id, such as `cards.lifetime`.
    public let id: String
    /// Whether it is used up, and can then be bought again.
    public let isConsumable: Bool
    /// What one costs.
    public let price: GooglePlayPrice

    /// A product, by default one that lasts.
    public init(id: String, isConsumable: Bool = false, price: GooglePlayPrice) {
        self.id = id
        self.isConsumable = isConsumable
        self.price = price
    }
}

/// A price, which can differ from country to country.
public struct GooglePlayPrice: Hashable, Codable, Sendable {
    /// What is asked where nothing else is said.
    public let standard: StorePrice
    /// Prices by ISO 3166-1 alpha-2 code.
    public let regions: [String: StorePrice]

    /// A price with these exceptions.
    public init(_ standard: StorePrice, regions: [String: StorePrice] = [:]) {
        self.standard = standard
        self.regions = regions
    }

    func price(in region: String) -> StorePrice { regions[region] ?? standard }
}

/// A person with a Google account who uses the app.
public struct GooglePlayCustomer: Hashable, Codable, Sendable {
    /// How the story calls the person; never on the wire.
    public let name: String
    /// What the app sets at every purchase (`setObfuscatedAccountId`).
    public let obfuscatedAccountId: String?
    /// What the app sets at every purchase (`setObfuscatedProfileId`).
    public let obfuscatedProfileId: String?
    /// The country of the payments profile, ISO 3166-1 alpha-2.
    public let region: String
    /// Whether purchases are tests, whose periods are minutes.
    public let isLicenceTester: Bool

    /// A customer, by default of the United States.
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
