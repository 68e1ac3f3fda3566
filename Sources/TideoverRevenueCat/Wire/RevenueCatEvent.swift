package import TideoverCore

/// One RevenueCat webhook event.
/// https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
package struct RevenueCatEvent: Hashable, Sendable {
    package let type: OpenEnum<EventType>
    /// The ID of the event, the same in every delivery.
    package let id: String
    /// RevenueCat's ID of the app; nil for events about a whole project.
    package let appId: String?
    /// When RevenueCat created the event, by its clock; the same in every delivery.
    package let timestamp: Instant
    /// The customer's most recent ID; nil for a transfer.
    package let appUserId: String?
    package let originalAppUserId: String?
    /// All past and present ids of the customer.
    package let aliases: [String]
    /// The product; for Google Play, the base plan follows a colon.
    package let productId: String?
    /// The new product of a product change.
    package let newProductId: String?
    package let entitlementIds: [String]
    package let periodType: OpenEnum<RevenueCatPeriodType>?
    package let purchasedAt: Instant?
    /// The end of the period; nil if it has none.
    package let expiresAt: Instant?
    /// Present only in a billing issue, and only with a grace period.
    package let gracePeriodExpiresAt: Instant?
    /// Present only in a pause.
    package let autoResumesAt: Instant?
    package let store: OpenEnum<RevenueCatStore>?
    /// Nil for a temporary grant and for an event without a purchase.
    package let environment: OpenEnum<RevenueCatEnvironment>?
    package let isFamilyShare: Bool?
    /// Present only in a renewal: whether the previous period was a free trial.
    package let isTrialConversion: Bool?
    package let cancelReason: OpenEnum<RevenueCatReason>?
    package let expirationReason: OpenEnum<RevenueCatReason>?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let offerCode: String?
    package let countryCode: String?
    /// The amount paid; negative for a refund.
    package let price: Money?
    /// The customers that purchases moved from, and those they moved to.
    package let transferredFrom: [String]
    package let transferredTo: [String]

    /// The type of an event.
    package enum EventType: String, Hashable, Sendable, CaseIterable {
        case test = "TEST"
        case initialPurchase = "INITIAL_PURCHASE"
        case renewal = "RENEWAL"
        case nonRenewingPurchase = "NON_RENEWING_PURCHASE"
        /// Renewal turned off, a failed payment or a refund; not a loss of access by itself.
        case cancellation = "CANCELLATION"
        case uncancellation = "UNCANCELLATION"
        case billingIssue = "BILLING_ISSUE"
        case expiration = "EXPIRATION"
        /// A pause that starts at the end of the period.
        case subscriptionPaused = "SUBSCRIPTION_PAUSED"
        /// A product change at the next renewal.
        case productChange = "PRODUCT_CHANGE"
        case transfer = "TRANSFER"
        case subscriptionExtended = "SUBSCRIPTION_EXTENDED"
        /// Access for at most a day while the store is unreachable.
        case temporaryEntitlementGrant = "TEMPORARY_ENTITLEMENT_GRANT"
        case refundReversed = "REFUND_REVERSED"
        case invoiceIssuance = "INVOICE_ISSUANCE"
        case virtualCurrencyTransaction = "VIRTUAL_CURRENCY_TRANSACTION"
        case experimentEnrollment = "EXPERIMENT_ENROLLMENT"
        /// No longer sent.
        case subscriberAlias = "SUBSCRIBER_ALIAS"

        /// Whether an event of this type can state facts about a purchase.
        var concernsPurchase: Bool {
            switch self {
            case .initialPurchase, .renewal, .nonRenewingPurchase, .cancellation, .uncancellation,
                .billingIssue, .expiration, .subscriptionPaused, .productChange,
                .subscriptionExtended, .temporaryEntitlementGrant, .refundReversed:
                true
            case .test, .transfer, .invoiceIssuance, .virtualCurrencyTransaction,
                .experimentEnrollment, .subscriberAlias:
                false
            }
        }
    }
}

// MARK: - Reading

extension RevenueCatEvent {
    init(_ content: RevenueCatFields) throws(RevenueCatRefusal) {
        var fields = content
        guard let type: OpenEnum<EventType> = try fields.word("type") else {
            throw .missingMember("event.type")
        }
        guard let id = try fields.string("id"), !id.isEmpty else {
            throw .missingMember("event.id")
        }
        guard let timestamp = try fields.milliseconds("event_timestamp_ms") else {
            throw .missingMember("event.event_timestamp_ms")
        }
        // An event that states nothing about a purchase may have other member types.
        let isStrict = type.known.map { $0.concernsPurchase || $0 == .transfer } ?? false
        if !isStrict { fields = fields.lenient }
        self.type = type
        self.id = id
        self.timestamp = timestamp
        appId = try fields.string("app_id")
        appUserId = try fields.string("app_user_id")
        originalAppUserId = try fields.string("original_app_user_id")
        aliases = try fields.strings("aliases") ?? []
        productId = try fields.string("product_id")
        newProductId = try fields.string("new_product_id")
        let oldEntitlement = try fields.string("entitlement_id")
        entitlementIds =
            try fields.strings("entitlement_ids") ?? oldEntitlement.map { [$0] } ?? []
        periodType = try fields.caselessWord("period_type")
        purchasedAt = try fields.milliseconds("purchased_at_ms")
        expiresAt = try fields.milliseconds("expiration_at_ms")
        gracePeriodExpiresAt = try fields.milliseconds("grace_period_expiration_at_ms")
        autoResumesAt = try fields.milliseconds("auto_resume_at_ms")
        store = try fields.caselessWord("store")
        // Virtual currency transactions use another name for it.
        let purchaseEnvironment: OpenEnum<RevenueCatEnvironment>? =
            try fields.word("purchase_environment")
        environment = try fields.word("environment") ?? purchaseEnvironment
        isFamilyShare = try fields.flag("is_family_share")
        isTrialConversion = try fields.flag("is_trial_conversion")
        cancelReason = try fields.word("cancel_reason")
        expirationReason = try fields.word("expiration_reason")
        transactionId = try fields.string("transaction_id")
        originalTransactionId = try fields.string("original_transaction_id")
        offerCode = try fields.string("offer_code")
        countryCode = try fields.string("country_code")
        let amount = try fields.milliunits("price_in_purchased_currency")
        let currency = try fields.string("currency")
        price = amount.flatMap { amount in
            currency.map { Money(milliunits: amount, currency: $0) }
        }
        transferredFrom = try fields.strings("transferred_from") ?? []
        transferredTo = try fields.strings("transferred_to") ?? []
    }

    /// The members with an id that cannot be stored. Such an event states nothing.
    var unusable: [String] {
        let members: [(name: String, ids: [String?])] = [
            ("app_user_id", [appUserId]), ("original_app_user_id", [originalAppUserId]),
            ("aliases", aliases), ("product_id", [productId]), ("new_product_id", [newProductId]),
            ("entitlement_ids", entitlementIds), ("transaction_id", [transactionId]),
            ("original_transaction_id", [originalTransactionId]),
            ("transferred_from", transferredFrom), ("transferred_to", transferredTo),
        ]
        return members.filter { !$0.ids.allSatisfy { $0?.isStorableName ?? true } }.map(\.name)
    }

    /// The values that this version does not know, without duplicates.
    var unrecognised: [Unrecognised] {
        [
            Optional(type).unrecognised(as: "type"),
            periodType.unrecognised(as: "period_type"),
            store.unrecognised(as: "store"),
            environment.unrecognised(as: "environment"),
            cancelReason.unrecognised(as: "cancel_reason"),
            expirationReason.unrecognised(as: "expiration_reason"),
        ].compactMap(\.self)
    }
}
