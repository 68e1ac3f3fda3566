/// One line of a customer's append-only list of aliases: another id that the app's back end says is
/// the same customer's.
public struct CustomerAlias: Hashable, Sendable {
    /// How many a customer may have.
    public static let most = 10

    public var alias: CustomerID
    /// The customer that it stands for: an id that is no alias itself.
    public var customer: CustomerID
    /// When it was declared, by our clock: it counts from then on.
    public var from: Instant
    /// In the words of whoever declared it; perhaps empty.
    public var why: String
    /// Who declared it: the name of a key.
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

/// The ids that one customer goes by, and since when.
///
/// They are one from the instant on at which that was declared. Of any instant before, each answers for
/// itself alone, so that what was answered then stays as it was.
public struct CustomerIdentity: Hashable, Sendable {
    /// The id asked about.
    public let customer: CustomerID
    /// All aliases of one customer, in the order of their declaration; none where there are none.
    public let aliases: [CustomerAlias]

    public init(_ customer: CustomerID, aliases: [CustomerAlias] = []) {
        self.customer = customer
        self.aliases = aliases
    }

    /// The id that the others are aliases of.
    public var primary: CustomerID { aliases.first?.customer ?? customer }

    /// Every id, the primary one first.
    public var all: [CustomerID] { [primary] + aliases.map(\.alias) }

    /// The instants at which an id joined.
    public var instants: [Instant] { aliases.map(\.from) }

    /// Without the aliases that were declared later.
    public func asKnown(at instant: Instant) -> CustomerIdentity {
        CustomerIdentity(customer, aliases: aliases.filter { $0.from <= instant })
    }

    /// From when on another id is the same customer as the one asked about; nil for never.
    public func start(of id: CustomerID) -> Instant? {
        if id == customer { return .distantPast }
        guard let other = joined(id), let own = joined(customer) else { return nil }
        return max(other, own)
    }

    /// Whether the owner at an instant is the customer, by whatever id.
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

/// What becomes of the word that two ids are one customer.
public enum AliasRuling: Hashable, Sendable {
    /// They are one already.
    case known
    /// The line to append.
    case granted(CustomerAlias)
    case refused(Objection)

    /// Why it comes to nothing.
    public enum Objection: Hashable, Sendable {
        /// An id is itself without being told.
        case sameID
        /// The id stands for another customer; that is for ever.
        case aliasOfAnother
        /// The id has aliases of its own.
        case hasAliases
        /// The customer has as many aliases as one may have.
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
                "The alias stands for another customer already, and stays with them."
            case .hasAliases:
                "The alias has aliases of its own: declare the customer an alias of it instead."
            case .tooMany: "A customer has at most \(CustomerAlias.most) aliases."
            }
        }
    }

    /// Rules on `alias` as another id of `customer`, given how each is known: an alias of an alias is
    /// one of the customer that stands behind it, so that there are no chains, and no cycles.
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
