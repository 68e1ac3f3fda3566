import TideoverJSON

// RevenueCat's handling of Google Play: a notification is only a signal to read the purchase token.

extension RelayJournal {
    /// Receives a notification about a subscription, with the API's answer when RevenueCat read it.
    mutating func hear(
        _ notificationType: Int64,
        _ resource: JSONObject,
        of customer: String,
        at now: Int64
    ) -> [RelayEvent] {
        guard let item = resource["lineItems"]?.array?.first,
            let order = item["latestSuccessfulOrderId"]?.string,
            let product = item["productId"]?.string,
            let end = item["expiryTime"]?.string.flatMap(InstantText.read)
        else { return [] }
        let original = Self.withoutNumber(order)
        let start = resource["startTime"]?.string.flatMap(InstantText.read) ?? now
        let known = place(of: original, for: customer).map { customers[customer]?[$0] } ?? nil
        var purchase =
            known
            ?? RelayedPurchase(
                store: .playStore,
                original: original,
                transaction: order,
                product: product,
                purchasedAt: start,
                originallyPurchasedAt: start,
                expiresAt: end
            )
        purchase.product = product
        purchase.plan = item["offerDetails"]?["basePlanId"]?.string
        let news = purchase.take(notificationType, resource, item, order, end, at: now)
        return keep(purchase, of: customer, news, at: now)
    }

    /// Returns an order without its renewal number: `GPA.1234-5678..3` becomes `GPA.1234-5678`.
    private static func withoutNumber(_ order: String) -> String {
        let bytes = Array(order.utf8)
        let dot = UInt8(ascii: ".")
        let end = bytes.indices.dropLast().first { bytes[$0] == dot && bytes[$0 + 1] == dot }
        return String(decoding: bytes[..<(end ?? bytes.endIndex)], as: UTF8.self)
    }
}

extension RelayedPurchase {
    fileprivate mutating func take(
        _ type: Int64,
        _ resource: JSONObject,
        _ item: JSONValue,
        _ order: String,
        _ end: Int64,
        at now: Int64
    ) -> [RelayNews] {
        switch type {
        case 4:
            renew(item, order, from: purchasedAt, until: end)
            return [RelayNews(type: .initialPurchase)]
        case 1, 2:
            let converts = periodType == "TRIAL"
            // After a hold or a pause, a cycle begins now; otherwise at the end of the last one.
            renew(item, order, from: type == 1 ? now : expiresAt ?? now, until: end)
            let more: JSONObject = [
                "is_trial_conversion": .bool(converts && periodType == "NORMAL")
            ]
            return [RelayNews(type: .renewal, more: more)]
        case 3 where resource["canceledStateContext"]?["userInitiatedCancellation"] != nil:
            unsubscribedAt = now
            return [RelayNews(type: .cancellation, more: ["cancel_reason": "UNSUBSCRIBE"])]
        case 5:
            expiresAt = end
            return fail(graceUntil: nil, at: now)
        case 6: return fail(graceUntil: end, at: now)
        case 7:
            unsubscribedAt = nil
            return [RelayNews(type: .uncancellation)]
        case 9:
            expiresAt = end
            return [RelayNews(type: .subscriptionExtended)]
        case 10: return expire("SUBSCRIPTION_PAUSED")
        case 11:
            // Google reports a cancelled plan in the same way, which is no event.
            autoResumesAt = resource["autoResumeTimeMillis"]?.string.flatMap { Int64($0) }
            return autoResumesAt.map { end in
                [RelayNews(type: .subscriptionPaused, more: ["auto_resume_at_ms": .integer(end)])]
            } ?? []
        case 12:
            (expiresAt, refundedAt, graceUntil) = (end, now, nil)
            return refund()
        case 13:
            // An expiry moved to the end of an unpaid hold is no payment.
            (expiresAt, graceUntil) = (min(expiresAt ?? end, end), nil)
            return expire(unsubscribedAt == nil ? "BILLING_ERROR" : "UNSUBSCRIBE")
        default: return []
        }
    }

    /// Records the payment of a period.
    private mutating func renew(
        _ item: JSONValue,
        _ order: String,
        from start: Int64,
        until end: Int64
    ) {
        isPaid()
        (transaction, purchasedAt, expiresAt) = (order, start, end)
        let isPrepaid = item["prepaidPlan"] != nil
        let isTrial = item["offerPhase"]?["freeTrial"] != nil
        let isIntroductory = item["offerPhase"]?["introductoryPrice"] != nil
        periodType =
            isPrepaid ? "PREPAID" : isTrial ? "TRIAL" : isIntroductory ? "INTRO" : "NORMAL"
    }
}
