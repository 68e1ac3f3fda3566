import TideoverCore
import TideoverHTTP
import TideoverStorage

/// To whom RevenueCat said that a customer's purchases went, kept since some of them may be told of only
/// afterwards.
struct RelayedTransfers: Sendable {
    private let bookmarks: Bookmarks

    init(app: String, environment: Environment, storage: any Storage) {
        bookmarks = Bookmarks(app: app, environment: environment, storage: storage)
    }

    /// More than ids follow upon one another.
    private static let most = 8

    /// Keeps that at an instant of RevenueCat's clock what a customer had went to another; an older word
    /// than the one that is kept is none.
    func keep(
        from former: CustomerID,
        to customer: CustomerID,
        at instant: Instant
    ) async throws(StorageError) {
        let known = try transfer(from: former)
        guard known.map({ $0.at < instant }) ?? true else { return }
        try await bookmarks.keep((customer, instant), Self.name(of: former))
    }

    /// Whose a purchase is by now that a customer had at an instant of RevenueCat's clock; nil where nothing
    /// was transferred since.
    func heir(of customer: CustomerID, since instant: Instant) throws(StorageError) -> CustomerID? {
        var (heir, instant) = (customer, instant)
        for _ in 0..<Self.most {
            guard let next = try transfer(from: heir), next.at >= instant else { break }
            (heir, instant) = (next.to, next.at)
        }
        return heir == customer ? nil : heir
    }

    private func transfer(
        from customer: CustomerID
    ) throws(StorageError) -> (to: CustomerID, at: Instant)? {
        try bookmarks.transfer(Self.name(of: customer))
    }

    private static func name(of customer: CustomerID) -> String {
        "revenueCat:transfer:\(PercentEncoding.encode(customer.text))"
    }
}
