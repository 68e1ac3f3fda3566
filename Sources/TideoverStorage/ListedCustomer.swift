public import TideoverCore

/// An id in a list of customers.
public struct ListedCustomer: Hashable, Sendable {
    public let id: CustomerID
    /// The customer that the id belongs to: another id for an alias.
    public let customer: CustomerID
    /// When the customer's answer was last derived; nil for an alias.
    public let derivedAt: Instant?

    public init(id: CustomerID, customer: CustomerID, derivedAt: Instant?) {
        self.id = id
        self.customer = customer
        self.derivedAt = derivedAt
    }
}
