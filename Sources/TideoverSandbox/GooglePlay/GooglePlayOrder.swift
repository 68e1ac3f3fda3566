/// One payment and its refunds.
struct GooglePlayOrder: Hashable, Codable, Sendable {
    /// One product of an order.
    struct Line: Hashable, Codable, Sendable {
        let product: String
        /// The price in the catalogue.
        let listing: StorePrice
        /// The amount paid, in thousandths of the currency's main unit.
        let paid: Int64
        /// The quantity of a one-time product; nil for a subscription.
        var quantity: Int64?
        var period: Period?
    }

    /// The period of a subscription that the order pays for.
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
    /// The amount that was not refunded.
    var kept: Int64 { refundedAt != nil ? 0 : total - partialRefunds.reduce(0) { $0 + $1.amount } }
    var lastEventAt: Int64 { refundedAt ?? partialRefunds.last?.at ?? at }

    /// Google's `state`.
    var state: String {
        if refundedAt != nil { return "REFUNDED" }
        return partialRefunds.isEmpty ? "PROCESSED" : "PARTIALLY_REFUNDED"
    }
}
