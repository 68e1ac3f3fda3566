public import TideoverCore

/// A one-time purchase, as the Play Developer API returns it for a purchase token.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
public struct ProductPurchaseV2: Hashable, Sendable {
    public let orderId: String?
    public let purchaseState: OpenEnum<State>?
    /// The time of payment; absent while the purchase is pending.
    public let purchaseCompletionTime: Instant?
    public let acknowledgementState: OpenEnum<AcknowledgementState>?
    public let obfuscatedExternalAccountId: String?
    public let obfuscatedExternalProfileId: String?
    /// ISO 3166-1 alpha-2.
    public let regionCode: String?
    /// Whether a licence tester bought it.
    public let isTestPurchase: Bool
    public let productLineItem: [LineItem]

    public enum State: String, Hashable, Sendable, CaseIterable {
        case purchased = "PURCHASED"
        case cancelled = "CANCELLED"
        case pending = "PENDING"
    }

    /// One product of the purchase.
    public struct LineItem: Hashable, Sendable {
        public let productId: String
        public let offerId: String?
        public let purchaseOptionId: String?
        public let quantity: Int64?
        /// The number of items that can still be refunded.
        public let refundableQuantity: Int64?
        public let consumptionState: OpenEnum<ConsumptionState>?
    }

    /// Whether the app has consumed a product.
    public enum ConsumptionState: String, Hashable, Sendable, CaseIterable {
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
