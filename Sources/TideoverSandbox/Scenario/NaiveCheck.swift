public import TideoverJSON

/// What many back ends do instead: keep the expiry date of the transaction heard of last, and serve while
/// it lies ahead. It looks neither at grace nor at refunds.
public struct NaiveCheck: Hashable, Codable, Sendable {
    /// The expiry date it keeps, in milliseconds since 1970; nil before the first transaction.
    public private(set) var expiresDate: Int64?

    /// A check that has heard of nothing.
    public init() {}

    /// Hears of a transaction (the content of `signedTransactionInfo`).
    public mutating func hear(_ transaction: JSONObject) {
        expiresDate = transaction["expiresDate"]?.int64 ?? expiresDate
    }

    /// Whether it would serve the customer at an instant, in milliseconds since 1970.
    public func serves(at instant: Int64) -> Bool {
        expiresDate.map { $0 > instant } ?? false
    }
}
