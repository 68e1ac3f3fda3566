package import TideoverCore

/// One order and its state.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
package struct PlayOrder: Hashable, Sendable {
    package let orderId: String?
    /// A secret.
    package let purchaseToken: String?
    package let state: OpenEnum<State>?
    package let createTime: Instant?
    package let lastEventTime: Instant?
    /// The amount that the customer paid, including tax.
    package let total: Money?
    package let tax: Money?
    /// The developer's share of the amount, in the customer's currency.
    package let developerRevenueInBuyerCurrency: Money?
    package let lineItems: [LineItem]
    package let history: History?

    package enum State: String, Hashable, Sendable, CaseIterable {
        case pending = "PENDING"
        case processed = "PROCESSED"
        case canceled = "CANCELED"
        case pendingRefund = "PENDING_REFUND"
        case partiallyRefunded = "PARTIALLY_REFUNDED"
        case refunded = "REFUNDED"
    }

    /// One product of the order.
    package struct LineItem: Hashable, Sendable {
        package let productId: String?
        package let total: Money?
        package let tax: Money?
        package let listingPrice: Money?
        /// Nil for an order without a subscription.
        package let subscription: Subscription?
        /// The quantity of a one-time product; nil for a subscription.
        package let quantity: Int64?
    }

    /// The period of a subscription that an order pays for.
    package struct Subscription: Hashable, Sendable {
        package let basePlanId: String?
        package let offerId: String?
        package let offerPhase: OpenEnum<SubscriptionPurchaseV2.OriginalPhase>?
        package let servicePeriodStartTime: Instant?
        package let servicePeriodEndTime: Instant?
    }

    /// The events of an order and their times.
    package struct History: Hashable, Sendable {
        package let processedTime: Instant?
        package let canceledTime: Instant?
        package let refundedTime: Instant?
        package let refundReason: OpenEnum<RefundReason>?
        package let partialRefunds: [PartialRefund]
    }

    package enum RefundReason: String, Hashable, Sendable, CaseIterable {
        case other = "OTHER"
        case chargeback = "CHARGEBACK"
    }

    package struct PartialRefund: Hashable, Sendable {
        package let createTime: Instant?
        package let processTime: Instant?
        package let state: OpenEnum<PartialRefundState>?
    }

    package enum PartialRefundState: String, Hashable, Sendable, CaseIterable {
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
