/// A lineage at one instant, in the terms that the rules ask about.
struct Situation {
    let history: LineageHistory
    let instant: Instant
    let policy: Policy
    /// The term that governs: the newest begun by now, or one we have not seen.
    let term: TermRecord?
    /// The newest outlook and condition bound to it that were asserted by now.
    let outlook: Word<Outlook>?
    let condition: Word<Condition>?
    /// The newest grace end ever stated for it.
    let graceEnd: Instant?
    /// Whether a failing word about it was asserted by now; it stands until another term starts.
    let hasFailed: Bool

    /// The App Store retries a failed payment for this long from the end of the term.
    static let retry = Milliseconds.days(60)

    init(history: LineageHistory, instant: Instant, policy: Policy) {
        self.history = history
        self.instant = instant
        self.policy = policy
        let term = history.governingTerm(at: instant)
        self.term = term
        outlook = term?.outlooks.newest(by: instant)
        condition = term?.conditions.newest(by: instant)
        graceEnd = term?.graceEnd
        hasFailed = (term?.firstFailure).map { $0 <= instant } ?? false
    }

    // MARK: What holds now

    var isRunning: Bool { term.map { instant < ($0.end ?? .distantFuture) } ?? false }

    var isUpgradedAway: Bool { term?.upgradedAt.map { $0 <= instant } ?? false }

    var stillRenews: Bool { outlook?.value.willRenew ?? true }

    var saysGrace: Bool {
        condition?.value.saysGrace == true || condition?.value.notice == .failedToRenewInGrace
    }

    /// The store's own condition keeps grace up although renewal was switched off, as long as it is
    /// not older than the outlook that says so.
    var graceUpheld: Bool {
        guard let condition, saysGrace else { return false }
        return outlook.map { $0.assertedAt <= condition.assertedAt } ?? true
    }

    var isRetrying: Bool {
        guard hasFailed, stillRenews, isAutoRenewable, let until = end(plus: Self.retry) else {
            return false
        }
        return instant < until
    }

    /// The term is over, nothing failed and no end was stated: a renewal should have come.
    var awaitsRenewal: Bool {
        isAutoRenewable && !hasFailed && stillRenews && lapse == nil && !isUpgradedAway
    }

    private var isAutoRenewable: Bool { term?.term.plan == .autoRenewable }

    // MARK: Instants

    func end(plus length: Milliseconds) -> Instant? {
        term?.end.map { $0 + history.pace.scale(length) }
    }

    /// The later of the term's end and its grace.
    var coveredUntil: Instant? {
        term?.end.map { max($0, graceEnd ?? .distantPast) }
    }

    var leewayEnd: Instant? {
        guard let term, let end = term.end else { return nil }
        let fifth = Milliseconds(max(0, (end - term.term.start).count / 5))
        return end + min(history.pace.scale(policy.renewalLeeway), fifth)
    }

    /// When access ended: with the term, with its grace, or where the store's word cut grace short.
    var lastAccess: Instant? {
        guard let end = term?.end, let graceEnd, graceEnd > end else { return term?.end }
        let cut = condition?.value.saysExpired == true ? condition?.assertedAt : nil
        let cancelled = stillRenews ? nil : outlook?.assertedAt
        return max(end, [graceEnd, cut, cancelled].compactMap(\.self).min() ?? end)
    }

    /// The start of a renewal announced before it begins, when the term in between is unseen: from
    /// the old end until then every word in hand says that it was paid.
    var announcedStart: Instant? {
        guard let term, let end = term.end, end <= instant else { return nil }
        return history.terms.first {
            $0.term.start > instant && $0.firstTold <= instant && $0.term.origin != .purchase
                && ((term.firstFailure ?? .distantPast) <= $0.firstTold)
        }?.term.start
    }

    // MARK: Reasons

    var reasonOfTerm: Reason {
        guard let term = term?.term, term.end != nil || term.plan != .nonConsumable else {
            return .lifetime
        }
        guard let offer = term.offer else { return .paid }
        if offer.discount == .freeTrial { return .trial }
        return offer.kind == .introductory ? .introductory : .offer
    }

    /// Why the store says it lapsed. A reason that we do not know says nothing: it must not revoke.
    private var lapse: Outlook.Lapse? {
        guard let lapse = outlook?.value.lapse, lapse.unrecognisedValue == nil else { return nil }
        return lapse
    }

    /// The expiration intent first; from auto-renew being off only when there is none.
    var reasonOfEnd: Reason {
        switch lapse {
        case .cancelled: .cancelled
        case .billingError: .billingError
        case .priceIncrease: .priceIncrease
        case .productUnavailable: .productUnavailable
        case .other, .unrecognised: .ended
        case nil where outlook?.value.willRenew == false: .cancelled
        case nil where hasFailed: .billingError
        case nil: .ended
        }
    }

    var nextProduct: String? {
        outlook?.value.renewsInto ?? term?.term.productId
    }

    // MARK: Answers

    func never(
        _ rule: Rule.ID,
        _ reason: Reason,
        _ confidence: Confidence,
        asks: Bool = false
    ) -> Standing {
        Standing(
            state: .never,
            reason: reason,
            confidence: confidence,
            rule: rule,
            lineage: history.lineage,
            asksStore: asks
        )
    }

    func access(
        _ rule: Rule.ID,
        _ state: State,
        _ reason: Reason,
        until: Instant?,
        confidence: Confidence = .confirmed,
        asks: Bool = false,
        product: String? = nil
    ) -> Standing {
        var standing = standing(
            rule,
            state,
            reason,
            until: until,
            confidence: confidence,
            asks: asks,
            product: product
        )
        standing.graceUntil = state == .grace ? until : nil
        standing.trial = reason == .trial ? trial : nil
        return standing
    }

    func expired(_ rule: Rule.ID, _ reason: Reason, at end: Instant?) -> Standing {
        standing(rule, .expired, reason, until: end)
    }

    func standing(
        _ rule: Rule.ID,
        _ state: State,
        _ reason: Reason,
        until: Instant?,
        confidence: Confidence = .confirmed,
        asks: Bool = false,
        product: String? = nil
    ) -> Standing {
        Standing(
            state: state,
            reason: reason,
            accessUntil: until,
            willRenew: outlook?.value.willRenew,
            confidence: confidence,
            rule: rule,
            productId: product ?? term?.term.productId,
            lineage: history.lineage,
            asksStore: asks
        )
    }

    /// A revocation of the term, or the store's bare word for one while it is newer than whatever
    /// undid the last.
    func revoked() -> Standing? {
        guard let term else { return nil }
        if let revocation = term.revocation(at: instant, pace: history.pace) {
            return expired(.revoked, revocation.cause.reason, at: revocation.date)
        }
        guard let condition, condition.value.status == .revoked,
            condition.assertedAt
                > term.lastUndoing(by: instant, pace: history.pace) ?? .distantPast
        else { return nil }
        let isFamily = history.lineage.ownership == .familyShared
        return expired(
            .revoked,
            isFamily ? .familyAccessRemoved : .revoked,
            at: condition.assertedAt
        )
    }

    private var trial: Trial? {
        guard let term, let end = term.end else { return nil }
        let day = max(1, history.pace.scale(.days(1)).count)
        let left = max(0, (end - instant).count)
        let cancelBy = end - Milliseconds(day)
        return Trial(
            startedAt: term.term.start,
            endsAt: end,
            cancelBy: cancelBy,
            daysLeft: (left + day - 1) / day,
            urgent: instant >= cancelBy
        )
    }
}

extension Revocation.Cause {
    var reason: Reason {
        switch self {
        case .refund, .proratedRefund: .refunded
        case .familyAccessRemoved: .familyAccessRemoved
        case .assignmentRemoved: .assignmentRemoved
        case .unrecognised: .revoked
        }
    }
}

extension LineageHistory {
    /// The newest term begun by an instant, unless an outlook told later of a term that we have not
    /// seen and that one is over, taken back or upgraded away.
    func governingTerm(at instant: Instant) -> TermRecord? {
        let seen = newestSeen(at: instant)
        guard let told = newestUnseen(at: instant, after: seen) else { return seen }
        guard let seen else { return told }
        let isOver = (seen.end ?? .distantFuture) <= instant
        let isUpgraded = seen.upgradedAt.map { $0 <= instant } ?? false
        return isOver || isUpgraded || wasRevoked(seen, before: told, at: instant) ? told : seen
    }

    private func newestSeen(at instant: Instant) -> TermRecord? {
        guard let newest = terms.last(where: { $0.effectiveStart <= instant }) else { return nil }
        guard newest.rank < .store else { return newest }
        // A relay's term governs only where no term of the store's own words runs.
        let running = terms.last {
            $0.rank > newest.rank && $0.effectiveStart <= instant
                && instant < ($0.end ?? .distantFuture)
        }
        return running ?? newest
    }

    private func newestUnseen(at instant: Instant, after seen: TermRecord?) -> TermRecord? {
        unseen.last { told in
            guard told.firstTold <= instant, let toldEnd = told.end else { return false }
            let isSetAside = terms.contains {
                $0.firstTold > told.firstTold && $0.effectiveStart <= instant
                    && $0.term.start < toldEnd
            }
            guard !isSetAside, let seen else { return !isSetAside }
            if let upgradedAt = seen.upgradedAt, upgradedAt <= instant {
                return told.firstTold + Self.sameEnvelope >= upgradedAt
            }
            guard let seenEnd = seen.end, told.firstTold >= seen.firstTold else { return false }
            return toldEnd > seenEnd + Self.sameEnd
        }
    }

    private func wasRevoked(_ seen: TermRecord, before told: TermRecord, at instant: Instant)
        -> Bool
    {
        guard let revocation = seen.revocation(at: instant, pace: pace) else { return false }
        return told.firstTold >= revocation.date
    }
}
