/// A failed renewal and its outcome. Each entry into grace or hold is one issue, and recovery
/// measures count issues. Family-shared purchases and pauses cause none.
public struct BillingIssue: Hashable, Sendable, Identifiable {
    /// The ID of the `billing_issue_entered` event that began it.
    public let id: String
    /// The part of event IDs that identifies this issue when it ends.
    let anchor: String
    public let lineage: Lineage
    /// The product that failed to renew.
    public let productId: String?
    /// The store's country of the purchase, in ISO 3166-1: alpha-3 from the App Store, alpha-2 from
    /// Google Play.
    public let storefront: String?
    /// Whether the failed renewal was a trial's first payment.
    public let isTrial: Bool
    public let enteredAt: Instant
    /// When the server first learned of it.
    public let learnedAt: Instant
    /// The price of the failed renewal, if known.
    public let moneyAtRisk: Money?
    /// When grace began; nil if it never did.
    public internal(set) var graceFrom: Instant?
    /// When hold began; nil if it never did. Access that only the operator's policy kept counts as
    /// hold.
    public internal(set) var holdFrom: Instant?
    public internal(set) var outcome: Outcome

    public var store: Store { lineage.store }

    public enum Outcome: Hashable, Sendable {
        /// It continues at the requested instant.
        case open(State)
        /// The failed payment was fixed.
        case recovered(Recovery)
        /// The customer returned through another purchase. `by` is its lineage, which may be the
        /// same.
        case recoveredByNewPurchase(Recovery, by: Lineage)
        /// The customer switched renewal off.
        case cancelled(from: State, at: Instant)
        /// The store gave up, or reported another end.
        case expired(from: State, at: Instant)
        /// The term was refunded or revoked.
        case takenBack(from: State, at: Instant)
        /// The state became unknown; no end is known.
        case unconfirmed(from: State, at: Instant)
    }

    public struct Recovery: Hashable, Sendable {
        /// The state before the recovery: `grace` or `hold`.
        public let from: State
        public let at: Instant
        /// When the server first learned of it.
        public let learnedAt: Instant
        public let productId: String?
        /// The store's price for the new term, if stated.
        public let money: Money?
    }

    /// When it ended; nil while it continues.
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
