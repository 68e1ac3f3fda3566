/// One line of a lineage's append-only list of owners.
public struct OwnershipEntry: Hashable, Sendable {
    public var lineage: Lineage
    public var customer: CustomerID
    /// The first instant of ownership.
    public var from: Instant
    /// The first instant after it; nil while it lasts or until a later entry begins.
    public var until: Instant?
    public var why: Why
    /// When it was decided, for what no fact names; nil where a fact does.
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
        /// The customer claimed what nobody held.
        case claimed
        /// The customer claimed what another one held, and policy let it move.
        case transferred
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

    /// The entries to append, given every fact known of the lineage: a term whose token names
    /// somebody else than the owner at its start moves ownership from that start, until the next
    /// entry begins.
    ///
    /// All known facts are looked at, not only new ones: a late word about an old term must neither
    /// outlive the terms after it, nor undo what was said of the same term since. So whatever order
    /// facts arrive in, the owner at each instant comes out the same. The entries and facts must all
    /// be of one lineage.
    ///
    /// Where policy is to keep, whoever held it first does so for ever, and only the first name counts.
    public func additions(
        for facts: some Sequence<Fact>,
        under policy: Policy.Transfer = .claim
    ) -> [OwnershipEntry] {
        var entries = self
        var names = Self.names(in: facts)
        if policy == .keep { names = isEmpty ? Array(names.prefix(1)) : [] }
        for name in names where entries.owner(at: name.from) != name.customer {
            var entry = name
            entry.until = entries.map(\.from).filter { $0 > name.from }.min()
            entries.append(entry)
        }
        return Array(entries.dropFirst(count))
    }

    /// Whom the facts name, in the order of their starts; of words on one start the newest.
    static func names(in facts: some Sequence<Fact>) -> [OwnershipEntry] {
        var newest: [Instant: (word: Word<CustomerID>, entry: OwnershipEntry)] = [:]
        for fact in facts {
            guard let name = fact.claim else { continue }
            let word = Word(name.customer, of: fact)
            if let found = newest[name.from], Word.isOlder(word, found.word) { continue }
            newest[name.from] = (word, name)
        }
        return newest.values.map(\.entry).sorted { $0.from < $1.from }
    }
}

extension Fact {
    /// The owner that this fact names, from the start of what it speaks of; nil if it names nobody.
    public var claim: OwnershipEntry? {
        switch assertion {
        case .term(let term): claim(of: term.accountToken, from: term.start)
        case .playSubscription(let read):
            claim(of: read.accountId, from: read.startedAt ?? assertedAt)
        case .playPurchase(let read):
            claim(of: read.accountId, from: read.completedAt ?? assertedAt)
        case .grant(let grant): claim(of: grant.customer, from: grant.start, .granted)
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
