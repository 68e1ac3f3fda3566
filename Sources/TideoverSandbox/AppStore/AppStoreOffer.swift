/// A temporary discount, at the first purchase or redeemed later.
/// https://developer.apple.com/documentation/appstoreserverapi/offertype
public struct AppStoreOffer: Hashable, Codable, Sendable {
    /// The customers it is for.
    public let kind: Kind
    /// How it is paid.
    public let mode: Mode
    /// The name in App Store Connect; nil for an introductory offer, which has no name.
    public let identifier: String?
    /// The period that one payment covers. A pay-as-you-go payment covers one of the product's
    /// periods.
    public let period: StorePeriod
    /// The number of payments; more than one only for a pay-as-you-go offer.
    public let payments: Int
    /// The price of each payment; zero for a free trial.
    public let price: StorePrice

    /// Creates an offer, by default of one payment.
    public init(
        _ kind: Kind,
        _ mode: Mode,
        identifier: String? = nil,
        period: StorePeriod,
        payments: Int = 1,
        price: StorePrice
    ) {
        precondition(
            payments == 1 || (payments > 1 && mode == .payAsYouGo),
            "only a pay-as-you-go offer has more than one payment"
        )
        self.kind = kind
        self.mode = mode
        self.identifier = identifier
        self.period = period
        self.payments = payments
        self.price = price
    }

    /// Apple's `offerType`.
    public enum Kind: Int64, CaseIterable, Hashable, Codable, Sendable {
        /// For customers who never had one of the group.
        case introductory = 1
        /// For current and former subscribers.
        case promotional = 2
        /// For holders of a code.
        case offerCode = 3
        /// For lapsed subscribers.
        case winBack = 4
    }

    /// Apple's `offerDiscountType`.
    public enum Mode: String, CaseIterable, Hashable, Codable, Sendable {
        case freeTrial = "FREE_TRIAL"
        case payAsYouGo = "PAY_AS_YOU_GO"
        case payUpFront = "PAY_UP_FRONT"
    }

    /// Returns the period that one payment of the offer covers for a product.
    func length(of product: AppStoreProduct) -> StorePeriod {
        mode == .payAsYouGo ? product.period : period
    }
}

/// The failed renewals with grace, as a developer chooses them in App Store Connect.
public enum BillingGraceScope: String, CaseIterable, Hashable, Codable, Sendable {
    case allRenewals = "all"
    /// Not the first payment after a free period.
    case paidRenewals = "paidOnly"
}
