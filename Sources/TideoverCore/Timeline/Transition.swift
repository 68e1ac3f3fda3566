/// Something that happened to a subscription at an instant: an event.
public struct Transition: Hashable, Sendable, Identifiable {
    /// The same whenever the same facts, in whatever order, tell of the same happening: made from
    /// the lineage, the kind and what it happened to. Unique within an app.
    public internal(set) var id: String
    public private(set) var kind: Kind
    /// When it took effect.
    public let at: Instant
    /// When we first knew all it rests on; earlier than `at` for what was announced or falls due.
    public private(set) var learnedAt: Instant
    public private(set) var lineage: Lineage
    /// The state it led to.
    public let state: State
    /// Why that state holds.
    public let reason: Reason
    /// How sure that is.
    public let confidence: Confidence
    public internal(set) var productId: String?
    /// The product before a change of product.
    public internal(set) var previousProductId: String?
    /// What the product unlocks, or the one before it did. Of a customer's `cleanup_due` only what
    /// nothing else gives access to.
    public internal(set) var entitlements: [String]
    /// Whether access was still given when a billing issue ended: `grace` or `hold`. Access that
    /// only the operator's policy kept counts as hold.
    public internal(set) var from: State?
    /// What the store charges for the term entered; the price of the renewal that failed for
    /// `billing_issue_entered`; of the term taken back for refunds. Two happenings of one charge
    /// both carry it. Nil where no price was stated, and for what the family shares.
    public internal(set) var money: Money?
    /// How long it took: a billing issue until it ended, a trial until it was converted, cancelled
    /// or ended, a refund until its reversal, a lapse until the customer came back, a pause.
    public internal(set) var duration: Milliseconds?
    /// Until when to keep what the customer downloaded or made: the natural end of what was paid
    /// for. Only where access ended for good as far as anybody knows.
    public internal(set) var keepArtifactsUntil: Instant?
    /// The lineage whose purchase brought the customer back.
    public internal(set) var recoveredBy: Lineage?
    /// The store's country of the purchase, in ISO 3166-1: alpha-3 from the App Store, alpha-2 from
    /// Google Play.
    public internal(set) var storefront: String?
    /// What it was read from, in the order of digests.
    public let evidence: [EvidenceID]

    /// Shared by the family: it gives access, but nobody was charged, and nobody is to be asked to
    /// pay.
    public var isFamilyShared: Bool { lineage.ownership == .familyShared }

    /// What can happen. Of what happens at one instant the earlier in this list comes first.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case refundReversed = "refund_reversed"
        /// What the store had taken back without a refund was given back.
        case reinstated
        case uncancelled
        case resumed
        /// The failed payment was mended.
        case billingIssueRecovered = "billing_issue_recovered"
        /// A purchase made during a billing issue brought the customer back.
        case recoveredByNewPurchase = "recovered_by_new_purchase"
        case started
        /// A purchase after a lapse.
        case resubscribed
        case trialStarted = "trial_started"
        /// The first paid term after a trial; there is no `renewed` beside it.
        case trialConverted = "trial_converted"
        case renewed
        case productChanged = "product_changed"
        /// Renewal was switched off. Access goes on, except from grace and hold.
        case cancelled
        case trialCancelled = "trial_cancelled"
        case paused
        case billingIssueEntered = "billing_issue_entered"
        /// The store's grace is over and it goes on retrying: the billing issue is in hold now.
        case graceEnded = "grace_ended"
        case refunded
        /// Taken back without a refund: family sharing or an assignment ended.
        case revoked
        case expired
        /// A trial expired unpaid; there is no `expired` beside it.
        case trialEnded = "trial_ended"
        /// What the customer downloaded or made can go now.
        case cleanupDue = "cleanup_due"
    }

    /// What happened to a lineage at the beginning of a step, or within it.
    init(
        _ kind: Kind,
        of lineage: Lineage,
        anchor: String,
        at instant: Instant,
        step: Step,
        entitlements: [String],
        proof: Proof
    ) {
        id = StableDigest.text(of: lineage, kind.rawValue, anchor)
        self.kind = kind
        at = instant
        learnedAt = proof.learnedAt
        self.lineage = lineage
        state = step.standing.state
        reason = step.standing.reason
        confidence = step.standing.confidence
        productId = step.standing.productId
        self.entitlements = entitlements
        storefront = step.term?.term.storefront
        evidence = proof.evidence
    }

    /// A purchase in another lineage that brought the customer back from a billing issue.
    init(_ purchase: Transition, mending issue: BillingIssue) {
        self = purchase
        kind = .recoveredByNewPurchase
        id = StableDigest.text(of: issue.lineage, kind.rawValue, issue.anchor)
        lineage = issue.lineage
        recoveredBy = purchase.lineage
        learnedAt = max(purchase.learnedAt, issue.learnedAt)
        from = (issue.holdFrom ?? .distantFuture) <= at ? .hold : .grace
        duration = at - issue.enteredAt
    }

    func concerns(_ entitlement: String) -> Bool { entitlements.contains(entitlement) }

    /// Oldest first; what happens at one instant in the order of the kinds.
    static func isEarlier(_ a: Transition, _ b: Transition) -> Bool {
        if a.at != b.at { return a.at < b.at }
        return (a.kind.position, a.id) < (b.kind.position, b.id)
    }
}

extension Transition.Kind {
    private static let positions = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) }
    )

    fileprivate var position: Int { Self.positions[self] ?? 0 }
}
