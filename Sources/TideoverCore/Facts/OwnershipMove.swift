/// An operator's decision that a purchase belongs to another customer from an instant on.
///
/// The account token of a purchase is the same in every renewal, and a former owner's device can
/// present the purchase again. So neither gives it back: only a name that is new moves it again,
/// or another move.
public struct OwnershipMove: Hashable, Sendable {
    public var customer: CustomerID
    /// Every id of the customers who owned it until then, the last owner first; empty if it had
    /// none.
    public var former: [CustomerID]
    public var from: Instant
    /// The operator's reason.
    public var why: String
    /// The key name of the operator who moved it; nil if unknown.
    public var by: String?

    public init(
        customer: CustomerID,
        former: [CustomerID],
        from: Instant,
        why: String,
        by: String? = nil
    ) {
        self.customer = customer
        self.former = former
        self.from = from
        self.why = why
        self.by = by
    }
}
