/// The reason why a customer has or lacks access to one entitlement at an instant. It contains the
/// decision, its evidence, the facts set aside, and the next change.
public struct Explanation: Hashable, Sendable {
    /// The requested instant.
    public var asOf: Instant
    /// The answer, identical to the one in a snapshot of that instant.
    public var decision: Snapshot.Entitlement
    /// The sentence of the rule that decided, with additions from the catalogue.
    public var why: [String]
    /// The facts that the rule used, oldest first.
    public var used: [UsedFact]
    /// The other facts of the deciding lineage, oldest first.
    public var setAside: [SetAsideFact]
    /// The customer's other lineages, each with its own standing.
    public var others: [Voice]
    /// The answer at `decision.nextChange` if the store reports nothing more; nil if nothing
    /// changes.
    public var next: Snapshot.Entitlement?
    /// Sentences for a reply to the customer: plain English, no IDs, days in UTC.
    public var reply: [String]

    /// A fact that the decision rests on.
    public struct UsedFact: Hashable, Sendable {
        public var fact: Fact
        /// The roles of the fact, at least one.
        public var roles: [Role]
    }

    /// A fact's role in a decision.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// The newest observation of the governing term.
        case term
        /// The first report of a term that counts from that report, not from its purchase.
        case start
        /// The report of a term that has not begun, or that was never seen itself.
        case announcement
        /// The last term that unlocked an entitlement that the present one does not unlock.
        case former
        /// The newest outlook on the governing term.
        case outlook
        /// The newest condition of the governing term.
        case condition
        /// The source of the end of grace.
        case grace
        /// The first report of a failed payment.
        case failure
        /// The revocation of the term.
        case revocation
        /// The reversal of a revocation.
        case reversal
        /// The move by an operator that decided the owner.
        case owner
        /// The read of the purchase that counts.
        case read
        /// The bare notification that counts, if no read was possible.
        case notice
        /// The base for a bare notification, a read without products, or a less detailed
        /// observation.
        case basis
        /// The source of the reason why access ended.
        case reason
        /// The report that another purchase replaced this one.
        case replacement
        /// The report that the purchase is pending, or no longer pending.
        case pending
        /// The report that the store could not be reached.
        case inquiry
    }

    /// A fact of the same lineage that the decision does not rest on.
    public struct SetAsideFact: Hashable, Sendable {
        public var fact: Fact
        public var reason: SetAsideReason
    }

    /// Why a fact was set aside.
    public enum SetAsideReason: String, Hashable, Sendable, CaseIterable {
        /// A newer observation of the same subject counts.
        case olderWord
        /// It concerns a term other than the governing one.
        case otherTerm
        /// It was signed after the requested instant.
        case notAssertedYet
        /// It was known by then, and begins after the requested instant.
        case notBegun
        /// A source of a higher rank reported on the same subject.
        case lowerRank
        /// This version does not recognise it.
        case unknownWord
        /// An upgrade, which older data records as a revocation.
        case upgrade
        /// It concerns no known term.
        case unbound
        /// Another purchase has replaced the one it concerns.
        case replaced
        /// It had nothing to change.
        case noEffect

        /// The reason as a sentence.
        public var sentence: String {
            switch self {
            case .olderWord: "A newer report about the same subject counts."
            case .otherTerm: "It is about another term."
            case .notAssertedYet: "It was signed after the instant asked about."
            case .notBegun: "It begins after the instant asked about."
            case .lowerRank: "A more trusted source reported the same subject."
            case .unknownWord: "This version does not know the value; it changes nothing."
            case .upgrade: "It marks an upgrade, not a refund."
            case .unbound: "It is about a term that is not known."
            case .replaced: "Another purchase replaced the one it is about."
            case .noEffect: "There was nothing for it to change."
            }
        }
    }

    /// The standing of another lineage of the customer.
    public struct Voice: Hashable, Sendable {
        public var lineage: Lineage
        /// Its standing for the entitlement; nil if the customer did not own it at that instant.
        public var standing: Standing?
    }
}

extension Explanation {
    /// The lineage that decided; nil if nothing is known.
    public var lineage: Lineage? { decision.standing.lineage }
}
