/// An instant at which something falls due without a word from the store.
public struct Deadline: Hashable, Sendable, Identifiable {
    /// The same whenever the same boundary is computed again; another instant is another deadline.
    public internal(set) var id: String
    public let kind: Kind
    public let at: Instant
    public let lineage: Lineage
    public let productId: String?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A term that was announced begins.
        case termStart = "term_start"
        /// A term ends.
        case expiry
        /// Grace ends.
        case graceEnd = "grace_end"
        /// The operator's policy stops keeping access during retry.
        case keptEnd = "kept_end"
        /// The store stops retrying a failed payment.
        case retryEnd = "retry_end"
        /// Access that was presumed ends unless the store confirms it.
        case presumedEnd = "presumed_end"
        /// The answer rests on an assumption from here on: the store is to be asked.
        case reread
        /// To remind the customer that a trial ends.
        case trialEnding = "trial_ending"
        /// To remind the customer that grace ends.
        case graceEnding = "grace_ending"
        /// A purchase on Google Play is taken back unless it is acknowledged by then.
        case acknowledge
        /// What the customer downloaded or made can go.
        case cleanup
    }

    init(_ kind: Kind, at instant: Instant, of lineage: Lineage, productId: String?) {
        id = StableDigest.text(of: lineage, kind.rawValue, "\(instant.millisecondsSince1970)")
        self.kind = kind
        at = instant
        self.lineage = lineage
        self.productId = productId
    }
}
