/// The simulated store's own state of a customer at an instant, with which a receiver's answers are
/// compared. Instants are in milliseconds since 1970.
public enum AppStoreExpectedState: Hashable, Codable, Sendable {
    case never
    case active(until: Int64)
    /// A non-consumable was bought.
    case owned
    /// A payment failed; service continues.
    case grace(until: Int64)
    /// A payment failed; no service, but the store retries.
    case retry(until: Int64)
    case expired
    case revoked

    /// Whether the customer is entitled to service.
    public var isEntitled: Bool {
        switch self {
        case .active, .grace, .owned: true
        case .never, .retry, .expired, .revoked: false
        }
    }

    /// A short name of the state.
    public var name: String {
        switch self {
        case .never: "never"
        case .active: "active"
        case .owned: "owned"
        case .grace: "grace"
        case .retry: "retry"
        case .expired: "expired"
        case .revoked: "revoked"
        }
    }

    /// When the state ends without further events, if that is fixed.
    public var until: Int64? {
        switch self {
        case .active(let until), .grace(let until), .retry(let until): until
        case .never, .owned, .expired, .revoked: nil
        }
    }

    /// Combines several states of one customer: the best one, with access until the last of their
    /// ends.
    init(bestOf truths: [AppStoreExpectedState]) {
        let best = truths.max { ($0.rank, $0.until ?? .max) < ($1.rank, $1.until ?? .max) }
        let until = truths.filter(\.isEntitled).compactMap(\.until).max()
        switch best {
        case .active(let end): self = .active(until: max(end, until ?? end))
        case .grace(let end): self = .grace(until: max(end, until ?? end))
        default: self = best ?? .never
        }
    }

    /// The order among several subscriptions of one customer: the best for the customer is last.
    var rank: Int {
        switch self {
        case .never: 0
        case .revoked: 1
        case .expired: 2
        case .retry: 3
        case .grace: 4
        case .active: 5
        case .owned: 6
        }
    }
}
