import TideoverJSON

// RevenueCat's handling of the App Store's notifications.

extension RelayJournal {
    mutating func hear(
        _ notification: AppStoreNotification,
        of customer: String,
        at now: Int64
    ) -> [RelayEvent] {
        guard let transaction = notification.transaction,
            let id = transaction["transactionId"]?.string,
            let original = transaction["originalTransactionId"]?.string,
            let product = transaction["productId"]?.string,
            let purchasedAt = transaction["purchaseDate"]?.int64
        else { return [] }
        let known = place(of: original, for: customer).map { customers[customer]?[$0] } ?? nil
        // It reports nothing about the refund of an earlier payment.
        guard purchasedAt >= known?.purchasedAt ?? purchasedAt else { return [] }
        var purchase =
            known
            ?? RelayedPurchase(
                store: .appStore,
                original: original,
                transaction: id,
                product: product,
                purchasedAt: purchasedAt,
                originallyPurchasedAt: transaction["originalPurchaseDate"]?.int64 ?? purchasedAt
            )
        let before = purchase.periodType
        purchase.transaction = id
        purchase.product = product
        purchase.purchasedAt = purchasedAt
        purchase.expiresAt = transaction["expiresDate"]?.int64
        purchase.periodType = Self.periodType(transaction)
        purchase.isFamilyShare = transaction["inAppOwnershipType"]?.string == "FAMILY_SHARED"
        let news = purchase.take(notification, at: now, after: before)
        return keep(purchase, of: customer, news, at: now)
    }

    /// A trial is free; any other discount at the start is an introductory price.
    private static func periodType(_ transaction: JSONObject) -> String {
        if transaction["offerDiscountType"]?.string == "FREE_TRIAL" { return "TRIAL" }
        return transaction["offerType"]?.int64 == 1 ? "INTRO" : "NORMAL"
    }
}

extension RelayedPurchase {
    fileprivate mutating func take(
        _ notification: AppStoreNotification,
        at now: Int64,
        after periodType: String
    ) -> [RelayNews] {
        let renewal = notification.renewal
        switch (notification.event.notificationType, notification.event.subtype) {
        case ("SUBSCRIBED", let subtype):
            isPaid()
            return [RelayNews(type: subtype == "RESUBSCRIBE" ? .renewal : .initialPurchase)]
        case ("ONE_TIME_CHARGE", _):
            isPaid()
            return [RelayNews(type: .nonRenewingPurchase)]
        case ("DID_RENEW", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
            ("OFFER_REDEEMED", "UPGRADE"):
            isPaid()
            let converts = periodType == "TRIAL" && self.periodType == "NORMAL"
            return [RelayNews(type: .renewal, more: ["is_trial_conversion": .bool(converts)])]
        case ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"), ("OFFER_REDEEMED", "DOWNGRADE"):
            let next = renewal?["autoRenewProductId"] ?? .null
            return [RelayNews(type: .productChange, more: ["new_product_id": next])]
        case ("OFFER_REDEEMED", _):
            // Of the next renewal. It turns renewal on.
            guard unsubscribedAt != nil else { return [] }
            unsubscribedAt = nil
            return [RelayNews(type: .uncancellation)]
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"):
            unsubscribedAt = now
            return [RelayNews(type: .cancellation, more: ["cancel_reason": "UNSUBSCRIBE"])]
        case ("DID_CHANGE_RENEWAL_STATUS", _):
            unsubscribedAt = nil
            return [RelayNews(type: .uncancellation)]
        case ("DID_FAIL_TO_RENEW", _):
            return fail(graceUntil: renewal?["gracePeriodExpiresDate"]?.int64, at: now)
        case ("GRACE_PERIOD_EXPIRED", _):
            graceUntil = nil
            return expire("BILLING_ERROR")
        case ("EXPIRED", let subtype):
            graceUntil = nil
            return expire(Self.reasons[subtype ?? ""] ?? "UNKNOWN")
        case ("REFUND", _), ("REVOKE", _):
            expiresAt = notification.transaction?["revocationDate"]?.int64 ?? now
            refundedAt = expiresAt
            return refund()
        case ("REFUND_REVERSED", _):
            (refundedAt, isOver) = (nil, false)
            return [RelayNews(type: .refundReversed)]
        case ("RENEWAL_EXTENDED", _): return [RelayNews(type: .subscriptionExtended)]
        default: return []
        }
    }

    private static let reasons = [
        "VOLUNTARY": "UNSUBSCRIBE", "BILLING_RETRY": "BILLING_ERROR",
        "PRICE_INCREASE": "PRICE_INCREASE",
    ]
}

// MARK: - Changes in both stores

extension RelayedPurchase {
    /// Records a failed payment, which is reported once until it is made: as an issue and as a
    /// cancellation. RevenueCat counts a past due purchase as cancelled. Without grace it expires
    /// at once.
    mutating func fail(graceUntil grace: Int64?, at now: Int64) -> [RelayNews] {
        graceUntil = grace
        guard billingIssueAt == nil else { return grace == nil ? expire("BILLING_ERROR") : [] }
        billingIssueAt = now
        let end = grace.map(JSONValue.integer) ?? .null
        let news = [
            RelayNews(type: .billingIssue, more: ["grace_period_expiration_at_ms": end]),
            RelayNews(type: .cancellation, more: ["cancel_reason": "BILLING_ERROR"]),
        ]
        return grace == nil ? news + expire("BILLING_ERROR") : news
    }

    /// Expires the purchase, which is reported once.
    mutating func expire(_ reason: String) -> [RelayNews] {
        guard !isOver else { return [] }
        isOver = true
        return [RelayNews(type: .expiration, more: ["expiration_reason": .string(reason)])]
    }

    /// Records a refund, which also ends access.
    mutating func refund() -> [RelayNews] {
        [RelayNews(type: .cancellation, more: ["cancel_reason": "CUSTOMER_SUPPORT"])]
            + expire("CUSTOMER_SUPPORT")
    }
}
