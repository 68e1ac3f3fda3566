/// One line of a customer's append-only list of aliases. The app's back end declares that another
/// ID belongs to the same customer.
public struct CustomerAlias: Hashable, Sendable {
    /// The largest number of aliases per customer.
    public static let most = 10

    public var alias: CustomerID
    /// The customer that the alias refers to: an ID that is not an alias itself.
    public var customer: CustomerID
    /// When it was declared, by our clock. It counts from then on.
    public var from: Instant
    /// The declaring party's reason; may be empty.
    public var why: String
    /// The key name of the declaring party.
    public var by: String

    public init(
        alias: CustomerID,
        customer: CustomerID,
        from: Instant,
        why: String = "",
        by: String
    ) {
        self.alias = alias
        self.customer = customer
        self.from = from
        self.why = why
        self.by = by
    }
}

/// The IDs of one customer, with when each joined.
///
/// The IDs are one customer from the instant of their declaration. At earlier instants each ID
/// answers for itself alone, so that earlier answers stay unchanged.
public struct CustomerIdentity: Hashable, Sendable {
    /// The requested ID.
    public let customer: CustomerID
    /// All aliases of one customer, in order of declaration; may be empty.
    public let aliases: [CustomerAlias]

    public init(_ customer: CustomerID, aliases: [CustomerAlias] = []) {
        self.customer = customer
        self.aliases = aliases
    }

    /// The ID that the others are aliases of.
    public var primary: CustomerID { aliases.first?.customer ?? customer }

    /// Every id, the primary one first.
    public var all: [CustomerID] { [primary] + aliases.map(\.alias) }

    /// The instants at which an id joined.
    public var instants: [Instant] { aliases.map(\.from) }

    /// Returns the identity without aliases that were declared later.
    public func asKnown(at instant: Instant) -> CustomerIdentity {
        CustomerIdentity(customer, aliases: aliases.filter { $0.from <= instant })
    }

    /// Returns when another ID became the same customer as the requested one; nil if it never did.
    public func start(of id: CustomerID) -> Instant? {
        if id == customer { return .distantPast }
        guard let other = joined(id), let own = joined(customer) else { return nil }
        return max(other, own)
    }

    /// When the requested ID became the same customer as the primary one.
    var joinedAt: Instant { start(of: primary) ?? .distantPast }

    /// Whether the owner at an instant is the customer, under any ID.
    public func owns(_ owners: [OwnershipEntry], at instant: Instant) -> Bool {
        guard let owner = owners.owner(at: instant) else { return false }
        if owner == customer { return true }
        return start(of: owner).map { $0 <= instant } ?? false
    }

    private func joined(_ id: CustomerID) -> Instant? {
        if id == primary { return .distantPast }
        return aliases.first { $0.alias == id }?.from
    }
}

/// The result of a declaration that two IDs are one customer.
public enum AliasRuling: Hashable, Sendable {
    /// They already are one customer.
    case known
    /// The entry to append.
    case granted(CustomerAlias)
    case refused(Objection)

    /// Why a declaration is refused.
    public enum Objection: Hashable, Sendable {
        /// An ID is already the same as itself.
        case sameID
        /// The ID is permanently an alias of another customer.
        case aliasOfAnother
        /// The ID has aliases of its own.
        case hasAliases
        /// The customer has the largest allowed number of aliases.
        case tooMany

        /// A stable name.
        public var code: String {
            switch self {
            case .sameID: "same-id"
            case .aliasOfAnother: "alias-of-another"
            case .hasAliases: "has-aliases"
            case .tooMany: "too-many-aliases"
            }
        }

        /// One sentence for the app's developer.
        public var sentence: String {
            switch self {
            case .sameID: "An id needs no alias to itself."
            case .aliasOfAnother:
                "The alias already belongs to another customer, and remains there."
            case .hasAliases:
                "The alias has aliases of its own: declare the customer an alias of it instead."
            case .tooMany: "A customer has at most \(CustomerAlias.most) aliases."
            }
        }
    }

    /// Rules on `alias` as another ID of `customer`, given the identity of each. An alias of an
    /// alias resolves to the primary customer, so there are no chains and no cycles.
    public init(
        _ alias: CustomerIdentity,
        as customer: CustomerIdentity,
        at instant: Instant,
        why: String = "",
        by: String
    ) {
        if alias.customer == customer.customer {
            self = .refused(.sameID)
        } else if alias.primary == customer.primary {
            self = .known
        } else if alias.primary != alias.customer {
            self = .refused(.aliasOfAnother)
        } else if !alias.aliases.isEmpty {
            self = .refused(.hasAliases)
        } else if customer.aliases.count >= CustomerAlias.most {
            self = .refused(.tooMany)
        } else {
            self = .granted(
                CustomerAlias(
                    alias: alias.customer,
                    customer: customer.primary,
                    from: instant,
                    why: why,
                    by: by
                )
            )
        }
    }
}
