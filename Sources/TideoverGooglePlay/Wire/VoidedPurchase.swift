package import TideoverCore

/// A voided order, as the store lists it.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases
package struct VoidedPurchase: Hashable, Sendable {
    /// A secret.
    package let purchaseToken: String
    package let orderId: String?
    package let purchaseTime: Instant?
    package let voidedTime: Instant
    package let voidedSource: OpenEnum<Source>?
    package let voidedReason: OpenEnum<Reason>?
    /// The number of refunded items; absent if all were refunded.
    package let voidedQuantity: Int64?

    /// The party that voided the order.
    package enum Source: Int64, Hashable, Sendable, CaseIterable {
        case user = 0
        case developer = 1
        case google = 2
    }

    package enum Reason: Int64, Hashable, Sendable, CaseIterable {
        case other = 0
        case remorse = 1
        case notReceived = 2
        case defective = 3
        case accidentalPurchase = 4
        case fraud = 5
        case friendlyFraud = 6
        case chargeback = 7
        case unacknowledgedPurchase = 8
    }
}

// MARK: - Reading

extension VoidedPurchase {
    init(_ fields: WireFields) throws(PlayRefusal) {
        guard let token = try fields.text("purchaseToken") else {
            throw fields.missing("purchaseToken")
        }
        guard let time = try fields.milliseconds("voidedTimeMillis") else {
            throw fields.missing("voidedTimeMillis")
        }
        purchaseToken = token
        voidedTime = time
        orderId = try fields.text("orderId")
        purchaseTime = try fields.milliseconds("purchaseTimeMillis")
        voidedSource = try fields.word("voidedSource")
        voidedReason = try fields.word("voidedReason")
        voidedQuantity = try fields.integer("voidedQuantity")
    }
}
