import TideoverJSON

/// Apple's wire JSON, written only from Apple's pages. It shares no type with its readers.
enum AppStoreWire {
    /// The `data` object without its signed parts. Apple documents `appAppleId` in production only,
    /// but the sandbox writes it too.
    static func data(
        _ app: AppStoreApp,
        status: Int64? = nil,
        _ event: AppStoreEvent? = nil
    ) -> JSONObject {
        var data: JSONObject = ["appAppleId": .integer(app.appAppleId)]
        data["bundleId"] = .string(app.bundleId)
        data["bundleVersion"] = .string(app.bundleVersion)
        data["environment"] = .string(app.environment.rawValue)
        data["status"] = status.map(JSONValue.integer)
        if case .refundRequested(let reason) = event {
            data["consumptionRequestReason"] = .string(reason.rawValue)
        }
        return data
    }

    /// Returns the app transaction of the account.
    /// https://developer.apple.com/documentation/storekit/apptransaction
    static func appTransaction(
        _ app: AppStoreApp,
        _ account: AppStoreMachine.Account,
        signedDate: Int64
    ) -> JSONObject {
        var json: JSONObject = [
            "receiptType": .string(app.environment.rawValue),
            "receiptCreationDate": .integer(signedDate),
            "bundleId": .string(app.bundleId),
            "applicationVersion": .string(app.bundleVersion),
            "originalApplicationVersion": .string(app.bundleVersion),
            "originalPurchaseDate": .integer(account.originalPurchaseDate),
            "appTransactionId": .string(account.appTransactionId),
            "originalPlatform": "iOS",
        ]
        if app.environment == .production { json["appAppleId"] = .integer(app.appAppleId) }
        return json
    }

    /// Every notification type, with the subtypes it can have.
    /// https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
    static let notificationKinds: [String: [String]] = [
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
        "DID_RENEW": ["BILLING_RECOVERY"],
        "DID_CHANGE_RENEWAL_PREF": ["UPGRADE", "DOWNGRADE"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        "OFFER_REDEEMED": ["UPGRADE", "DOWNGRADE"],
        "DID_FAIL_TO_RENEW": ["GRACE_PERIOD"],
        "GRACE_PERIOD_EXPIRED": [],
        "EXPIRED": ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
        "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
        "REFUND": [], "REFUND_DECLINED": [], "REFUND_REVERSED": [], "REVOKE": [],
        "CONSUMPTION_REQUEST": [],
        "RENEWAL_EXTENDED": [],
        "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
        "TEST": [],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        "ONE_TIME_CHARGE": [], "RESCIND_CONSENT": [],
        "METADATA_UPDATE": [], "MIGRATION": [], "PRICE_CHANGE": [],
    ]

    /// Adds the fields of a transaction's revocation.
    static func add(_ revocation: AppStoreSubscription.Revocation?, to json: inout JSONObject) {
        guard let revocation else { return }
        json["revocationReason"] = .integer(revocation.reason.rawValue)
        json["revocationDate"] = .integer(revocation.at)
        if revocation.isOfShare {
            json["revocationType"] = "FAMILY_REVOKE"
        } else if let percent = revocation.percent {
            json["revocationType"] = "REFUND_PRORATED"
            json["revocationPercentage"] = .integer(percent * 1000)
        } else {
            json["revocationType"] = "REFUND_FULL"
        }
    }

    static func add(_ offer: AppStoreOffer?, to json: inout JSONObject) {
        guard let offer else { return }
        json["offerType"] = .integer(offer.kind.rawValue)
        json["offerIdentifier"] = offer.identifier.map(JSONValue.string)
        json["offerDiscountType"] = .string(offer.mode.rawValue)
        json["offerPeriod"] = .string(offer.period.text)
    }

    /// One subscription, with its account and its app.
    struct Subject {
        let app: AppStoreApp
        let account: AppStoreMachine.Account
        let subscription: AppStoreSubscription
    }
}

extension AppStoreWire.Subject {
    /// 1 active, 2 expired, 3 billing retry, 4 billing grace period, 5 revoked.
    /// https://developer.apple.com/documentation/appstoreserverapi/status
    var status: Int64 {
        if subscription.isRevoked { return 5 }
        switch subscription.phase {
        case .running: return 1
        case .ended: return 2
        case .retry: return 3
        case .grace: return 4
        }
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
    func transaction(signedDate: Int64) -> JSONObject {
        transaction(subscription.current, signedDate: signedDate)
    }

    /// Returns any transaction of the subscription, in its current state.
    func transaction(_ term: AppStoreSubscription.Term, signedDate: Int64) -> JSONObject {
        var json = identity(of: term)
        json["purchaseDate"] = .integer(term.start)
        json["originalPurchaseDate"] = .integer(subscription.original.start)
        json["expiresDate"] = .integer(term.end)
        json["quantity"] = 1
        json["type"] = "Auto-Renewable Subscription"
        json["appAccountToken"] = subscription.appAccountToken.map(JSONValue.string)
        json["inAppOwnershipType"] = .string(subscription.ownershipType)
        json["signedDate"] = .integer(signedDate)
        if term.isUpgraded { json["isUpgraded"] = true }
        AppStoreWire.add(term.revocation, to: &json)
        AppStoreWire.add(term.offer, to: &json)
        json["environment"] = .string(app.environment.rawValue)
        json["transactionReason"] = term.isRenewal ? "RENEWAL" : "PURCHASE"
        json["storefront"] = .string(account.customer.storefront.country)
        json["storefrontId"] = .string(account.customer.storefront.id)
        json["price"] = .integer(term.price.milliunits)
        json["currency"] = .string(term.price.currency)
        json["appTransactionId"] = .string(account.appTransactionId)
        return json
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
    func renewalInfo(signedDate: Int64) -> JSONObject {
        let term = subscription.current
        var json: JSONObject = [:]
        addFailure(to: &json)
        json["originalTransactionId"] = .string(subscription.original.ids.transactionId)
        json["autoRenewProductId"] = .string(subscription.plan.product.id)
        json["productId"] = .string(term.product.id)
        json["autoRenewStatus"] = subscription.renews ? 1 : 0
        if subscription.renews {
            let usual = subscription.priceIncrease?.price ?? subscription.plan.price
            let price = subscription.nextOffer?.price ?? usual
            json["renewalPrice"] = .integer(price.milliunits)
            json["currency"] = .string(price.currency)
        }
        if subscription.renews { AppStoreWire.add(subscription.nextOffer, to: &json) }
        addWinBackOffers(to: &json)
        json["priceIncreaseStatus"] = subscription.priceIncrease.map { $0.isAccepted ? 1 : 0 }
        json["signedDate"] = .integer(signedDate)
        json["environment"] = .string(app.environment.rawValue)
        json["recentSubscriptionStartDate"] = .integer(subscription.recentStart)
        json["renewalDate"] = .integer(term.end)
        json["appTransactionId"] = .string(account.appTransactionId)
        json["appAccountToken"] = subscription.appAccountToken.map(JSONValue.string)
        return json
    }

    private func identity(of term: AppStoreSubscription.Term) -> JSONObject {
        var json: JSONObject = [:]
        json["transactionId"] = .string(term.ids.transactionId)
        json["originalTransactionId"] = .string(subscription.original.ids.transactionId)
        json["webOrderLineItemId"] = .string(term.ids.webOrderLineItemId)
        json["bundleId"] = .string(app.bundleId)
        json["productId"] = .string(term.product.id)
        json["subscriptionGroupIdentifier"] = .string(term.product.groupNumber)
        return json
    }

    /// Adds win-back offers for a customer who has paid and left.
    private func addWinBackOffers(to json: inout JSONObject) {
        guard case .ended = subscription.phase, !subscription.isRevoked,
            subscription.sharedFrom == nil, subscription.terms.contains(where: { !$0.isTrial })
        else { return }
        let offers = app.products.filter { $0.group == subscription.current.product.group }
            .flatMap(\.offers).filter { $0.kind == .winBack }.compactMap(\.identifier)
        guard !offers.isEmpty else { return }
        json["eligibleWinBackOfferIds"] = .array(offers.map(JSONValue.string))
    }

    /// Adds the failure fields, which Apple writes only after a subscription has ended or a charge
    /// failed.
    private func addFailure(to json: inout JSONObject) {
        switch subscription.phase {
        case .running: return
        case .grace, .retry:
            json["expirationIntent"] = 2
            json["isInBillingRetryPeriod"] = true
        case .ended(let intent):
            json["expirationIntent"] = .integer(intent.rawValue)
            json["isInBillingRetryPeriod"] = false
        }
        json["gracePeriodExpiresDate"] = subscription.statedGraceEnd.map(JSONValue.integer)
    }
}
