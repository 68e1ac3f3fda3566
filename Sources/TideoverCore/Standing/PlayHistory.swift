/// A subscription on Google Play: the purchase tokens of one chain, and what was said of each.
///
/// A class, as the records of its tokens are: every situation refers to them.
final class PlayHistory: Sendable {
    /// By when they began.
    let tokens: [PlayTokenRecord]
    /// The periods paid for, by when they began.
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
    /// The first instant anything is said of.
    let begun: Instant
    /// The first instant another token had taken its place, for ever.
    let retiredFrom: Instant?
    let items: [PlayItemRecord]
    /// By when they were told of.
    let voids: [Word<PlayVoidedOrder>]

    init(
        token: PlayToken,
        begun: Instant,
        retiredFrom: Instant?,
        items: [PlayItemRecord],
        voids: [Word<PlayVoidedOrder>]
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

/// One product of a token, by what was said of it in turn.
struct PlayItemRecord: Sendable {
    /// As the store names it.
    let productId: String
    /// By when they count.
    var statements: [PlayStatement]

    func statement(at instant: Instant) -> PlayStatement? {
        statements.lastIndex { $0.from <= instant }.map { statements[$0] }
    }
}

/// What one read, or one bare notification, says of one product of a token.
struct PlayStatement: Sendable {
    /// The first instant it counts: when it was said, or earlier where it tells of a time that
    /// nothing said before covers.
    var from: Instant
    let source: Source
    var state: PlaySubscription.State
    /// When it expires, or when this was said where nothing states that. Behind a failed payment or a
    /// pause, an end moved without a payment stays where access ended.
    var expiry: Instant
    /// Whether it states an end behind a failed payment or a pause and names no payment since. No time
    /// before it was said is paid by it.
    private(set) var provesNoPayment = false
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

    /// What was said, which never changes.
    ///
    /// A class: a statement is copied into each situation.
    final class Source: Sendable {
        /// When it was said, by the store's clock.
        let said: Instant
        let rank: Rank
        let evidence: EvidenceID
        /// What else it rests on: a bare notification only says what changed.
        let basis: [EvidenceID]
        /// Nil once the product is no part of the subscription any more.
        let item: PlayItem?
        /// As the catalogue names it.
        let productId: String
        let startedAt: Instant?
        let resumesAt: Instant?
        let cancellation: PlaySubscription.Cancellation?

        init(_ item: PlayItem?, in saying: PlaySaying, _ catalogue: Versioned<Catalogue>) {
            said = saying.said
            rank = saying.word.rank
            evidence = saying.word.evidence
            basis = saying.basis
            self.item = item
            productId = item.map { catalogue.value(at: saying.said).id(of: $0) } ?? ""
            startedAt = saying.startedAt
            resumesAt = saying.resumesAt
            cancellation = saying.cancellation
        }
    }

    init(_ item: PlayItem?, in saying: PlaySaying, _ catalogue: Versioned<Catalogue>) {
        source = Source(item, in: saying, catalogue)
        from = saying.said
        state = saying.state
        expiry = item?.expiresAt ?? saying.said
    }

    var said: Instant { source.said }
    var rank: Rank { source.rank }
    var evidence: EvidenceID { source.evidence }
    var basis: [EvidenceID] { source.basis }
    var item: PlayItem? { source.item }
    var productId: String { source.productId }
    var startedAt: Instant? { source.startedAt }
    var resumesAt: Instant? { source.resumesAt }
    var cancellation: PlaySubscription.Cancellation? { source.cancellation }

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
    /// An answer for one product, and what it was decided on.
    typealias Candidate = (standing: Standing, now: PlaySituation)

    /// The answers of everything that is alive at an instant; where nothing is, those of the token
    /// that was replaced last.
    func candidates(
        at instant: Instant,
        in history: LineageHistory,
        policy: Policy
    ) -> [Candidate] {
        var alive: [Candidate] = []
        for token in tokens where token.isAlive(at: instant) {
            for item in token.items {
                guard let statement = item.statement(at: instant), statement.item != nil else {
                    continue
                }
                let now = PlaySituation(history, self, instant, policy, token, statement)
                alive.append((PlayRule.standing(now), now))
            }
        }
        return alive.isEmpty ? goneCandidates(at: instant, in: history, policy) : alive
    }

    /// The answers where nothing is alive: not yet, or replaced from another chain.
    private func goneCandidates(
        at instant: Instant,
        in history: LineageHistory,
        _ policy: Policy
    ) -> [Candidate] {
        let token = lastRetired(by: instant)
        let statements = token?.items.compactMap { $0.statement(at: instant) } ?? []
        guard !statements.isEmpty else {
            // A token of which no product was ever named says no more than no token.
            let now = PlaySituation(history, self, instant, policy, nil, nil)
            return [(PlayRule.standing(now), now)]
        }
        return statements.map { words in
            let now = PlaySituation(history, self, instant, policy, token, nil, lastWords: words)
            return (PlayRule.standing(now), now)
        }
    }

    /// The best of the answers that are meant; nil if none is.
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

    /// Of two tokens that are both over the later one decides. Of what was replaced the first product
    /// does.
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
