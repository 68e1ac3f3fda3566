/// One product of a Google Play subscription at one instant, in the terms that the rules ask about.
struct PlaySituation {
    let history: LineageHistory
    let play: PlayHistory
    let instant: Instant
    let policy: Policy
    /// Where nothing is alive, the token that was replaced last, if one was.
    let token: PlayTokenRecord?
    /// What counts now; nil where nothing is alive.
    let statement: PlayStatement?
    /// What was last said of a product of a token that was replaced.
    let lastWords: PlayStatement?

    /// After a renewal that failed silently the store goes on trying for this long.
    static let silentGrace = Milliseconds.hours(48)
    /// How long grace is assumed to go on past the end that it had when last read.
    static let graceMargin = Milliseconds.hours(24)
    /// How long grace is assumed to last where no length and no expiry is known.
    static let unstatedGrace = Milliseconds.days(3)
    /// Grace and hold together last no longer.
    static let hold = Milliseconds.days(60)

    init(
        _ history: LineageHistory,
        _ play: PlayHistory,
        _ instant: Instant,
        _ policy: Policy,
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

    // MARK: What holds now

    var state: PlaySubscription.State? { statement?.state }

    var expiry: Instant { statement?.expiry ?? .distantPast }

    /// Whether the instant lies in a time of which the statement tells only later.
    var isEarlier: Bool { statement.map { instant < $0.said } ?? false }

    /// Whether what was paid for runs: the store's word for an end or a hold counts from when it
    /// was said, and before that the time was paid.
    var isRunning: Bool {
        guard let statement, instant < expiry else { return false }
        if isFailing { return false }
        return statement.state == .active || statement.state == .cancelled
            || isEarlier && !statement.isUnpaid
    }

    /// Whether the store says that the payment has failed, and it has by now.
    private var isFailing: Bool {
        guard let statement, statement.isFailing else { return false }
        return !isEarlier || statement.failedFrom.map { $0 <= instant } ?? false
    }

    /// Whether grace runs by the store's own word.
    var isInGrace: Bool {
        guard instant < expiry, isFailing else { return false }
        return state == .inGrace || isEarlier
    }

    var isPrepaid: Bool { statement?.item?.plan.isPrepaid ?? false }

    /// Whether it is active and a renewal should have come.
    var awaitsRenewal: Bool { state == .active && instant >= expiry && willRenew == true }

    var willRenew: Bool? {
        guard let statement, let item = statement.item else { return nil }
        switch item.plan {
        case .autoRenewing(let isOn):
            return isOn && !item.isRemovedAtExpiry && state != .cancelled && state != .expired
        case .prepaid: return false
        case .unstated: return nil
        }
    }

    /// What it renews into.
    var nextProduct: String? {
        guard let statement else { return nil }
        return statement.item?.replacement ?? statement.productId
    }

    /// Whether the store was asked since the expiry, and could not be reached when last asked.
    var isUnreachable: Bool {
        history.inquiries.isUnanswered(at: instant, since: expiry)
    }

    /// The period paid for that runs or ran last.
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
    var gracePresumedUntil: Instant {
        let known = statement?.graceUntil ?? .distantPast
        let assumed = max(known, graceMarginEnd(known))
        return isUnreachable ? max(assumed, unreachableEnd) : assumed
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
        case .inGrace: return gracePresumedUntil
        case .active, .cancelled: return expiry
        case .expired, .onHold, .paused, .pending, .pendingCancelled, .unrecognised:
            return statement.stoppedAt
        }
    }

    private var awaitedUntil: Instant {
        isUnreachable ? max(silentGraceEnd, unreachableEnd) : silentGraceEnd
    }

    // MARK: Reasons

    var reasonOfPeriod: Reason {
        guard let item = statement?.item else { return .paid }
        switch item.phase {
        case .freeTrial: return .trial
        case .introductory: return .introductory
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

    /// Whether a higher price waited for the customer's word in the period that ran last. What is read
    /// behind its end may leave the price out, or call it off.
    private var awaitedConsent: Bool {
        guard let token, let statement, let product = statement.item?.productId else {
            return false
        }
        let said = token.items.first { $0.productId == product }?.statements ?? []
        let states = said.filter { $0.said <= instant && $0.period == statement.period }
            .compactMap { $0.item?.priceChange?.state }
        return states.last { $0 != .cancelled } == .awaitsConsent
    }

    /// Whether the order that was paid last was voided, or the whole purchase revoked.
    private var isRefunded: Bool {
        guard let token else { return false }
        let order = statement?.item?.orderId
        return token.voids.contains { word in
            let isMeant = word.value.orderId == nil || order == nil || word.value.orderId == order
            return isMeant && !word.value.isPartial && word.assertedAt <= instant
                && word.value.date <= instant
        }
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

    /// Access that is assumed while the store is asked.
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

    /// What rests on a bare notification is presumed; whatever is not confirmed is asked about.
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
