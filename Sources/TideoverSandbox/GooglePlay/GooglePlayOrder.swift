/// One payment, and what became of it.
struct GooglePlayOrder: Hashable, Codable, Sendable {
    /// One product of an order.
    struct Line: Hashable, Codable, Sendable {
        let product: String
        /// What the catalogue asks for.
        let listing: StorePrice
        /// What was paid, in thousandths of the currency's main unit.
        let paid: Int64
        /// How many of a one-time product; nil for a subscription.
        var quantity: Int64?
        var period: Period?
    }

    /// The period of a subscription that it pays for.
    struct Period: Hashable, Codable, Sendable {
        let basePlan: String
        let offer: String?
        let kind: GooglePlayItem.Kind
        let start: Int64
        let end: Int64
    }

    struct PartialRefund: Hashable, Codable, Sendable {
        let at: Int64
        let amount: Int64
    }

    let id: String
    let token: String
    let type: GooglePlayEvent.ProductType
    let at: Int64
    let region: String
    let lines: [Line]
    var refundedAt: Int64?
    var isChargeback = false
    var partialRefunds: [PartialRefund] = []

    var currency: String { lines.first?.listing.currency ?? "USD" }
    var total: Int64 { lines.reduce(0) { $0 + $1.paid } }
    /// What has not been given back.
    var kept: Int64 { refundedAt != nil ? 0 : total - partialRefunds.reduce(0) { $0 + $1.amount } }
    var lastEventAt: Int64 { refundedAt ?? partialRefunds.last?.at ?? at }

    /// Google's `state`.
    var state: String {
        if refundedAt != nil { return "REFUNDED" }
        return partialRefunds.isEmpty ? "PROCESSED" : "PARTIALLY_REFUNDED"
    }
}
