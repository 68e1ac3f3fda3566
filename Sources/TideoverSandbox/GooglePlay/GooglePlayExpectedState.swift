/// The simulated store's own state of a customer at an instant, with which a receiver's answers are
/// compared. Instants are in milliseconds since 1970.
public enum GooglePlayExpectedState: Hashable, Codable, Sendable {
    case never
    /// A payment is pending; nothing is granted yet.
    case pending
    /// Nil for access without an end. While the store silently retries a payment, the instant up to
    /// which it has extended service.
    case active(until: Int64?)
    /// A payment failed; service continues until the end of the whole grace.
    case grace(until: Int64)
    /// A payment failed; no service, but the store retries.
    case hold(until: Int64)
    /// The customer has paused it.
    case paused(until: Int64)
    case expired
    case revoked

    /// Whether the customer is entitled to service.
    public var isEntitled: Bool {
        switch self {
        case .active, .grace: true
        case .never, .pending, .hold, .paused, .expired, .revoked: false
        }
    }

    /// A short name of the state.
    public var name: String {
        switch self {
        case .never: "never"
        case .pending: "pending"
        case .active: "active"
        case .grace: "grace"
        case .hold: "hold"
        case .paused: "paused"
        case .expired: "expired"
        case .revoked: "revoked"
        }
    }

    /// When the state ends without further events, if that is fixed.
    public var until: Int64? {
        switch self {
        case .active(let until): until
        case .grace(let until), .hold(let until), .paused(let until): until
        case .never, .pending, .expired, .revoked: nil
        }
    }

    /// The order among several purchases of one customer: the best for the customer is last.
    var rank: Int {
        switch self {
        case .never: 0
        case .pending: 1
        case .revoked: 2
        case .expired: 3
        case .paused: 4
        case .hold: 5
        case .grace: 6
        case .active: 7
        }
    }
}

/// The store's state of one product of one purchase.
public struct GooglePlayHolding: Hashable, Sendable {
    /// The product's id.
    public let product: String
    /// The token of the purchase.
    public let token: String
    /// The state.
    public let truth: GooglePlayExpectedState
}

/// Whether the API still answers for a purchase token.
public enum GooglePlayTokenState: Hashable, Sendable {
    case unknown
    case readable
    /// It expired more than 60 days ago.
    case gone
}

/// An order that was voided, as `purchases.voidedpurchases` lists it. Instants are milliseconds since
/// 1970.
public struct GooglePlayVoidedPurchase: Hashable, Codable, Sendable {
    /// The token of the purchase.
    public let token: String
    /// The order that was voided.
    public let order: String
    /// Subscription or one-time purchase: the list's `type`.
    public let type: GooglePlayEvent.ProductType
    /// When the order was created.
    public let purchasedAt: Int64
    /// When it was voided.
    public let voidedAt: Int64
    /// When it was added to the list; the list's filter uses this instant.
    public let recordedAt: Int64
    /// Who caused it.
    public let source: Source
    /// Why.
    public let reason: GooglePlayAction.VoidReason
    /// The revoked part of a quantity; nil for all of it.
    public let quantity: Int64?

    /// Google's `voidedSource`.
    public enum Source: Int64, CaseIterable, Hashable, Codable, Sendable {
        case user = 0
        case developer = 1
        case google = 2
    }
}
