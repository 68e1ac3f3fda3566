/// A Google Play purchase token in facts: an opaque ID, such as the token's digest. The token
/// itself is a secret.
public struct PlayToken: Hashable, Sendable, Comparable {
    public var id: String

    public init(_ id: String) {
        self.id = id
    }

    public static func < (a: PlayToken, b: PlayToken) -> Bool { a.id < b.id }
}

/// One read of a Google Play subscription: the store's response for a purchase token.
///
/// The fact's `assertedAt` is when the request was sent, by the store's clock; see
/// `Inquiry.instant`.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
public struct PlaySubscription: Hashable, Sendable {
    public var token: PlayToken
    /// When the request was sent, by our clock. It may not precede the event that prompted it.
    public var askedAt: Instant
    public var state: State
    public var items: [PlayItem]
    /// When the subscription was granted; nil while a first payment is awaited.
    public var startedAt: Instant?
    /// The token that this one replaces.
    public var replaces: PlayToken?
    /// The expired token that this one continues. It was bought outside the app, in the store.
    public var follows: PlayToken?
    /// When a pause is to end.
    public var resumesAt: Instant?
    /// Who ended it, if stated.
    public var cancellation: Cancellation?
    /// When the customer cancelled, if stated.
    public var cancelledAt: Instant?
    /// Nil if not stated. The store refunds a purchase that stays unacknowledged.
    public var isAcknowledged: Bool?
    /// Whether a licence tester bought it.
    public var isTest: Bool
    /// ISO 3166-1 alpha-2.
    public var region: String?
    /// The account that the app set at purchase, if any.
    public var accountId: CustomerID?

    public init(
        token: PlayToken,
        askedAt: Instant,
        state: State,
        items: [PlayItem] = [],
        startedAt: Instant? = nil,
        replaces: PlayToken? = nil,
        follows: PlayToken? = nil,
        resumesAt: Instant? = nil,
        cancellation: Cancellation? = nil,
        cancelledAt: Instant? = nil,
        isAcknowledged: Bool? = nil,
        isTest: Bool = false,
        region: String? = nil,
        accountId: CustomerID? = nil
    ) {
        self.token = token
        self.askedAt = askedAt
        self.state = state
        self.items = items
        self.startedAt = startedAt
        self.replaces = replaces
        self.follows = follows
        self.resumesAt = resumesAt
        self.cancellation = cancellation
        self.cancelledAt = cancelledAt
        self.isAcknowledged = isAcknowledged
        self.isTest = isTest
        self.region = region
        self.accountId = accountId
    }

    /// The store's state of the whole subscription.
    public enum State: Hashable, Sendable {
        /// A first payment is awaited.
        case pending
        case active, paused, inGrace, onHold
        /// Cancelled, but not over: access lasts until the expiry.
        case cancelled
        case expired
        /// The first payment was cancelled.
        case pendingCancelled
        case unrecognised(String)
    }

    /// Who ended a subscription.
    public enum Cancellation: Hashable, Sendable {
        case customer
        /// The store, for example after a payment that finally failed.
        case system
        case developer
        /// Another subscription replaced it.
        case replacement
        case unrecognised(String)
    }
}

/// One product of a Google Play subscription in one read.
public struct PlayItem: Hashable, Sendable {
    public var productId: String
    public var basePlan: String?
    public var offerId: String?
    /// When it expired, or will unless extended; nil before anything was granted.
    public var expiresAt: Instant?
    public var plan: Plan
    public var phase: Phase?
    /// The promotion code that the customer redeemed at signup; nil without one.
    public var promotionCode: PromotionCode?
    /// The latest paid order.
    public var orderId: String?
    /// The current price of each renewal, if stated.
    public var price: Money?
    /// The product that replaces this one at its expiry.
    public var replacement: String?
    /// Whether this product is removed from the subscription at its expiry.
    public var isRemovedAtExpiry: Bool
    public var priceChange: PriceChange?
    public var installments: Installments?

    public init(
        productId: String,
        basePlan: String? = nil,
        offerId: String? = nil,
        expiresAt: Instant?,
        plan: Plan,
        phase: Phase? = nil,
        promotionCode: PromotionCode? = nil,
        orderId: String? = nil,
        price: Money? = nil,
        replacement: String? = nil,
        isRemovedAtExpiry: Bool = false,
        priceChange: PriceChange? = nil,
        installments: Installments? = nil
    ) {
        self.productId = productId
        self.basePlan = basePlan
        self.offerId = offerId
        self.expiresAt = expiresAt
        self.plan = plan
        self.phase = phase
        self.promotionCode = promotionCode
        self.orderId = orderId
        self.price = price
        self.replacement = replacement
        self.isRemovedAtExpiry = isRemovedAtExpiry
        self.priceChange = priceChange
        self.installments = installments
    }

    /// How it continues at its expiry.
    public enum Plan: Hashable, Sendable {
        case autoRenewing(isOn: Bool)
        /// Paid in advance. It ends unless the customer tops it up, which is possible from the
        /// given instant, if stated.
        case prepaid(extendableFrom: Instant?)
        case unstated
    }

    /// The kind of the current period.
    public enum Phase: Hashable, Sendable {
        case base, freeTrial, introductory, proration
        case unrecognised(String)
    }

    /// A promotion code. The store states the text only of a code for many customers.
    public struct PromotionCode: Hashable, Sendable {
        public var text: String?

        public init(text: String? = nil) {
            self.text = text
        }
    }

    /// A change of price, and whether it awaits the customer's consent.
    public struct PriceChange: Hashable, Sendable {
        public var state: State
        public var price: Money?
        /// When the new price is first charged, if stated.
        public var chargedFrom: Instant?
        /// The last instant to consent, if stated.
        public var consentBy: Instant?

        public init(
            state: State,
            price: Money? = nil,
            chargedFrom: Instant? = nil,
            consentBy: Instant? = nil
        ) {
            self.state = state
            self.price = price
            self.chargedFrom = chargedFrom
            self.consentBy = consentBy
        }

        public enum State: Hashable, Sendable {
            /// Without the customer's consent the subscription will not renew.
            case awaitsConsent
            /// The customer is notified and need not consent.
            case announced
            case confirmed, applied, cancelled
            case unrecognised(String)
        }
    }

    /// The rest of a commitment that is paid in instalments.
    public struct Installments: Hashable, Sendable {
        public var remainingPayments: Int64?
        /// Whether the customer has cancelled. The cancellation counts once the commitment is over.
        public var isCancellationPending: Bool

        public init(remainingPayments: Int64?, isCancellationPending: Bool = false) {
            self.remainingPayments = remainingPayments
            self.isCancellationPending = isCancellationPending
        }
    }
}

extension PlayItem {
    /// Returns the price of the next renewal, at its expiry or at the end of a pause. A changed
    /// price counts from the first renewal that it is charged for, also while it awaits consent:
    /// without consent nothing is charged.
    func renewalPrice(resumingAt resumption: Instant?) -> Money? {
        guard let priceChange, let changed = priceChange.price, priceChange.state.isAhead else {
            return price
        }
        // Grace moves the expiry of the period before the failed renewal.
        let isLater =
            if let first = priceChange.chargedFrom, let expiresAt {
                first > max(expiresAt, resumption ?? expiresAt) + LineageHistory.sameEnd
            } else {
                false
            }
        return isLater ? price : changed
    }
}

extension PlayItem.PriceChange.State {
    /// Whether the changed price is not the current one yet.
    fileprivate var isAhead: Bool {
        switch self {
        case .awaitsConsent, .announced, .confirmed: true
        case .applied, .cancelled, .unrecognised: false
        }
    }
}

/// A replacement of one purchase token by another, stored in the lineage of the replaced token.
/// Within one lineage the reads report it themselves.
public struct PlayReplacement: Hashable, Sendable {
    /// The token that was replaced.
    public var token: PlayToken
    public var by: PlayToken
    /// The first instant at which the new token was itself entitled.
    public var from: Instant

    public init(token: PlayToken, by: PlayToken, from: Instant) {
        self.token = token
        self.by = by
        self.from = from
    }
}
