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
    /// Who said by now that its payment failed; nil if nobody did.
    let failed: Rank?
    /// The revocation in force; nil if there is none.
    let taken: TermRecord.TakenBack?

    /// The App Store retries a failed payment for this long from the end of the term.
    static let retry = Milliseconds.days(60)

    init(history: LineageHistory, instant: Instant, policy: Policy) {
        self.init(history, instant, policy, history.governingBoughtTerm(at: instant))
    }

    private init(
        _ history: LineageHistory,
        _ instant: Instant,
        _ policy: Policy,
        _ term: TermRecord?
    ) {
        self.history = history
        self.instant = instant
        self.policy = policy
        self.term = term
        outlook = term?.outlooks.newest(by: instant)
        condition = term?.conditions.newest(by: instant)
        failed = term?.failure.rank(by: instant)
        taken = term?.takenBack(at: instant, pace: history.pace)
    }

    /// The answer at an instant, and what it was decided on.
    static func decide(
        _ history: LineageHistory,
        at instant: Instant,
        policy: Policy
    ) -> (standing: Standing, now: Situation) {
        let now = Situation(history: history, instant: instant, policy: policy)
        let standing = TermRule.standing(now)
        return now.covered(instead: standing) ?? (standing, now)
    }

    /// The answer of a transaction signed later that covers the instant, if the governing term gives
    /// no access. A recovery that keeps the old cycle is paid from the old end on.
    func covered(instead standing: Standing) -> (standing: Standing, now: Situation)? {
        guard !standing.access, let term = history.coveringTerm(at: instant) else { return nil }
        let covered = Situation(history, instant, policy, term)
        let answer = TermRule.standing(covered)
        return answer.access ? (answer, covered) : nil
    }

    // MARK: What holds now

    /// Whether nothing was ever said of a term.
    var isUnheardOf: Bool { history.terms.isEmpty && !history.hasWords }

    /// The newest grace end ever stated for the term.
    var graceEnd: Instant? { term?.graceEnd }

    /// A failing word stands until another term starts.
    var hasFailed: Bool { failed != nil }

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
    static func keepsGrace(
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

    /// Whether the store was asked since the term ended, and could not be reached when last asked.
    var isUnreachable: Bool {
        guard let end = term?.end else { return false }
        return history.inquiries.isUnanswered(at: instant, since: end)
    }

    /// The term is over, nothing failed and no end was stated: a renewal should have come.
    var awaitsRenewal: Bool {
        isAutoRenewable && !hasFailed && stillRenews && lapse == nil && !isUpgradedAway
    }

    /// When the newest receipt was made, if it lists no renewal although one was overdue: past the leeway
    /// and the grace that the catalogue names. A receipt does not say whether a payment failed, so
    /// what the store has said of the term's end since counts before it.
    var receiptWithoutRenewal: Instant? {
        guard let leewayEnd, let made = history.receipts.last(where: { $0 <= instant }),
            made >= max(leewayEnd, plannedGraceEnd ?? leewayEnd),
            outlook.map({ $0.rank < .store || $0.assertedAt < made }) ?? true,
            condition.map({ $0.rank < .store || $0.assertedAt < made }) ?? true
        else { return nil }
        return made
    }

    /// Whether the store could still be trying the payment.
    var mayBeRetried: Bool { end(plus: Self.retry).map { instant < $0 } ?? false }

    private var isAutoRenewable: Bool { term?.term.plan == .autoRenewable }

    // MARK: Instants

    func end(plus length: Milliseconds) -> Instant? {
        term?.end.map { $0 + history.pace.scale(length) }
    }

    /// The later of the term's end and its grace.
    var coveredUntil: Instant? {
        term?.end.map { max($0, graceEnd ?? .distantPast) }
    }

    /// The end of the grace that the catalogue names for the term's product.
    private var plannedGraceEnd: Instant? {
        guard let end = term?.end, let grace = term?.plannedGrace else { return nil }
        return end + history.pace.scale(grace.length(from: end))
    }

    /// A term that we have not seen has no leeway of its own.
    var leewayEnd: Instant? {
        guard let term, let end = term.end else { return nil }
        guard !term.isUnseen else { return end }
        let fifth = Milliseconds(max(0, (end - term.term.start).count / 5))
        return end + min(history.pace.scale(policy.renewalLeeway), fifth)
    }

    /// Until when a renewal that should have come is waited for.
    var awaitedUntil: Instant? {
        guard isUnreachable, let unreachable = end(plus: policy.unreachable) else {
            return leewayEnd
        }
        return leewayEnd.map { max($0, unreachable) }
    }

    /// When access ended: with the term, with its grace, or where the store's word cut grace short.
    var lastAccess: Instant? {
        if let term, term.isUnseen, lapse != nil, let outlook {
            return min(term.end ?? outlook.assertedAt, outlook.assertedAt)
        }
        guard let term, let end = term.end, let graceEnd else { return term?.end }
        return max(end, min(graceEnd, term.graceCut(by: instant) ?? graceEnd))
    }

    /// The start of a renewal announced before it begins, when the term in between is unseen: from
    /// the old end until then every word in hand says that it was paid. A renewal announced after the
    /// old term was revoked counts in the same way.
    var announcedStart: Instant? {
        guard let term, let end = term.end, min(end, taken?.since ?? end) <= instant else {
            return nil
        }
        return history.announcements.next(
            after: instant,
            toldSince: max(term.firstFailure ?? .distantPast, taken?.since ?? .distantPast)
        )
    }

    // MARK: Reasons

    var reasonOfTerm: Reason {
        guard term?.entitlement == nil else { return .granted }
        guard let term = term?.term, term.end != nil || term.plan != .nonConsumable else {
            return .lifetime
        }
        guard let offer = term.offer else { return term.plan == .nonRenewing ? .prepaid : .paid }
        if offer.isTrial { return .trial }
        return offer.kind == .introductory ? .introductory : .offer
    }

    /// Why the store says it lapsed. A reason that we do not know says nothing: it must not revoke.
    var lapse: Outlook.Lapse? {
        guard let lapse = outlook?.value.lapse, lapse.unrecognisedValue == nil else { return nil }
        return lapse
    }

    /// The expiration intent, else the reason in the EXPIRED notification, else whether auto-renew is
    /// off.
    var reasonOfEnd: Reason {
        switch lapse ?? condition?.value.lapse {
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

    /// Whether the next renewal is expected; what never renews will not.
    var willRenew: Bool? {
        if term?.term.plan == .nonRenewing || term?.entitlement != nil { return false }
        return outlook?.value.willRenew
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

    /// An answer with access, which a word of a given rank vouches for.
    func access(
        _ rule: Rule.ID,
        _ state: State,
        _ reason: Reason,
        until: Instant?,
        by rank: Rank? = nil,
        confidence: Confidence = .confirmed,
        asks: Bool = false,
        product: String? = nil
    ) -> Standing {
        var standing = standing(
            rule,
            state,
            reason,
            until: until,
            by: rank,
            confidence: confidence,
            asks: asks,
            product: product
        )
        standing.graceUntil = state == .grace ? until : nil
        standing.trial = reason == .trial ? trial : nil
        return standing
    }

    func expired(
        _ rule: Rule.ID,
        _ reason: Reason,
        at end: Instant?,
        by rank: Rank? = nil,
        asks: Bool = false
    ) -> Standing {
        standing(rule, .expired, reason, until: end, by: rank, asks: asks)
    }

    /// What rests on a word below the store's own is presumed.
    func standing(
        _ rule: Rule.ID,
        _ state: State,
        _ reason: Reason,
        until: Instant?,
        by rank: Rank? = nil,
        confidence: Confidence = .confirmed,
        asks: Bool = false,
        product: String? = nil
    ) -> Standing {
        let isHearsay = min(rank ?? .store, term?.rank ?? .store) < .store
        let granted = term?.entitlement
        return Standing(
            state: state,
            reason: reason,
            accessUntil: until,
            willRenew: willRenew,
            confidence: isHearsay && confidence == .confirmed ? .presumed : confidence,
            rule: rule,
            productId: granted == nil ? product ?? term?.term.productId : nil,
            grantedEntitlement: granted,
            lineage: history.lineage,
            awaitsConsent: outlook?.value.priceIncreasePending ?? false,
            committedUntil: term?.term.commitment?.end,
            asksStore: asks
        )
    }

    /// The answer while a renewal that should have come is waited for.
    func awaiting(_ rule: Rule.ID, until: Instant) -> Standing {
        access(
            rule,
            .active,
            .renewalDue,
            until: until,
            confidence: .presumed,
            asks: true,
            product: nextProduct
        )
    }

    /// The answer where the term is taken back.
    func revoked() -> Standing? {
        guard let taken, announcedStart == nil else { return nil }
        let isFamily = history.lineage.ownership == .familyShared
        let bareReason: Reason = isFamily ? .familyAccessRemoved : .revoked
        let reason = taken.cause?.reason ?? bareReason
        let isDoubted = term?.isRevocationDoubted(at: instant) ?? false
        return expired(.revoked, reason, at: taken.since, by: taken.rank, asks: isDoubted)
    }

    private var trial: Trial? {
        guard let term, let end = term.end else { return nil }
        return Trial(from: term.term.start, to: end, at: instant, pace: history.pace)
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
    func governingBoughtTerm(at instant: Instant) -> TermRecord? {
        let seen = newestSeen(at: instant)
        guard let told = newestUnseen(at: instant, after: seen) else { return seen }
        guard let seen else { return told }
        let isOver = (seen.end ?? .distantFuture) <= instant
        return isOver || wasLeft(seen, for: told, at: instant) ? told : seen
    }

    /// The term that covers an instant before its effective start.
    func coveringTerm(at instant: Instant) -> TermRecord? {
        begunTerms(by: instant).last {
            $0.rank == .store && $0.term.start <= instant && instant < $0.effectiveStart
                && instant < ($0.end ?? .distantFuture)
        }
    }

    private func newestSeen(at instant: Instant) -> TermRecord? {
        guard let newest = begunTerms(by: instant).last(where: { $0.effectiveStart <= instant })
        else { return nil }
        guard newest.rank < .store else { return newest }
        // A relay's term governs only where no term of the store's own words runs.
        let running = terms.last {
            $0.rank > newest.rank && $0.effectiveStart <= instant
                && instant < ($0.end ?? .distantFuture)
        }
        return running ?? newest
    }

    /// Every term that may count by an instant, found without looking through all of them: they stand
    /// in the order of their starts, and none counts from before its own.
    private func begunTerms(by instant: Instant) -> ArraySlice<TermRecord> {
        terms[..<terms.endOfPrefix { $0.term.start <= instant + Self.sameEnd }]
    }

    private func newestUnseen(at instant: Instant, after seen: TermRecord?) -> TermRecord? {
        var newest: (record: TermRecord, told: Instant)?
        for record in unseen {
            guard let told = record.lastTold(by: instant),
                isNewer(record, told: told, than: seen, at: instant),
                !wasLeft(record, since: told, by: instant)
            else { continue }
            if let newest, !isToldLater(record, told, than: newest) { continue }
            newest = (record, told)
        }
        return newest?.record
    }

    private func isToldLater(
        _ record: TermRecord,
        _ told: Instant,
        than other: (record: TermRecord, told: Instant)
    ) -> Bool {
        (told, record.end ?? .distantPast) > (other.told, other.record.end ?? .distantPast)
    }

    private func isNewer(
        _ record: TermRecord,
        told: Instant,
        than seen: TermRecord?,
        at instant: Instant
    ) -> Bool {
        guard let seen else { return true }
        guard told >= seen.begun else { return false }
        if let end = record.end, let seenEnd = seen.end, end > seenEnd + Self.sameEnd {
            return true
        }
        return wasLeft(seen, for: record, at: instant)
    }

    /// Whether a term was upgraded away or revoked, and an outlook reports its successor. An outlook of
    /// another product counts from the start of the term, however late the flag or the refund was
    /// signed. One of the same product counts only after that: before, it was about this term. One of
    /// a lower rank, as a relay's, reports no successor of a term that the store took back.
    private func wasLeft(
        _ seen: TermRecord,
        for told: TermRecord,
        at instant: Instant
    ) -> Bool {
        let upgraded = seen.upgradedAt.flatMap { $0 <= instant ? $0 - Self.sameEnvelope : nil }
        let left = [upgraded, seen.takenBack(at: instant, pace: pace)?.since]
        guard let left = left.compactMap(\.self).min() else { return false }
        let isOther = told.term.productId != seen.term.productId && !told.term.productId.isEmpty
        let since = isOther && told.rank >= seen.rank ? min(left, seen.begun) : left
        return told.outlooks.contains {
            $0.rank >= seen.rank && $0.assertedAt >= since && $0.assertedAt <= instant
        }
    }

    /// Whether a term that began after the store spoke of this one started before its end.
    private func wasLeft(_ record: TermRecord, since told: Instant, by instant: Instant) -> Bool {
        terms.contains {
            $0.begun > told && $0.effectiveStart <= instant
                && $0.term.start < record.end ?? .distantFuture
        }
    }
}
