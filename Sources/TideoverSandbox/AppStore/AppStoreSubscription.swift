/// One subscription in the store, from the first purchase through every lapse and return.
struct AppStoreSubscription: Hashable, Sendable {
    /// The numbers the store gives a term.
    struct TermIds: Hashable, Sendable {
        let transactionId: String
        let webOrderLineItemId: String
        /// What stands on the customer's receipt.
        let orderId: String
    }

    /// A paid or free period.
    struct Term: Hashable, Sendable {
        let ids: TermIds
        let product: AppStoreProduct
        let start: Int64
        var end: Int64
        let isTrial: Bool
        let isRenewal: Bool
        /// When the store wrote this transaction, or last changed it.
        var modifiedAt: Int64
        var revocation: Revocation?
    }

    /// Apple's `inAppOwnershipType`.
    var ownershipType: String { "PURCHASED" }

    struct Revocation: Hashable, Sendable {
        let at: Int64
        let reason: AppStoreAction.RefundReason
    }

    enum Phase: Hashable, Sendable {
        /// The newest term has not ended.
        case running
        case grace(until: Int64)
        case retry
        case ended(Intent)
    }

    /// Apple's `expirationIntent`.
    enum Intent: Int64, Hashable, Sendable {
        case customerCancelled = 1
        case billingError = 2
        case other = 5
    }

    /// Ends of terms are counted from here, so that short months do not move the billing day for good.
    struct Cycle: Hashable, Sendable {
        let anchor: Int64
        var count: Int
    }

    /// What falls due by the passing of time alone.
    enum Due: Hashable, Sendable {
        case charge
        case voluntaryEnd
        case graceEnd
        case retryEnd
    }

    /// Apple goes on trying to collect a failed payment for 60 days in all, grace included.
    static let retryLength = 60 * CivilDate.millisecondsPerDay
    /// A gap in paid service longer than this begins a new run (`recentSubscriptionStartDate`).
    static let longestGap = 60 * CivilDate.millisecondsPerDay

    /// A stretch of the past in which the store held one thing to be so.
    struct Span: Hashable, Sendable {
        let from: Int64
        let truth: AppStoreTruth
    }

    /// What the app, or its server through the API, says whose purchase this is.
    var appAccountToken: String?
    /// Never empty; in the order bought.
    private(set) var terms: [Term]
    private(set) var phase: Phase = .running
    private(set) var renews = true
    /// The last grace end the store stated for the current term; it outlives the grace itself.
    private(set) var statedGraceEnd: Int64?
    private(set) var recentStart: Int64
    private var cycle: Cycle
    /// When the renewal date was extended.
    private var extensions: [Int64] = []
    private var history: [Span] = []

    init(_ purchase: Purchase, appAccountToken: String?) {
        self.appAccountToken = appAccountToken
        terms = [purchase.term]
        recentStart = purchase.term.start
        cycle = purchase.cycle
        record(at: purchase.term.start)
    }

    var original: Term { terms[0] }
    var current: Term { terms[terms.count - 1] }
    var retryEnd: Int64 { current.end + AppStoreSubscription.retryLength }
    var isRevoked: Bool { current.revocation != nil }

    /// Running, or a payment for it is still being tried.
    var isAlive: Bool {
        switch phase {
        case .running, .grace, .retry: !isRevoked
        case .ended: false
        }
    }

    /// What the store does next by itself, and when.
    var due: (at: Int64, what: Due)? {
        guard !isRevoked else { return nil }
        switch phase {
        case .running: return (current.end, renews ? .charge : .voluntaryEnd)
        case .grace(let until): return (until, .graceEnd)
        case .retry: return (retryEnd, .retryEnd)
        case .ended: return nil
        }
    }

    func truth(at instant: Int64) -> AppStoreTruth {
        history.last { $0.from <= instant }?.truth ?? .never
    }

    private mutating func record(at instant: Int64) {
        history.append(Span(from: instant, truth: truth))
    }

    private var truth: AppStoreTruth {
        if isRevoked { return .revoked }
        switch phase {
        case .running: return .active(until: current.end)
        case .grace(let until): return .grace(until: until)
        case .retry: return .retry(until: retryEnd)
        case .ended: return .expired
        }
    }
}

// MARK: - Buying and paying

extension AppStoreSubscription {
    /// A first term and the cycle it begins.
    struct Purchase {
        let term: Term
        let cycle: Cycle

        init(of product: AppStoreProduct, trial: StorePeriod?, at instant: Int64, ids: TermIds) {
            let end = (trial ?? product.period).end(of: 1, from: instant)
            term = Term(
                ids: ids,
                product: product,
                start: instant,
                end: end,
                isTrial: trial != nil,
                isRenewal: false,
                modifiedAt: instant
            )
            cycle =
                trial == nil ? Cycle(anchor: instant, count: 1) : Cycle(anchor: end, count: 0)
        }
    }

    /// The charge at the end of the current term succeeded.
    mutating func renew(_ ids: TermIds) -> AppStoreEvent {
        let ended = current
        begin(nextTerm(ids, startingAt: ended.end))
        return .renewed(until: current.end, endedTrial: ended.isTrial)
    }

    /// The charge at the end of the current term failed. Grace is fixed here and never changes later.
    mutating func failToRenew() -> AppStoreEvent {
        let graceEnd = current.product.graceEnd(failedAt: current.end)
        statedGraceEnd = graceEnd
        phase = graceEnd.map { .grace(until: $0) } ?? .retry
        record(at: current.end)
        return .failedToRenew(graceUntil: graceEnd, retryUntil: retryEnd)
    }

    /// An outstanding charge succeeded: in grace the billing cycle goes on as if nothing had been, after
    /// it a new cycle begins.
    mutating func recover(at instant: Int64, _ ids: TermIds) -> AppStoreEvent {
        let inGrace = if case .grace = phase { true } else { false }
        if inGrace {
            begin(nextTerm(ids, startingAt: current.end), at: instant)
        } else {
            cycle = Cycle(anchor: instant, count: 0)
            begin(nextTerm(ids, startingAt: instant), at: instant)
        }
        return .recovered(until: current.end, inGrace: inGrace)
    }

    /// Bought again after it had ended.
    mutating func resubscribe(_ purchase: Purchase) -> AppStoreEvent {
        let gap = purchase.term.start - current.end
        if gap > AppStoreSubscription.longestGap { recentStart = purchase.term.start }
        cycle = purchase.cycle
        renews = true
        begin(purchase.term)
        return .subscribed(until: current.end, trial: current.isTrial, again: true)
    }

    private mutating func nextTerm(_ ids: TermIds, startingAt start: Int64) -> Term {
        cycle.count += 1
        let end = current.product.period.end(of: cycle.count, from: cycle.anchor)
        return Term(
            ids: ids,
            product: current.product,
            start: start,
            end: end,
            isTrial: false,
            isRenewal: true,
            modifiedAt: start
        )
    }

    private mutating func begin(_ term: Term, at instant: Int64? = nil) {
        precondition(term.start < term.end, "a term ends after it starts")
        terms.append(term)
        terms[terms.count - 1].modifiedAt = instant ?? term.start
        phase = .running
        statedGraceEnd = nil
        record(at: instant ?? term.start)
    }
}

// MARK: - Extending

extension AppStoreSubscription {
    /// A renewal date can be extended so often in `extensionWindow`.
    private static let mostExtensions = 2
    private static let extensionWindow = 365 * CivilDate.millisecondsPerDay

    /// Only paid service that is running can be extended.
    var isExtendable: Bool { phase == .running && !isRevoked && !current.isTrial }

    func hasExtensionsLeft(at instant: Int64) -> Bool {
        let since = instant - AppStoreSubscription.extensionWindow
        return extensions.count { $0 > since } < AppStoreSubscription.mostExtensions
    }

    /// Moves the renewal date, and the billing cycle with it.
    mutating func extend(byDays days: Int64, at instant: Int64) -> AppStoreEvent {
        extensions.append(instant)
        let end = current.end + days * CivilDate.millisecondsPerDay
        terms[terms.count - 1].end = end
        terms[terms.count - 1].modifiedAt = instant
        cycle = Cycle(anchor: end, count: 0)
        record(at: instant)
        return .renewalExtended(until: end)
    }
}

// MARK: - Ending

extension AppStoreSubscription {
    mutating func endGrace() -> AppStoreEvent {
        if case .grace(let until) = phase {
            phase = .retry
            record(at: until)
        }
        return .graceEnded(retryUntil: retryEnd)
    }

    mutating func endRetry() -> AppStoreEvent {
        end(.billingError, at: retryEnd)
        return .expired(.billingRetry)
    }

    mutating func endVoluntarily() -> AppStoreEvent {
        end(.customerCancelled, at: current.end)
        return .expired(.voluntary)
    }

    /// While the term runs nothing but the outlook changes. With a charge outstanding the store gives up
    /// at once, and the grace it had stated with it.
    mutating func turnRenewalOff(at instant: Int64) -> [AppStoreEvent] {
        renews = false
        guard phase != .running else { return [.renewalTurnedOff(endsAt: current.end)] }
        statedGraceEnd = nil
        end(.customerCancelled, at: instant)
        return [.renewalTurnedOff(endsAt: instant), .expired(.voluntary)]
    }

    mutating func turnRenewalOn() -> AppStoreEvent {
        renews = true
        return .renewalTurnedOn(renewsAt: current.end)
    }

    /// Takes the newest payment back, and ends any attempt at collecting another.
    mutating func refund(
        _ reason: AppStoreAction.RefundReason,
        at instant: Int64
    ) -> AppStoreEvent {
        terms[terms.count - 1].revocation = Revocation(at: instant, reason: reason)
        terms[terms.count - 1].modifiedAt = instant
        switch phase {
        case .running, .ended: record(at: instant)
        case .grace, .retry: end(.other, at: instant)
        }
        return .refunded(reason: reason)
    }

    /// Gives the refunded payment back its effect; the renewal date stays where it was.
    mutating func reverseRefund(at instant: Int64) -> AppStoreEvent {
        terms[terms.count - 1].revocation = nil
        terms[terms.count - 1].modifiedAt = instant
        if phase == .running, current.end <= instant {
            end(.other, at: instant)
        } else {
            record(at: instant)
        }
        return .refundReversed(until: current.end)
    }

    private mutating func end(_ intent: Intent, at instant: Int64) {
        phase = .ended(intent)
        renews = false
        record(at: instant)
    }
}
