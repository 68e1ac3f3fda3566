/// Why a customer may or may not use one entitlement at an instant: the decision, what it rests on,
/// what was set aside, and what comes next.
public struct Explanation: Hashable, Sendable {
    /// The instant asked about.
    public var asOf: Instant
    /// The answer, exactly as a snapshot of that instant gives it.
    public var decision: Snapshot.Entitlement
    /// The sentence of the rule that decided, and what the catalogue adds to it.
    public var why: [String]
    /// The facts that the rule looked at, oldest first.
    public var used: [UsedFact]
    /// The other facts of the lineage that decided, oldest first.
    public var setAside: [SetAsideFact]
    /// The customer's other lineages and what each says by itself.
    public var others: [Voice]
    /// The answer at `decision.nextChange`, if the store says nothing more; nil when nothing changes.
    public var next: Snapshot.Entitlement?
    /// Sentences for a reply to the customer: plain English, no ids, days in UTC.
    public var reply: [String]

    /// A fact that the decision rests on.
    public struct UsedFact: Hashable, Sendable {
        public var fact: Fact
        /// What it was used as, at least one.
        public var roles: [Role]
    }

    /// What a fact contributes to a decision.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// The newest word on the term that governs.
        case term
        /// The first word of a term that counts from when it was told of, not from its purchase.
        case start
        /// It told of a term that has not begun, or that was never seen itself.
        case announcement
        /// The term that last unlocked an entitlement which the present one does not.
        case former
        /// The newest outlook on the governing term.
        case outlook
        /// The newest condition of the governing term.
        case condition
        /// It stated the end of grace.
        case grace
        /// The first word of a failed payment.
        case failure
        /// It took the term back.
        case revocation
        /// It gave back what a revocation had taken.
        case reversal
        /// The read of the purchase that counts.
        case read
        /// The bare notification that counts, where nothing could be read.
        case notice
        /// What a bare notification, a read that lists no product, or a poorer word builds on.
        case basis
        /// It names why access ended.
        case reason
        /// It tells that another purchase took the place of this one.
        case replacement
        /// It tells that the purchase waits, or waits no more.
        case pending
        /// It tells that the store could not be reached.
        case inquiry
    }

    /// A fact of the same lineage that the decision does not rest on.
    public struct SetAsideFact: Hashable, Sendable {
        public var fact: Fact
        public var reason: SetAsideReason
    }

    /// Why a fact was set aside.
    public enum SetAsideReason: String, Hashable, Sendable, CaseIterable {
        /// A newer word on the same thing counts.
        case olderWord
        /// It speaks of another term than the one that governs.
        case otherTerm
        /// It was signed after the instant asked about.
        case notAssertedYet
        /// It was known by then, and begins after the instant asked about.
        case notBegun
        /// A more trusted speaker said something of the same thing.
        case lowerRank
        /// A word that this version does not know.
        case unknownWord
        /// An upgrade, which older data writes as a revocation.
        case upgrade
        /// It speaks of no term that is known.
        case unbound
        /// Another purchase has taken the place of the one it speaks of.
        case replaced
        /// There was nothing for it to change.
        case noEffect

        /// The reason in a sentence.
        public var sentence: String {
            switch self {
            case .olderWord: "A newer word on the same thing counts."
            case .otherTerm: "It speaks of another term."
            case .notAssertedYet: "It was signed after the instant asked about."
            case .notBegun: "It begins after the instant asked about."
            case .lowerRank: "A more trusted source spoke of the same thing."
            case .unknownWord: "This version does not know the word; it changes nothing."
            case .upgrade: "It marks an upgrade, not a refund."
            case .unbound: "It speaks of no term that is known."
            case .replaced: "Another purchase has taken the place of the one it speaks of."
            case .noEffect: "There was nothing for it to change."
            }
        }
    }

    /// What another lineage of the customer says.
    public struct Voice: Hashable, Sendable {
        public var lineage: Lineage
        /// Its standing for the entitlement; nil where the customer did not own it at that instant.
        public var standing: Standing?
    }
}

extension Explanation {
    /// The lineage that decided; nil when nothing is known.
    public var lineage: Lineage? { decision.standing.lineage }
}
