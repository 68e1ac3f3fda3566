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
    public var productId: String?
    /// The lineage that gave this answer; nil when there is none.
    public var lineage: Lineage?
    /// The trial that runs, if one does.
    public var trial: Trial?
    /// Whether the store should be asked, because the answer rests on an assumption.
    public var asksStore: Bool

    public init(
        state: State,
        reason: Reason,
        accessUntil: Instant? = nil,
        graceUntil: Instant? = nil,
        willRenew: Bool? = nil,
        confidence: Confidence = .confirmed,
        rule: Rule.ID,
        productId: String? = nil,
        lineage: Lineage? = nil,
        trial: Trial? = nil,
        asksStore: Bool = false
    ) {
        self.state = state
        self.reason = reason
        self.accessUntil = accessUntil
        self.graceUntil = graceUntil
        self.willRenew = willRenew
        self.confidence = confidence
        self.rule = rule
        self.productId = productId
        self.lineage = lineage
        self.trial = trial
        self.asksStore = asksStore
    }

    /// Whether the customer may use what this is about. The one test of access in the project.
    public var access: Bool {
        switch state {
        case .active, .grace: true
        case .hold, .expired, .never: false
        }
    }
}

/// The five states every store's words are read into.
public enum State: String, Hashable, Sendable, CaseIterable {
    case active
    /// A payment failed, access is kept.
    case grace
    /// Access is suspended but recoverable.
    case hold
    case expired, never
}

/// Why the state is what it is.
public enum Reason: String, Hashable, Sendable, CaseIterable {
    // active
    case trial, introductory, offer, paid, lifetime, renewalDue
    // grace
    case billingIssue, keptByPolicy
    // hold
    case billingRetry, accountHold, paused
    // expired
    case cancelled, billingError, priceIncrease, productUnavailable, ended
    case refunded, familyAccessRemoved, assignmentRemoved, revoked, changedProduct, unconfirmed
    // never
    case unlinked, notStarted, notEntitled, unknown
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
}
