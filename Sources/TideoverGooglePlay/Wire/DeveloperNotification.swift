package import TideoverCore
package import TideoverJSON

/// A real-time developer notification. It reports that a purchase changed, with few details.
/// https://developer.android.com/google/play/billing/rtdn-reference
package struct DeveloperNotification: Hashable, Sendable {
    /// The version of the format, `1.0`.
    package let version: String?
    package let packageName: String?
    /// When the event occurred, by the store's clock.
    package let eventTime: Instant?
    /// The one object that the notification is about; nil if this version knows none of its
    /// objects.
    package let content: Content?
    /// The names of the objects that this version does not know, in the order written.
    package let unknownMembers: [String]

    /// The subject of a notification.
    package enum Content: Hashable, Sendable {
        case subscription(Subscription)
        case oneTimeProduct(OneTimeProduct)
        case voidedPurchase(VoidedPurchase)
        case pendingRefundReview(PendingRefundReview)
        case test(version: String?)
    }

    /// An event of a subscription.
    package struct Subscription: Hashable, Sendable {
        package let version: String?
        package let notificationType: OpenEnum<SubscriptionType>?
        package let purchaseToken: String?
        /// The product; newer notifications omit it.
        package let subscriptionId: String?
    }

    /// An event of a one-time purchase.
    package struct OneTimeProduct: Hashable, Sendable {
        package let version: String?
        package let notificationType: OpenEnum<OneTimeProductType>?
        package let purchaseToken: String?
        package let sku: String?
    }

    /// An order was voided.
    package struct VoidedPurchase: Hashable, Sendable {
        package let purchaseToken: String?
        package let orderId: String?
        package let productType: OpenEnum<ProductType>?
        package let refundType: OpenEnum<RefundType>?
    }

    /// A refund request that the developer may comment on first. It is not a refund.
    package struct PendingRefundReview: Hashable, Sendable {
        package let version: String?
        package let pendingRefundToken: String?
        package let orderId: String?
        package let refundReason: Int64?
    }
}

extension DeveloperNotification {
    /// The event types of subscription notifications.
    package enum SubscriptionType: Int64, Hashable, Sendable, CaseIterable {
        case recovered = 1
        case renewed = 2
        case canceled = 3
        case purchased = 4
        case onHold = 5
        case inGracePeriod = 6
        case restarted = 7
        case priceChangeConfirmed = 8
        case deferred = 9
        case paused = 10
        case pauseScheduleChanged = 11
        case revoked = 12
        case expired = 13
        case itemsChanged = 17
        case cancellationScheduled = 18
        case priceChangeUpdated = 19
        case pendingPurchaseCanceled = 20
        case priceStepUpConsentUpdated = 22
    }

    /// The event types of one-time purchase notifications.
    package enum OneTimeProductType: Int64, Hashable, Sendable, CaseIterable {
        case purchased = 1
        /// A pending purchase was cancelled.
        case canceled = 2
    }

    /// The product type of a voided order.
    package enum ProductType: Int64, Hashable, Sendable, CaseIterable {
        case subscription = 1
        case oneTime = 2
    }

    /// The refunded part of a voided order.
    package enum RefundType: Int64, Hashable, Sendable, CaseIterable {
        case full = 1
        /// Only some items of one product.
        case quantityBasedPartial = 2
    }
}

// MARK: - Reading

extension DeveloperNotification {
    /// Reads a notification from any source.
    package init(payload: JSONNode) throws(PlayRefusal) {
        let fields = try WireFields(payload, path: "notification")
        version = try fields.string("version")
        packageName = try fields.text("packageName")
        eventTime = try fields.milliseconds("eventTimeMillis")
        content = try Content(fields)
        unknownMembers = fields.names.filter { !Self.members.contains($0) }
    }

    private static let members: Set<String> = Set(Content.members)
        .union(["version", "packageName", "eventTimeMillis"])

    /// The token of the purchase, if the notification has one.
    package var purchaseToken: String? {
        switch content {
        case .subscription(let notice): notice.purchaseToken
        case .oneTimeProduct(let notice): notice.purchaseToken
        case .voidedPurchase(let notice): notice.purchaseToken
        case .pendingRefundReview, .test, nil: nil
        }
    }

    /// A short name of the event for logs and counters: the member, and its number if it has one.
    package var announcement: String {
        switch content {
        case .subscription(let notice):
            "subscription " + (notice.notificationType.map { "\($0.raw)" } ?? "none")
        case .oneTimeProduct(let notice):
            "oneTimeProduct " + (notice.notificationType.map { "\($0.raw)" } ?? "none")
        case .voidedPurchase: "voidedPurchase"
        case .pendingRefundReview: "pendingRefundReview"
        case .test: "test"
        case nil: "unknown"
        }
    }
}

extension DeveloperNotification.Content {
    fileprivate static let members = [
        "subscriptionNotification", "oneTimeProductNotification", "voidedPurchaseNotification",
        "pendingRefundReviewNotification", "testNotification",
    ]

    fileprivate init?(_ fields: WireFields) throws(PlayRefusal) {
        var found: [(name: String, content: Self)] = []
        for name in Self.members {
            guard let content = try fields.fields(name) else { continue }
            found.append((name, try Self(name, content)))
        }
        guard found.count <= 1 else { throw .ambiguousContent(members: found.map(\.name)) }
        guard let only = found.first else { return nil }
        self = only.content
    }

    private init(_ name: String, _ fields: WireFields) throws(PlayRefusal) {
        switch name {
        case "subscriptionNotification": self = .subscription(try .init(fields))
        case "oneTimeProductNotification": self = .oneTimeProduct(try .init(fields))
        case "voidedPurchaseNotification": self = .voidedPurchase(try .init(fields))
        case "pendingRefundReviewNotification": self = .pendingRefundReview(try .init(fields))
        default: self = .test(version: try fields.string("version"))
        }
    }
}

extension DeveloperNotification.Subscription {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        version = try fields.string("version")
        notificationType = try fields.word("notificationType")
        purchaseToken = try fields.text("purchaseToken")
        subscriptionId = try fields.text("subscriptionId")
    }
}

extension DeveloperNotification.OneTimeProduct {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        version = try fields.string("version")
        notificationType = try fields.word("notificationType")
        purchaseToken = try fields.text("purchaseToken")
        sku = try fields.text("sku")
    }
}

extension DeveloperNotification.VoidedPurchase {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        purchaseToken = try fields.text("purchaseToken")
        orderId = try fields.text("orderId")
        productType = try fields.word("productType")
        refundType = try fields.word("refundType")
    }
}

extension DeveloperNotification.PendingRefundReview {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        version = try fields.string("version")
        pendingRefundToken = try fields.text("pendingRefundToken")
        orderId = try fields.text("orderId")
        refundReason = try fields.integer("refundReason")
    }
}
