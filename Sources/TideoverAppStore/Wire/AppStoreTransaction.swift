package import TideoverCore
package import TideoverJSON

/// A signed transaction's payload: one purchase or one period of a subscription. Every member is
/// optional, because Apple's own examples omit most of them.
/// https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
package struct AppStoreTransaction: Hashable, Sendable {
    package let transactionId: String?
    /// The id that all transactions of one subscription share.
    package let originalTransactionId: String?
    /// The original transaction that this one continues after a transfer between subscriptions.
    package let previousOriginalTransactionId: String?
    /// The id of the billing period; `0` from Xcode.
    package let webOrderLineItemId: String?
    /// The id of one Apple Account's copy of the app.
    package let appTransactionId: String?
    package let bundleId: String?
    package let productId: String?
    package let subscriptionGroupIdentifier: String?
    package let purchaseDate: Instant?
    package let originalPurchaseDate: Instant?
    package let expiresDate: Instant?
    package let signedDate: Instant?
    /// When the store revoked the purchase, or when an upgrade replaced it.
    package let revocationDate: Instant?
    package let quantity: Int64?
    package let type: OpenEnum<ProductType>?
    /// The UUID from the app at the purchase.
    package let appAccountToken: String?
    package let inAppOwnershipType: OpenEnum<OwnershipType>?
    /// Whether an upgrade replaced it; usually absent if not.
    package let isUpgraded: Bool?
    package let offerType: OpenEnum<OfferType>?
    package let offerIdentifier: String?
    package let offerDiscountType: OpenEnum<OfferDiscountType>?
    /// ISO 8601.
    package let offerPeriod: String?
    package let revocationReason: OpenEnum<RevocationReason>?
    package let revocationType: OpenEnum<RevocationType>?
    /// The refunded part of the price, in thousandths of a percent.
    package let revocationPercentage: Int64?
    package let transactionReason: OpenEnum<TransactionReason>?
    /// Thousandths of the currency's unit.
    package let price: Int64?
    /// ISO 4217.
    package let currency: String?
    /// ISO 3166-1 alpha-3.
    package let storefront: String?
    package let storefrontId: String?
    package let environment: OpenEnum<StoreEnvironment>?
    package let billingPlanType: OpenEnum<BillingPlanType>?
    package let commitmentInfo: Commitment?
    /// The data that the Advanced Commerce API adds, unchanged.
    package let advancedCommerceInfo: JSONObject?

    /// The position of a monthly payment in a longer commitment.
    package struct Commitment: Hashable, Sendable {
        /// From 1.
        package let billingPeriodNumber: Int64?
        package let totalBillingPeriods: Int64?
        package let commitmentExpiresDate: Instant?
        /// Thousandths of the currency's unit.
        package let commitmentPrice: Int64?
    }

    /// The product type of a purchase.
    package enum ProductType: String, Hashable, Sendable, CaseIterable {
        case autoRenewableSubscription = "Auto-Renewable Subscription"
        case nonConsumable = "Non-Consumable"
        case consumable = "Consumable"
        case nonRenewingSubscription = "Non-Renewing Subscription"
    }

    /// How the customer obtained the purchase.
    package enum OwnershipType: String, Hashable, Sendable, CaseIterable {
        case purchased = "PURCHASED"
        case familyShared = "FAMILY_SHARED"
        /// A group's purchaser or an organization gave the customer a seat.
        case assigned = "ASSIGNED"
    }

    /// The reason for a refund.
    package enum RevocationReason: Int64, Hashable, Sendable, CaseIterable {
        /// Other reasons, including the loss of family sharing.
        case other = 0
        /// An actual or perceived issue within the app.
        case appIssue = 1
    }

    /// The type of a revocation.
    package enum RevocationType: String, Hashable, Sendable, CaseIterable {
        case fullRefund = "REFUND_FULL"
        case proratedRefund = "REFUND_PRORATED"
        case familyRevoke = "FAMILY_REVOKE"
        case assignmentRevoke = "ASSIGNMENT_REVOKE"
    }

    /// Whether the customer bought it or the store renewed it.
    package enum TransactionReason: String, Hashable, Sendable, CaseIterable {
        case purchase = "PURCHASE"
        case renewal = "RENEWAL"
    }
}

// MARK: - Reading

extension AppStoreTransaction {
    /// Reads a payload after the caller has verified its signature.
    package init(payload: JSONNode) throws(AppStoreRefusal) {
        try self.init(WireFields(payload))
    }

    init(_ fields: WireFields) throws(AppStoreRefusal) {
        transactionId = try fields.string("transactionId")
        originalTransactionId = try fields.string("originalTransactionId")
        previousOriginalTransactionId = try fields.string("previousOriginalTransactionId")
        webOrderLineItemId = try fields.string("webOrderLineItemId")
        appTransactionId = try fields.string("appTransactionId")
        bundleId = try fields.string("bundleId")
        productId = try fields.string("productId")
        subscriptionGroupIdentifier = try fields.string("subscriptionGroupIdentifier")
        purchaseDate = try fields.date("purchaseDate")
        originalPurchaseDate = try fields.date("originalPurchaseDate")
        expiresDate = try fields.date("expiresDate")
        signedDate = try fields.date("signedDate")
        revocationDate = try fields.date("revocationDate")
        quantity = try fields.integer("quantity")
        type = try fields.word("type")
        appAccountToken = try fields.string("appAccountToken")
        inAppOwnershipType = try fields.word("inAppOwnershipType")
        isUpgraded = try fields.flag("isUpgraded")
        offerType = try fields.word("offerType")
        offerIdentifier = try fields.string("offerIdentifier")
        offerDiscountType = try fields.word("offerDiscountType")
        offerPeriod = try fields.string("offerPeriod")
        revocationReason = try fields.word("revocationReason")
        revocationType = try fields.word("revocationType")
        revocationPercentage = try fields.integer("revocationPercentage")
        transactionReason = try fields.word("transactionReason")
        price = try fields.integer("price")
        currency = try fields.string("currency")
        storefront = try fields.string("storefront")
        storefrontId = try fields.string("storefrontId")
        environment = try fields.word("environment")
        billingPlanType = try fields.word("billingPlanType")
        commitmentInfo = try fields.fields("commitmentInfo").map(Commitment.init)
        advancedCommerceInfo = try fields.object("advancedCommerceInfo")
    }
}

extension AppStoreTransaction.Commitment {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        billingPeriodNumber = try fields.integer("billingPeriodNumber")
        totalBillingPeriods = try fields.integer("totalBillingPeriods")
        commitmentExpiresDate = try fields.date("commitmentExpiresDate")
        commitmentPrice = try fields.integer("commitmentPrice")
    }
}
