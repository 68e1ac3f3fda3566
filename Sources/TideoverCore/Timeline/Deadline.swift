/// An instant at which something is due without a report from the store.
public struct Deadline: Hashable, Sendable, Identifiable {
    /// Stable: the same boundary has the same ID whenever it is computed. Another instant is
    /// another deadline.
    public internal(set) var id: String
    public let kind: Kind
    public let at: Instant
    public let lineage: Lineage
    public let productId: String?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An announced term begins.
        case termStart = "term_start"
        /// A term ends.
        case expiry
        /// Grace ends.
        case graceEnd = "grace_end"
        /// The operator's policy stops keeping access during retry.
        case keptEnd = "kept_end"
        /// The store stops retrying a failed payment.
        case retryEnd = "retry_end"
        /// Presumed access ends unless the store confirms it.
        case presumedEnd = "presumed_end"
        /// The answer rests on an assumption from here on. The store must be queried.
        case reread
        /// Reminds the customer that a trial ends.
        case trialEnding = "trial_ending"
        /// Reminds the customer that grace ends.
        case graceEnding = "grace_ending"
        /// Google Play refunds a purchase unless it is acknowledged by then.
        case acknowledge
        /// The customer's downloads and creations can be deleted.
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
