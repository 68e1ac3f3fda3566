/// A subscription on Google Play: the purchase tokens of one chain, and what was said of each.
struct PlayHistory: Sendable {
    /// By when they began.
    let tokens: [PlayTokenRecord]
    /// The periods paid for, by when they began.
    let periods: [TermRecord]
    let pending: [PendingSpan]
}

/// One purchase token of a chain.
struct PlayTokenRecord: Sendable {
    let token: PlayToken
    /// The first instant anything is said of.
    let begun: Instant
    /// The first instant another token had taken its place, for ever.
    let retiredFrom: Instant?
    let items: [PlayItemRecord]
    /// By when they were told of.
    let voids: [Word<PlayVoidedOrder>]

    func isAlive(at instant: Instant) -> Bool {
        begun <= instant && !isRetired(at: instant)
    }

    func isRetired(at instant: Instant) -> Bool {
        retiredFrom.map { $0 <= instant } ?? false
    }
}

/// One product of a token, by what was said of it in turn.
struct PlayItemRecord: Sendable {
    /// As the store names it.
    let productId: String
    /// By when they count.
    var statements: [PlayStatement]

    func statement(at instant: Instant) -> PlayStatement? {
        statements.last { $0.from <= instant }
    }
}

/// What one read, or one bare notification, says of one product of a token.
struct PlayStatement: Sendable {
    /// The first instant it counts: when it was said, or earlier where it tells of a time that
    /// nothing said before covers.
    var from: Instant
    /// When it was said, by the store's clock.
    let said: Instant
    let rank: Rank
    let evidence: EvidenceID
    /// What else it rests on: a bare notification only says what changed.
    let basis: [EvidenceID]
    var state: PlaySubscription.State
    /// Nil once the product is no part of the subscription any more.
    let item: PlayItem?
    /// As the catalogue names it.
    let productId: String
    /// When it expires, or when this was said where nothing states that. Behind a failed payment or a
    /// pause, an end moved without a payment stays where access ended.
    var expiry: Instant
    /// Whether it states an end behind a failed payment or a pause and names no payment since. No time
    /// before it was said is paid by it.
    private(set) var provesNoPayment = false
    let startedAt: Instant?
    let resumesAt: Instant?
    let cancellation: PlaySubscription.Cancellation?
    /// The end of the period paid for; in grace the expiry moves and this does not.
    var periodEnd: Instant?
    /// What stated it, where something else did.
    var periodEvidence: EvidenceID?
    /// The end of the base plan's grace, where period and plan are known.
    var graceUntil: Instant?
    /// Since when the payment has been failing, where that lies before this was said.
    var failedFrom: Instant?
    /// When the hold began; nil in any other state.
    var heldFrom: Instant?
    /// The positions of its period and of the one before among the history's.
    var period: Int?
    var formerPeriod: Int?

    var isFailing: Bool { state == .inGrace || state == .onHold }

    /// Whether only a payment brings access back.
    private var awaitsPayment: Bool { state == .onHold || state == .paused || provesNoPayment }

    /// When access stopped that the state does not give: at the expiry, or where the store says so before,
    /// at its word.
    var stoppedAt: Instant { min(expiry, said) }

    /// When access ends that it states.
    private var accessEnd: Instant {
        switch state {
        case .active, .inGrace, .cancelled: expiry
        case .expired, .onHold, .paused, .pending, .pendingCancelled, .unrecognised: stoppedAt
        }
    }

    /// Whether the first payment was not made by then.
    var isUnpaid: Bool { state == .pending || state == .pendingCancelled }

    /// Leaves the end where it was, unless there was a payment: Google moves the expiry to the end of the
    /// account hold when the hold ends unpaid. A payment has another order than the last one named
    /// before, or the state is active.
    mutating func keepEnd(of last: PlayStatement, paidBy order: String?) {
        guard state == .expired || state == .cancelled, let item,
            !item.plan.isPrepaid
        else { return }
        let isSameOrder = item.orderId.flatMap { own in order.map { own == $0 } }
        guard isSameOrder != false else { return }
        let isOver = state == .expired || expiry <= said
        let hasFailed =
            last.state == .inGrace
            || (last.state == .active || last.state == .cancelled)
                && isSameOrder == true && cancellation == .system
        provesNoPayment = last.awaitsPayment || isOver && hasFailed
        guard provesNoPayment, isOver else { return }
        expiry = min(expiry, last.accessEnd)
    }
}

extension PlayHistory {
    /// The best answer over everything that is alive and meant, and what it was decided on; nil if
    /// nothing is meant.
    func decision(
        at instant: Instant,
        in history: LineageHistory,
        policy: Policy,
        where isMeant: (Standing) -> Bool
    ) -> (standing: Standing, now: PlaySituation)? {
        var best: (standing: Standing, now: PlaySituation)?
        var isAnyAlive = false
        for token in tokens where token.isAlive(at: instant) {
            for item in token.items {
                guard let statement = item.statement(at: instant), statement.item != nil else {
                    continue
                }
                isAnyAlive = true
                let now = PlaySituation(history, self, instant, policy, token, statement)
                let standing = PlayRule.standing(now)
                guard isMeant(standing) else { continue }
                if let best, !isPreferred(standing, of: token, to: best) { continue }
                best = (standing, now)
            }
        }
        return isAnyAlive ? best : goneDecision(at: instant, in: history, policy, isMeant)
    }

    /// Of two tokens that are both over the later one tells how it stands.
    private func isPreferred(
        _ standing: Standing,
        of token: PlayTokenRecord,
        to best: (standing: Standing, now: PlaySituation)
    ) -> Bool {
        let isLater = token.token != best.now.token?.token
        if isLater, standing.state == .expired, best.standing.state == .expired { return true }
        return standing.isBetter(than: best.standing)
    }

    /// The answer where nothing is alive: not yet, or replaced from another chain.
    private func goneDecision(
        at instant: Instant,
        in history: LineageHistory,
        _ policy: Policy,
        _ isMeant: (Standing) -> Bool
    ) -> (standing: Standing, now: PlaySituation)? {
        let token = lastRetired(by: instant)
        let statements = token?.items.compactMap { $0.statement(at: instant) } ?? []
        for words in statements {
            let now = PlaySituation(history, self, instant, policy, token, nil, lastWords: words)
            let standing = PlayRule.standing(now)
            if isMeant(standing) { return (standing, now) }
        }
        // A token of which no product was ever named says no more than no token.
        guard statements.isEmpty else { return nil }
        let now = PlaySituation(history, self, instant, policy, nil, nil)
        let standing = PlayRule.standing(now)
        return isMeant(standing) ? (standing, now) : nil
    }

    private func lastRetired(by instant: Instant) -> PlayTokenRecord? {
        var last: PlayTokenRecord?
        for token in tokens where token.begun <= instant && token.isRetired(at: instant) {
            if let found = last,
                found.retiredFrom ?? .distantPast >= token.retiredFrom ?? .distantPast
            {
                continue
            }
            last = token
        }
        return last
    }

    /// When the store last said anything by an instant, in the order of its clock.
    func lastSaid(by instant: Instant) -> Instant? {
        var last: Instant?
        for token in tokens {
            for item in token.items {
                for statement in item.statements where statement.said <= instant {
                    last = max(last ?? statement.said, statement.said)
                }
            }
        }
        return last
    }
}
