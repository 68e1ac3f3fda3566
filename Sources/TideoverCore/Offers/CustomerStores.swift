/// The stores available to a customer.
public struct CustomerStores: Hashable, Sendable {
    /// The stores that sell the app; empty if unknown.
    public var selling: [Store]
    /// When a device of each store first presented all the customer's purchases there.
    public var presented: [Store: Instant]

    public init(selling: [Store] = [], presented: [Store: Instant] = [:]) {
        self.selling = selling
        self.presented = presented
    }

    /// Returns a copy with only the stores presented by an instant.
    func asKnown(at instant: Instant) -> CustomerStores {
        CustomerStores(selling: selling, presented: presented.filter { $0.value <= instant })
    }
}
