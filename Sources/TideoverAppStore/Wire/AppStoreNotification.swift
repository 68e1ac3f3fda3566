package import TideoverCore
package import TideoverJSON

/// The payload of an App Store server notification, version 2. The JWS inside it are not verified
/// yet.
/// https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload
package struct AppStoreNotification: Hashable, Sendable {
    package let notificationType: OpenEnum<NotificationType>?
    package let subtype: OpenEnum<Subtype>?
    /// The id that all deliveries of one notification share.
    package let notificationUUID: String?
    /// The version of the format, `2.0`.
    package let version: String?
    package let signedDate: Instant?
    /// The one object that the notification is about; nil if it has none that names an app.
    package let content: Content?

    /// The subject of a notification.
    package enum Content: Hashable, Sendable {
        case data(Data)
        case summary(Summary)
        case externalPurchaseToken(ExternalPurchaseToken)
        case appData(AppData)
        case unknown(UnknownObject)
    }

    /// A purchase, or only the app in a test.
    package struct Data: Hashable, Sendable {
        /// The app's App Store ID. Apple documents it in production only; the sandbox states it
        /// too.
        package let appAppleId: Int64?
        package let bundleId: String?
        package let bundleVersion: String?
        package let environment: OpenEnum<StoreEnvironment>?
        /// A transaction as a JWS.
        package let signedTransactionInfo: ArraySlice<UInt8>?
        /// A renewal info as a JWS; only for auto-renewable subscriptions.
        package let signedRenewalInfo: ArraySlice<UInt8>?
        /// The state of the subscription when the notification was signed.
        package let status: OpenEnum<SubscriptionStatus>?
        /// The customer's reason for a refund request.
        package let consumptionRequestReason: OpenEnum<ConsumptionRequestReason>?
    }

    /// The result of extending the renewal date of all subscribers of a product.
    package struct Summary: Hashable, Sendable {
        package let requestIdentifier: String?
        package let environment: OpenEnum<StoreEnvironment>?
        package let appAppleId: Int64?
        package let bundleId: String?
        package let productId: String?
        /// ISO 3166-1 alpha-3.
        package let storefrontCountryCodes: [String]?
        package let succeededCount: Int64?
        package let failedCount: Int64?
    }

    /// A token for purchases made outside the store.
    package struct ExternalPurchaseToken: Hashable, Sendable {
        /// The token's id; it starts with `SANDBOX` in the sandbox.
        package let externalPurchaseId: String?
        package let tokenCreationDate: Instant?
        package let appAppleId: Int64?
        package let bundleId: String?
        package let tokenType: String?
        package let tokenExpirationDate: Instant?
    }

    /// The app of one customer.
    package struct AppData: Hashable, Sendable {
        package let appAppleId: Int64?
        package let bundleId: String?
        package let environment: OpenEnum<StoreEnvironment>?
        /// An app transaction as a JWS.
        package let signedAppTransactionInfo: ArraySlice<UInt8>?
    }

    /// An object that this version does not know, with the members that every object has.
    package struct UnknownObject: Hashable, Sendable {
        /// The name of the object in the payload.
        package let name: String
        package let appAppleId: Int64?
        package let bundleId: String
        package let environment: OpenEnum<StoreEnvironment>?
    }
}

extension AppStoreNotification {
    /// The type of a notification.
    /// https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
    package enum NotificationType: String, Hashable, Sendable, CaseIterable {
        case subscribed = "SUBSCRIBED"
        case didRenew = "DID_RENEW"
        case didChangeRenewalPref = "DID_CHANGE_RENEWAL_PREF"
        case didChangeRenewalStatus = "DID_CHANGE_RENEWAL_STATUS"
        case offerRedeemed = "OFFER_REDEEMED"
        case didFailToRenew = "DID_FAIL_TO_RENEW"
        case gracePeriodExpired = "GRACE_PERIOD_EXPIRED"
        case expired = "EXPIRED"
        case priceIncrease = "PRICE_INCREASE"
        case refund = "REFUND"
        case refundDeclined = "REFUND_DECLINED"
        case refundReversed = "REFUND_REVERSED"
        case revoke = "REVOKE"
        case consumptionRequest = "CONSUMPTION_REQUEST"
        case renewalExtended = "RENEWAL_EXTENDED"
        case renewalExtension = "RENEWAL_EXTENSION"
        case test = "TEST"
        case externalPurchaseToken = "EXTERNAL_PURCHASE_TOKEN"
        case oneTimeCharge = "ONE_TIME_CHARGE"
        case rescindConsent = "RESCIND_CONSENT"
        case metadataUpdate = "METADATA_UPDATE"
        case migration = "MIGRATION"
        case priceChange = "PRICE_CHANGE"
    }

    /// The subtype, which refines a notification's type.
    /// https://developer.apple.com/documentation/appstoreservernotifications/subtype
    package enum Subtype: String, Hashable, Sendable, CaseIterable {
        case initialBuy = "INITIAL_BUY"
        case resubscribe = "RESUBSCRIBE"
        case billingRecovery = "BILLING_RECOVERY"
        case upgrade = "UPGRADE"
        case downgrade = "DOWNGRADE"
        case autoRenewEnabled = "AUTO_RENEW_ENABLED"
        case autoRenewDisabled = "AUTO_RENEW_DISABLED"
        case gracePeriod = "GRACE_PERIOD"
        case voluntary = "VOLUNTARY"
        case billingRetry = "BILLING_RETRY"
        case priceIncrease = "PRICE_INCREASE"
        case productNotForSale = "PRODUCT_NOT_FOR_SALE"
        case pending = "PENDING"
        case accepted = "ACCEPTED"
        case summary = "SUMMARY"
        case failure = "FAILURE"
        case unreported = "UNREPORTED"
        case created = "CREATED"
        case activeTokenReminder = "ACTIVE_TOKEN_REMINDER"
    }

    /// The customer's reason for a refund request.
    package enum ConsumptionRequestReason: String, Hashable, Sendable, CaseIterable {
        case unintendedPurchase = "UNINTENDED_PURCHASE"
        case fulfillmentIssue = "FULFILLMENT_ISSUE"
        case unsatisfiedWithPurchase = "UNSATISFIED_WITH_PURCHASE"
        case legal = "LEGAL"
        case other = "OTHER"
    }
}

// MARK: - Reading

extension AppStoreNotification {
    /// Reads a payload after the caller has verified its signature.
    package init(payload: JSONNode) throws(AppStoreRefusal) {
        try self.init(WireFields(payload))
    }

    init(_ fields: WireFields) throws(AppStoreRefusal) {
        notificationType = try fields.word("notificationType")
        subtype = try fields.word("subtype")
        notificationUUID = try fields.string("notificationUUID")
        version = try fields.string("version")
        signedDate = try fields.date("signedDate")
        content = try Content(fields)
    }

    /// The data about a purchase, if the notification has any.
    var data: Data? {
        if case .data(let data) = content { data } else { nil }
    }

    /// The object that this version does not know, if the notification has no known one.
    var unknownObject: UnknownObject? {
        if case .unknown(let object) = content { object } else { nil }
    }
}

extension AppStoreNotification.Content {
    fileprivate init?(_ fields: WireFields) throws(AppStoreRefusal) {
        var found: [(name: String, content: Self)] = []
        if let data = try fields.fields("data") {
            found.append(("data", .data(try .init(data))))
        }
        if let summary = try fields.fields("summary") {
            found.append(("summary", .summary(try .init(summary))))
        }
        if let token = try fields.fields("externalPurchaseToken") {
            found.append(("externalPurchaseToken", .externalPurchaseToken(try .init(token))))
        }
        if let appData = try fields.fields("appData") {
            found.append(("appData", .appData(try .init(appData))))
        }
        guard found.count <= 1 else { throw .ambiguousContent(members: found.map(\.name)) }
        if let only = found.first {
            self = only.content
        } else if let object = try AppStoreNotification.UnknownObject.first(among: fields) {
            self = .unknown(object)
        } else {
            return nil
        }
    }
}

extension AppStoreNotification.Data {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        bundleVersion = try fields.string("bundleVersion")
        environment = try fields.word("environment")
        signedTransactionInfo = try fields.jws("signedTransactionInfo")
        signedRenewalInfo = try fields.jws("signedRenewalInfo")
        status = try fields.word("status")
        consumptionRequestReason = try fields.word("consumptionRequestReason")
    }
}

extension AppStoreNotification.Summary {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        requestIdentifier = try fields.string("requestIdentifier")
        environment = try fields.word("environment")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        productId = try fields.string("productId")
        storefrontCountryCodes = try fields.strings("storefrontCountryCodes")
        succeededCount = try fields.integer("succeededCount")
        failedCount = try fields.integer("failedCount")
    }
}

extension AppStoreNotification.ExternalPurchaseToken {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        externalPurchaseId = try fields.string("externalPurchaseId")
        tokenCreationDate = try fields.date("tokenCreationDate")
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        tokenType = try fields.string("tokenType")
        tokenExpirationDate = try fields.date("tokenExpirationDate")
    }

    /// The environment of an external purchase token, derived from its ID: the token has no
    /// environment field.
    var environment: OpenEnum<StoreEnvironment>? {
        externalPurchaseId.map {
            OpenEnum($0.hasPrefix("SANDBOX") ? "Sandbox" : "Production")
        }
    }
}

extension AppStoreNotification.AppData {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        appAppleId = try fields.integer("appAppleId")
        bundleId = try fields.string("bundleId")
        environment = try fields.word("environment")
        signedAppTransactionInfo = try fields.jws("signedAppTransactionInfo")
    }
}

extension AppStoreNotification.UnknownObject {
    /// Returns the first object that names an app; nil without one. Nothing else shows for which
    /// app the notification is.
    fileprivate static func first(
        among fields: WireFields
    ) throws(AppStoreRefusal) -> Self? {
        for name in fields.names {
            guard let node = try fields.value(name, { $0 }), node.kind == .object else { continue }
            let object = try WireFields(node, path: name).lenient
            guard let bundleId = try object.string("bundleId") else { continue }
            return Self(
                name: name,
                appAppleId: try object.integer("appAppleId"),
                bundleId: bundleId,
                environment: try object.word("environment")
            )
        }
        return nil
    }
}
