/// What the simulated store itself holds to be so of a customer at an instant: the yardstick that a
/// receiver's answers are measured with. Instants are milliseconds since 1970.
public enum AppStoreTruth: Hashable, Codable, Sendable {
    case never
    case active(until: Int64)
    /// Bought once and for all.
    case owned
    /// A payment failed; service goes on.
    case grace(until: Int64)
    /// A payment failed; no service, but the store goes on trying.
    case retry(until: Int64)
    case expired
    case revoked

    /// Whether the customer is to be served.
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

    /// When the state ends if nothing else happens before, where that is fixed.
    public var until: Int64? {
        switch self {
        case .active(let until), .grace(let until), .retry(let until): until
        case .never, .owned, .expired, .revoked: nil
        }
    }

    /// Of several truths about one customer the best; access lasts as long as any of them gives it.
    init(bestOf truths: [AppStoreTruth]) {
        let best = truths.max { ($0.rank, $0.until ?? .max) < ($1.rank, $1.until ?? .max) }
        let until = truths.filter(\.isEntitled).compactMap(\.until).max()
        switch best {
        case .active(let end): self = .active(until: max(end, until ?? end))
        case .grace(let end): self = .grace(until: max(end, until ?? end))
        default: self = best ?? .never
        }
    }

    /// Order among several subscriptions of one customer: the best for the customer last.
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
