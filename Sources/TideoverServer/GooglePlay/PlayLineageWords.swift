import TideoverCore
import TideoverGooglePlay

/// The state of the purchase tokens of one Google Play lineage: the newest response about each, and
/// the outcomes of queries.
struct PlayLineageWords {
    /// The newest response about each subscription token.
    private(set) var subscriptions: [PlayToken: PlaySubscription] = [:]
    /// The newest response about each one-time purchase token.
    private(set) var purchases: [PlayToken: PlayPurchase] = [:]
    /// When each token was first queried, by our clock.
    private(set) var firstAsked: [PlayToken: Instant] = [:]
    /// Tokens that another token has replaced.
    private(set) var replaced: Set<PlayToken> = []
    /// The times of failed queries, by our clock, in order.
    private(set) var failures: [Instant] = []
    /// Whether the newest inquiry failed.
    private(set) var isUnanswered = false
    /// The failures since the last answer about any token.
    private var failuresInRow: [Instant] = []
    /// When a bare notification last reported each token.
    private(set) var heard: [PlayToken: Instant] = [:]
    /// When each token was last reported as completely voided.
    private(set) var voided: [PlayToken: Instant] = [:]
    private var named: [PlayToken: PlayRead.Kind] = [:]

    init(_ facts: [Fact]) {
        var inquiries: [(at: Instant, isFailure: Bool)] = []
        for fact in facts.sorted(by: Self.isEarlier) {
            switch fact.assertion {
            case .playSubscription(let read): take(read)
            case .playPurchase(let read):
                purchases[read.token] = read
                noteFirst(read.token, read.askedAt)
            case .playReplacement(let replacement):
                replaced.insert(replacement.token)
                name(replacement.token, .subscription)
            case .playNotice(let notice) where notice.kind != .presented:
                name(notice.token, notice.kind.isOfOneTimePurchases ? .product : .subscription)
                heard[notice.token] = max(heard[notice.token] ?? .distantPast, fact.learnedAt)
            case .playVoidedOrder(let order) where !order.isPartial:
                voided[order.token] = max(voided[order.token] ?? .distantPast, fact.learnedAt)
            case .inquiry(let inquiry):
                inquiries.append((inquiry.askedAt, inquiry.outcome.isFailure))
            default: break
            }
        }
        inquiries.sort { $0.at < $1.at }
        failures = inquiries.filter(\.isFailure).map(\.at)
        isUnanswered = inquiries.last?.isFailure ?? false
        let answered = inquiries.last { !$0.isFailure }?.at ?? .distantPast
        let read = tokens.compactMap(answeredAt).max() ?? .distantPast
        failuresInRow = failures.filter { $0 > max(answered, read) }
    }

    private mutating func take(_ read: PlaySubscription) {
        subscriptions[read.token] = read
        noteFirst(read.token, read.askedAt)
        guard let linked = read.replaces, linked != read.token else { return }
        name(linked, .subscription)
        if read.isPaid { replaced.insert(linked) }
    }

    private mutating func noteFirst(_ token: PlayToken, _ askedAt: Instant) {
        firstAsked[token] = min(firstAsked[token] ?? askedAt, askedAt)
    }

    private mutating func name(_ token: PlayToken, _ kind: PlayRead.Kind) {
        named[token] = named[token] ?? kind
    }

    /// Tokens that were reported and never answered about.
    var unread: [PlayToken: PlayRead.Kind] {
        named.filter { subscriptions[$0.key] == nil && purchases[$0.key] == nil }
    }

    /// All tokens that may need a query.
    var tokens: Set<PlayToken> {
        Set(named.keys).union(subscriptions.keys).union(purchases.keys)
    }

    /// The newest token without a replacement. One that was never paid counts only if there is no
    /// other.
    var current: PlayToken? {
        tokens.subtracting(replaced).max { order(of: $0) < order(of: $1) }
    }

    private func order(of token: PlayToken) -> (Int, Instant, String) {
        let isPaid = subscriptions[token].map(\.isPaid) ?? true
        return (isPaid ? 1 : 0, firstAsked[token] ?? .distantPast, token.id)
    }

    /// Returns whether one more failed query adds nothing: queries failed for two days, also since
    /// the last end of a period, and the last stored failure is less than a week old.
    func isKnownToFail(at now: Instant, pace: Pace) -> Bool {
        guard let first = failuresInRow.first, let last = failuresInRow.last else { return false }
        let ends = subscriptions.values.flatMap(\.items).compactMap(\.expiresAt)
        // A failure after an end limits what is assumed of the renewal.
        let start = ends.filter { $0 <= now }.reduce(first, max)
        return last >= start + pace.scale(PollSchedule.trying)
            && now < last + PollSchedule.restOfUnknown
    }

    /// Returns when the newest response about a token was requested; nil without one.
    func answeredAt(_ token: PlayToken) -> Instant? {
        [subscriptions[token]?.askedAt, purchases[token]?.askedAt].compactMap(\.self).max()
    }

    /// Returns the kind of query for a known token.
    func kind(of token: PlayToken) -> PlayRead.Kind? {
        if subscriptions[token] != nil { return .subscription }
        return purchases[token] != nil ? .product : named[token]
    }

    /// Orders reads by the time of the query; our own clock distinguishes two queries in one
    /// second.
    private static func isEarlier(_ a: Fact, _ b: Fact) -> Bool {
        (a.assertedAt, a.learnedAt, a.evidence) < (b.assertedAt, b.learnedAt, b.evidence)
    }
}

extension PlaySubscription {
    /// Whether it was ever paid, or a trial started.
    var isPaid: Bool {
        switch state {
        case .active, .paused, .inGrace, .onHold, .cancelled, .expired: true
        case .pending, .pendingCancelled, .unrecognised: false
        }
    }
}

extension PlayNotice.Kind {
    fileprivate var isOfOneTimePurchases: Bool {
        switch self {
        case .oneTimePurchased, .oneTimeCancelled: true
        default: false
        }
    }
}
