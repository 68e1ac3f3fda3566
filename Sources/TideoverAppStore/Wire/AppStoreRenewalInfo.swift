package import TideoverCore
package import TideoverJSON

/// A signed renewal info's payload: the renewal outlook at the end of a subscription's period. It
/// names no app. Every member is optional, because Apple's own examples omit most of them.
/// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
package struct AppStoreRenewalInfo: Hashable, Sendable {
    package let originalTransactionId: String?
    package let productId: String?
    /// The product of the next period.
    package let autoRenewProductId: String?
    package let autoRenewStatus: OpenEnum<AutoRenewStatus>?
    /// Why the subscription ended or its payment failed.
    package let expirationIntent: OpenEnum<ExpirationIntent>?
    package let isInBillingRetryPeriod: Bool?
    /// The end of access after a failed payment.
    package let gracePeriodExpiresDate: Instant?
    package let priceIncreaseStatus: OpenEnum<PriceIncreaseStatus>?
    /// The end of the current period; in the past after the subscription has ended.
    package let renewalDate: Instant?
    /// Thousandths of the currency's unit.
    package let renewalPrice: Int64?
    /// ISO 4217.
    package let currency: String?
    /// The start of the latest subscription period without a gap of more than 60 days (10 minutes
    /// in the sandbox).
    package let recentSubscriptionStartDate: Instant?
    /// The offer of the next period; the three members after it belong to it.
    package let offerType: OpenEnum<OfferType>?
    package let offerIdentifier: String?
    package let offerDiscountType: OpenEnum<OfferDiscountType>?
    /// ISO 8601.
    package let offerPeriod: String?
    package let eligibleWinBackOfferIds: [String]?
    package let signedDate: Instant?
    package let environment: OpenEnum<StoreEnvironment>?
    /// The UUID from the app at the purchase.
    package let appAccountToken: String?
    /// The id of one Apple Account's copy of the app.
    package let appTransactionId: String?
    /// The data that the Advanced Commerce API adds, unchanged.
    package let advancedCommerceInfo: JSONObject?
    package let renewalBillingPlanType: OpenEnum<BillingPlanType>?
    package let commitmentInfo: Commitment?

    /// The renewal of a commitment with monthly payments.
    package struct Commitment: Hashable, Sendable {
        package let commitmentAutoRenewProductId: String?
        package let commitmentAutoRenewStatus: OpenEnum<AutoRenewStatus>?
        package let commitmentRenewalBillingPlanType: OpenEnum<BillingPlanType>?
        package let commitmentRenewalDate: Instant?
        /// Thousandths of the currency's unit.
        package let commitmentRenewalPrice: Int64?
    }

    /// Whether the subscription renews.
    package enum AutoRenewStatus: Int64, Hashable, Sendable, CaseIterable {
        case off = 0
        case on = 1
    }

    /// Why a subscription ended or its payment failed.
    package enum ExpirationIntent: Int64, Hashable, Sendable, CaseIterable {
        case cancelled = 1
        case billingError = 2
        case noConsentToPriceIncrease = 3
        case productUnavailable = 4
        case other = 5
    }

    /// The status of a price increase.
    package enum PriceIncreaseStatus: Int64, Hashable, Sendable, CaseIterable {
        /// The customer has not consented yet.
        case pendingConsent = 0
        /// The customer has consented, or was informed if no consent is required.
        case accepted = 1
    }
}

// MARK: - Reading

extension AppStoreRenewalInfo {
    /// Reads a payload after the caller has verified its signature.
    package init(payload: JSONNode) throws(AppStoreRefusal) {
        try self.init(WireFields(payload))
    }

    init(_ fields: WireFields) throws(AppStoreRefusal) {
        originalTransactionId = try fields.string("originalTransactionId")
        productId = try fields.string("productId")
        autoRenewProductId = try fields.string("autoRenewProductId")
        autoRenewStatus = try fields.word("autoRenewStatus")
        expirationIntent = try fields.word("expirationIntent")
        isInBillingRetryPeriod = try fields.flag("isInBillingRetryPeriod")
        gracePeriodExpiresDate = try fields.date("gracePeriodExpiresDate")
        priceIncreaseStatus = try fields.word("priceIncreaseStatus")
        renewalDate = try fields.date("renewalDate")
        renewalPrice = try fields.integer("renewalPrice")
        currency = try fields.string("currency")
        recentSubscriptionStartDate = try fields.date("recentSubscriptionStartDate")
        offerType = try fields.word("offerType")
        offerIdentifier = try fields.string("offerIdentifier")
        offerDiscountType = try fields.word("offerDiscountType")
        offerPeriod = try fields.string("offerPeriod")
        eligibleWinBackOfferIds = try fields.strings("eligibleWinBackOfferIds")
        signedDate = try fields.date("signedDate")
        environment = try fields.word("environment")
        appAccountToken = try fields.string("appAccountToken")
        appTransactionId = try fields.string("appTransactionId")
        advancedCommerceInfo = try fields.object("advancedCommerceInfo")
        renewalBillingPlanType = try fields.word("renewalBillingPlanType")
        commitmentInfo = try fields.fields("commitmentInfo").map(Commitment.init)
    }
}

extension AppStoreRenewalInfo.Commitment {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        commitmentAutoRenewProductId = try fields.string("commitmentAutoRenewProductId")
        commitmentAutoRenewStatus = try fields.word("commitmentAutoRenewStatus")
        commitmentRenewalBillingPlanType = try fields.word("commitmentRenewalBillingPlanType")
        commitmentRenewalDate = try fields.date("commitmentRenewalDate")
        commitmentRenewalPrice = try fields.integer("commitmentRenewalPrice")
    }
}
