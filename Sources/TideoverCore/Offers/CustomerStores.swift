/// The stores that a customer can buy in.
public struct CustomerStores: Hashable, Sendable {
    /// The stores that sell the app; empty if that is not known.
    public var selling: [Store]
    /// When a device of a store first presented everything that the customer has there.
    public var presented: [Store: Instant]

    public init(selling: [Store] = [], presented: [Store: Instant] = [:]) {
        self.selling = selling
        self.presented = presented
    }

    /// The same with what was presented by an instant.
    func asKnown(at instant: Instant) -> CustomerStores {
        CustomerStores(selling: selling, presented: presented.filter { $0.value <= instant })
    }
}
