/// Terms better than the usual ones, for a while: what a customer can have at the first purchase, or redeem.
/// https://developer.apple.com/documentation/appstoreserverapi/offertype
public struct AppStoreOffer: Hashable, Codable, Sendable {
    /// Whom it is for.
    public let kind: Kind
    /// How it is paid for.
    public let mode: Mode
    /// What App Store Connect calls it; nil for an introductory offer, which has no name.
    public let identifier: String?
    /// How long one payment of it lasts. Who pays as they go, pays for one of the product's periods.
    public let period: StorePeriod
    /// How many payments it goes on for; more than one only for those who pay as they go.
    public let payments: Int
    /// What each payment costs; nothing for a free trial.
    public let price: StorePrice

    /// An offer, by default of one payment.
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
            "only who pays as they go pays more than once"
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
        /// For those who never had one of the group.
        case introductory = 1
        /// For those who subscribe or did.
        case promotional = 2
        /// For whoever has a code.
        case offerCode = 3
        /// For those who left.
        case winBack = 4
    }

    /// Apple's `offerDiscountType`.
    public enum Mode: String, CaseIterable, Hashable, Codable, Sendable {
        case freeTrial = "FREE_TRIAL"
        case payAsYouGo = "PAY_AS_YOU_GO"
        case payUpFront = "PAY_UP_FRONT"
    }

    /// How long one payment of the offer lasts for a product.
    func length(of product: AppStoreProduct) -> StorePeriod {
        mode == .payAsYouGo ? product.period : period
    }
}

/// Which failed renewals get grace, as App Store Connect lets a developer choose.
public enum BillingGraceScope: String, CaseIterable, Hashable, Codable, Sendable {
    case allRenewals = "all"
    /// Not the first payment after something free.
    case paidRenewals = "paidOnly"
}
