/// One line of a lineage's append-only list of owners.
public struct OwnershipEntry: Hashable, Sendable {
    public var lineage: Lineage
    public var customer: CustomerID
    /// The first instant of ownership.
    public var from: Instant
    /// The first instant after ownership; nil while it lasts or until a later entry begins.
    public var until: Instant?
    public var why: Why
    /// When the server decided it; nil if a fact names the owner.
    public var decidedAt: Instant?

    public init(
        lineage: Lineage,
        customer: CustomerID,
        from: Instant,
        until: Instant? = nil,
        why: Why,
        decidedAt: Instant? = nil
    ) {
        self.lineage = lineage
        self.customer = customer
        self.from = from
        self.until = until
        self.why = why
        self.decidedAt = decidedAt
    }

    public enum Why: String, Hashable, Sendable, CaseIterable {
        /// The store's signed account token names the customer.
        case accountToken
        /// An operator granted it to the customer.
        case granted
        /// The customer claimed an unowned lineage.
        case claimed
        /// The customer claimed another customer's lineage, and policy moved it.
        case transferred
        /// An operator moved it to the customer.
        case moved
        /// The customer owns the expired purchase that this one continues, and nothing names an
        /// owner directly by then.
        case inferred
    }
}

extension [OwnershipEntry] {
    /// The entries without inferred owners.
    package var stated: [OwnershipEntry] { filter { $0.why != .inferred } }

    /// The entries that count. An inferred owner counts only if no other ownership begins earlier.
    package var deciding: [OwnershipEntry] {
        let end = inferenceEnd
        return filter { $0.why != .inferred || $0.from < end }
    }

    /// The first instant at which inferred owners count no more, because a stated owner is known.
    private var inferenceEnd: Instant {
        var end = Instant.distantFuture
        for position in indices where self[position].why != .inferred {
            end = Swift.min(end, self[position].from)
        }
        return end
    }

    /// Returns the owner at an instant. Of the deciding entries that cover it, the one that began
    /// last wins, then the one written last.
    public func owner(at instant: Instant) -> CustomerID? {
        position(at: instant).map { self[$0].customer }
    }

    /// Returns the start of the operator's move that decides the owner at an instant; nil if
    /// something else does.
    func startOfDecidingMove(at instant: Instant) -> Instant? {
        guard let position = position(at: instant), self[position].why == .moved else { return nil }
        return self[position].from
    }

    /// Returns the position of the entry that decides the owner at an instant.
    private func position(at instant: Instant) -> Int? {
        var best: Int?
        let isInferred = instant < inferenceEnd
        // Positions, because entries are large to copy.
        for position in indices
        where self[position].from <= instant
            && instant < (self[position].until ?? .distantFuture)
            && (isInferred || self[position].why != .inferred)
        {
            if let best, self[best].from > self[position].from { continue }
            best = position
        }
        return best
    }

    /// Whether any customer is the owner at an instant.
    package func hasOwner(at instant: Instant) -> Bool { owner(at: instant) != nil }

    /// Returns the entries to append, given every known fact of the lineage. If a term's token
    /// names another customer than the owner at its start, ownership moves from that start. The new
    /// entry lasts until the next one begins.
    ///
    /// All known facts are read, not only new ones. A late observation of an old term must not
    /// outlast later terms, nor undo a newer observation of the same term. So the owner at each
    /// instant does not depend on the order of arrival. The entries and facts must all belong to
    /// one lineage.
    ///
    /// If policy is `keep`, the first owner stays the owner, and only the first name counts, and
    /// every move by an operator.
    ///
    /// Inferred owners are added only for instants before the first stated ownership.
    public func additions(
        for facts: some Collection<Fact>,
        under policy: Policy.Transfer = .claim
    ) -> [OwnershipEntry] {
        let stated = stated
        var names = Self.names(in: facts)
        if policy == .keep {
            let first = stated.isEmpty ? names.first : nil
            names = names.filter { $0.why == .moved || $0 == first }
        }
        let additions = stated.additions(of: names)
        let entries = self + additions
        let end = entries.inferenceEnd
        let inferred = Self.inferredNames(in: facts).filter { $0.from < end }
        return entries.additions(of: inferred) + additions
    }

    /// Returns the entries to append, given the owners' names in order.
    private func additions(of names: [OwnershipEntry]) -> [OwnershipEntry] {
        var entries = self
        for name in names where entries.owner(at: name.from) != name.customer {
            var entry = name
            entry.until = entries.map(\.from).filter { $0 > name.from }.min()
            entries.append(entry)
        }
        return Array(entries.dropFirst(count))
    }

    /// Returns the customers that the facts name, ordered by start; for one start the newest. Names
    /// of former owners after an operator's move are left out, and inferred ones.
    static func names(in facts: some Collection<Fact>) -> [OwnershipEntry] {
        let names = newestNames(in: facts) { $0 != .inferred }
        guard names.contains(where: { $0.why == .moved }) else { return names }
        return names.filter { name in
            let move = facts.latestMove(by: name.from)
            return name.why == .moved || move?.former.contains(name.customer) != true
        }
    }

    /// Returns the inferred owners, ordered by start; for one start the newest.
    package static func inferredNames(in facts: some Collection<Fact>) -> [OwnershipEntry] {
        newestNames(in: facts) { $0 == .inferred }
    }

    private static func newestNames(
        in facts: some Collection<Fact>,
        where isWanted: (OwnershipEntry.Why) -> Bool
    ) -> [OwnershipEntry] {
        var newest: [Instant: (word: Observation<CustomerID>, entry: OwnershipEntry)] = [:]
        for fact in facts {
            guard let name = fact.claim, isWanted(name.why) else { continue }
            let word = Observation(name.customer, of: fact)
            if let found = newest[name.from], Observation.isOlder(word, found.word) { continue }
            newest[name.from] = (word, name)
        }
        return newest.values.map(\.entry).sorted { $0.from < $1.from }
    }
}

extension Collection<Fact> {
    /// Returns the latest move by an operator until an instant; nil without one.
    func latestMove(by instant: Instant) -> OwnershipMove? {
        var latest: OwnershipMove?
        for fact in self {
            guard case .move(let move) = fact.assertion, move.from <= instant else { continue }
            if latest.map({ $0.from < move.from }) ?? true { latest = move }
        }
        return latest
    }
}

extension Fact {
    /// The owner that this fact names, from the start of the term concerned; nil if it names none.
    public var claim: OwnershipEntry? {
        switch assertion {
        case .term(let term): claim(of: term.accountToken, from: term.start)
        case .playSubscription(let read):
            // The token it is to replace may belong to another customer until it is paid.
            read.replaces != nil && !read.state.isPaid
                ? nil : claim(of: read.accountId, from: read.startedAt ?? assertedAt)
        case .playPurchase(let read):
            claim(of: read.accountId, from: read.completedAt ?? assertedAt)
        case .grant(let grant): claim(of: grant.customer, from: grant.start, .granted)
        case .move(let move):
            OwnershipEntry(
                lineage: lineage,
                customer: move.customer,
                from: move.from,
                why: .moved,
                decidedAt: move.from
            )
        case .inferredOwner(let inferred):
            claim(of: inferred.customer, from: inferred.from, .inferred)
        case .outlook, .condition, .revocation, .reversal, .inquiry, .pending, .playVoidedOrder,
            .playReplacement, .playNotice, .unrecognised:
            nil
        }
    }

    private func claim(
        of customer: CustomerID?,
        from start: Instant,
        _ why: OwnershipEntry.Why = .accountToken
    ) -> OwnershipEntry? {
        customer.map { OwnershipEntry(lineage: lineage, customer: $0, from: start, why: why) }
    }
}
