/// A failed renewal and how it ended: one entry into grace or hold, what measures of recovery
/// count. What the family shares and pauses make none.
public struct BillingIssue: Hashable, Sendable, Identifiable {
    /// The id of the `billing_issue_entered` that began it.
    public let id: String
    /// What names it in the ids of what ends it.
    let anchor: String
    public let lineage: Lineage
    /// The product whose renewal failed.
    public let productId: String?
    /// The store's country of the purchase, in ISO 3166-1: alpha-3 from the App Store, alpha-2 from
    /// Google Play.
    public let storefront: String?
    /// Whether the renewal that failed was a trial's first payment.
    public let isTrial: Bool
    public let enteredAt: Instant
    /// When we first knew of it.
    public let learnedAt: Instant
    /// The price of the renewal that failed, where known.
    public let moneyAtRisk: Money?
    /// When grace began; nil when it never did.
    public internal(set) var graceFrom: Instant?
    /// When hold began; nil when it never did. Access that only the operator's policy kept counts
    /// as hold.
    public internal(set) var holdFrom: Instant?
    public internal(set) var outcome: Outcome

    public var store: Store { lineage.store }

    public enum Outcome: Hashable, Sendable {
        /// It goes on at the instant asked for.
        case open(State)
        /// The failed payment was mended.
        case recovered(Recovery)
        /// Another purchase brought the customer back; `by` is its lineage, which may be the same.
        case recoveredByNewPurchase(Recovery, by: Lineage)
        /// The customer switched renewal off.
        case cancelled(from: State, at: Instant)
        /// The store gave up, or named another end.
        case expired(from: State, at: Instant)
        /// The term was refunded or taken back.
        case takenBack(from: State, at: Instant)
        /// We lost sight of it: not known to have ended.
        case unconfirmed(from: State, at: Instant)
    }

    public struct Recovery: Hashable, Sendable {
        /// Where the issue stood: `grace` or `hold`.
        public let from: State
        public let at: Instant
        /// When we first knew of it.
        public let learnedAt: Instant
        public let productId: String?
        /// What the store charges for the term entered, where stated.
        public let money: Money?
    }

    /// When it ended; nil while it goes on.
    public var endedAt: Instant? {
        switch outcome {
        case .open: nil
        case .recovered(let recovery), .recoveredByNewPurchase(let recovery, _): recovery.at
        case .cancelled(_, let at), .expired(_, let at), .takenBack(_, let at),
            .unconfirmed(_, let at):
            at
        }
    }
}

extension BillingIssue.Recovery {
    init(_ recovered: Transition) {
        self.init(
            from: recovered.from ?? .hold,
            at: recovered.at,
            learnedAt: recovered.learnedAt,
            productId: recovered.productId,
            money: recovered.money
        )
    }
}
