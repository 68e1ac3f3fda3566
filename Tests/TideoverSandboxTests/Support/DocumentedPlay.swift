import TideoverJSON

/// The documented resources of Google Play, written from the reference of its API, in the form of
/// Google's own description.
enum DocumentedPlay {
    /// By schema and field, the type of the field: `text`, `flag`, `date`, `int` (32 bits), `long`
    /// (a text of 64 bits), words separated by bars, or another schema; a list is in brackets.
    private static let fields: [String: [String: String]] =
        subscriptions.merging(orders) { $1 }.merging(onSale) { $1 }.merging(queue) { $1 }

    private static let empty: [String: String] = [:]

    private static let subscriptions: [String: [String: String]] = [
        "SubscriptionPurchaseV2": [
            "kind": "text", "regionCode": "text", "startTime": "date", "latestOrderId": "text",
            "linkedPurchaseToken": "text", "etag": "text", "testPurchase": "Empty",
            "subscriptionState": words(
                "SUBSCRIPTION_STATE_",
                "PENDING ACTIVE PAUSED IN_GRACE_PERIOD ON_HOLD CANCELED EXPIRED "
                    + "PENDING_PURCHASE_CANCELED"
            ),
            "acknowledgementState": words("ACKNOWLEDGEMENT_STATE_", "PENDING ACKNOWLEDGED"),
            "externalAccountIdentifiers": "Buyer", "canceledStateContext": "Cancellation",
            "pausedStateContext": "Pause", "outOfAppPurchaseContext": "Predecessor",
            "lineItems": "[Item]",
        ],
        "Empty": empty, "Pause": ["autoResumeTime": "date"],
        "Buyer": [
            "externalAccountId": "text", "obfuscatedExternalAccountId": "text",
            "obfuscatedExternalProfileId": "text",
        ],
        "Predecessor": [
            "expiredPurchaseToken": "text", "expiredExternalAccountIdentifiers": "Buyer",
        ],
        "Cancellation": [
            "userInitiatedCancellation": "UserCancellation",
            "systemInitiatedCancellation": "Empty", "developerInitiatedCancellation": "Empty",
            "replacementCancellation": "Empty",
        ],
        "UserCancellation": ["cancelTime": "date", "cancelSurveyResult": "Survey"],
        "Survey": [
            "reason": words(
                "CANCEL_SURVEY_REASON_",
                "NOT_ENOUGH_USAGE TECHNICAL_ISSUES COST_RELATED FOUND_BETTER_APP OTHERS"
            ), "reasonUserInput": "text",
        ],
        "Item": [
            "productId": "text", "expiryTime": "date", "latestSuccessfulOrderId": "text",
            "autoRenewingPlan": "Renewing", "prepaidPlan": "Prepaid", "offerDetails": "Offer",
            "offerPhase": "Phase", "deferredItemReplacement": "Deferred",
            "deferredItemRemoval": "Empty", "itemReplacement": "Replacement",
        ],
        "Renewing": [
            "autoRenewEnabled": "flag", "recurringPrice": "Money", "priceChangeDetails": "Change",
            "installmentDetails": "Instalments", "priceStepUpConsentDetails": "Consent",
        ],
        "Prepaid": ["allowExtendAfterTime": "date"], "Deferred": ["productId": "text"],
        "Change": [
            "newPrice": "Money", "expectedNewPriceChargeTime": "date",
            "priceChangeMode": "PRICE_DECREASE|PRICE_INCREASE|OPT_OUT_PRICE_INCREASE",
            "priceChangeState": "OUTSTANDING|CONFIRMED|APPLIED|CANCELED",
        ],
        "Instalments": [
            "initialCommittedPaymentsCount": "int", "subsequentCommittedPaymentsCount": "int",
            "remainingCommittedPaymentsCount": "int", "pendingCancellation": "Empty",
        ],
        "Consent": [
            "state": "PENDING|CONFIRMED|COMPLETED", "consentDeadlineTime": "date",
            "newPrice": "Money",
        ],
        "Offer": ["basePlanId": "text", "offerId": "text", "offerTags": "[text]"],
        "Phase": [
            "basePrice": "Empty", "freeTrial": "Empty", "introductoryPrice": "Empty",
            "prorationPeriod": "Proration",
        ],
        "Proration": ["originalOfferPhaseType": "BASE|INTRODUCTORY|FREE_TRIAL"],
        "Replacement": [
            "productId": "text", "basePlanId": "text", "offerId": "text",
            "replacementMode": "WITH_TIME_PRORATION|CHARGE_PRORATED_PRICE|WITHOUT_PRORATION"
                + "|CHARGE_FULL_PRICE|DEFERRED|KEEP_EXISTING",
        ],
        "Money": ["currencyCode": "text", "units": "long", "nanos": "int"],
        "DeferSubscriptionPurchaseResponse": ["itemExpiryTimeDetails": "[ItemExpiry]"],
        "ItemExpiry": ["productId": "text", "expiryTime": "date"],
    ]

    private static let orders: [String: [String: String]] = [
        "ProductPurchaseV2": [
            "kind": "text", "orderId": "text", "regionCode": "text",
            "purchaseCompletionTime": "date", "purchaseStateContext": "PurchaseState",
            "acknowledgementState": words("ACKNOWLEDGEMENT_STATE_", "PENDING ACKNOWLEDGED"),
            "obfuscatedExternalAccountId": "text", "obfuscatedExternalProfileId": "text",
            "testPurchaseContext": "TestContext", "productLineItem": "[ProductItem]",
        ],
        "PurchaseState": ["purchaseState": "PURCHASED|CANCELLED|PENDING"],
        "TestContext": ["fopType": "TEST|FOP_TYPE_UNSPECIFIED"],
        "ProductItem": ["productId": "text", "productOfferDetails": "ProductOffer"],
        "ProductOffer": [
            "quantity": "int", "refundableQuantity": "int",
            "consumptionState": words("CONSUMPTION_STATE_", "YET_TO_BE_CONSUMED CONSUMED"),
        ],
        "ProductPurchase": [
            "kind": "text", "orderId": "text", "regionCode": "text", "developerPayload": "text",
            "purchaseTimeMillis": "long", "purchaseState": "int", "consumptionState": "int",
            "acknowledgementState": "int", "purchaseType": "int", "quantity": "int",
            "refundableQuantity": "int", "obfuscatedExternalAccountId": "text",
            "obfuscatedExternalProfileId": "text",
        ],
        "VoidedPurchase": [
            "kind": "text", "purchaseToken": "text", "orderId": "text",
            "purchaseTimeMillis": "long", "voidedTimeMillis": "long", "voidedSource": "int",
            "voidedReason": "int", "voidedQuantity": "int",
        ],
        "VoidedPurchasesListResponse": [
            "voidedPurchases": "[VoidedPurchase]", "tokenPagination": "Pagination",
        ],
        "Pagination": ["nextPageToken": "text"],
        "BatchGetOrdersResponse": ["orders": "[Order]"],
        "Order": [
            "orderId": "text", "purchaseToken": "text", "createTime": "date",
            "lastEventTime": "date", "total": "Money", "tax": "Money",
            "developerRevenueInBuyerCurrency": "Money", "buyerAddress": "Address",
            "orderDetails": "OrderDetails", "orderHistory": "History", "lineItems": "[Line]",
            "state": "PENDING|PROCESSED|CANCELED|PENDING_REFUND|PARTIALLY_REFUNDED|REFUNDED",
        ],
        "Address": ["buyerCountry": "text"], "OrderDetails": ["taxInclusive": "flag"],
        "Line": [
            "productId": "text", "listingPrice": "Money", "total": "Money", "tax": "Money",
            "oneTimePurchaseDetails": "Quantity", "subscriptionDetails": "ServicePeriod",
        ],
        "Quantity": ["quantity": "int"],
        "ServicePeriod": [
            "basePlanId": "text", "offerId": "text",
            "offerPhase": "BASE|INTRODUCTORY|FREE_TRIAL", "offerPhaseDetails": "PhaseDetails",
            "servicePeriodStartTime": "date", "servicePeriodEndTime": "date",
        ],
        "PhaseDetails": [
            "baseDetails": "Empty", "freeTrialDetails": "Empty",
            "introductoryPriceDetails": "Empty", "prorationPeriodDetails": "ProrationDetails",
        ],
        "ProrationDetails": ["originalOfferPhase": "BASE|INTRODUCTORY|FREE_TRIAL"],
        "History": [
            "processedEvent": "Processed", "refundEvent": "Refund",
            "partialRefundEvents": "[PartialRefund]",
        ],
        "Processed": ["eventTime": "date"],
        "Refund": [
            "eventTime": "date", "refundDetails": "RefundDetails",
            "refundReason": "OTHER|CHARGEBACK",
        ],
        "PartialRefund": [
            "createTime": "date", "processTime": "date", "refundDetails": "RefundDetails",
            "state": "PENDING|PROCESSED_SUCCESSFULLY",
        ],
        "RefundDetails": ["total": "Money", "tax": "Money"],
    ]

    private static let onSale: [String: [String: String]] = [
        "ListSubscriptionsResponse": ["subscriptions": "[Subscription]", "nextPageToken": "text"],
        "Subscription": [
            "packageName": "text", "productId": "text", "basePlans": "[BasePlan]",
            "listings": "[Listing]",
        ],
        "Listing": ["languageCode": "text", "title": "text"],
        "BasePlan": [
            "basePlanId": "text", "state": "DRAFT|ACTIVE|INACTIVE",
            "regionalConfigs": "[Region]", "autoRenewingBasePlanType": "Plan",
        ],
        "Region": ["regionCode": "text", "newSubscriberAvailability": "flag", "price": "Money"],
        "Plan": [
            "billingPeriodDuration": "text", "gracePeriodDuration": "text",
            "accountHoldDuration": "text",
            "resubscribeState": words("RESUBSCRIBE_STATE_", "ACTIVE INACTIVE"),
        ],
    ]

    /// The answer of Pub/Sub to a pull.
    private static let queue: [String: [String: String]] = [
        "PullResponse": ["receivedMessages": "[ReceivedMessage]"],
        "ReceivedMessage": ["ackId": "text", "deliveryAttempt": "int", "message": "Message"],
        "Message": ["data": "text", "messageId": "text", "publishTime": "date"],
    ]

    private static func words(_ prefix: String, _ list: String) -> String {
        list.split(separator: " ").map { prefix + $0 }.joined(separator: "|")
    }

    /// Returns all schemas as Google describes them.
    static func schemas() throws -> JSONNode {
        let object = fields.reduce(into: JSONObject()) {
            $0[$1.key] = ["properties": described($1.value)]
        }
        return try JSONDocument(JSONValue.object(object).encoded()).root
    }

    private static func described(_ fields: [String: String]) -> JSONValue {
        .object(fields.reduce(into: JSONObject()) { $0[$1.key] = type($1.value) })
    }

    private static func type(_ form: String) -> JSONValue {
        if form.hasPrefix("[") {
            return ["type": "array", "items": type(String(form.dropFirst().dropLast()))]
        }
        if form.contains("|") {
            let words = form.split(separator: "|").map { JSONValue.string(String($0)) }
            return ["type": "string", "enum": .array(words)]
        }
        switch form {
        case "text": return ["type": "string"]
        case "flag": return ["type": "boolean"]
        case "int": return ["type": "integer", "format": "int32"]
        case "long": return ["type": "string", "format": "int64"]
        case "date": return ["type": "string", "format": "google-datetime"]
        default: return ["$ref": .string(form)]
        }
    }
}
