/// One read of a one-time purchase on Google Play.
///
/// The fact's `assertedAt` is when it was asked, by the store's clock: `Inquiry.instant` tells.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
public struct PlayPurchase: Hashable, Sendable {
    public var token: PlayToken
    /// When it was asked, by our clock: it may not precede what prompted it.
    public var askedAt: Instant
    public var state: State
    public var items: [Item]
    public var orderId: String?
    /// When it was paid; nil while it is pending.
    public var completedAt: Instant?
    /// Nil when not stated; a purchase that stays unacknowledged is refunded by the store.
    public var isAcknowledged: Bool?
    /// Whether a licence tester bought it.
    public var isTest: Bool
    /// ISO 3166-1 alpha-2.
    public var region: String?
    /// The account the app named when it was bought, if any.
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
        /// Whether the app has used it up.
        public var isConsumed: Bool
        /// Nil when not stated.
        public var quantity: Int64?
        /// How many of them can still be refunded; nil when not stated.
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

/// An order that Google Play voided, or its bare word that a subscription was revoked. For a
/// subscription it may name the reason of an end and never brings one about.
public struct PlayVoidedOrder: Hashable, Sendable {
    public var token: PlayToken
    /// Nil where the whole purchase was revoked without naming an order.
    public var orderId: String?
    /// When the store voided it.
    public var date: Instant
    /// Whether only some of several were taken back.
    public var isPartial: Bool
    /// The store's number for why, where stated.
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

/// What a notification of Google Play says by its bare type, for an app that has no credentials to
/// ask with. With credentials a notification prompts a read and is no fact.
public struct PlayNotice: Hashable, Sendable {
    public var token: PlayToken
    public var kind: Kind
    /// The product, which newer notifications do not name.
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
        /// Not the store's: a device presented the token as a purchase of `productId`. It gives
        /// nothing by itself, and names the product where notifications do not.
        case presented
        case unrecognised(String)
    }
}
