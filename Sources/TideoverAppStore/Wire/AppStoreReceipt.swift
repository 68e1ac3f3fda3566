package import TideoverCore

/// The content of an app receipt: the proof of purchases for one device's copy of the app.
/// https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html
package struct AppStoreReceipt: Hashable, Sendable {
    /// The environment. Apple does not document the attribute, but every receipt has it.
    package let type: OpenEnum<ReceiptType>?
    package let bundleId: String?
    package let applicationVersion: String?
    /// Ties the receipt to a device, together with the digest and the device's own identifier.
    package let opaqueValue: [UInt8]?
    /// SHA-1 over the device's identifier, the opaque value and the bundle id.
    package let digest: [UInt8]?
    /// When the receipt was created and signed.
    package let creationDate: Instant?
    /// When the customer got the app. Apple does not document the attribute, so a value of another
    /// form is nil.
    package let appPurchaseDate: Instant?
    /// The version of the app at its purchase.
    package let originalApplicationVersion: String?
    /// The end of a licence from an organisation; in-app purchases do not depend on it.
    package let expirationDate: Instant?
    package let purchases: [AppStoreReceiptPurchase]

    /// The environment that a receipt states.
    package enum ReceiptType: String, Hashable, Sendable, CaseIterable {
        case production = "Production"
        case productionVolume = "ProductionVPP"
        case sandbox = "ProductionSandbox"
        case sandboxVolume = "ProductionVPPSandbox"
        case xcode = "Xcode"

        var environment: StoreEnvironment {
            switch self {
            case .production, .productionVolume: .production
            case .sandbox, .sandboxVolume: .sandbox
            case .xcode: .xcode
            }
        }
    }
}

/// One purchase or one period of a subscription, from a receipt or a verifyReceipt response.
/// https://developer.apple.com/documentation/appstorereceipts/responsebody/latest_receipt_info
package struct AppStoreReceiptPurchase: Hashable, Sendable {
    package let quantity: Int64?
    package let productId: String?
    package let transactionId: String?
    /// The id that all transactions of one subscription share.
    package let originalTransactionId: String?
    /// The id of the billing period.
    package let webOrderLineItemId: String?
    /// Present only in receipts; Apple does not document it.
    package let productType: OpenEnum<ProductType>?
    package let purchaseDate: Instant?
    package let originalPurchaseDate: Instant?
    package let expiresDate: Instant?
    /// When the store refunded the purchase, or when an upgrade replaced it.
    package let cancellationDate: Instant?
    package let isTrialPeriod: Bool?
    package let isInIntroOfferPeriod: Bool?
    package let promotionalOfferId: String?
    // Present only in verifyReceipt responses.
    package let cancellationReason: OpenEnum<AppStoreTransaction.RevocationReason>?
    package let isUpgraded: Bool?
    package let offerCodeRefName: String?
    package let subscriptionGroupIdentifier: String?
    package let inAppOwnershipType: OpenEnum<AppStoreTransaction.OwnershipType>?
    /// The UUID from the app at the purchase.
    package let appAccountToken: String?

    /// The product type of the purchase.
    package enum ProductType: Int64, Hashable, Sendable, CaseIterable {
        case nonConsumable = 0
        case consumable = 1
        case nonRenewingSubscription = 2
        case autoRenewableSubscription = 3
    }
}

// MARK: - Reading

extension AppStoreReceipt {
    /// Reads the content of a receipt after the caller has verified its signature.
    package init(content: [UInt8]) throws(AppStoreRefusal) {
        let attributes = try ReceiptAttributes(content)
        type = try attributes.string(.receiptType).map(OpenEnum.init)
        bundleId = try attributes.string(.bundleId)
        applicationVersion = try attributes.string(.applicationVersion)
        opaqueValue = attributes.bytes(.opaqueValue)
        digest = attributes.bytes(.digest)
        creationDate = try attributes.date(.creationDate)
        appPurchaseDate = (try? attributes.date(.appPurchaseDate)) ?? nil
        originalApplicationVersion = try attributes.string(.originalApplicationVersion)
        expirationDate = try attributes.date(.expirationDate)
        var found: [AppStoreReceiptPurchase] = []
        for purchase in attributes.purchases {
            found.append(try AppStoreReceiptPurchase(ReceiptAttributes(purchase)))
        }
        purchases = found
    }
}

extension AppStoreReceiptPurchase {
    init(_ attributes: ReceiptAttributes) throws(AppStoreRefusal) {
        quantity = try attributes.integer(.quantity)
        productId = try attributes.string(.productId)
        transactionId = try attributes.string(.transactionId)
        originalTransactionId = try attributes.string(.originalTransactionId)
        webOrderLineItemId = try attributes.integer(.webOrderLineItemId).map(String.init)
        productType = try attributes.integer(.productType).map(OpenEnum.init)
        purchaseDate = try attributes.date(.purchaseDate)
        originalPurchaseDate = try attributes.date(.originalPurchaseDate)
        expiresDate = try attributes.date(.expiresDate)
        cancellationDate = try attributes.date(.cancellationDate)
        isTrialPeriod = try attributes.flag(.isTrialPeriod)
        isInIntroOfferPeriod = try attributes.flag(.isInIntroOfferPeriod)
        promotionalOfferId = try attributes.string(.promotionalOfferId)
        cancellationReason = nil
        isUpgraded = nil
        offerCodeRefName = nil
        subscriptionGroupIdentifier = nil
        inAppOwnershipType = nil
        appAccountToken = nil
    }

    /// Reads an element of `in_app` or `latest_receipt_info`.
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        quantity = try fields.writtenNumber("quantity")
        productId = try fields.written("product_id")
        transactionId = try fields.written("transaction_id")
        originalTransactionId = try fields.written("original_transaction_id")
        webOrderLineItemId = try fields.written("web_order_line_item_id")
        productType = nil
        purchaseDate = try fields.writtenDate("purchase_date_ms")
        originalPurchaseDate = try fields.writtenDate("original_purchase_date_ms")
        expiresDate = try fields.writtenDate("expires_date_ms")
        cancellationDate = try fields.writtenDate("cancellation_date_ms")
        isTrialPeriod = try fields.writtenFlag("is_trial_period")
        isInIntroOfferPeriod = try fields.writtenFlag("is_in_intro_offer_period")
        promotionalOfferId = try fields.written("promotional_offer_id")
        cancellationReason = try fields.writtenNumber("cancellation_reason").map(OpenEnum.init)
        isUpgraded = try fields.writtenFlag("is_upgraded")
        offerCodeRefName = try fields.written("offer_code_ref_name")
        subscriptionGroupIdentifier = try fields.written("subscription_group_identifier")
        inAppOwnershipType = try fields.word("in_app_ownership_type")
        appAccountToken = try fields.written("app_account_token")
    }
}
