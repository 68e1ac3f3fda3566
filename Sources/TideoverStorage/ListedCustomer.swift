package import TideoverCore

/// An id in a list of customers.
package struct ListedCustomer: Hashable, Sendable {
    package let id: CustomerID
    /// The customer that the id belongs to: another id for an alias.
    package let customer: CustomerID
    /// When the customer's answer was last derived; nil for an alias, and without an
    /// answer.
    package let derivedAt: Instant?

    package init(id: CustomerID, customer: CustomerID, derivedAt: Instant?) {
        self.id = id
        self.customer = customer
        self.derivedAt = derivedAt
    }
}
