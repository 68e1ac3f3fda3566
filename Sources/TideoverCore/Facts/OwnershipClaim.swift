/// A customer's word that a lineage is theirs, from whoever has its signed purchase in hand.
///
/// Having it in hand says that the purchase exists, not who is asking. So a claim gives what nobody
/// holds, and what somebody does only as far as policy lets it move.
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

    /// What becomes of it, given every fact and owner of the lineage known by then.
    /// `holderHasAccess` is asked only where policy makes it matter.
    public func ruling<Failure: Error>(
        facts: some Sequence<Fact>,
        owners: [OwnershipEntry],
        policy: Policy.Transfer,
        holderHasAccess: () throws(Failure) -> Bool
    ) throws(Failure) -> ClaimRuling {
        let holder = owners.owner(at: at)
        guard holder != customer else { return .held }
        if let named = [OwnershipEntry].names(in: facts).last, named.customer != customer {
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
            let moves = owners.filter { $0.why == .transferred }.map(\.from)
            guard let latest = moves.max(), at < latest + coolDown else { return nil }
            return .coolingDown(until: latest + coolDown)
        }
    }

    private func entry(_ why: OwnershipEntry.Why, from: Instant) -> OwnershipEntry {
        OwnershipEntry(lineage: lineage, customer: customer, from: from, why: why, decidedAt: at)
    }
}

/// What became of a claim.
public enum ClaimRuling: Hashable, Sendable {
    /// The customer holds the lineage already.
    case held
    /// It is the customer's from now on; the line to append to its list of owners.
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

    /// Why a claim came to nothing.
    public enum Objection: Hashable, Sendable {
        /// The store's signed account token names somebody else.
        case namedByStore
        /// Somebody else holds it, and policy lets it move by the store's word only.
        case heldByAnother
        /// Somebody else holds it and has access by what they hold.
        case holderHasAccess
        /// It moved lately; it can move again from this instant on.
        case coolingDown(until: Instant)

        /// A stable name.
        public var code: String {
            switch self {
            case .namedByStore: "named-by-store"
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
