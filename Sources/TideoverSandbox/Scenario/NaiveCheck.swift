public import TideoverJSON

/// The check of many back ends: store the expiry date of the last transaction, and give access
/// until then. It ignores grace and refunds.
public struct NaiveCheck: Hashable, Codable, Sendable {
    /// The stored expiry date, in milliseconds since 1970; nil before the first transaction.
    public private(set) var expiresDate: Int64?

    /// Creates a check without a transaction.
    public init() {}

    /// Stores the expiry date of a transaction (the content of `signedTransactionInfo`).
    public mutating func hear(_ transaction: JSONObject) {
        expiresDate = transaction["expiresDate"]?.int64 ?? expiresDate
    }

    /// Whether it gives the customer access at an instant, in milliseconds since 1970.
    public func serves(at instant: Int64) -> Bool {
        expiresDate.map { $0 > instant } ?? false
    }
}
