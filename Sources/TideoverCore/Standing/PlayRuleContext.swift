/// One product of a Google Play subscription at one instant, with the values that the rules read.
struct PlayRuleContext {
    let history: LineageHistory
    let play: PlayHistory
    let instant: Instant
    let policy: PolicyLengths
    /// The token, if one is live; otherwise the token that was replaced last, if any.
    let token: PlayTokenRecord?
    /// The statement in effect; nil if nothing is live.
    let statement: PlayStatement?
    /// The last statement on a product of a replaced token.
    let lastWords: PlayStatement?

    /// How long the store keeps trying after a renewal that failed silently.
    static let silentGrace = Milliseconds.hours(48)
    /// How long grace is assumed to continue past the end last read.
    static let graceMargin = Milliseconds.hours(24)
    /// How long grace is assumed to last if no length and no expiry is known.
    static let unstatedGrace = Milliseconds.days(3)
    /// The longest that a hold can last. The base plan sets its length, which no response states:
    /// with grace it is at most this long.
    static let hold = Milliseconds.days(60)

    init(
        _ history: LineageHistory,
        _ play: PlayHistory,
        _ instant: Instant,
        _ policy: PolicyLengths,
        _ token: PlayTokenRecord?,
        _ statement: PlayStatement?,
        lastWords: PlayStatement? = nil
    ) {
        self.history = history
        self.play = play
        self.instant = instant
        self.policy = policy
        self.token = token
        self.statement = statement
        self.lastWords = lastWords
    }

    // MARK: Current state

    var state: PlaySubscription.State? { statement?.state }

    var expiry: Instant { statement?.expiry ?? .distantPast }

    /// Whether the instant lies before the statement that covers it was asserted.
    var isEarlier: Bool { statement.map { instant < $0.said } ?? false }

    /// Whether the paid time runs. A reported end or hold counts from when the store reported it;
    /// the time before that was paid.
    var isRunning: Bool {
        guard let statement, instant < expiry else { return false }
        if isFailing { return false }
        return statement.state == .active || statement.state == .cancelled
            || isEarlier && !statement.isUnpaid
    }

    /// Whether the store reports a failed payment that has failed by now.
    private var isFailing: Bool {
        guard let statement, statement.isFailing else { return false }
        return !isEarlier || statement.failedFrom.map { $0 <= instant } ?? false
    }

    /// Whether the store reports that grace runs.
    var isInGrace: Bool {
        guard instant < expiry, isFailing else { return false }
        return state == .inGrace || isEarlier
    }

    var isPrepaid: Bool { statement?.item?.plan.isPrepaid ?? false }

    /// Whether it is active and a renewal is overdue.
    var awaitsRenewal: Bool { state == .active && instant >= expiry && willRenew == true }

    /// Whether the next renewal is expected. Nil if another purchase replaced this one: the
    /// customer switched nothing off.
    var willRenew: Bool? {
        guard let statement, let item = statement.item else { return nil }
        switch item.plan {
        case .autoRenewing where statement.cancellation == .replacement: return nil
        case .autoRenewing(let isOn):
            return isOn && !item.isRemovedAtExpiry && state != .cancelled && state != .expired
        case .prepaid: return false
        case .unstated: return nil
        }
    }

    /// The product that it renews into.
    var nextProduct: String? { statement?.nextProductId }

    /// Whether a request was sent since the expiry and the newest one failed.
    var isUnreachable: Bool {
        history.inquiries.isUnanswered(at: instant, since: expiry)
    }

    /// The paid period that runs or ran last.
    var record: TermRecord? {
        guard let statement, let period = statement.period else { return nil }
        let record = play.periods[period]
        guard record.effectiveStart > instant, let former = statement.formerPeriod else {
            return record
        }
        return play.periods[former]
    }

    // MARK: Instants

    private func expiry(plus length: Milliseconds) -> Instant {
        expiry + history.pace.scale(length)
    }

    var silentGraceEnd: Instant { expiry(plus: Self.silentGrace) }

    var unreachableEnd: Instant { expiry(plus: policy.unreachable) }

    /// Until when grace is assumed past the expiry last read.
    var gracePresumedUntil: Instant { gracePresumedUntil(under: policy) }

    private func gracePresumedUntil(under policy: PolicyLengths) -> Instant {
        let known = statement?.graceUntil ?? .distantPast
        let assumed = max(known, graceMarginEnd(known))
        return isUnreachable ? max(assumed, expiry(plus: policy.unreachable)) : assumed
    }

    private func graceMarginEnd(_ known: Instant) -> Instant {
        guard let statement, statement.rank < .store else {
            return expiry(plus: Self.graceMargin)
        }
        guard known == .distantPast else { return known }
        return statement.said + history.pace.scale(Self.unstatedGrace)
    }

    var holdPresumedUntil: Instant {
        gracePresumedUntil + history.pace.scale(Self.hold)
    }

    var holdUntil: Instant { (statement?.heldFrom ?? expiry) + history.pace.scale(Self.hold) }

    var resumesAt: Instant? { statement?.resumesAt }

    var resumeAwaitedUntil: Instant {
        (resumesAt ?? .distantFuture) + history.pace.scale(Self.hold)
    }

    /// When access ended.
    var lastAccess: Instant? {
        guard let statement else { return token?.retiredFrom }
        switch statement.state {
        case .active where awaitsRenewal: return awaitedUntil
        case .inGrace: return policy.lastEnd(gracePresumedUntil(under:))
        case .active, .cancelled: return expiry
        case .expired, .onHold, .paused, .pending, .pendingCancelled, .unrecognised:
            return statement.stoppedAt
        }
    }

    private var awaitedUntil: Instant? {
        policy.lastEnd { policy in
            let unreachableEnd = expiry(plus: policy.unreachable)
            return isUnreachable ? max(silentGraceEnd, unreachableEnd) : silentGraceEnd
        }
    }

    // MARK: Reasons

    var reasonOfPeriod: Reason {
        guard let item = statement?.item else { return .paid }
        switch item.phase {
        case .freeTrial: return .trial
        case .introductory: return item.promotionCode == nil ? .introductory : .offer
        case .base, .proration: return .paid
        case .unrecognised, nil: return item.offerId == nil ? .paid : .offer
        }
    }

    var reasonOfEnd: Reason {
        if isRefunded { return .refunded }
        switch statement?.cancellation {
        case .customer: return .cancelled
        case .system: return hasFailed || !awaitedConsent ? .billingError : .priceIncrease
        case .replacement: return .replaced
        case .developer, .unrecognised: return .ended
        case nil: break
        }
        if state == .cancelled { return .cancelled }
        if case .autoRenewing(isOn: false) = statement?.item?.plan, state == .active {
            return .cancelled
        }
        return hasFailed ? .billingError : .ended
    }

    private var hasFailed: Bool { record?.failure.rank(by: instant) != nil }

    /// Whether a higher price awaited the customer's consent in the period that ran last. A read
    /// after its end may omit the price or withdraw it.
    private var awaitedConsent: Bool {
        guard let token, let statement, let product = statement.item?.productId else {
            return false
        }
        let said = token.items.first { $0.productId == product }?.statements ?? []
        let states = said.filter { $0.said <= instant && $0.period == statement.period }
            .compactMap { $0.item?.priceChange?.state }
        return states.last { $0 != .cancelled } == .awaitsConsent
    }

    private var isRefunded: Bool { refundedAt != nil }

    /// When the last paid order was voided, or the whole purchase revoked; nil if neither was.
    var refundedAt: Instant? {
        guard let token else { return nil }
        let order = statement?.item?.orderId
        return token.voids.filter { word in
            let isMeant = word.value.orderId == nil || order == nil || word.value.orderId == order
            return isMeant && !word.value.isPartial && word.assertedAt <= instant
                && word.value.date <= instant
        }.map(\.value.date).min()
    }

    // MARK: Answers

    func never(_ rule: Rule.ID, _ reason: Reason) -> Standing {
        var standing = standing(rule, .never, reason, until: nil)
        standing.willRenew = nil
        return standing
    }

    func running(_ rule: Rule.ID, _ reason: Reason) -> Standing {
        var standing = standing(rule, .active, reason, until: expiry)
        guard reason == .trial, let start = record?.term.start else { return standing }
        standing.trial = Trial(from: start, to: expiry, at: instant, pace: history.pace)
        return standing
    }

    /// Returns a standing with access that is assumed while the store is queried.
    func assumed(
        _ rule: Rule.ID,
        _ state: State,
        _ reason: Reason,
        until: Instant
    ) -> Standing {
        var standing = standing(
            rule,
            state,
            reason,
            until: until,
            confidence: .presumed,
            product: state == .active ? nextProduct : nil
        )
        standing.graceUntil = state == .grace ? statement?.graceUntil : nil
        return standing
    }

    /// Returns a standing. It is presumed if it rests on a bare notification. Any unconfirmed
    /// standing triggers a query to the store.
    func standing(
        _ rule: Rule.ID,
        _ state: State,
        _ reason: Reason,
        until: Instant?,
        confidence: Confidence = .confirmed,
        product: String? = nil
    ) -> Standing {
        let isHearsay = statement.map { $0.rank < .store } ?? false
        let confidence = isHearsay && confidence == .confirmed ? .presumed : confidence
        let product = product ?? (statement ?? lastWords)?.productId ?? ""
        return Standing(
            state: state,
            reason: reason,
            accessUntil: until,
            willRenew: willRenew,
            confidence: confidence,
            rule: rule,
            productId: product.isEmpty ? nil : product,
            lineage: history.lineage,
            awaitsConsent: statement?.item?.priceChange?.state == .awaitsConsent,
            asksStore: confidence != .confirmed
        )
    }
}
