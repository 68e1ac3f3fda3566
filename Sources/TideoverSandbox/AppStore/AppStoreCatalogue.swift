/// An app as defined in App Store Connect: its identity in notifications, and its products.
public struct AppStoreApp: Hashable, Codable, Sendable {
    /// The id in the bundle, such as `com.example.cards`.
    public let bundleId: String
    /// The app's number in the store.
    public let appAppleId: Int64
    /// The version of the build that the customers use.
    public let bundleVersion: String
    /// The environment in every payload of the store.
    public let environment: AppStoreEnvironment
    /// The speed of renewals; production allows only real time.
    public let renewalRate: RenewalRate
    /// The subscriptions on sale.
    public let products: [AppStoreProduct]
    /// The other products on sale.
    public let oneTimeProducts: [AppStoreOneTimeProduct]

    /// Creates an app that sells these products.
    public init(
        bundleId: String,
        appAppleId: Int64 = 1_234_567_890,
        bundleVersion: String = "1",
        environment: AppStoreEnvironment = .production,
        renewalRate: RenewalRate = .realTime,
        products: [AppStoreProduct],
        oneTimeProducts: [AppStoreOneTimeProduct] = []
    ) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.bundleVersion = bundleVersion
        self.environment = environment
        self.renewalRate = renewalRate
        self.products = products
        self.oneTimeProducts = oneTimeProducts
    }

    var tempo: StoreBillingSpeed { StoreBillingSpeed(environment, renewalRate) }

    func product(_ id: String) -> AppStoreProduct? {
        products.first { $0.id == id }
    }

    func oneTimeProduct(_ id: String?) -> AppStoreOneTimeProduct? {
        oneTimeProducts.first { $0.id == id }
    }
}

/// The environment that a simulated store claims. The claim proves nothing: a receiver must rely on
/// the root certificate of the signature.
public enum AppStoreEnvironment: String, CaseIterable, Hashable, Codable, Sendable {
    case production = "Production"
    case sandbox = "Sandbox"
}

/// An auto-renewable subscription on sale.
public struct AppStoreProduct: Hashable, Codable, Sendable {
    /// The product id, such as `cards.pro.monthly`.
    public let id: String
    /// The group's name; a customer holds at most one subscription of a group.
    public let group: String
    /// The rank in the group: 1 is the highest, and of equal ranks neither is an upgrade.
    public let level: Int
    /// The period that one payment covers.
    public let period: StorePeriod
    /// The length of the free trial for new customers of the group.
    public let trial: StorePeriod?
    /// The price of one period.
    public let price: StorePrice
    /// The offer for new customers of the group: the free trial, or an introductory offer instead.
    public let introductory: AppStoreOffer?
    /// The offers that can be redeemed, by name.
    public let offers: [AppStoreOffer]
    /// The length of service after a failed payment.
    public let grace: BillingGrace
    /// The failed payments after which grace is given.
    public let graceScope: BillingGraceScope
    /// Whether the product can be shared with the purchaser's family.
    public let isFamilyShareable: Bool

    /// Creates a product, by default without free trial, offers and grace.
    public init(
        id: String,
        group: String,
        level: Int = 1,
        period: StorePeriod,
        trial: StorePeriod? = nil,
        introductory: AppStoreOffer? = nil,
        offers: [AppStoreOffer] = [],
        price: StorePrice,
        grace: BillingGrace = .off,
        graceScope: BillingGraceScope = .allRenewals,
        isFamilyShareable: Bool = false
    ) {
        precondition(trial == nil || introductory == nil, "new customers are offered one thing")
        self.id = id
        self.group = group
        self.level = level
        self.period = period
        self.trial = trial
        self.introductory =
            introductory
            ?? trial.map {
                let nothing = StorePrice(milliunits: 0, currency: price.currency)
                return AppStoreOffer(.introductory, .freeTrial, period: $0, price: nothing)
            }
        self.offers = offers
        self.price = price
        self.grace = grace
        self.graceScope = graceScope
        self.isFamilyShareable = isFamilyShareable
    }

    /// The group's number in the store. It belongs to the catalogue and does not depend on the
    /// seed.
    var groupNumber: String {
        let hash = group.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        return String(20_000_000 + hash % 10_000_000)
    }
}

/// How long the App Store keeps a subscription in service while it retries a failed payment.
public enum BillingGrace: String, CaseIterable, Hashable, Codable, Sendable {
    case off
    case threeDays = "P3D"
    case sixteenDays = "P16D"
    case twentyEightDays = "P28D"

    var days: Int? {
        switch self {
        case .off: nil
        case .threeDays: 3
        case .sixteenDays: 16
        case .twentyEightDays: 28
        }
    }
}

/// A price in the App Store's format.
public struct StorePrice: Hashable, Codable, Sendable {
    /// Thousandths of the currency's main unit, for every currency.
    public let milliunits: Int64
    /// ISO 4217.
    public let currency: String

    /// Creates an amount in thousandths of the main unit.
    public init(milliunits: Int64, currency: String) {
        self.milliunits = milliunits
        self.currency = currency
    }

    /// Reads an amount with at most three decimals and a currency, such as `9.99 USD`.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 3,
            parts[1].utf8.allSatisfy({ (0x41...0x5A).contains($0) }),
            let milliunits = StorePrice.milliunits(parts[0])
        else { return nil }
        self.init(milliunits: milliunits, currency: String(parts[1]))
    }

    private static func milliunits(_ amount: Substring) -> Int64? {
        let parts = amount.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...2).contains(parts.count), (1...9).contains(whole.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        guard parts.count == 2 else { return Int64(whole).map { $0 * 1000 } }
        guard (1...3).contains(parts[1].count) else { return nil }
        let decimals = parts[1] + String(repeating: "0", count: 3 - parts[1].count)
        return Int64(whole + decimals)
    }
}

/// A country's store.
public struct Storefront: Hashable, Codable, Sendable {
    /// ISO 3166-1 alpha-3.
    public let country: String
    /// Apple's number for it.
    public let id: String

    /// Creates a store from its country and number.
    public init(country: String, id: String) {
        self.country = country
        self.id = id
    }

    /// The store of the United States.
    public static let unitedStates = Storefront(country: "USA", id: "143441")

    /// The countries that a scenario can name.
    public static let known: [Storefront] = [
        unitedStates,
        Storefront(country: "AUS", id: "143460"), Storefront(country: "CAN", id: "143455"),
        Storefront(country: "DEU", id: "143443"), Storefront(country: "FRA", id: "143442"),
        Storefront(country: "GBR", id: "143444"), Storefront(country: "JPN", id: "143462"),
    ]
}

/// A person with an Apple Account who uses the app.
public struct StoreCustomer: Hashable, Codable, Sendable {
    /// The person's name in the scenario; never sent.
    public let name: String
    /// The token that the app sets at every purchase; nil if the app sets none.
    public let appAccountToken: String?
    /// The country that the account is registered in.
    public let storefront: Storefront

    /// The person's id in the system under test. The accounts of one person in both stores share
    /// one token.
    public var person: String { appAccountToken ?? name }

    /// Creates a customer, by default of the United States.
    public init(name: String, appAccountToken: String?, storefront: Storefront = .unitedStates) {
        self.name = name
        self.appAccountToken = appAccountToken
        self.storefront = storefront
    }
}
