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
        condition?.value.saysGrace == true
    }

    /// Whether the words in hand let grace go on.
    var keepsGrace: Bool { Self.keepsGrace(outlook, condition) }

    /// Grace goes on while the subscription still renews. The store's own condition keeps it up
    /// although renewal was switched off, if it is not older than the outlook that says so.
    private static func keepsGrace(
        _ outlook: Word<Outlook>?,
        _ condition: Word<Condition>?
    ) -> Bool {
        guard let outlook, outlook.value.willRenew == false else { return true }
        guard let condition, condition.value.saysGrace else { return false }
        return outlook.assertedAt <= condition.assertedAt
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
        guard let end = term?.end, let graceEnd else { return term?.end }
        return max(end, min(graceEnd, graceCut ?? graceEnd))
    }

    /// Since when the store's words have stood against grace without a break.
    private var graceCut: Instant? {
        guard let term else { return nil }
        let said = (term.outlooks.map(\.assertedAt) + term.conditions.map(\.assertedAt))
            .filter { $0 <= instant }.sorted()
        let kept = said.last {
            let condition = term.conditions.newest(by: $0)
            return condition?.value.saysExpired != true
                && Self.keepsGrace(term.outlooks.newest(by: $0), condition)
        }
        return said.first { $0 > kept ?? .distantPast }
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
        if offer.isTrial { return .trial }
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

    /// The answer where the term is taken back.
    func revoked() -> Standing? {
        guard let taken = term?.takenBack(at: instant, pace: history.pace) else { return nil }
        let isFamily = history.lineage.ownership == .familyShared
        let bareReason: Reason = isFamily ? .familyAccessRemoved : .revoked
        return expired(.revoked, taken.cause?.reason ?? bareReason, at: taken.since)
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
            daysLeft: left == 0 ? 0 : (left - 1) / day + 1,
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
        case .withdrawn, .unrecognised: .revoked
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
        return isOver || isUpgraded || wasTakenBack(seen, before: told, at: instant) ? told : seen
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
        let telling = unseen.filter { record in
            guard let told = record.lastTold(by: instant) else { return false }
            return isNewer(record, told: told, than: seen, at: instant)
                && !wasLeft(record, since: told, by: instant)
        }
        return telling.max { a, b in
            (a.lastTold(by: instant) ?? .distantPast, a.end ?? .distantPast)
                < (b.lastTold(by: instant) ?? .distantPast, b.end ?? .distantPast)
        }
    }

    private func isNewer(
        _ record: TermRecord,
        told: Instant,
        than seen: TermRecord?,
        at instant: Instant
    ) -> Bool {
        guard let seen else { return true }
        if let upgradedAt = seen.upgradedAt, upgradedAt <= instant {
            return told + Self.sameEnvelope >= upgradedAt
        }
        guard let end = record.end, let seenEnd = seen.end else { return false }
        return told >= seen.begun && end > seenEnd + Self.sameEnd
    }

    /// Whether a term that began after the store spoke of this one started before its end.
    private func wasLeft(_ record: TermRecord, since told: Instant, by instant: Instant) -> Bool {
        terms.contains {
            $0.begun > told && $0.effectiveStart <= instant
                && $0.term.start < record.end ?? .distantFuture
        }
    }

    private func wasTakenBack(
        _ seen: TermRecord,
        before told: TermRecord,
        at instant: Instant
    ) -> Bool {
        guard let taken = seen.takenBack(at: instant, pace: pace) else { return false }
        return told.outlooks.contains { $0.assertedAt >= taken.since && $0.assertedAt <= instant }
    }
}
