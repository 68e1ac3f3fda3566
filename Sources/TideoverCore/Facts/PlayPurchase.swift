/// One read of a one-time purchase on Google Play.
///
/// The fact's `assertedAt` is when the request was sent, by the store's clock; see
/// `Inquiry.instant`.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
public struct PlayPurchase: Hashable, Sendable {
    public var token: PlayToken
    /// When the request was sent, by our clock. It may not precede the event that prompted it.
    public var askedAt: Instant
    public var state: State
    public var items: [Item]
    public var orderId: String?
    /// When it was paid; nil while it is pending.
    public var completedAt: Instant?
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
        items: [Item],
        orderId: String? = nil,
        completedAt: Instant? = nil,
        isAcknowledged: Bool? = nil,
        isTest: Bool = false,
        region: String? = nil,
        accountId: CustomerID? = nil
    ) {
        self.token = token
        self.askedAt = askedAt
        self.state = state
        self.items = items
        self.orderId = orderId
        self.completedAt = completedAt
        self.isAcknowledged = isAcknowledged
        self.isTest = isTest
        self.region = region
        self.accountId = accountId
    }

    public enum State: Hashable, Sendable {
        case purchased, pending, cancelled
        case unrecognised(String)
    }

    /// One product of the purchase.
    public struct Item: Hashable, Sendable {
        public var productId: String
        /// Whether the app has consumed it.
        public var isConsumed: Bool
        /// Nil if not stated.
        public var quantity: Int64?
        /// How many units can still be refunded; nil if not stated.
        public var refundableQuantity: Int64?

        public init(
            productId: String,
            isConsumed: Bool = false,
            quantity: Int64? = nil,
            refundableQuantity: Int64? = nil
        ) {
            self.productId = productId
            self.isConsumed = isConsumed
            self.quantity = quantity
            self.refundableQuantity = refundableQuantity
        }
    }
}

/// An order that Google Play voided, or a bare report that a subscription was revoked. For a
/// subscription it may give the reason of an end; it never causes one.
public struct PlayVoidedOrder: Hashable, Sendable {
    public var token: PlayToken
    /// Nil if the whole purchase was revoked without an order ID.
    public var orderId: String?
    /// When the store voided it.
    public var date: Instant
    /// Whether only part of the quantity was revoked.
    public var isPartial: Bool
    /// The store's reason code, if stated.
    public var reason: Int64?

    public init(
        token: PlayToken,
        orderId: String? = nil,
        date: Instant,
        isPartial: Bool = false,
        reason: Int64? = nil
    ) {
        self.token = token
        self.orderId = orderId
        self.date = date
        self.isPartial = isPartial
        self.reason = reason
    }
}

/// The content of a bare Google Play notification, for an app without API credentials. With
/// credentials a notification prompts a read and is not a fact.
public struct PlayNotice: Hashable, Sendable {
    public var token: PlayToken
    public var kind: Kind
    /// The product. Newer notifications omit it.
    public var productId: String?

    public init(token: PlayToken, kind: Kind, productId: String? = nil) {
        self.token = token
        self.kind = kind
        self.productId = productId
    }

    public enum Kind: Hashable, Sendable {
        case recovered, renewed, cancelled, purchased, onHold, inGrace, restarted, deferred
        case paused, pauseScheduled, revoked, expired, itemsChanged, cancellationScheduled
        case priceChanged, pendingCancelled
        case oneTimePurchased, oneTimeCancelled
        /// Not from the store: a device presented the token as a purchase of `productId`. It grants
        /// nothing by itself. It provides the product for notifications without one.
        case presented
        case unrecognised(String)
    }
}
