package import TideoverCore

/// A one-time purchase, as the Play Developer API returns it for a purchase token.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
package struct ProductPurchaseV2: Hashable, Sendable {
    package let orderId: String?
    package let purchaseState: OpenEnum<State>?
    /// The time of payment; absent while the purchase is pending.
    package let purchaseCompletionTime: Instant?
    package let acknowledgementState: OpenEnum<AcknowledgementState>?
    package let obfuscatedExternalAccountId: String?
    package let obfuscatedExternalProfileId: String?
    /// ISO 3166-1 alpha-2.
    package let regionCode: String?
    /// Whether a licence tester bought it.
    package let isTestPurchase: Bool
    package let productLineItem: [LineItem]

    package enum State: String, Hashable, Sendable, CaseIterable {
        case purchased = "PURCHASED"
        case cancelled = "CANCELLED"
        case pending = "PENDING"
    }

    /// One product of the purchase.
    package struct LineItem: Hashable, Sendable {
        package let productId: String
        package let offerId: String?
        package let purchaseOptionId: String?
        package let quantity: Int64?
        /// The number of items that can still be refunded.
        package let refundableQuantity: Int64?
        package let consumptionState: OpenEnum<ConsumptionState>?
    }

    /// Whether the app has consumed a product.
    package enum ConsumptionState: String, Hashable, Sendable, CaseIterable {
        case yetToBeConsumed = "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
        case consumed = "CONSUMPTION_STATE_CONSUMED"
    }
}

// MARK: - Reading

extension ProductPurchaseV2 {
    init(_ fields: WireFields) throws(PlayRefusal) {
        orderId = try fields.text("orderId")
        purchaseState = try fields.fields("purchaseStateContext")?.word("purchaseState")
        purchaseCompletionTime = try fields.date("purchaseCompletionTime")
        acknowledgementState = try fields.word("acknowledgementState")
        obfuscatedExternalAccountId = try fields.text("obfuscatedExternalAccountId")
        obfuscatedExternalProfileId = try fields.text("obfuscatedExternalProfileId")
        regionCode = try fields.text("regionCode")
        isTestPurchase = try fields.has("testPurchaseContext")
        productLineItem = try fields.list("productLineItem", LineItem.init)
    }
}

extension ProductPurchaseV2.LineItem {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        guard let product = try fields.text("productId") else { throw fields.missing("productId") }
        let offer = try fields.fields("productOfferDetails")
        productId = product
        offerId = try offer?.text("offerId")
        purchaseOptionId = try offer?.text("purchaseOptionId")
        quantity = try offer?.integer("quantity")
        refundableQuantity = try offer?.integer("refundableQuantity")
        consumptionState = try offer?.word("consumptionState")
    }
}
