/// The answer for one lineage at one instant, for the product it is about.
public struct Standing: Hashable, Sendable {
    public var state: State
    public var reason: Reason
    /// Until when access lasts, or when it ended; nil is for ever where there is access, and
    /// unknown where there is none.
    public var accessUntil: Instant?
    /// When grace ends; nil outside grace.
    public var graceUntil: Instant?
    /// Nil when the store has said nothing of the term's end.
    public var willRenew: Bool?
    public var confidence: Confidence
    public var rule: Rule.ID
    /// Nil where no product is concerned, as for an operator's grant.
    public var productId: String?
    /// The entitlement that an operator granted; nil for what was sold.
    public var grantedEntitlement: String?
    /// The lineage that gave this answer; nil when there is none.
    public var lineage: Lineage?
    /// The trial that runs, if one does.
    public var trial: Trial?
    /// Whether a higher price waits for the customer's consent, without which it will not renew.
    public var awaitsConsent: Bool
    /// The end of the commitment that is being paid for by the month, if one is.
    public var committedUntil: Instant?
    /// Whether the store should be asked, because the answer rests on an assumption.
    public var asksStore: Bool
    /// Whether a product that the catalogue lacks is paid for and runs, so that nothing can say
    /// what it unlocks.
    public var hasUnlistedProduct: Bool

    public init(
        state: State,
        reason: Reason,
        accessUntil: Instant? = nil,
        graceUntil: Instant? = nil,
        willRenew: Bool? = nil,
        confidence: Confidence = .confirmed,
        rule: Rule.ID,
        productId: String? = nil,
        grantedEntitlement: String? = nil,
        lineage: Lineage? = nil,
        trial: Trial? = nil,
        awaitsConsent: Bool = false,
        committedUntil: Instant? = nil,
        asksStore: Bool = false,
        hasUnlistedProduct: Bool = false
    ) {
        self.state = state
        self.reason = reason
        self.accessUntil = accessUntil
        self.graceUntil = graceUntil
        self.willRenew = willRenew
        self.confidence = confidence
        self.rule = rule
        self.productId = productId
        self.grantedEntitlement = grantedEntitlement
        self.lineage = lineage
        self.trial = trial
        self.awaitsConsent = awaitsConsent
        self.committedUntil = committedUntil
        self.asksStore = asksStore
        self.hasUnlistedProduct = hasUnlistedProduct
    }

    /// Whether the customer may use what this is about.
    public var access: Bool { state.givesAccess }
}

/// The five states every store's words are read into.
public enum State: String, Hashable, Sendable, CaseIterable {
    case active
    /// A payment failed, access is kept.
    case grace
    /// Access is suspended but recoverable.
    case hold
    case expired, never

    /// Whether the customer may use what is in this state. The one test of access in the project.
    public var givesAccess: Bool {
        switch self {
        case .active, .grace: true
        case .hold, .expired, .never: false
        }
    }
}

/// Why the state is what it is.
public enum Reason: String, Hashable, Sendable, CaseIterable {
    // active
    case trial, introductory, offer, paid, prepaid, lifetime, granted, renewalDue
    // grace
    case billingIssue, keptByPolicy
    // hold
    case billingRetry, accountHold, paused
    // expired
    case cancelled, billingError, priceIncrease, productUnavailable, ended
    case refunded, familyAccessRemoved, assignmentRemoved, revoked, changedProduct, replaced
    case unconfirmed
    // never
    case unlinked, notStarted, pending, calledOff, notEntitled, unknown
    /// The catalogue lacks the product: `never`, or access where the policy gives it.
    case unknownProduct
}

/// How sure an answer is.
public enum Confidence: String, Hashable, Sendable, CaseIterable {
    case confirmed
    /// Inside a stated bound we assume, and are asking.
    case presumed
    /// We could not find out.
    case unknown
}

/// A free trial while it runs.
public struct Trial: Hashable, Sendable {
    public var startedAt: Instant
    public var endsAt: Instant
    /// The latest advisable instant to cancel: a day (at the lineage's pace) before the end.
    public var cancelBy: Instant
    /// Days left, rounded up; days of the lineage's pace.
    public var daysLeft: Int64
    /// Whether `cancelBy` has passed.
    public var urgent: Bool

    init(from start: Instant, to end: Instant, at instant: Instant, pace: Pace) {
        let day = max(1, pace.scale(.days(1)).count)
        let left = max(0, (end - instant).count)
        startedAt = start
        endsAt = end
        cancelBy = end - Milliseconds(day)
        daysLeft = left == 0 ? 0 : (left - 1) / day + 1
        urgent = instant >= cancelBy
    }
}
