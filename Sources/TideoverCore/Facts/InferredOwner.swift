/// The server's inference that a purchase belongs to the owner of an expired one.
///
/// Google Play names the expired token that a subscription bought outside the app continues. Its
/// owner has the new purchase before the instant from which anything names an owner directly: an
/// account ID, a customer who presents it, or an operator.
public struct InferredOwner: Hashable, Sendable {
    public var customer: CustomerID
    public var from: Instant
    /// The expired token. The customer owns its purchase.
    public var expired: PlayToken

    public init(customer: CustomerID, from: Instant, expired: PlayToken) {
        self.customer = customer
        self.from = from
        self.expired = expired
    }
}
