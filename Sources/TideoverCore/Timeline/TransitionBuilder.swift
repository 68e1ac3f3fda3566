/// Iterates over the steps of a lineage in order and creates the transitions between them.
struct TransitionBuilder: Sendable {
    private let steps: LineageSteps
    private let evidenceIndex: EvidenceIndex
    private(set) var transitions: [Transition] = []
    /// The billing issues that have ended.
    private var closed: [BillingIssue] = []
    private var issue: OpenIssue?
    /// Whether an issue that seemed to have ended went on later.
    private(set) var reopensIssues = false
    private var last: Step?
    /// The newest entered term, with its last reported auto-renew state.
    private var entered: TermRecord?
    private var renews: Bool?
    /// When the subscription ended, or its state became unknown.
    private var endedAt: Instant?
    private var pausedAt: Instant?
    private var cleanup: Cleanup?
    private var told: [Happening: Int] = [:]

    /// The common identity of transitions of one name.
    private struct Happening: Hashable {
        let kind: Transition.Kind
        let anchor: String

        /// Uses the anchor alone, because few kinds have the same one.
        func hash(into hasher: inout Hasher) { hasher.combine(anchor) }
    }

    private struct OpenIssue {
        var record: BillingIssue
        let term: TermRecord
        var state: State
    }

    /// The cleanup that is due at the natural end of the paid time.
    private struct Cleanup {
        let due: Instant
        let term: TermRecord
        let proof: Proof
    }

    init(_ steps: LineageSteps, _ evidenceIndex: EvidenceIndex) {
        self.steps = steps
        self.evidenceIndex = evidenceIndex
        // A term is entered, and may fail, end or be cancelled.
        told.reserveCapacity(2 * steps.history.terms.count + 4)
    }

    /// The billing issues so far; empty for family-shared purchases.
    var issues: [BillingIssue] {
        guard steps.lineage.ownership == .purchased else { return [] }
        return closed + (issue.map { [$0.record] } ?? [])
    }

    /// The issue that the last step may have changed: the open one, otherwise the one that ended
    /// last.
    var lastIssue: BillingIssue? {
        guard steps.lineage.ownership == .purchased else { return nil }
        return issue?.record ?? closed.last
    }

    mutating func move(to step: Step) {
        if let due = cleanup?.due, due < step.from { tellCleanup() }
        if step.phase == .running, let term = step.seenTerm, term.key != entered?.key {
            enter(term, at: step)
        } else {
            change(to: step)
        }
        if let newest = step.newest { follow(issueOf: newest, at: step) }
        watchRenewal(at: step)
        if step.phase != .ended { cleanup = nil }
        if let due = cleanup?.due, due <= step.from { tellCleanup() }
        last = step
    }

    /// Creates the transitions that are due by an instant after the last step.
    mutating func finish(at instant: Instant) {
        if let due = cleanup?.due, due <= instant { tellCleanup() }
    }

    private var before: Phase { last?.phase ?? .none }

    // MARK: Term entry

    private mutating func enter(_ term: TermRecord, at step: Step) {
        let former = entered
        let kind = entryKind(of: term, after: former, at: step)
        // Nothing was paid for an earlier term that returns.
        if issue != nil, step.newest == nil {
            recover(at: step, into: term)
        } else if before == .paused, step.newest == nil {
            resume(at: step)
        } else if let kind {
            tellEntry(kind, into: term, after: former, at: step)
        }
        if let former, before != .ended, before != .unconfirmed || kind != .resubscribed {
            tellChange(of: former, into: term, at: step)
        }
        (entered, endedAt) = (term, nil)
        // It may have been switched off between the first observation of the term and its
        // beginning.
        renews = term.outlooks.first { $0.assertedAt <= step.from }?.value.willRenew
    }

    /// Returns the kind of transition for entering a term; nil if only the product changes, if
    /// another purchase token continues the order already paid for, or if an earlier term returns.
    private func entryKind(
        of term: TermRecord,
        after former: TermRecord?,
        at step: Step
    ) -> Transition.Kind? {
        if before == .running, let former, term.continuesOrder(of: former) { return nil }
        // The reversal of its refund has an event of its own.
        if let former, term.term.start < former.term.start,
            steps.history.isReturned(term, at: step.from)
        {
            return nil
        }
        let isRenewal = term.term.origin == .renewal
        if term.isTrial { return former?.isTrial == true && isRenewal ? .renewed : .trialStarted }
        guard let former else { return isRenewal ? .renewed : .started }
        if !isRenewal && (before != .running || !term.follows(former)) { return .resubscribed }
        if former.isTrial { return .trialConverted }
        return before == .running && former.isReplaced(by: term) ? nil : .renewed
    }

    private mutating func tellChange(
        of former: TermRecord,
        into term: TermRecord,
        at step: Step
    ) {
        guard former.term.productId != term.term.productId else { return }
        let (anchor, proof) = (evidenceIndex.anchor(of: term), evidenceIndex.entry(into: term))
        var change = transition(.productChanged, anchor, at: step, proof)
        change.previousProductId = former.term.productId
        let lost = steps.entitlements(of: former.term.productId, at: step.from)
            .filter { !change.entitlements.contains($0) }
        change.entitlements += lost
        change.money = step.newest == nil ? price(of: term) : nil
        transitions.append(change)
        let due = steps.history.naturalEnd(of: former, after: step.from)
        tellCleanup(of: lost, of: former.term.productId, on: due, anchor, proof)
    }

    private mutating func tellEntry(
        _ kind: Transition.Kind,
        into term: TermRecord,
        after former: TermRecord?,
        at step: Step
    ) {
        let (anchor, proof) = (evidenceIndex.anchor(of: term), evidenceIndex.entry(into: term))
        let duration: Milliseconds? =
            switch kind {
            case .resubscribed: endedAt.map { step.from - $0 }
            case .trialConverted: former.map { step.from - $0.term.start }
            default: nil
            }
        transitions.append(
            transition(kind, anchor, at: step, proof, money: price(of: term), duration: duration)
        )
    }

    // MARK: Phase changes

    private mutating func change(to step: Step) {
        switch (before, step.phase) {
        case (.grace, .hold): endGrace(at: step)
        case (.hold, .grace): move(issueTo: .grace, at: step.from)
        case (.grace, .grace), (.hold, .hold), (.none, .none), (.running, .running),
            (.paused, .paused), (.ended, .ended), (.unconfirmed, .unconfirmed), (_, .none):
            break
        case (_, .grace), (_, .hold): fail(at: step)
        case (_, .running) where step.newest != nil: endedAt = nil
        case (_, .running) where issue != nil && step.standing.rule == .cancelled:
            cancelIssue(at: step)
        case (_, .running) where issue != nil: recover(at: step, into: nil)
        case (.paused, .running): resume(at: step)
        case (_, .running): endedAt = nil
        case (_, .paused): pause(at: step)
        // A purchase that never ran did not end: one of zero length.
        case (.none, .ended): endedAt = step.from
        case (_, .ended): end(at: step)
        case (_, .unconfirmed): loseSight(at: step)
        }
    }

    private mutating func pause(at step: Step) {
        pausedAt = step.from
        guard let term = step.term else { return }
        let proof = evidenceIndex.lastWords(on: term, by: step.from)
        transitions.append(transition(.paused, evidenceIndex.anchor(of: term), at: step, proof))
    }

    private mutating func resume(at step: Step) {
        guard let term = step.term else { return }
        let proof = evidenceIndex.lastWords(on: term, by: step.from)
        var resumed = transition(.resumed, evidenceIndex.anchor(of: term), at: step, proof)
        resumed.duration = pausedAt.map { step.from - $0 }
        resumed.money = price(of: term)
        transitions.append(resumed)
    }

    private mutating func end(at step: Step) {
        endedAt = endedAt ?? step.from
        guard let term = step.term else { return }
        let isListed = step.standing.rule == .notRenewed
        let receipt = isListed ? steps.history.receipts.last { $0 <= step.from } : nil
        let proof =
            receipt.map { evidenceIndex.receipt(madeAt: $0) }
            ?? evidenceIndex.lastWords(on: term, by: step.from)
        schedule(cleanupOf: term, from: step, proof)
        guard !step.standing.reason.isTakingBack || hasOutlastedRefund(term, at: step) else {
            takeBack(term, at: step, proof)
            return
        }
        if issue != nil, step.standing.reason == .cancelled {
            tellCancellation(.cancelled, of: term, at: step)
        }
        let anchor = evidenceIndex.endAnchor(of: term)
        var expired = transition(term.isTrial ? .trialEnded : .expired, anchor, at: step, proof)
        expired.from = issue?.state ?? cancelledFrom(anchor)
        expired.keepArtifactsUntil = cleanup?.due
        let began = term.isTrial ? term.term.start : issue?.record.enteredAt
        expired.duration = began.map { step.from - $0 }
        transitions.append(expired)
        let isCancelled = step.standing.reason == .cancelled
        close {
            isCancelled ? .cancelled(from: $0, at: step.from) : .expired(from: $0, at: step.from)
        }
    }

    /// Whether a subscription on Google Play went on after the store refunded its payment, to the
    /// end of the period or longer. A voided order does not end a subscription, so the end is a
    /// change of its own. A revocation dates the two seconds apart at most; an hour allows for more.
    private func hasOutlastedRefund(_ term: TermRecord, at step: Step) -> Bool {
        guard steps.lineage.store == .googlePlay, step.standing.rule != .revoked,
            let end = term.end, end <= step.from
        else { return false }
        return term.revocations.contains { $0.value.date + .hours(1) < end }
    }

    /// Ends a term that the store revoked. If the term has its own revocation, its refund is
    /// already recorded.
    private mutating func takeBack(_ term: TermRecord, at step: Step, _ proof: Proof) {
        close { .takenBack(from: $0, at: step.from) }
        guard step.standing.rule != .revoked, term.revocations.isEmpty else { return }
        let kind: Transition.Kind = step.standing.reason == .refunded ? .refunded : .revoked
        var taking = transition(kind, evidenceIndex.anchor(of: term), at: step, proof)
        taking.money = price(of: term)
        taking.keepArtifactsUntil = cleanup?.due
        transitions.append(taking)
    }

    /// Ends the issue of a subscription that was cancelled unpaid and keeps access until its
    /// expiry.
    private mutating func cancelIssue(at step: Step) {
        guard let term = step.term else { return }
        tellCancellation(term.isTrial ? .trialCancelled : .cancelled, of: term, at: step)
        renews = false
        close { .cancelled(from: $0, at: step.from) }
    }

    private mutating func tellCancellation(
        _ kind: Transition.Kind,
        of term: TermRecord,
        at step: Step
    ) {
        let proof = evidenceIndex.outlook(on: term, by: step.from)
        var cancelled = transition(kind, evidenceIndex.anchor(of: term), at: step, proof)
        cancelled.from = issue?.state
        cancelled.duration = kind == .trialCancelled ? step.from - term.term.start : nil
        transitions.append(cancelled)
    }

    /// Returns the state from which the last issue was cancelled; nil if it ended otherwise or was
    /// another one.
    private func cancelledFrom(_ anchor: String) -> State? {
        guard let record = closed.last, record.anchor == anchor,
            case .cancelled(let state, _) = record.outcome
        else { return nil }
        return state
    }

    private mutating func loseSight(at step: Step) {
        endedAt = endedAt ?? step.from
        close { .unconfirmed(from: $0, at: step.from) }
    }

    // MARK: Billing issues

    private mutating func fail(at step: Step) {
        endedAt = nil
        let state: State = step.phase == .grace ? .grace : .hold
        if issue == nil {
            openIssue(state, at: step)
        } else {
            move(issueTo: state, at: step.from)
        }
    }

    private mutating func openIssue(_ state: State, at step: Step) {
        guard let term = step.term else { return }
        let anchor = evidenceIndex.endAnchor(of: term)
        guard closed.last?.anchor != anchor else {
            reopenIssue(of: term, state, at: step)
            return
        }
        let proof = evidenceIndex.failure(of: term)
        var entry = transition(.billingIssueEntered, anchor, at: step, proof)
        entry.money = moneyAtRisk(of: term, withAddOnsAt: step)
        transitions.append(entry)
        let record = BillingIssue(entry, of: term, anchor: anchor, state)
        issue = OpenIssue(record: record, term: term, state: state)
        move(issueTo: state, at: step.from)
    }

    /// Reopens the issue that a cancellation or a refund seemed to have ended.
    private mutating func reopenIssue(of term: TermRecord, _ state: State, at step: Step) {
        guard let record = closed.popLast() else { return }
        reopensIssues = true
        issue = OpenIssue(record: record, term: term, state: state)
        move(issueTo: state, at: step.from)
        // Renewal may have been switched on again while the cancelled subscription kept access.
        guard case .cancelled = record.outcome, before != .running || renews == false else {
            return
        }
        renews = true
        let word = evidenceIndex.outlook(on: term, by: step.from)
        transitions.append(transition(.uncancelled, evidenceIndex.anchor(of: term), at: step, word))
    }

    private mutating func move(issueTo state: State, at instant: Instant) {
        guard var open = issue else { return }
        open.state = state
        open.record.outcome = .open(state)
        if state == .grace {
            open.record.graceFrom = open.record.graceFrom ?? instant
        } else {
            open.record.holdFrom = open.record.holdFrom ?? instant
        }
        issue = open
    }

    private mutating func endGrace(at step: Step) {
        guard let term = issue?.term else { return }
        let anchor = evidenceIndex.endAnchor(of: term)
        var ended = transition(.graceEnded, anchor, at: step, evidenceIndex.grace(of: term))
        ended.from = .grace
        transitions.append(ended)
        move(issueTo: .hold, at: step.from)
    }

    private mutating func recover(at step: Step, into term: TermRecord?) {
        endedAt = nil
        guard let open = issue, let present = term ?? step.term else { return }
        let isPurchase = term?.term.origin == .purchase
        let proof = evidenceIndex.entry(into: present)
        var recovered = transition(
            isPurchase ? .recoveredByNewPurchase : .billingIssueRecovered,
            evidenceIndex.endAnchor(of: open.term),
            at: step,
            proof
        )
        recovered.from = open.state
        recovered.duration = step.from - open.record.enteredAt
        recovered.money = price(of: present)
        recovered.recoveredBy = isPurchase ? steps.lineage : nil
        transitions.append(recovered)
        let recovery = BillingIssue.Recovery(recovered)
        close { _ in
            isPurchase
                ? .recoveredByNewPurchase(recovery, by: recovered.lineage) : .recovered(recovery)
        }
        if open.term.isTrial, let term, !term.isTrial {
            tellEntry(.trialConverted, into: term, after: open.term, at: step)
        }
    }

    /// Follows the issue of the newest term while an earlier one gives access: it ends with the
    /// newest term. No event reports that, because access goes on.
    private mutating func follow(issueOf newest: Standing, at step: Step) {
        switch newest.phase {
        case .none, .running, .paused: break
        case .grace: move(issueTo: .grace, at: step.from)
        case .hold: move(issueTo: .hold, at: step.from)
        case .unconfirmed: close { .unconfirmed(from: $0, at: step.from) }
        case .ended where newest.reason.isTakingBack:
            close { .takenBack(from: $0, at: step.from) }
        case .ended where newest.reason == .cancelled:
            close { .cancelled(from: $0, at: step.from) }
        case .ended: close { .expired(from: $0, at: step.from) }
        }
    }

    private mutating func close(_ outcome: (State) -> BillingIssue.Outcome) {
        guard var open = issue else { return }
        open.record.outcome = outcome(open.state)
        closed.append(open.record)
        issue = nil
    }

    // MARK: Renewal switched off and on

    private mutating func watchRenewal(at step: Step) {
        // A prepaid plan never renews automatically, so no one switched it off.
        guard step.phase == .running, let term = step.seenTerm, term.term.plan == .autoRenewable,
            let now = step.willRenew(term)
        else { return }
        let isCancelled = renews != false && !now
        let isUncancelled = renews == false && now
        renews = now
        guard isCancelled || isUncancelled else { return }
        let off: Transition.Kind = term.isTrial ? .trialCancelled : .cancelled
        var switched = transition(
            isCancelled ? off : .uncancelled,
            evidenceIndex.anchor(of: term),
            at: step,
            evidenceIndex.outlook(on: term, by: step.from)
        )
        switched.duration = switched.kind == .trialCancelled ? step.from - term.term.start : nil
        transitions.append(switched)
    }

    // MARK: Cleaning up

    private mutating func schedule(cleanupOf term: TermRecord, from step: Step, _ proof: Proof) {
        guard cleanup == nil else { return }
        let due = steps.history.naturalEnd(of: term, after: step.from)
        cleanup = Cleanup(due: due, term: term, proof: proof)
    }

    private mutating func tellCleanup() {
        guard let cleanup, let step = steps.step(at: cleanup.due) else { return }
        self.cleanup = nil
        let anchor = evidenceIndex.endAnchor(of: cleanup.term)
        var due = transition(.cleanupDue, anchor, at: step, cleanup.proof, on: cleanup.due)
        due.keepArtifactsUntil = cleanup.due
        transitions.append(due)
    }

    /// Creates the cleanup of what a change of product takes away, unless the purchase gives access
    /// to it again by then.
    private mutating func tellCleanup(
        of lost: [String],
        of productId: String,
        on due: Instant,
        _ anchor: String,
        _ proof: Proof
    ) {
        let ended = lost.filter { steps.standing(of: $0, at: due).state == .expired }
        guard !ended.isEmpty, let step = steps.step(at: due) else { return }
        var removal = transition(.cleanupDue, anchor, at: step, proof, on: due)
        removal.productId = productId
        removal.entitlements = ended
        removal.keepArtifactsUntil = due
        transitions.append(removal)
    }

    // MARK: Creating a transition

    /// Creates a transition of a kind for one subject. Repeated ones, such as switching renewal
    /// off, are numbered.
    private mutating func transition(
        _ kind: Transition.Kind,
        _ anchor: String,
        at step: Step,
        _ proof: Proof,
        on instant: Instant? = nil,
        money: Money? = nil,
        duration: Milliseconds? = nil
    ) -> Transition {
        let count = Self.next(&told[Happening(kind: kind, anchor: anchor), default: 0])
        return Transition(
            kind,
            of: steps,
            anchor: count == 1 ? anchor : "\(anchor) \(count)",
            at: instant ?? step.from,
            step: step,
            entitlements: steps.entitlements(of: step.standing, at: step.from),
            proof: proof,
            money: money,
            duration: duration
        )
    }

    private static func next(_ count: inout Int) -> Int {
        count += 1
        return count
    }

    private func price(of term: TermRecord) -> Money? {
        steps.lineage.ownership == .purchased ? term.term.price : nil
    }

    /// Returns the price of the failed renewal with that of the add-ons that renew with it; nil if
    /// one is unknown, or in another currency.
    private func moneyAtRisk(of term: TermRecord, withAddOnsAt step: Step) -> Money? {
        let due = step.addOns.filter { addOn in
            addOn.standing.willRenew != false
                && addOn.term.end.map { $0 <= step.from + LineageHistory.sameEnd } ?? false
        }
        return due.reduce(moneyAtRisk(of: term, at: step)) { sum, addOn in
            guard let sum, let more = moneyAtRisk(of: addOn.term, at: step),
                more.currency == sum.currency
            else { return nil }
            return Money(
                milliunits: sum.milliunits.addingSaturated(more.milliunits),
                currency: sum.currency
            )
        }
    }

    private func moneyAtRisk(of term: TermRecord, at step: Step) -> Money? {
        guard steps.lineage.ownership == .purchased else { return nil }
        return term.renewal(at: step.from, in: steps.catalogue.value(at: step.from)).price
    }
}

extension Reason {
    /// Whether the store revoked the purchase; a lapse does not count.
    var isTakingBack: Bool {
        switch self {
        case .refunded, .familyAccessRemoved, .assignmentRemoved, .revoked: true
        default: false
        }
    }
}

extension TermRecord {
    var isTrial: Bool { term.offer?.discount == .freeTrial }

    /// Returns the product of the renewal that is due at an instant, and its price with its offer:
    /// from its outlook; otherwise the term's price if it renews into the same product; otherwise
    /// the catalogue's, unless the customer pays in another currency.
    func renewal(
        at instant: Instant,
        in catalogue: Catalogue
    ) -> (productId: String, price: Money?, offer: Offer?) {
        let product = term.productId
        let outlook = outlooks.newest(by: instant) ?? outlooks.first
        let next = outlook?.value.renewsInto ?? product
        // While the payment is retried, the customer may choose another product for the next term.
        let stated = outlooks.last {
            $0.value.renewalPrice != nil && $0.value.renewsInto ?? product == next
        }
        let same = next == product && term.offer == nil ? term.price : nil
        let price = stated?.value.renewalPrice ?? same ?? listedPrice(of: next, in: catalogue)
        return (next, price, stated?.value.offer)
    }

    private func listedPrice(of product: String, in catalogue: Catalogue) -> Money? {
        let listed = catalogue[product]?.price
        guard let currency = term.price?.currency else { return listed }
        return listed?.currency == currency ? listed : nil
    }

    /// Whether it begins no later than another one ends.
    fileprivate func follows(_ former: TermRecord) -> Bool {
        former.end.map { term.start <= $0 + LineageHistory.sameEnd } ?? true
    }

    /// Whether it is the same order for the same product, on another purchase token.
    fileprivate func continuesOrder(of former: TermRecord) -> Bool {
        term.transactionId == former.term.transactionId
            && term.productId == former.term.productId
    }

    /// Whether another product replaced it before it ended.
    fileprivate func isReplaced(by successor: TermRecord) -> Bool {
        guard successor.term.productId != term.productId else { return false }
        return end.map { successor.term.start + LineageHistory.sameEnd < $0 } ?? true
    }
}

extension BillingIssue {
    fileprivate init(_ entry: Transition, of term: TermRecord, anchor: String, _ state: State) {
        self.init(
            id: entry.id,
            anchor: anchor,
            lineage: entry.lineage,
            productId: entry.productId,
            storefront: entry.storefront,
            isTrial: term.isTrial,
            enteredAt: entry.at,
            learnedAt: entry.learnedAt,
            moneyAtRisk: entry.money,
            outcome: .open(state)
        )
    }
}
