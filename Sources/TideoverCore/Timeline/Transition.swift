/// An event in the life of a subscription.
public struct Transition: Hashable, Sendable, Identifiable {
    /// Stable: the same facts in any order give the same ID. It is derived from the lineage, the
    /// kind and the subject. Unique within an app.
    public internal(set) var id: String
    /// The IDs under which it may have been sent while less was known: a refund on Google Play is
    /// reported by several observations with different dates.
    var formerIDs: [String] = []
    public private(set) var kind: Kind
    /// When it took effect.
    public let at: Instant
    /// When the server first knew all its evidence. Earlier than `at` for announced and due events.
    public private(set) var learnedAt: Instant
    public private(set) var lineage: Lineage
    /// The resulting state.
    public let state: State
    /// The reason for that state.
    public let reason: Reason
    /// The confidence in that state.
    public let confidence: Confidence
    public internal(set) var productId: String?
    /// The product before a change of product.
    public internal(set) var previousProductId: String?
    /// The entitlements of the product, or of the one before it. For a customer's `cleanup_due`,
    /// only those that no other purchase gives access to.
    public internal(set) var entitlements: [String]
    /// The state when a billing issue ended: `grace` or `hold`. Access that only the operator's
    /// policy kept counts as hold.
    public internal(set) var from: State?
    /// The store's price for the entered term. For `billing_issue_entered` it is the price of the
    /// failed renewal with its add-ons, for refunds that of the revoked term. Two events of one
    /// charge both carry it. Nil if no price was stated, and for family-shared purchases.
    public internal(set) var money: Money?
    /// The duration of the billing issue, the trial, the lapse or the pause that ended. For a
    /// reversal, the time since the refund.
    public internal(set) var duration: Milliseconds?
    /// Until when to keep the customer's downloads and creations: the natural end of the paid time.
    /// Set only if access ended permanently, as far as known.
    public internal(set) var keepArtifactsUntil: Instant?
    /// The lineage of the purchase through which the customer returned.
    public internal(set) var recoveredBy: Lineage?
    /// The store's country of the purchase, in ISO 3166-1: alpha-3 from the App Store, alpha-2 from
    /// Google Play.
    public internal(set) var storefront: String?
    /// The evidence, ordered by digest.
    public let evidence: [EvidenceID]

    /// Whether the family shares it. It gives access, but this customer was not charged and must
    /// not be asked to pay.
    public var isFamilyShared: Bool { lineage.ownership == .familyShared }

    /// The kinds of events. At one instant, the earlier kind in this list comes first.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case refundReversed = "refund_reversed"
        /// A revocation without a refund was reversed.
        case reinstated
        case uncancelled
        case resumed
        /// The failed payment was fixed.
        case billingIssueRecovered = "billing_issue_recovered"
        /// The customer returned through a purchase during a billing issue.
        case recoveredByNewPurchase = "recovered_by_new_purchase"
        case started
        /// A purchase after a lapse.
        case resubscribed
        case trialStarted = "trial_started"
        /// The first paid term after a trial. It is not accompanied by `renewed`.
        case trialConverted = "trial_converted"
        case renewed
        case productChanged = "product_changed"
        /// Renewal was switched off. Access continues, except from hold, and from grace on the App
        /// Store.
        case cancelled
        case trialCancelled = "trial_cancelled"
        case paused
        case billingIssueEntered = "billing_issue_entered"
        /// The store's grace ended and it continues to retry. The billing issue is now in hold.
        case graceEnded = "grace_ended"
        case refunded
        /// Revoked without a refund: family sharing or an assignment ended.
        case revoked
        case expired
        /// A trial expired unpaid. It is not accompanied by `expired`.
        case trialEnded = "trial_ended"
        /// The customer's downloads and creations can be deleted now.
        case cleanupDue = "cleanup_due"
    }

    /// Creates a transition of a lineage at the beginning of a step, or within it.
    init(
        _ kind: Kind,
        of steps: LineageSteps,
        anchor: String,
        at instant: Instant,
        step: Step,
        entitlements: [String],
        proof: Proof,
        money: Money? = nil,
        duration: Milliseconds? = nil
    ) {
        id = steps.names.text(kind.rawValue, anchor)
        self.kind = kind
        at = instant
        learnedAt = proof.learnedAt
        lineage = steps.lineage
        state = step.standing.state
        reason = step.standing.reason
        confidence = step.standing.confidence
        productId = step.standing.productId
        self.entitlements = entitlements
        self.money = money
        self.duration = duration
        storefront = step.term?.term.storefront
        evidence = proof.evidence
    }

    /// Creates the event of a purchase in another lineage that ended a billing issue.
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
}

extension [Transition] {
    /// The transitions oldest first, and by kind at one instant.
    var inOrder: [Transition] { inOrderOfPositions(by: isEarlier) }

    private func isEarlier(_ a: Int, than b: Int) -> Bool {
        if self[a].at != self[b].at { return self[a].at < self[b].at }
        return (self[a].kind.position, self[a].id) < (self[b].kind.position, self[b].id)
    }
}

extension Transition.Kind {
    private static let positions = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) }
    )

    fileprivate var position: Int { Self.positions[self] ?? 0 }
}
