package import TideoverCore

/// One verified App Store message: all signatures are valid, it is for the app, and its parts
/// agree.
package struct AppStoreReading: Sendable {
    /// The key that all deliveries of the same message share; unique within app and environment.
    package let dedupeKey: String
    /// The date of the outermost signature.
    package let signedAt: Instant
    /// The latest date of any signature in it.
    package let latestSignedAt: Instant
    /// The store's values that this version does not know, without duplicates.
    package let unrecognised: [Unrecognised]
    /// Notes for operators who inspect the message.
    package let notes: [AppStoreNote]
    private let statements: [Statement]
    private let message: Message

    /// The kind of message.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case notification, transaction, renewalInfo, appTransaction
        /// One subscription from an App Store Server API response.
        case subscriptionStatus
        /// An app receipt of StoreKit 1.
        case receipt
        /// A response of verifyReceipt to our own request.
        case receiptAnswer
    }

    init(_ message: Message) throws(AppStoreRefusal) {
        if let notification = message.notification, notification.notificationType == nil {
            throw .missingMember("notificationType")
        }
        guard let signedAt = message.signedDate else {
            throw .missingMember(message.kind.nameOfDate)
        }
        self.signedAt = signedAt
        dedupeKey = try message.dedupeKey(signedAt: signedAt)
        latestSignedAt = message.latestSignedDate ?? signedAt
        unrecognised = message.unrecognised
        notes = message.notes
        statements = message.statements(with: unrecognised)
        self.message = message
    }

    package var kind: Kind { message.kind }
    /// The environment, as the signing authority determines it.
    package var environment: Environment { message.environment }
    /// The environment that the payload states, as the store spells it.
    package var claimedEnvironment: String? { message.claimedEnvironment }
    package var notification: AppStoreNotification? { message.notification }
    package var transaction: AppStoreTransaction? { message.transaction }
    package var renewalInfo: AppStoreRenewalInfo? { message.renewalInfo }
    package var appTransaction: AppStoreAppTransaction? { message.appTransaction }
    package var receipt: AppStoreReceipt? { message.receipt }
    package var receiptAnswer: AppStoreReceiptAnswer? { message.receiptAnswer }

    /// The notification type, as the store spells it.
    package var notificationType: String? { notification?.notificationType?.raw }

    /// The notification subtype, as the store spells it.
    package var subtype: String? { notification?.subtype?.raw }

    package var notificationUUID: String? { notification?.notificationUUID }

    /// Whether it is a test notification.
    package var isTest: Bool { notification?.notificationType?.known == .test }

    /// The rarely used store feature that the message belongs to; nil for ordinary purchases. Data
    /// specific to these features is stored as received and creates no facts.
    package var rarity: Rarity? {
        switch notification?.notificationType?.known {
        case .externalPurchaseToken: return .externalPurchase
        case .rescindConsent: return .consent
        case .metadataUpdate, .migration, .priceChange: return .advancedCommerce
        case .subscribed, .didRenew, .didChangeRenewalPref, .didChangeRenewalStatus,
            .offerRedeemed, .didFailToRenew, .gracePeriodExpired, .expired, .priceIncrease,
            .refund, .refundDeclined, .refundReversed, .revoke, .consumptionRequest,
            .renewalExtended, .renewalExtension, .test, .oneTimeCharge, nil:
            let info = transaction?.advancedCommerceInfo ?? renewalInfo?.advancedCommerceInfo
            return info == nil ? nil : .advancedCommerce
        }
    }

    /// A store feature that few apps use.
    package enum Rarity: String, Hashable, Sendable, CaseIterable {
        /// Products that the app's own server describes, with the Advanced Commerce API.
        case advancedCommerce
        /// Tokens for purchases outside the store.
        case externalPurchase
        /// Consent for a child to use the app.
        case consent
    }

    /// The lineages of its facts.
    package var lineages: Set<Lineage> { Set(statements.map(\.lineage)) }

    /// Returns the facts that the message states, with the time and source of arrival and the
    /// stored evidence.
    package func facts(learnedAt: Instant, source: Source, evidence: EvidenceID) -> [Fact] {
        statements.map { statement in
            statement.fact(
                envelopeSignedAt: kind == .notification ? signedAt : nil,
                learnedAt: learnedAt,
                source: source,
                evidence: evidence
            )
        }
    }
}

extension AppStoreReading.Kind {
    /// The member that contains the signing date.
    fileprivate var nameOfDate: String {
        switch self {
        case .appTransaction: "receiptCreationDate"
        case .receipt: ReceiptAttributes.Name.creationDate.words
        case .receiptAnswer: "receipt.request_date_ms"
        case .notification, .transaction, .renewalInfo, .subscriptionStatus: "signedDate"
        }
    }
}
