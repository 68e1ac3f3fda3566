/// One line of a lineage's append-only list of owners.
public struct OwnershipEntry: Hashable, Sendable {
    public var lineage: Lineage
    public var customer: CustomerID
    /// The first instant of ownership.
    public var from: Instant
    /// The first instant after it; nil while it lasts or until a later entry begins.
    public var until: Instant?
    public var why: Why

    public init(
        lineage: Lineage,
        customer: CustomerID,
        from: Instant,
        until: Instant? = nil,
        why: Why
    ) {
        self.lineage = lineage
        self.customer = customer
        self.from = from
        self.until = until
        self.why = why
    }

    public enum Why: String, Hashable, Sendable, CaseIterable {
        /// The store's signed account token names the customer.
        case accountToken
    }
}

extension [OwnershipEntry] {
    /// Who owned the lineage at an instant: of the entries that cover it the one that began last,
    /// and of those the one written last.
    public func owner(at instant: Instant) -> CustomerID? {
        var best: OwnershipEntry?
        for entry in self where entry.from <= instant && instant < (entry.until ?? .distantFuture) {
            if let found = best, found.from > entry.from { continue }
            best = entry
        }
        return best?.customer
    }

    /// The entries to append for newly learned terms: a term whose token names somebody else than
    /// the owner at its start moves ownership from that start, until the next entry begins.
    /// The entries and facts must all be of one lineage.
    public func additions(for facts: some Sequence<Fact>) -> [OwnershipEntry] {
        let named = facts.compactMap {
            fact -> (lineage: Lineage, start: Instant, to: CustomerID)? in
            guard case .term(let term) = fact.assertion, let token = term.accountToken else {
                return nil
            }
            return (fact.lineage, term.start, token)
        }
        var entries = self
        for claim in named.sorted(by: { ($0.start, $0.to) < ($1.start, $1.to) })
        where entries.owner(at: claim.start) != claim.to {
            let next = entries.map(\.from).filter { $0 > claim.start }.min()
            entries.append(
                OwnershipEntry(
                    lineage: claim.lineage,
                    customer: claim.to,
                    from: claim.start,
                    until: next,
                    why: .accountToken
                )
            )
        }
        return Array<OwnershipEntry>(entries.dropFirst(count))
    }
}
