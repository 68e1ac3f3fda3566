import TideoverCore
import TideoverHTTP
import TideoverStorage

/// Transfers between customers that RevenueCat reported. They are stored because a transferred
/// purchase may be reported later.
struct RelayedTransfers: Sendable {
    private let cursors: Cursors

    init(_ context: AppContext, in environment: Environment) {
        cursors = context.cursors(in: environment)
    }

    /// The maximum length of a chain of transfers.
    private static let most = 8

    /// Records a transfer between customers at an instant of RevenueCat's clock; ignores one older
    /// than the stored one.
    func keep(
        from former: CustomerID,
        to customer: CustomerID,
        at instant: Instant
    ) async throws(StorageError) {
        let known = try transfer(from: former)
        guard known.map({ $0.at < instant }) ?? true else { return }
        try await cursors.keep((customer, instant), Self.name(of: former))
    }

    /// Returns the current owner of purchases that a customer had at an instant of RevenueCat's
    /// clock; nil if they were not transferred since.
    func currentOwner(of customer: CustomerID, since instant: Instant) throws(StorageError)
        -> CustomerID?
    {
        var (currentOwner, instant) = (customer, instant)
        for _ in 0..<Self.most {
            guard let next = try transfer(from: currentOwner), next.at >= instant else { break }
            (currentOwner, instant) = (next.to, next.at)
        }
        return currentOwner == customer ? nil : currentOwner
    }

    private func transfer(
        from customer: CustomerID
    ) throws(StorageError) -> (to: CustomerID, at: Instant)? {
        try cursors.transfer(Self.name(of: customer))
    }

    /// The beginning of the names of all transfers, which state the recipient as their value.
    static let prefix = "revenueCat:transfer:"

    /// Returns the name of the bookmark of a customer's last transfer.
    static func name(of customer: CustomerID) -> String {
        prefix + PercentEncoding.encode(customer.text)
    }
}
