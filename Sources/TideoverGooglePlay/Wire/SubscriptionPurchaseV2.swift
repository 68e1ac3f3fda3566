package import TideoverCore

/// A subscription, as the Play Developer API returns it for a purchase token.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
package struct SubscriptionPurchaseV2: Hashable, Sendable {
    package let subscriptionState: OpenEnum<State>?
    /// When it was granted; absent while the first payment is pending.
    package let startTime: Instant?
    /// The order of the first line item, for line items without one; deprecated.
    package let latestOrderId: String?
    /// The token that this purchase replaces. It is a secret.
    package let linkedPurchaseToken: String?
    package let acknowledgementState: OpenEnum<AcknowledgementState>?
    package let externalAccountIdentifiers: ExternalAccountIdentifiers?
    package let canceledStateContext: CanceledStateContext?
    /// When a pause ends automatically.
    package let autoResumeTime: Instant?
    /// Whether a licence tester bought it.
    package let isTestPurchase: Bool
    package let outOfAppPurchaseContext: OutOfAppPurchaseContext?
    /// ISO 3166-1 alpha-2.
    package let regionCode: String?
    /// The version of the subscription that a change must refer to.
    package let etag: String?
    package let lineItems: [LineItem]

    package enum State: String, Hashable, Sendable, CaseIterable {
        case pending = "SUBSCRIPTION_STATE_PENDING"
        case active = "SUBSCRIPTION_STATE_ACTIVE"
        case paused = "SUBSCRIPTION_STATE_PAUSED"
        case inGracePeriod = "SUBSCRIPTION_STATE_IN_GRACE_PERIOD"
        case onHold = "SUBSCRIPTION_STATE_ON_HOLD"
        case canceled = "SUBSCRIPTION_STATE_CANCELED"
        case expired = "SUBSCRIPTION_STATE_EXPIRED"
        case pendingPurchaseCanceled = "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED"
    }

    /// The buyer, as the app named them.
    package struct ExternalAccountIdentifiers: Hashable, Sendable {
        package let externalAccountId: String?
        package let obfuscatedExternalAccountId: String?
        package let obfuscatedExternalProfileId: String?
    }

    /// The party that cancelled. The store states at most one.
    package enum CanceledStateContext: Hashable, Sendable {
        case user(cancelTime: Instant?, reason: OpenEnum<CancelSurveyReason>?)
        case system
        case developer
        case replacement
        /// A party that this version does not know.
        case unrecognised(String)
    }

    /// The reason that a customer gave in the cancellation survey.
    package enum CancelSurveyReason: String, Hashable, Sendable, CaseIterable {
        case notEnoughUsage = "CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE"
        case technicalIssues = "CANCEL_SURVEY_REASON_TECHNICAL_ISSUES"
        case costRelated = "CANCEL_SURVEY_REASON_COST_RELATED"
        case foundBetterApp = "CANCEL_SURVEY_REASON_FOUND_BETTER_APP"
        case others = "CANCEL_SURVEY_REASON_OTHERS"
    }

    /// The expired subscription that a customer renewed from outside of the app.
    package struct OutOfAppPurchaseContext: Hashable, Sendable {
        /// The token of the expired subscription. It is a secret.
        package let expiredPurchaseToken: String?
        package let expiredExternalAccountIdentifiers: ExternalAccountIdentifiers?
    }
}

/// Whether the developer has acknowledged a purchase.
package enum AcknowledgementState: String, Hashable, Sendable, CaseIterable {
    case pending = "ACKNOWLEDGEMENT_STATE_PENDING"
    case acknowledged = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
}

// MARK: - Reading

extension SubscriptionPurchaseV2 {
    init(_ fields: WireFields) throws(PlayRefusal) {
        subscriptionState = try fields.word("subscriptionState")
        startTime = try fields.date("startTime")
        latestOrderId = try fields.text("latestOrderId")
        linkedPurchaseToken = try fields.text("linkedPurchaseToken")
        acknowledgementState = try fields.word("acknowledgementState")
        externalAccountIdentifiers = try fields.object(
            "externalAccountIdentifiers",
            ExternalAccountIdentifiers.init
        )
        canceledStateContext =
            try fields.fields("canceledStateContext").flatMap(CanceledStateContext.init)
        autoResumeTime = try fields.fields("pausedStateContext")?.date("autoResumeTime")
        isTestPurchase = try fields.has("testPurchase")
        outOfAppPurchaseContext = try fields.object(
            "outOfAppPurchaseContext",
            OutOfAppPurchaseContext.init
        )
        regionCode = try fields.text("regionCode")
        etag = try fields.text("etag")
        lineItems = try fields.list("lineItems", LineItem.init)
    }
}

extension SubscriptionPurchaseV2.ExternalAccountIdentifiers {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        externalAccountId = try fields.text("externalAccountId")
        obfuscatedExternalAccountId = try fields.text("obfuscatedExternalAccountId")
        obfuscatedExternalProfileId = try fields.text("obfuscatedExternalProfileId")
    }
}

extension SubscriptionPurchaseV2.CanceledStateContext {
    fileprivate init?(_ fields: WireFields) throws(PlayRefusal) {
        if let user = try fields.fields("userInitiatedCancellation") {
            self = .user(
                cancelTime: try user.date("cancelTime"),
                reason: try user.fields("cancelSurveyResult")?.word("reason")
            )
        } else if try fields.has("systemInitiatedCancellation") {
            self = .system
        } else if try fields.has("developerInitiatedCancellation") {
            self = .developer
        } else if try fields.has("replacementCancellation") {
            self = .replacement
        } else if let name = fields.names.first {
            self = .unrecognised(name)
        } else {
            return nil
        }
    }
}

extension SubscriptionPurchaseV2.OutOfAppPurchaseContext {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        expiredPurchaseToken = try fields.text("expiredPurchaseToken")
        expiredExternalAccountIdentifiers = try fields.object(
            "expiredExternalAccountIdentifiers",
            SubscriptionPurchaseV2.ExternalAccountIdentifiers.init
        )
    }
}
