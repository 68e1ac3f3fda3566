package import TideoverCore
import TideoverHTTP
import TideoverJSON

// Every request throws `PlayAPIFailure`, or `CancellationError` if the task was cancelled.

// MARK: - Purchases

extension PlayAPI {
    /// Requests the current state of a subscription by its purchase token.
    package func subscription(
        _ token: String
    ) async throws -> PlayAnswer<SubscriptionPurchaseV2> {
        let path = "purchases/subscriptionsv2/tokens/\(try segment(token))"
        return try await ask(PlayQuestion(path: path), SubscriptionPurchaseV2.init)
    }

    /// Requests the current state of a one-time purchase by its purchase token.
    package func product(_ token: String) async throws -> PlayAnswer<ProductPurchaseV2> {
        let path = "purchases/productsv2/tokens/\(try segment(token))"
        return try await ask(PlayQuestion(path: path), ProductPurchaseV2.init)
    }

    /// Acknowledges a subscription purchase. The store refunds a purchase that is not acknowledged
    /// within three days. Any product ID of the subscription is valid.
    package func acknowledge(subscription productId: String, _ token: String) async throws {
        let (product, token) = (try segment(productId), try segment(token))
        let path = "purchases/subscriptions/\(product)/tokens/\(token):acknowledge"
        try await tell(PlayQuestion(method: "POST", path: path, body: [:]))
    }

    /// Acknowledges a one-time purchase.
    package func acknowledge(product productId: String, _ token: String) async throws {
        let (product, token) = (try segment(productId), try segment(token))
        let path = "purchases/products/\(product)/tokens/\(token):acknowledge"
        try await tell(PlayQuestion(method: "POST", path: path, body: [:]))
    }
}

// MARK: - Changing a subscription

extension PlayAPI {
    /// The payments that a cancellation stops.
    package enum Cancellation: String, Hashable, Sendable, CaseIterable {
        /// The next renewal; the customer requested it and can undo it.
        case renewals = "USER_REQUESTED_STOP_RENEWALS"
        /// The next payment, including that of a commitment; the customer cannot undo it.
        case payments = "DEVELOPER_REQUESTED_STOP_PAYMENTS"
    }

    /// The amount to refund when a subscription is revoked.
    package enum Refund: Hashable, Sendable {
        /// The latest charge for each item.
        case full
        /// The share of the remaining period.
        case prorated
        /// One of several items.
        case item(productId: String)
    }

    /// Cancels a subscription; access continues until its expiry.
    package func cancel(_ token: String, stopping cancellation: Cancellation) async throws {
        let word = JSONValue.string(cancellation.rawValue)
        try await tell(
            PlayQuestion(
                method: "POST",
                path: "purchases/subscriptionsv2/tokens/\(try segment(token)):cancel",
                body: ["cancellationContext": ["cancellationType": word]]
            )
        )
    }

    /// Revokes a subscription immediately and refunds it.
    package func revoke(_ token: String, refunding refund: Refund) async throws {
        let context: JSONObject =
            switch refund {
            case .full: ["fullRefund": [:]]
            case .prorated: ["proratedRefund": [:]]
            case .item(let productId):
                ["itemBasedRefund": ["productId": .string(productId)]]
            }
        try await tell(
            PlayQuestion(
                method: "POST",
                path: "purchases/subscriptionsv2/tokens/\(try segment(token)):revoke",
                body: ["revocationContext": .object(context)]
            )
        )
    }

    /// Postpones the next renewal, by whole seconds and a year at most. Returns the new expiry of
    /// each product. `etag` is that of the subscription as last read. A dry run changes nothing.
    package func postpone(
        _ token: String,
        by length: Milliseconds,
        etag: String,
        asRehearsal isRehearsal: Bool = false
    ) async throws -> PlayAnswer<[DeferredExpiry]> {
        let seconds = length.count / 1000
        let longest = Milliseconds.days(365).count / 1000
        let isInRange = (1...longest).contains(seconds)
        try require(isInRange ? nil : .outOfRange(field: "deferDuration", 1...longest))
        let context: JSONObject = [
            "deferDuration": .string("\(seconds)s"), "etag": .string(etag),
            "validateOnly": .bool(isRehearsal),
        ]
        let question = PlayQuestion(
            method: "POST",
            path: "purchases/subscriptionsv2/tokens/\(try segment(token)):defer",
            body: ["deferralContext": .object(context)]
        )
        return try await ask(question) { fields throws(PlayRefusal) in
            try fields.list("itemExpiryTimeDetails", DeferredExpiry.init)
        }
    }
}

/// The expiry of a subscription's product after its renewal was postponed.
package struct DeferredExpiry: Hashable, Sendable {
    package let productId: String?
    package let expiryTime: Instant?

    init(_ fields: WireFields) throws(PlayRefusal) {
        productId = try fields.text("productId")
        expiryTime = try fields.date("expiryTime")
    }
}

// MARK: - Orders

extension PlayAPI {
    /// Requests one order and its state.
    package func order(_ orderId: String) async throws -> PlayAnswer<PlayOrder> {
        try await ask(PlayQuestion(path: "orders/\(try segment(orderId))"), PlayOrder.init)
    }

    /// Refunds an order. `revoking` also ends access to the purchase.
    package func refund(_ orderId: String, revoking: Bool) async throws {
        let query = [QueryItem(name: "revoke", value: revoking ? "true" : "false")]
        let path = "orders/\(try segment(orderId)):refund"
        try await tell(PlayQuestion(method: "POST", path: path, query: query))
    }

    /// Requests several orders, at most 1000, without duplicates. The response omits orders that
    /// the store does not know.
    package func orders(_ orderIds: [String]) async throws -> PlayAnswer<[PlayOrder]> {
        let range: ClosedRange<Int64> = 1...1000
        let isInRange = range.contains(Int64(orderIds.count))
        try require(isInRange ? nil : .outOfRange(field: "orderIds", range))
        try require(Set(orderIds).count == orderIds.count ? nil : .repeated)
        for id in orderIds { _ = try segment(id) }
        let query = orderIds.map { QueryItem(name: "orderIds", value: $0) }
        let question = PlayQuestion(path: "orders:batchGet", query: query)
        return try await ask(question) { fields throws(PlayRefusal) in
            try fields.list("orders", PlayOrder.init)
        }
    }
}
