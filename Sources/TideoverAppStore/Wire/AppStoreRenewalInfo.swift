public import TideoverCore
public import TideoverJSON

/// A signed renewal info's payload: the renewal outlook at the end of a subscription's period. It
/// names no app. Every member is optional, because Apple's own examples omit most of them.
/// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
public struct AppStoreRenewalInfo: Hashable, Sendable {
    public let originalTransactionId: String?
    public let productId: String?
    /// The product of the next period.
    public let autoRenewProductId: String?
    public let autoRenewStatus: OpenEnum<AutoRenewStatus>?
    /// Why the subscription ended or its payment failed.
    public let expirationIntent: OpenEnum<ExpirationIntent>?
    public let isInBillingRetryPeriod: Bool?
    /// The end of access after a failed payment.
    public let gracePeriodExpiresDate: Instant?
    public let priceIncreaseStatus: OpenEnum<PriceIncreaseStatus>?
    /// The end of the current period; in the past after the subscription has ended.
    public let renewalDate: Instant?
    /// Thousandths of the currency's unit.
    public let renewalPrice: Int64?
    /// ISO 4217.
    public let currency: String?
    /// The start of the latest subscription period without a gap of more than 60 days (10 minutes
    /// in the sandbox).
    public let recentSubscriptionStartDate: Instant?
    /// The offer of the next period; the three members after it belong to it.
    public let offerType: OpenEnum<OfferType>?
    public let offerIdentifier: String?
    public let offerDiscountType: OpenEnum<OfferDiscountType>?
    /// ISO 8601.
    public let offerPeriod: String?
    public let eligibleWinBackOfferIds: [String]?
    public let signedDate: Instant?
    public let environment: OpenEnum<StoreEnvironment>?
    /// The UUID from the app at the purchase.
    public let appAccountToken: String?
    /// The id of one Apple Account's copy of the app.
    public let appTransactionId: String?
    /// The data that the Advanced Commerce API adds, unchanged.
    public let advancedCommerceInfo: JSONObject?
    public let renewalBillingPlanType: OpenEnum<BillingPlanType>?
    public let commitmentInfo: Commitment?

    /// The renewal of a commitment with monthly payments.
    public struct Commitment: Hashable, Sendable {
        public let commitmentAutoRenewProductId: String?
        public let commitmentAutoRenewStatus: OpenEnum<AutoRenewStatus>?
        public let commitmentRenewalBillingPlanType: OpenEnum<BillingPlanType>?
        public let commitmentRenewalDate: Instant?
        /// Thousandths of the currency's unit.
        public let commitmentRenewalPrice: Int64?
    }

    /// Whether the subscription renews.
    public enum AutoRenewStatus: Int64, Hashable, Sendable, CaseIterable {
        case off = 0
        case on = 1
    }

    /// Why a subscription ended or its payment failed.
    public enum ExpirationIntent: Int64, Hashable, Sendable, CaseIterable {
        case cancelled = 1
        case billingError = 2
        case noConsentToPriceIncrease = 3
        case productUnavailable = 4
        case other = 5
    }

    /// The status of a price increase.
    public enum PriceIncreaseStatus: Int64, Hashable, Sendable, CaseIterable {
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
