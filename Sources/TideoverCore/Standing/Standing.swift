/// The answer for one lineage and its product at one instant.
public struct Standing: Hashable, Sendable {
    public var state: State
    public var reason: Reason
    /// When access lasts until, or when it ended. Nil means permanent access, or an unknown end if
    /// there is no access.
    public var accessUntil: Instant?
    /// When grace ends; nil outside grace.
    public var graceUntil: Instant?
    /// Nil if the store reported nothing about the term's end.
    public var willRenew: Bool?
    public var confidence: Confidence
    public var rule: Rule.ID
    /// The purchase that this answer concerns.
    var subject: Subject
    /// The running trial, if any.
    public var trial: Trial?
    /// Whether a higher price awaits the customer's consent. Without consent it will not renew.
    public var awaitsConsent: Bool
    /// The end of the current commitment with monthly payments, if any.
    public var committedUntil: Instant?
    /// Whether the store should be queried, because the answer rests on an assumption.
    public var asksStore: Bool
    /// Whether a product that the catalogue lacks is paid for and runs. Its entitlements are
    /// unknown.
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
        self.init(
            state,
            reason,
            accessUntil: accessUntil,
            graceUntil: graceUntil,
            willRenew: willRenew,
            confidence: confidence,
            rule: rule,
            of: Subject(productId, grantedEntitlement, lineage),
            trial: trial,
            awaitsConsent: awaitsConsent,
            committedUntil: committedUntil,
            asksStore: asksStore,
            hasUnlistedProduct: hasUnlistedProduct
        )
    }

    /// Creates a standing of a known subject.
    init(
        _ state: State,
        _ reason: Reason,
        accessUntil: Instant? = nil,
        graceUntil: Instant? = nil,
        willRenew: Bool? = nil,
        confidence: Confidence = .confirmed,
        rule: Rule.ID,
        of subject: Subject,
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
        self.subject = subject
        self.trial = trial
        self.awaitsConsent = awaitsConsent
        self.committedUntil = committedUntil
        self.asksStore = asksStore
        self.hasUnlistedProduct = hasUnlistedProduct
    }

    /// Whether the customer has access.
    public var access: Bool { state.givesAccess }
}

extension Standing {
    /// The purchase that a standing concerns.
    ///
    /// A class, because one purchase has many standings, and these are copied often.
    final class Subject: Hashable, Sendable {
        let productId: String?
        let grantedEntitlement: String?
        let lineage: Lineage?

        /// That of a standing without any purchase.
        static let none = Subject(nil, nil, nil)

        init(_ productId: String?, _ grantedEntitlement: String?, _ lineage: Lineage?) {
            self.productId = productId
            self.grantedEntitlement = grantedEntitlement
            self.lineage = lineage
        }

        static func == (a: Subject, b: Subject) -> Bool {
            a === b
                || a.productId == b.productId && a.grantedEntitlement == b.grantedEntitlement
                    && a.lineage == b.lineage
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(productId)
            hasher.combine(grantedEntitlement)
            hasher.combine(lineage)
        }
    }

    /// Nil if no product is involved, as for an operator's grant.
    public var productId: String? {
        get { subject.productId }
        set { subject = Subject(newValue, subject.grantedEntitlement, subject.lineage) }
    }

    /// The entitlement that an operator granted; nil for a sold term.
    public var grantedEntitlement: String? {
        get { subject.grantedEntitlement }
        set { subject = Subject(subject.productId, newValue, subject.lineage) }
    }

    /// The lineage that gave this answer, if any.
    public var lineage: Lineage? {
        get { subject.lineage }
        set { subject = Subject(subject.productId, subject.grantedEntitlement, newValue) }
    }
}

/// The five states that the observations of every store map to.
public enum State: String, Hashable, Sendable, CaseIterable {
    case active
    /// A payment failed; access is kept.
    case grace
    /// Access is suspended but recoverable.
    case hold
    case expired, never

    /// Whether this state gives access. This is the only test of access in the project.
    public var givesAccess: Bool {
        switch self {
        case .active, .grace: true
        case .hold, .expired, .never: false
        }
    }
}

/// The reason for the state.
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

/// How certain an answer is.
public enum Confidence: String, Hashable, Sendable, CaseIterable {
    case confirmed
    /// Assumed within a stated bound, while the store is queried.
    case presumed
    /// The state could not be determined.
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
