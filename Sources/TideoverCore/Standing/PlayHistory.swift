/// A subscription on Google Play: the purchase tokens of one chain, each with its observations.
///
/// A class, like the records of its tokens, because every situation refers to them.
final class PlayHistory: Sendable {
    /// Ordered by when they began.
    let tokens: [PlayTokenRecord]
    /// The paid periods, ordered by when they began.
    let periods: [TermRecord]
    let pending: [PendingSpan]

    init(tokens: [PlayTokenRecord], periods: [TermRecord], pending: [PendingSpan]) {
        self.tokens = tokens
        self.periods = periods
        self.pending = pending
    }
}

/// One purchase token of a chain.
final class PlayTokenRecord: Sendable {
    let token: PlayToken
    /// The first instant that any observation covers.
    let begun: Instant
    /// The first instant at which another token had permanently replaced it.
    let retiredFrom: Instant?
    let items: [PlayItemRecord]
    /// Ordered by when they were reported.
    let voids: [Observation<PlayVoidedOrder>]

    init(
        token: PlayToken,
        begun: Instant,
        retiredFrom: Instant?,
        items: [PlayItemRecord],
        voids: [Observation<PlayVoidedOrder>]
    ) {
        self.token = token
        self.begun = begun
        self.retiredFrom = retiredFrom
        self.items = items
        self.voids = voids
    }

    func isAlive(at instant: Instant) -> Bool {
        begun <= instant && !isRetired(at: instant)
    }

    func isRetired(at instant: Instant) -> Bool {
        retiredFrom.map { $0 <= instant } ?? false
    }
}

/// One product of a token, with its observations in order.
struct PlayItemRecord: Sendable {
    /// The product ID that the store uses.
    let productId: String
    /// Ordered by when they count.
    var statements: [PlayStatement]

    func statement(at instant: Instant) -> PlayStatement? {
        statements.lastIndex { $0.from <= instant }.map { statements[$0] }
    }
}

/// What one read, or one bare notification, reports about one product of a token.
struct PlayStatement: Sendable {
    /// The first instant it counts: when it was asserted, or earlier if it covers time that no
    /// earlier statement covers.
    var from: Instant
    let source: Source
    var state: PlaySubscription.State
    /// When it expires; when it was asserted if nothing states an expiry. Behind a failed payment
    /// or a pause, an end that moved without a payment stays where access ended.
    var expiry: Instant
    /// Whether it states an end behind a failed payment or a pause and names no later payment. It
    /// pays for no time before it was asserted.
    private(set) var provesNoPayment = false
    /// The end of the paid period. In grace the expiry moves and this does not.
    var periodEnd: Instant?
    /// The evidence for `periodEnd`, if it is another observation.
    var periodEvidence: EvidenceID?
    /// The end of the base plan's grace, if period and plan are known.
    var graceUntil: Instant?
    /// When the payment began to fail, if that is before this was asserted.
    var failedFrom: Instant?
    /// When the hold began; nil in any other state.
    var heldFrom: Instant?
    /// The indices of its period and of the previous one among the history's periods.
    var period: Int?
    var formerPeriod: Int?

    /// The reported content, which never changes.
    ///
    /// A class, because a statement is copied into each situation.
    final class Source: Sendable {
        /// When it was asserted, by the store's clock.
        let said: Instant
        let rank: Rank
        let evidence: EvidenceID
        /// Its other evidence: a bare notification reports only the change.
        let basis: [EvidenceID]
        /// Nil once the product is no longer part of the subscription.
        let item: PlayItem?
        /// The product ID that the catalogue uses.
        let productId: String
        /// The product that it renews into, by the catalogue's ID.
        let nextProductId: String
        /// The price of the next renewal, if the store states it.
        let renewalPrice: Money?
        let startedAt: Instant?
        let resumesAt: Instant?
        let cancellation: PlaySubscription.Cancellation?

        init(_ item: PlayItem?, in observation: PlayObservation, _ catalogue: Versioned<Catalogue>)
        {
            said = observation.said
            rank = observation.word.rank
            evidence = observation.word.evidence
            basis = observation.basis
            self.item = item
            let listed = catalogue.value(at: observation.said)
            productId = item.map(listed.id) ?? ""
            let next = item.map { observation.successor(of: $0) ?? $0 }
            nextProductId = next.map(listed.id) ?? ""
            renewalPrice = next?.renewalPrice(resumingAt: observation.resumesAt)
            startedAt = observation.startedAt
            resumesAt = observation.resumesAt
            cancellation = observation.cancellation
        }
    }

    init(_ item: PlayItem?, in observation: PlayObservation, _ catalogue: Versioned<Catalogue>) {
        source = Source(item, in: observation, catalogue)
        from = observation.said
        state = observation.state
        expiry = item?.expiresAt ?? observation.said
    }

    var said: Instant { source.said }
    var rank: Rank { source.rank }
    var evidence: EvidenceID { source.evidence }
    var basis: [EvidenceID] { source.basis }
    var item: PlayItem? { source.item }
    var productId: String { source.productId }
    var nextProductId: String { source.nextProductId }
    var renewalPrice: Money? { source.renewalPrice }
    var startedAt: Instant? { source.startedAt }
    var resumesAt: Instant? { source.resumesAt }
    var cancellation: PlaySubscription.Cancellation? { source.cancellation }

    var isFailing: Bool { state == .inGrace || state == .onHold }

    /// Whether only a payment brings access back.
    private var awaitsPayment: Bool { state == .onHold || state == .paused || provesNoPayment }

    /// When access stopped, in a state without access: at the expiry, or earlier if the store
    /// reported so.
    var stoppedAt: Instant { min(expiry, said) }

    /// When the access that it states ends.
    private var accessEnd: Instant {
        switch state {
        case .active, .inGrace, .cancelled: expiry
        case .expired, .onHold, .paused, .pending, .pendingCancelled, .unrecognised: stoppedAt
        }
    }

    /// Whether the first payment was outstanding at that time.
    var isUnpaid: Bool { state.isUnpaid }

    /// Keeps the earlier end unless there was a payment.
    ///
    /// Google moves the expiry to the end of the account hold when the hold ends unpaid. A payment
    /// shows as a new order ID or as an active state. While the purchase is still on hold, as the
    /// last read reported, a later expiry of the same order adds no access either.
    mutating func keepEnd(
        of last: PlayStatement,
        _ lastRead: PlayStatement?,
        paidBy order: String?
    ) {
        guard state == .expired || state == .cancelled || state == .onHold, let item,
            !item.plan.isPrepaid
        else { return }
        let isSameOrder = item.orderId.flatMap { own in order.map { own == $0 } }
        guard isSameOrder != false else { return }
        // A bare notification does not state when access ended.
        let isHeld = last.state == .onHold && lastRead?.state == .onHold
        let isStillHeld =
            state == .onHold && isHeld && isSameOrder == true && expiry > last.expiry
        let isOver = state == .expired || expiry <= said
        let hasFailed =
            last.state == .inGrace
            || (last.state == .active || last.state == .cancelled)
                && isSameOrder == true && cancellation == .system
        provesNoPayment = state != .onHold && (last.awaitsPayment || isOver && hasFailed)
        guard isStillHeld || provesNoPayment && isOver else { return }
        expiry = min(expiry, last.accessEnd)
    }
}

extension PlayHistory {
    /// A standing for one product, with the situation that decided it.
    typealias Candidate = (standing: Standing, now: PlayRuleContext)

    /// Returns the standings of every live token at an instant. If none is live, returns those of
    /// the token that was replaced last.
    func candidates(
        at instant: Instant,
        in history: LineageHistory,
        policy: Versioned<Policy>
    ) -> [Candidate] {
        let policy = PolicyLengths(policy, at: instant)
        var alive: [Candidate] = []
        for token in tokens where token.isAlive(at: instant) {
            for item in token.items {
                guard let statement = item.statement(at: instant), statement.item != nil else {
                    continue
                }
                let now = PlayRuleContext(history, self, instant, policy, token, statement)
                alive.append((PlayRule.standing(now), now))
            }
        }
        return alive.isEmpty ? goneCandidates(at: instant, in: history, policy) : alive
    }

    /// Returns the standings when no token is live: not yet begun, or replaced from another chain.
    private func goneCandidates(
        at instant: Instant,
        in history: LineageHistory,
        _ policy: PolicyLengths
    ) -> [Candidate] {
        let token = lastRetired(by: instant)
        let statements = token?.items.compactMap { $0.statement(at: instant) } ?? []
        guard !statements.isEmpty else {
            // A token without a named product is equivalent to no token.
            let now = PlayRuleContext(history, self, instant, policy, nil, nil)
            return [(PlayRule.standing(now), now)]
        }
        return statements.map { words in
            let now = PlayRuleContext(history, self, instant, policy, token, nil, lastWords: words)
            return (PlayRule.standing(now), now)
        }
    }

    /// Returns the best of the candidates that match; nil if none matches.
    static func best(
        of candidates: [Candidate],
        where isMeant: (Standing) -> Bool
    ) -> Candidate? {
        var best: Int?
        for position in candidates.indices where isMeant(candidates[position].standing) {
            if let best, !isPreferred(candidates[position], to: candidates[best]) { continue }
            best = position
        }
        return best.map { candidates[$0] }
    }

    /// Whether a candidate wins. Of two ended tokens the later one wins; of replaced products the
    /// first one wins.
    private static func isPreferred(_ candidate: Candidate, to best: Candidate) -> Bool {
        guard candidate.now.statement != nil else { return false }
        let isLater = candidate.now.token?.token != best.now.token?.token
        if isLater, candidate.standing.state == .expired, best.standing.state == .expired {
            return true
        }
        return candidate.standing.isBetter(than: best.standing)
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

    /// Returns when the store last reported anything by an instant, by its clock.
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
