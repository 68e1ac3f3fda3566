/// A customer's claim to a lineage, sent with its signed purchase.
///
/// The signed purchase proves that the purchase exists, not who the sender is. So a claim gives an
/// unowned lineage to the customer. An owned lineage moves only as far as policy allows.
public struct OwnershipClaim: Hashable, Sendable {
    public var lineage: Lineage
    public var customer: CustomerID
    /// When it was made, by our clock.
    public var at: Instant

    public init(lineage: Lineage, customer: CustomerID, at: Instant) {
        self.lineage = lineage
        self.customer = customer
        self.at = at
    }

    /// Returns the ruling, given every fact and owner of the lineage known by then. An inferred
    /// owner counts as none. `holderHasAccess` is called only if policy depends on it.
    public func ruling<Failure: Error>(
        facts: some Collection<Fact>,
        owners: [OwnershipEntry],
        policy: Policy.Transfer,
        holderHasAccess: () throws(Failure) -> Bool
    ) throws(Failure) -> ClaimRuling {
        let owners = owners.stated
        let holder = owners.owner(at: at)
        guard holder != customer else { return .held }
        if facts.latestMove(by: at)?.former.contains(customer) == true {
            return .refused(.movedByOperator)
        }
        if let named = [OwnershipEntry].names(in: facts).last, named.customer != customer,
            named.why != .moved
        {
            return .refused(.namedByStore)
        }
        guard holder != nil else {
            return .granted(entry(.claimed, from: owners.isEmpty ? .distantPast : at))
        }
        if let objection = try objection(to: policy, owners, holderHasAccess) {
            return .refused(objection)
        }
        return .granted(entry(.transferred, from: at))
    }

    private func objection<Failure: Error>(
        to policy: Policy.Transfer,
        _ owners: [OwnershipEntry],
        _ holderHasAccess: () throws(Failure) -> Bool
    ) throws(Failure) -> ClaimRuling.Objection? {
        switch policy {
        case .claim, .keep: return .heldByAnother
        case .transferIfInactive: return try holderHasAccess() ? .holderHasAccess : nil
        case .transfer(let coolDown):
            let moves = owners.filter { $0.why == .transferred || $0.why == .moved }.map(\.from)
            guard let latest = moves.max(), at < latest + coolDown else { return nil }
            return .coolingDown(until: latest + coolDown)
        }
    }

    private func entry(_ why: OwnershipEntry.Why, from: Instant) -> OwnershipEntry {
        OwnershipEntry(lineage: lineage, customer: customer, from: from, why: why, decidedAt: at)
    }
}

/// The result of a claim.
public enum ClaimRuling: Hashable, Sendable {
    /// The customer already owns the lineage.
    case held
    /// The customer owns it from now on. The entry must be appended to the list of owners.
    case granted(OwnershipEntry)
    case refused(Objection)

    /// A stable name.
    public var code: String {
        switch self {
        case .held: "held"
        case .granted(let entry): entry.why.rawValue
        case .refused(let objection): objection.code
        }
    }

    /// Why a claim was refused.
    public enum Objection: Hashable, Sendable {
        /// The store's signed account token names another customer.
        case namedByStore
        /// An operator moved it from this customer to another.
        case movedByOperator
        /// Another customer owns it, and policy moves it only by the store's account token.
        case heldByAnother
        /// Another customer owns it and has access.
        case holderHasAccess
        /// It moved recently; it can move again from this instant.
        case coolingDown(until: Instant)

        /// A stable name.
        public var code: String {
            switch self {
            case .namedByStore: "named-by-store"
            case .movedByOperator: "moved-by-operator"
            case .heldByAnother: "held-by-another"
            case .holderHasAccess: "holder-has-access"
            case .coolingDown: "cooling-down"
            }
        }

        /// One sentence for the app's developer or support person.
        public var sentence: String {
            switch self {
            case .namedByStore:
                "The store's signed account token says that the purchase belongs to another customer."
            case .movedByOperator:
                "An operator moved the purchase from this customer to another one."
            case .heldByAnother:
                "Another customer holds the purchase, and the app's policy lets no claim move it."
            case .holderHasAccess:
                "Another customer holds the purchase and still has access by what they hold."
            case .coolingDown(let until):
                "The purchase was handed over lately; it can be claimed again from \(until.rfc3339)."
            }
        }
    }
}
