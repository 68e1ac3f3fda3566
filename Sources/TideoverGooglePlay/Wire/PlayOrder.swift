public import TideoverCore

/// One order and its state.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
public struct PlayOrder: Hashable, Sendable {
    public let orderId: String?
    /// A secret.
    public let purchaseToken: String?
    public let state: OpenEnum<State>?
    public let createTime: Instant?
    public let lastEventTime: Instant?
    /// The amount that the customer paid, including tax.
    public let total: Money?
    public let tax: Money?
    /// The developer's share of the amount, in the customer's currency.
    public let developerRevenueInBuyerCurrency: Money?
    public let lineItems: [LineItem]
    public let history: History?

    public enum State: String, Hashable, Sendable, CaseIterable {
        case pending = "PENDING"
        case processed = "PROCESSED"
        case canceled = "CANCELED"
        case pendingRefund = "PENDING_REFUND"
        case partiallyRefunded = "PARTIALLY_REFUNDED"
        case refunded = "REFUNDED"
    }

    /// One product of the order.
    public struct LineItem: Hashable, Sendable {
        public let productId: String?
        public let total: Money?
        public let tax: Money?
        public let listingPrice: Money?
        /// Nil for an order without a subscription.
        public let subscription: Subscription?
        /// The quantity of a one-time product; nil for a subscription.
        public let quantity: Int64?
    }

    /// The period of a subscription that an order pays for.
    public struct Subscription: Hashable, Sendable {
        public let basePlanId: String?
        public let offerId: String?
        public let offerPhase: OpenEnum<SubscriptionPurchaseV2.OriginalPhase>?
        public let servicePeriodStartTime: Instant?
        public let servicePeriodEndTime: Instant?
    }

    /// The events of an order and their times.
    public struct History: Hashable, Sendable {
        public let processedTime: Instant?
        public let canceledTime: Instant?
        public let refundedTime: Instant?
        public let refundReason: OpenEnum<RefundReason>?
        public let partialRefunds: [PartialRefund]
    }

    public enum RefundReason: String, Hashable, Sendable, CaseIterable {
        case other = "OTHER"
        case chargeback = "CHARGEBACK"
    }

    public struct PartialRefund: Hashable, Sendable {
        public let createTime: Instant?
        public let processTime: Instant?
        public let state: OpenEnum<PartialRefundState>?
    }

    public enum PartialRefundState: String, Hashable, Sendable, CaseIterable {
        case pending = "PENDING"
        case processed = "PROCESSED_SUCCESSFULLY"
    }
}

// MARK: - Reading

extension PlayOrder {
    init(_ fields: WireFields) throws(PlayRefusal) {
        orderId = try fields.text("orderId")
        purchaseToken = try fields.text("purchaseToken")
        state = try fields.word("state")
        createTime = try fields.date("createTime")
        lastEventTime = try fields.date("lastEventTime")
        total = try fields.money("total")
        tax = try fields.money("tax")
        developerRevenueInBuyerCurrency = try fields.money("developerRevenueInBuyerCurrency")
        lineItems = try fields.list("lineItems", LineItem.init)
        history = try fields.object("orderHistory", History.init)
    }
}

extension PlayOrder.LineItem {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        productId = try fields.text("productId")
        total = try fields.money("total")
        tax = try fields.money("tax")
        listingPrice = try fields.money("listingPrice")
        subscription = try fields.object("subscriptionDetails", PlayOrder.Subscription.init)
        quantity = try fields.fields("oneTimePurchaseDetails")?.integer("quantity")
    }
}

extension PlayOrder.Subscription {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        basePlanId = try fields.text("basePlanId")
        offerId = try fields.text("offerId")
        offerPhase = try fields.word("offerPhase")
        servicePeriodStartTime = try fields.date("servicePeriodStartTime")
        servicePeriodEndTime = try fields.date("servicePeriodEndTime")
    }
}

extension PlayOrder.History {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        let refund = try fields.fields("refundEvent")
        processedTime = try fields.fields("processedEvent")?.date("eventTime")
        canceledTime = try fields.fields("cancellationEvent")?.date("eventTime")
        refundedTime = try refund?.date("eventTime")
        refundReason = try refund?.word("refundReason")
        partialRefunds = try fields.list("partialRefundEvents", PlayOrder.PartialRefund.init)
    }
}

extension PlayOrder.PartialRefund {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        createTime = try fields.date("createTime")
        processTime = try fields.date("processTime")
        state = try fields.word("state")
    }
}
