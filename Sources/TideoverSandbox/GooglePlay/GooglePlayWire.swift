public import TideoverJSON

/// Google's wire JSON, written only from Google's API description. It shares no type with its
/// readers. As Google's servers do, it omits values that are false, empty or unknown.
/// https://developers.google.com/android-publisher/api-ref/rest
enum GooglePlayWire {
    static func time(_ instant: Int64) -> JSONValue { .string(InstantText.write(instant)) }

    /// Returns `Money`: whole units as text, the rest in billionths of a unit.
    static func money(_ milliunits: Int64, _ currency: String) -> JSONValue {
        var json: JSONObject = ["currencyCode": .string(currency)]
        let (units, rest) = milliunits.quotientAndRemainder(dividingBy: 1000)
        if units != 0 { json["units"] = .string(String(units)) }
        if rest != 0 { json["nanos"] = .integer(rest * 1_000_000) }
        return .object(json)
    }

    static func money(_ price: StorePrice) -> JSONValue { money(price.milliunits, price.currency) }

    /// Returns `ExternalAccountIdentifiers`; nil if the app set none.
    static func identifiers(_ buyer: GooglePlayBuyer) -> JSONValue? {
        var json: JSONObject = [:]
        json["obfuscatedExternalAccountId"] = buyer.obfuscatedAccountId.map(JSONValue.string)
        json["obfuscatedExternalProfileId"] = buyer.obfuscatedProfileId.map(JSONValue.string)
        return json.isEmpty ? nil : .object(json)
    }

    static func acknowledgement(_ isAcknowledged: Bool) -> JSONValue {
        isAcknowledged
            ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"
    }
}

// MARK: - Subscriptions

extension GooglePlaySubscription {
    /// The version that a change of the subscription must name.
    var etag: String {
        let text = "\(token) \(version)"
        let hash = text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        return String(hash, radix: 36)
    }

    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
    func resource(at now: Int64) -> JSONObject {
        var json: JSONObject = ["kind": "androidpublisher#subscriptionPurchaseV2"]
        if case .granted(let at) = signup { json["startTime"] = GooglePlayWire.time(at) }
        json["regionCode"] = .string(buyer.region)
        json["subscriptionState"] = .string(state.rawValue)
        let latestOrder = declinedOrder ?? listed.lazy.compactMap(\.orderId).first
        json["latestOrderId"] = latestOrder.map(JSONValue.string)
        json["linkedPurchaseToken"] = linkedToken.map(JSONValue.string)
        json["canceledStateContext"] = canceledStateContext.map(JSONValue.object)
        json["pausedStateContext"] = pausedStateContext
        if tempo.isTest { json["testPurchase"] = [:] }
        json["acknowledgementState"] = GooglePlayWire.acknowledgement(isAcknowledged)
        json["externalAccountIdentifiers"] = GooglePlayWire.identifiers(buyer)
        // Google removes it with the acknowledgement.
        if !isAcknowledged {
            json["outOfAppPurchaseContext"] = predecessor.map(outOfAppPurchaseContext)
        }
        json["etag"] = .string(etag)
        json["lineItems"] = .array(listed.map { .object(lineItem($0, at: now)) })
        return json
    }

    /// The products in the store's list. A removed product is omitted after it has ended.
    private var listed: [GooglePlayItem] {
        items.filter { $0.phase != .ended || !$0.isRemoved }
    }

    private var canceledStateContext: JSONObject? {
        guard state == .cancelled || state == .expired else { return nil }
        switch cancellation {
        case .user(let at, let survey):
            var user: JSONObject = ["cancelTime": GooglePlayWire.time(at)]
            user["cancelSurveyResult"] = survey.map { survey in
                var result: JSONObject = ["reason": .string(survey.reason.rawValue)]
                if survey.reason == .others {
                    result["reasonUserInput"] = survey.input.map(JSONValue.string)
                }
                return .object(result)
            }
            return ["userInitiatedCancellation": .object(user)]
        case .system: return ["systemInitiatedCancellation": [:]]
        case .developer: return ["developerInitiatedCancellation": [:]]
        case .replacement: return ["replacementCancellation": [:]]
        case nil: return nil
        }
    }

    private var pausedStateContext: JSONValue? {
        guard state == .paused else { return nil }
        return pauseEnd.map { ["autoResumeTime": GooglePlayWire.time($0)] }
    }

    private func outOfAppPurchaseContext(_ predecessor: Predecessor) -> JSONValue {
        var json: JSONObject = ["expiredPurchaseToken": .string(predecessor.token)]
        json["expiredExternalAccountIdentifiers"] = GooglePlayWire.identifiers(predecessor.buyer)
        return .object(json)
    }

    private func lineItem(_ item: GooglePlayItem, at now: Int64) -> JSONObject {
        var json: JSONObject = ["productId": .string(item.plan.product)]
        let isOwned = item.phase != .awaited && item.phase != .following
        if isOwned { json["expiryTime"] = GooglePlayWire.time(item.end) }
        json["latestSuccessfulOrderId"] = item.orderId.map(JSONValue.string)
        if item.isPrepaid {
            let isOver = item.phase == .ended || !isOwned
            json["prepaidPlan"] = .object(
                isOver ? [:] : ["allowExtendAfterTime": GooglePlayWire.time(item.start)]
            )
        } else {
            json["autoRenewingPlan"] = .object(autoRenewingPlan(item))
        }
        json["offerDetails"] = .object(offerDetails(item.plan))
        if isOwned { json["offerPhase"] = .object(offerPhase(item.kind)) }
        if item.isLive, let successor = item.successor {
            json["deferredItemReplacement"] = ["productId": .string(successor.product)]
        }
        if item.isLive, item.isRemoved { json["deferredItemRemoval"] = [:] }
        if let replaced = item.replaced,
            now < replaced.at + GooglePlayBillingSpeed.replacementIsTold
        {
            json["itemReplacement"] = .object(itemReplacement(replaced))
        }
        return json
    }

    private func autoRenewingPlan(_ item: GooglePlayItem) -> JSONObject {
        var json: JSONObject = [:]
        if item.renews, !item.isRemoved { json["autoRenewEnabled"] = true }
        json["recurringPrice"] = GooglePlayWire.money(item.price)
        json["priceChangeDetails"] = item.priceChange.map { change in
            // A price that was not charged by the end is never charged.
            let isOver = change.isPending && item.phase == .ended
            var details: JSONObject = [
                "newPrice": GooglePlayWire.money(change.price),
                "priceChangeMode": .string(change.mode.rawValue),
                "priceChangeState": .string(isOver ? "CANCELED" : change.state.rawValue),
            ]
            if change.isPending, !isOver {
                let time = GooglePlayWire.time(item.chargesFullPriceAt)
                details["expectedNewPriceChargeTime"] = time
            }
            return .object(details)
        }
        if case .instalments(let payments, let renewsCommitment) = item.plan.basePlan.kind {
            json["installmentDetails"] = .object(instalments(item, payments, renewsCommitment))
        }
        json["priceStepUpConsentDetails"] = item.stepUp.map {
            [
                "state": .string($0.state.rawValue),
                "consentDeadlineTime": GooglePlayWire.time($0.deadline),
                "newPrice": GooglePlayWire.money(item.price),
            ]
        }
        return json
    }

    private func instalments(
        _ item: GooglePlayItem,
        _ payments: Int64,
        _ renewsCommitment: Bool
    ) -> JSONObject {
        var json: JSONObject = ["initialCommittedPaymentsCount": .integer(payments)]
        if renewsCommitment { json["subsequentCommittedPaymentsCount"] = .integer(payments) }
        if item.paymentsLeft > 0 {
            json["remainingCommittedPaymentsCount"] = .integer(item.paymentsLeft)
        }
        if pendingCancellation != nil { json["pendingCancellation"] = [:] }
        return json
    }

    private func offerDetails(_ plan: GooglePlayPlan) -> JSONObject {
        var json: JSONObject = ["basePlanId": .string(plan.basePlan.id)]
        json["offerId"] = plan.offer.map { .string($0.id) }
        if let tags = plan.offer?.tags, !tags.isEmpty {
            json["offerTags"] = .array(tags.map(JSONValue.string))
        }
        return json
    }

    private func offerPhase(_ kind: GooglePlayItem.Kind) -> JSONObject {
        switch kind {
        case .base: ["basePrice": [:]]
        case .freeTrial: ["freeTrial": [:]]
        case .introductory: ["introductoryPrice": [:]]
        case .proration(let original):
            ["prorationPeriod": ["originalOfferPhaseType": .string(original.rawValue)]]
        }
    }

    private func itemReplacement(_ replaced: GooglePlayItem.Replaced) -> JSONObject {
        var json: JSONObject = [
            "productId": .string(replaced.plan.product),
            "basePlanId": .string(replaced.plan.basePlan.id),
        ]
        json["offerId"] = replaced.plan.offer.map { .string($0.id) }
        json["replacementMode"] = .string(replaced.mode)
        return json
    }
}

// MARK: - One-time purchases

extension GooglePlayPurchase {
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
    var resource: JSONObject {
        var json: JSONObject = ["kind": "androidpublisher#productPurchaseV2"]
        json["productLineItem"] = [
            ["productId": .string(product.id), "productOfferDetails": .object(offerDetails)]
        ]
        json["purchaseStateContext"] = ["purchaseState": .string(state.rawValue)]
        if tempo.isTest { json["testPurchaseContext"] = ["fopType": "TEST"] }
        json["orderId"] = orderId.map(JSONValue.string)
        json["obfuscatedExternalAccountId"] = buyer.obfuscatedAccountId.map(JSONValue.string)
        json["obfuscatedExternalProfileId"] = buyer.obfuscatedProfileId.map(JSONValue.string)
        json["regionCode"] = .string(buyer.region)
        json["purchaseCompletionTime"] = completedAt.map(GooglePlayWire.time)
        json["acknowledgementState"] = GooglePlayWire.acknowledgement(isAcknowledged)
        return json
    }

    /// Its numbers are written even if they are 0.
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products
    var resourceV1: JSONObject {
        var json: JSONObject = [
            "kind": "androidpublisher#productPurchase", "developerPayload": "",
            "purchaseState": .integer(state.numberV1),
            "consumptionState": .integer(isConsumed ? 1 : 0),
            "acknowledgementState": .integer(isAcknowledged ? 1 : 0),
            "regionCode": .string(buyer.region),
        ]
        json["purchaseTimeMillis"] = completedAt.map { .string(String($0)) }
        json["orderId"] = orderId.map(JSONValue.string)
        if tempo.isTest { json["purchaseType"] = 0 }
        if quantity > 1 { json["quantity"] = .integer(quantity) }
        if refundable > 0, state == .purchased { json["refundableQuantity"] = .integer(refundable) }
        json["obfuscatedExternalAccountId"] = buyer.obfuscatedAccountId.map(JSONValue.string)
        json["obfuscatedExternalProfileId"] = buyer.obfuscatedProfileId.map(JSONValue.string)
        return json
    }

    private var offerDetails: JSONObject {
        var json: JSONObject = ["quantity": .integer(quantity)]
        if refundable > 0, state == .purchased { json["refundableQuantity"] = .integer(refundable) }
        json["consumptionState"] =
            isConsumed ? "CONSUMPTION_STATE_CONSUMED" : "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
        return json
    }
}

// MARK: - Orders

extension GooglePlayOrder {
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
    var resource: JSONObject {
        var json: JSONObject = [
            "orderId": .string(id), "purchaseToken": .string(token), "state": .string(state),
            "createTime": GooglePlayWire.time(at),
            "lastEventTime": GooglePlayWire.time(lastEventAt),
            "buyerAddress": ["buyerCountry": .string(region)],
            "orderDetails": ["taxInclusive": true],
        ]
        json["orderHistory"] = .object(history)
        json["lineItems"] = .array(lines.map { .object(item($0)) })
        json["total"] = GooglePlayWire.money(total, currency)
        json["tax"] = GooglePlayWire.money(0, currency)
        // Google keeps 15 per cent of a subscription, and of the first million a year of other
        // sales.
        let revenue = share(of: kept, 85, of: 100)
        json["developerRevenueInBuyerCurrency"] = GooglePlayWire.money(revenue, currency)
        return json
    }

    private var history: JSONObject {
        var json: JSONObject = ["processedEvent": ["eventTime": GooglePlayWire.time(at)]]
        if !partialRefunds.isEmpty {
            json["partialRefundEvents"] = .array(
                partialRefunds.map { refund in
                    [
                        "createTime": GooglePlayWire.time(refund.at),
                        "processTime": GooglePlayWire.time(refund.at),
                        "state": "PROCESSED_SUCCESSFULLY", "refundDetails": details(refund.amount),
                    ]
                }
            )
        }
        if let refundedAt {
            json["refundEvent"] = [
                "eventTime": GooglePlayWire.time(refundedAt), "refundDetails": details(total),
                "refundReason": isChargeback ? "CHARGEBACK" : "OTHER",
            ]
        }
        return json
    }

    private func details(_ amount: Int64) -> JSONValue {
        [
            "total": GooglePlayWire.money(amount, currency),
            "tax": GooglePlayWire.money(0, currency),
        ]
    }

    private func item(_ line: Line) -> JSONObject {
        var json: JSONObject = [
            "productId": .string(line.product), "listingPrice": GooglePlayWire.money(line.listing),
            "total": GooglePlayWire.money(line.paid, line.listing.currency),
            "tax": GooglePlayWire.money(0, line.listing.currency),
        ]
        json["oneTimePurchaseDetails"] = line.quantity.map { ["quantity": .integer($0)] }
        json["subscriptionDetails"] = line.period.map { .object(subscription($0)) }
        return json
    }

    private func subscription(_ period: Period) -> JSONObject {
        var json: JSONObject = ["basePlanId": .string(period.basePlan)]
        json["offerId"] = period.offer.map(JSONValue.string)
        json["offerPhase"] = .string(period.kind.original.rawValue)
        json["offerPhaseDetails"] = .object(phaseDetails(period.kind))
        json["servicePeriodStartTime"] = GooglePlayWire.time(period.start)
        json["servicePeriodEndTime"] = GooglePlayWire.time(period.end)
        return json
    }

    private func phaseDetails(_ kind: GooglePlayItem.Kind) -> JSONObject {
        switch kind {
        case .base: ["baseDetails": [:]]
        case .freeTrial: ["freeTrialDetails": [:]]
        case .introductory: ["introductoryPriceDetails": [:]]
        case .proration(let original):
            ["prorationPeriodDetails": ["originalOfferPhase": .string(original.rawValue)]]
        }
    }
}

extension GooglePlayVoidedPurchase {
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases
    public var resource: JSONObject {
        var json: JSONObject = [
            "kind": "androidpublisher#voidedPurchase", "purchaseToken": .string(token),
            "purchaseTimeMillis": .string(String(purchasedAt)),
            "voidedTimeMillis": .string(String(voidedAt)), "orderId": .string(order),
            "voidedSource": .integer(source.rawValue), "voidedReason": .integer(reason.rawValue),
        ]
        json["voidedQuantity"] = quantity.map(JSONValue.integer)
        return json
    }
}
