/// A lineage at one instant, with the values that the rules read.
struct RuleContext {
    let history: LineageHistory
    let instant: Instant
    let policy: PolicyLengths
    /// The governing term: the newest one begun by now, or an unseen one.
    let term: TermRecord?
    /// The newest outlook and condition bound to it that were asserted by now.
    private(set) var outlook: Observation<Outlook>?
    let condition: Observation<Condition>?
    /// The rank that reported a failed payment by now; nil if none did.
    let failed: Rank?
    /// The revocation in force, if any.
    private(set) var taken: TermRecord.TakenBack?
    /// Whether standings without access state when access that the policy kept ended.
    private var looksBack = true

    /// The App Store retries a failed payment for this long from the end of the term.
    static let retry = Milliseconds.days(60)
    /// A pause without a stated end lasts this long from the end of the term. The end of any pause
    /// is awaited as long after that.
    static let pause = Milliseconds.days(60)

    init(history: LineageHistory, instant: Instant, policy: Versioned<Policy>) {
        let lengths = PolicyLengths(policy, at: instant)
        self.init(history, instant, lengths, history.governingBoughtTerm(at: instant))
    }

    private init(
        _ history: LineageHistory,
        _ instant: Instant,
        _ policy: PolicyLengths,
        _ term: TermRecord?,
        newer: Observation<Outlook>? = nil
    ) {
        self.history = history
        self.instant = instant
        self.policy = policy
        self.term = term
        outlook = newer ?? term?.outlooks.newest(by: instant)
        condition = term?.conditions.newest(by: instant)
        failed = term?.failure.rank(by: instant)
        taken = term?.takenBack(at: instant, pace: history.pace)
    }

    /// Returns the standing at an instant, with the situation that decided it.
    static func decide(
        _ history: LineageHistory,
        at instant: Instant,
        policy: Versioned<Policy>
    ) -> (standing: Standing, now: RuleContext) {
        let now = RuleContext(history: history, instant: instant, policy: policy)
        let standing = TermRule.standing(now)
        return now.covered(instead: standing) ?? (standing, now)
    }

    /// Returns the standing of each product of a purchase of several at an instant.
    static func decideBundle(
        _ history: LineageHistory,
        at instant: Instant,
        policy: Versioned<Policy>
    ) -> [(standing: Standing, now: RuleContext)] {
        let lengths = PolicyLengths(policy, at: instant)
        return history.bundle.map { decide($0, of: history, at: instant, policy: lengths) }
    }

    /// Returns the standing of one product of a purchase of several.
    static func decide(
        _ product: String,
        of history: LineageHistory,
        at instant: Instant,
        policy: PolicyLengths
    ) -> (standing: Standing, now: RuleContext) {
        let begun = history.terms.filter {
            $0.term.productId == product && $0.effectiveStart <= instant
        }
        let term = begun.last { $0.rank == .store } ?? begun.last
        let now = RuleContext(history, instant, policy, term)
        return (TermRule.standing(now), now)
    }

    /// Returns the standing of an earlier term that counts beside the governing one because its
    /// revocation was undone. Nothing is reported about its end: a lineage renews once.
    static func decide(
        returned term: TermRecord,
        of history: LineageHistory,
        at instant: Instant,
        policy: Versioned<Policy>
    ) -> (standing: Standing, now: RuleContext) {
        var now = RuleContext(history, instant, PolicyLengths(policy, at: instant), term)
        now.outlook = nil
        return (TermRule.standing(now), now)
    }

    /// Returns the standing of another transaction that covers the instant, if the governing term
    /// gives no access.
    ///
    /// A recovery that keeps the old cycle is paid from the old end. A term is paid to its end
    /// again if its revocation was undone, also if the customer bought a shorter one since. It
    /// answers after its end, too, if its access ended last.
    func covered(instead standing: Standing) -> (standing: Standing, now: RuleContext)? {
        guard !standing.access, let term = history.coveringTerm(at: instant) else { return nil }
        let isRecovery = instant < term.effectiveStart
        let newer = isRecovery ? nil : outlookAfter(term)
        let covered = RuleContext(history, instant, policy, term, newer: newer)
        let answer = TermRule.standing(covered)
        let counts = covered.isRunning ? answer.access : answer.ended(after: standing)
        return counts ? (answer, covered) : nil
    }

    /// Returns the outlook of the governing term as one on an earlier term, if it is newer than
    /// the term's own: a lineage renews once.
    private func outlookAfter(_ earlier: TermRecord) -> Observation<Outlook>? {
        guard let outlook else { return nil }
        let own = earlier.outlooks.newest(by: instant)
        guard own.map({ Observation.isOlder($0, outlook) }) ?? true else { return nil }
        return Observation(outlook.value.moved(to: earlier.end), like: outlook)
    }

    // MARK: Current state

    /// Whether no term, outlook or condition was reported.
    var isUnheardOf: Bool { history.terms.isEmpty && !history.hasWords }

    /// The newest grace end ever stated for the term.
    var graceEnd: Instant? { term?.graceEnd }

    /// A failure lasts until another term starts.
    var hasFailed: Bool { failed != nil }

    var isRunning: Bool { term.map { instant < ($0.end ?? .distantFuture) } ?? false }

    var isUpgradedAway: Bool { term?.upgradedAt.map { $0 <= instant } ?? false }

    var stillRenews: Bool { outlook?.value.willRenew ?? true }

    var saysGrace: Bool {
        condition?.value.saysGrace == true
    }

    /// Whether the current observations keep grace.
    var keepsGrace: Bool { Self.keepsGrace(outlook, condition) }

    /// Returns whether grace continues: while the subscription renews. The store's own condition
    /// also keeps it after renewal was switched off, unless the outlook that reports this is newer.
    static func keepsGrace(
        _ outlook: Observation<Outlook>?,
        _ condition: Observation<Condition>?
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

    var isPaused: Bool { lapse == .paused && stillRenews }

    /// When the pause ends; nil if no end was stated.
    var resumesAt: Instant? { isPaused ? outlook?.value.resumesAt : nil }

    /// When the pause should be over.
    var pausedUntil: Instant { resumesAt ?? end(plus: Self.pause) ?? .distantFuture }

    /// Until when the end of the pause is awaited.
    var resumeAwaitedUntil: Instant {
        pausedUntil + history.pace.scale(Self.pause)
    }

    /// Whether a request was sent since the term ended and the newest one failed.
    var isUnreachable: Bool {
        guard let end = term?.end else { return false }
        return history.inquiries.isUnanswered(at: instant, since: end)
    }

    /// Whether an auto-renewable term is still expected to renew: no failure, lapse or upgrade is
    /// reported, and renewal is not off. Rules read this after the term's end, when it is overdue.
    var awaitsRenewal: Bool {
        isAutoRenewable && !hasFailed && stillRenews && lapse == nil && !isUpgradedAway
    }

    /// When the newest receipt was made, if it lists no overdue renewal.
    ///
    /// The receipt must be past the leeway and the grace that the catalogue names. A receipt does
    /// not report failed payments, so a later store report about the term's end takes precedence.
    var receiptWithoutRenewal: Instant? {
        guard let leewayEnd, let made = history.receipts.last(where: { $0 <= instant }),
            made >= max(leewayEnd, plannedGraceEnd ?? leewayEnd),
            outlook.map({ $0.rank < .store || $0.assertedAt < made }) ?? true,
            condition.map({ $0.rank < .store || $0.assertedAt < made }) ?? true
        else { return nil }
        return made
    }

    /// Whether the store may still retry the payment.
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

    /// The end of the leeway. An unseen term has no leeway of its own.
    var leewayEnd: Instant? { leewayEnd(under: policy) }

    private func leewayEnd(under policy: PolicyLengths) -> Instant? {
        guard let term, let end = term.end else { return nil }
        guard !term.isUnseen else { return end }
        let fifth = Milliseconds(max(0, (end - term.term.start).count / 5))
        return end + min(history.pace.scale(policy.renewalLeeway), fifth)
    }

    /// Until when an overdue renewal was awaited.
    var awaitedUntil: Instant? { policy.lastEnd { awaitedUntil(under: $0) } }

    private func awaitedUntil(under policy: PolicyLengths) -> Instant? {
        let leewayEnd = leewayEnd(under: policy)
        guard isUnreachable, let unreachable = end(plus: policy.unreachable) else {
            return leewayEnd
        }
        return leewayEnd.map { max($0, unreachable) }
    }

    /// When access ended: with the term, with its grace, or where the store cut grace short.
    var lastAccess: Instant? {
        if let term, term.isUnseen, lapse != nil, let outlook {
            return min(term.end ?? outlook.assertedAt, outlook.assertedAt)
        }
        return term?.lastAccess(by: instant)
    }

    /// Until when the policy keeps access while the store retries; nil if it keeps none.
    var keptUntil: Instant? { keptUntil(under: policy) }

    private func keptUntil(under policy: PolicyLengths) -> Instant? {
        guard case .keep(let length) = policy.billingRetry, let coveredUntil,
            let last = end(plus: Self.retry)
        else { return nil }
        return min(coveredUntil + history.pace.scale(length), last)
    }

    /// When access that the policy kept ended; nil unless it lasted its full length, or until
    /// another policy took effect.
    var keptAccessEnd: Instant? {
        guard looksBack else { return nil }
        return policy.lastEnd(keptUntil(under:)) { kept in
            kept <= instant && isKept(at: kept - Milliseconds(1)) && !isKept(at: kept)
        }
    }

    /// Whether the policy keeps access at an instant, as if the term was never revoked.
    private func isKept(at instant: Instant) -> Bool {
        var context = RuleContext(history, instant, policy.inEffect(at: instant), term)
        context.taken = nil
        context.looksBack = false
        return TermRule.standing(context).rule == .retryKept
    }

    /// Returns when access ended: with a revocation, or before it.
    ///
    /// A later standing does not report access that was assumed or kept by policy. So the standing
    /// just before each end of such access decides whether it lasted until then.
    private func accessEnd(before revoked: Instant) -> Instant? {
        let last = unrevoked(before: revoked)
        guard !last.access else { return revoked }
        let unreachable = policy.lastEnd { end(plus: $0.unreachable) }
        let ends = [end(plus: .days(3)), unreachable, policy.lastEnd(keptUntil(under:))]
        return ends.compactMap(\.self).sorted(by: >).first { end in
            guard end < revoked else { return false }
            let before = unrevoked(before: end)
            return before.access && before.accessUntil == end
        } ?? last.accessUntil
    }

    /// Returns the standing just before an instant, as if the term was never revoked.
    private func unrevoked(before instant: Instant) -> Standing {
        let last = instant - Milliseconds(1)
        var context = RuleContext(history, last, policy.inEffect(at: last), term)
        context.taken = nil
        return TermRule.standing(context)
    }

    /// The start of a renewal announced before it begins, when the term in between is unseen. Every
    /// current observation reports the time from the old end until then as paid. A renewal
    /// announced after the old term was revoked counts in the same way.
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

    /// The store's reason for the lapse. An unrecognised reason is ignored: it must not revoke.
    var lapse: Outlook.Lapse? {
        guard let lapse = outlook?.value.lapse, lapse.unrecognisedValue == nil else { return nil }
        return lapse
    }

    /// The expiration intent; otherwise the reason in the EXPIRED notification; otherwise whether
    /// auto-renew is off.
    var reasonOfEnd: Reason {
        switch lapse ?? condition?.value.lapse {
        case .cancelled: .cancelled
        case .billingError: .billingError
        case .priceIncrease: .priceIncrease
        case .productUnavailable: .productUnavailable
        case .paused where !stillRenews: .cancelled
        case .other, .paused, .unrecognised: .ended
        case nil where outlook?.value.willRenew == false: .cancelled
        case nil where hasFailed: .billingError
        case nil: .ended
        }
    }

    /// The renewal of the running term that was charged before it begins; nil if there is none. The
    /// App Store charges up to a day ahead.
    var chargedRenewal: TermRecord? {
        guard isRunning, let term, !term.isUnseen, !isUpgradedAway, taken == nil,
            let renewal = history.announcedRenewal(of: term, at: instant)
        else { return nil }
        return renewal.takenBack(at: instant, pace: history.pace) == nil ? renewal : nil
    }

    /// The newest outlook on the next charge. Once a renewal was charged, it is one on the renewal.
    var chargeOutlook: Observation<Outlook>? {
        guard let ahead = chargedRenewal?.outlooks.newest(by: instant),
            ahead.rank >= outlook?.rank ?? ahead.rank
        else { return outlook }
        return ahead
    }

    var nextProduct: String? {
        chargeOutlook?.value.renewsInto ?? term?.term.productId
    }

    /// Whether the next renewal is expected; false for products that never renew.
    private func willRenew(_ outlook: Observation<Outlook>?) -> Bool? {
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
            .never,
            reason,
            confidence: confidence,
            rule: rule,
            of: history.subject,
            asksStore: asks
        )
    }

    /// Returns a standing with access, confirmed by an observation of the given rank.
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

    /// Returns a standing. It is presumed if it rests on an observation below the store's rank.
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
        let outlook = chargeOutlook
        return Standing(
            state,
            reason,
            accessUntil: until,
            willRenew: willRenew(outlook),
            confidence: isHearsay && confidence == .confirmed ? .presumed : confidence,
            rule: rule,
            of: subject(product),
            awaitsConsent: outlook?.value.priceIncreasePending ?? false,
            committedUntil: term?.term.commitment?.end,
            asksStore: asks
        )
    }

    /// Returns the subject of a standing: the term, or another product of it.
    private func subject(_ product: String?) -> Standing.Subject {
        let own = term?.subject ?? history.subject
        guard let product, own.grantedEntitlement == nil, product != own.productId else {
            return own
        }
        return Standing.Subject(product, nil, history.lineage)
    }

    /// Returns the standing while an overdue renewal is awaited.
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

    /// Returns the standing while the term is revoked.
    func revoked() -> Standing? {
        guard let taken, announcedStart == nil else { return nil }
        let isFamily = history.lineage.ownership == .familyShared
        let bareReason: Reason = isFamily ? .familyAccessRemoved : .revoked
        let reason = taken.cause?.reason ?? bareReason
        let isDoubted = term?.isRevocationDoubted(at: instant) ?? false
        // A refund after the end moves no end. A renewal that is refunded before it begins leaves
        // the period before it.
        let stopped = min(taken.since, accessEnd(before: taken.since) ?? taken.since)
        let end = max(stopped, term?.term.start ?? stopped)
        return expired(.revoked, reason, at: end, by: taken.rank, asks: isDoubted)
    }

    private var trial: Trial? {
        guard let term, let end = term.end else { return nil }
        return Trial(from: term.term.start, to: end, at: instant, pace: history.pace)
    }
}

/// The choices of the policy in effect at an instant that the rules read.
///
/// A context holds these alone, because a whole policy is large to copy.
struct PolicyLengths: Sendable {
    let billingRetry: Policy.BillingRetry
    let renewalLeeway: Milliseconds
    let unreachable: Milliseconds
    private let versions: Versioned<Policy>
    /// The position of the version in effect.
    private let position: Int

    init(_ versions: Versioned<Policy>, at instant: Instant) {
        self.init(versions, position: versions.position(at: instant))
    }

    private init(_ versions: Versioned<Policy>, position: Int) {
        billingRetry = versions.versions[position].value.billingRetry
        renewalLeeway = versions.versions[position].value.renewalLeeway
        unreachable = versions.versions[position].value.unreachable
        self.versions = versions
        self.position = position
    }

    /// Returns the choices in effect at another instant.
    func inEffect(at instant: Instant) -> PolicyLengths { PolicyLengths(versions, at: instant) }

    /// Returns when access that a length keeps ended last; nil if no version kept any. A version
    /// counts only while it was in effect, so a later one does not move an end that is past. An end
    /// for which `counts` is false is left out.
    func lastEnd(
        _ end: (PolicyLengths) -> Instant?,
        where counts: (Instant) -> Bool = { _ in true }
    ) -> Instant? {
        var until = Instant.distantFuture
        for position in (0...self.position).reversed() {
            let since = position == 0 ? .distantPast : versions.versions[position].effectiveAt
            if let kept = end(PolicyLengths(versions, position: position)) {
                let last = min(kept, until)
                if last > since, counts(last) { return last }
            }
            until = since
        }
        return nil
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
    /// Returns the newest term begun by an instant. An unseen term from a later outlook governs
    /// instead, if the seen one is over, revoked or upgraded away.
    func governingBoughtTerm(at instant: Instant) -> TermRecord? {
        let seen = newestSeen(at: instant)
        guard let told = newestUnseen(at: instant, after: seen) else { return seen }
        guard let seen else { return told }
        let isOver = (seen.end ?? .distantFuture) <= instant
        return isOver || wasLeft(seen, for: told, at: instant) ? told : seen
    }

    /// Returns the term that covers an instant before its effective start, or the last one that
    /// counts again because its revocation was undone: one that runs, if any does.
    func coveringTerm(at instant: Instant) -> TermRecord? {
        let recovery = begunTerms(by: instant).last {
            $0.rank == .store && $0.term.start <= instant && instant < $0.effectiveStart
                && instant < ($0.end ?? .distantFuture)
        }
        if let recovery { return recovery }
        let returned = revokedTerms.filter { isReturned($0, at: instant) }
        return returned.last { instant < $0.end ?? .distantFuture } ?? returned.last
    }

    /// Whether a term counts at an instant because its revocation was undone, also after its end.
    func isReturned(_ record: TermRecord, at instant: Instant) -> Bool {
        record.effectiveStart <= instant && hasReturned(record, by: instant)
            && record.takenBack(at: instant, pace: pace) == nil
    }

    /// Whether the revocation of a term was undone by an instant and nothing has replaced it. A
    /// later term replaces one that counted when it began, and not one that was revoked then.
    func hasReturned(_ record: TermRecord, by instant: Instant) -> Bool {
        guard record.upgradedAt == nil, record.isUndone(by: instant, pace: pace) else {
            return false
        }
        let next = terms.first { $0.term.start > record.term.start && $0.rank >= record.rank }
        guard let start = next?.term.start else { return true }
        // The message of the refund may be lost.
        let isUndated =
            record.revocations.isEmpty
            && record.reversals.contains { $0 > start && $0 <= instant }
        return isUndated || record.takenBack(at: start, pace: pace) != nil
    }

    private func newestSeen(at instant: Instant) -> TermRecord? {
        guard let newest = begunTerms(by: instant).last(where: { $0.effectiveStart <= instant })
        else { return nil }
        if let upgrade = upgrade(overtaking: newest, at: instant) { return upgrade }
        guard newest.rank < .store else { return newest }
        // A relay's term governs only where no term of the store's rank runs.
        let running = terms.last {
            $0.rank > newest.rank && $0.effectiveStart <= instant
                && instant < ($0.end ?? .distantFuture)
        }
        return running ?? newest
    }

    /// Returns the upgrade that governs instead of a renewal that was announced before it. A
    /// renewal without an upgrade flag governs after all if the store took the upgrade back.
    private func upgrade(overtaking renewal: TermRecord, at instant: Instant) -> TermRecord? {
        guard renewal.firstAsserted < renewal.term.start else { return nil }
        let first = terms.endOfPrefix { $0.term.start < renewal.firstAsserted }
        let upgrade = begunTerms(by: instant)[first...].last {
            $0.effectiveStart <= instant && $0.overtakes(renewal)
        }
        guard let upgrade else { return nil }
        let isFlagged = renewal.upgradedAt.map { $0 <= instant } ?? false
        return isFlagged || upgrade.takenBack(at: instant, pace: pace) == nil ? upgrade : nil
    }

    /// Whether an upgrade replaced a renewal before it began.
    func isOvertaken(_ renewal: TermRecord) -> Bool {
        renewal.firstAsserted < renewal.term.start && terms.contains { $0.overtakes(renewal) }
    }

    /// Returns every term that may count by an instant, without a full search. Terms are ordered by
    /// start, and none counts before its own start.
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

    /// Whether a term was upgraded away or revoked, and an outlook reports its successor.
    ///
    /// An outlook of another product counts from the start of the term, however late the flag or
    /// the refund was signed. One of the same product counts only after that; before, it concerned
    /// this term. One of a lower rank, such as a relay's, reports no successor of a term that the
    /// store revoked.
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

    /// Whether a term that was first reported after `told` started before this one's end.
    private func wasLeft(_ record: TermRecord, since told: Instant, by instant: Instant) -> Bool {
        terms.contains {
            $0.begun > told && $0.effectiveStart <= instant
                && $0.term.start < record.end ?? .distantFuture
        }
    }
}
