public import TideoverJSON

/// The events that the store reports to servers.
/// https://developer.android.com/google/play/billing/rtdn-reference
public enum GooglePlayEvent: Hashable, Sendable {
    case subscription(SubscriptionType, token: String)
    case oneTimeProduct(OneTimeType, token: String, product: String)
    case voidedPurchase(token: String, order: String, ProductType, RefundType)
    /// A refund was requested on which the developer may comment; it is not granted yet.
    case pendingRefundReview(refund: String, order: String, GooglePlayRefundReview)
    case tested

    /// The `notificationType` of a subscription.
    public enum SubscriptionType: Int64, CaseIterable, Hashable, Sendable {
        case recovered = 1
        case renewed = 2
        case cancelled = 3
        case purchased = 4
        case onHold = 5
        case inGracePeriod = 6
        case restarted = 7
        case deferred = 9
        case paused = 10
        case pauseScheduleChanged = 11
        case revoked = 12
        case expired = 13
        case itemsChanged = 17
        case cancellationScheduled = 18
        case priceChangeUpdated = 19
        case pendingPurchaseCancelled = 20
        case priceStepUpConsentUpdated = 22
    }

    /// The `notificationType` of a one-time purchase.
    public enum OneTimeType: Int64, CaseIterable, Hashable, Sendable {
        case purchased = 1
        /// Its pending payment was abandoned.
        case cancelled = 2
    }

    /// The kind of purchase of a voided order.
    public enum ProductType: Int64, CaseIterable, Hashable, Codable, Sendable {
        case subscription = 1
        case oneTime = 2
    }

    /// The voided part of an order.
    public enum RefundType: Int64, CaseIterable, Hashable, Sendable {
        case full = 1
        case quantityBasedPartial = 2
    }
}

/// The details of a refund request: the customer and the reason.
public struct GooglePlayRefundReview: Hashable, Sendable {
    /// Google's `refundReason`; 7 is a chargeback.
    public let reason: Int64
    /// The account id that the app set at the purchase.
    public let obfuscatedAccountId: String?
    /// The profile id that the app set at the purchase.
    public let obfuscatedProfileId: String?
}

/// A real-time developer notification.
public struct GooglePlayNotification: Hashable, Sendable {
    /// The app's package name.
    public let packageName: String
    /// The instant of the event in the store, in milliseconds since 1970.
    public let at: Int64
    /// The event.
    public let event: GooglePlayEvent
    /// The name of the customer it is about, if there is one; never sent.
    public let customer: String?

    /// The `DeveloperNotification` in a message's data.
    public var content: JSONObject {
        let (name, object) = member
        return [
            "version": "1.0", "packageName": .string(packageName),
            "eventTimeMillis": .string(String(at)), name: .object(object),
        ]
    }

    /// The object that describes the event, and its name.
    private var member: (name: String, object: JSONObject) {
        switch event {
        case .subscription(let type, let token):
            let object: JSONObject = [
                "version": "1.0", "notificationType": .integer(type.rawValue),
                "purchaseToken": .string(token),
            ]
            return ("subscriptionNotification", object)
        case .oneTimeProduct(let type, let token, let product):
            let object: JSONObject = [
                "version": "1.0", "notificationType": .integer(type.rawValue),
                "purchaseToken": .string(token), "sku": .string(product),
            ]
            return ("oneTimeProductNotification", object)
        case .voidedPurchase(let token, let order, let product, let refund):
            let object: JSONObject = [
                "purchaseToken": .string(token), "orderId": .string(order),
                "productType": .integer(product.rawValue), "refundType": .integer(refund.rawValue),
            ]
            return ("voidedPurchaseNotification", object)
        case .pendingRefundReview(let refund, let order, let review):
            return ("pendingRefundReviewNotification", review.object(refund, order))
        case .tested: return ("testNotification", ["version": "1.0"])
        }
    }
}

extension GooglePlayRefundReview {
    fileprivate func object(_ refund: String, _ order: String) -> JSONObject {
        var object: JSONObject = [
            "version": "1.0", "pendingRefundToken": .string(refund), "orderId": .string(order),
            "refundReason": .integer(reason),
        ]
        object["obfuscatedAccountId"] = obfuscatedAccountId.map(JSONValue.string)
        object["obfuscatedProfileId"] = obfuscatedProfileId.map(JSONValue.string)
        return object
    }
}
