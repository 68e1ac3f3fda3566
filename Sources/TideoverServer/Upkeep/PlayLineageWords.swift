import TideoverCore
import TideoverGooglePlay

/// What is known of the purchase tokens of one lineage of Google Play: the newest answer about each, and
/// how asking went.
struct PlayLineageWords {
    /// The newest answer about each subscription that was answered about.
    private(set) var subscriptions: [PlayToken: PlaySubscription] = [:]
    /// The same of one-time purchases.
    private(set) var purchases: [PlayToken: PlayPurchase] = [:]
    /// When each token was asked about first, by our clock.
    private(set) var firstAsked: [PlayToken: Instant] = [:]
    /// Tokens that another one has taken the place of.
    private(set) var replaced: Set<PlayToken> = []
    /// When the store was asked in vain, by our clock, in order.
    private(set) var failures: [Instant] = []
    /// Whether the newest question that is kept by itself was asked in vain.
    private(set) var isUnanswered = false
    /// When each token was last told of by a bare notification.
    private(set) var heard: [PlayToken: Instant] = [:]
    /// When each token was last told of as voided as a whole.
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

    /// Tokens that were told of and never answered about.
    var unread: [PlayToken: PlayRead.Kind] {
        named.filter { subscriptions[$0.key] == nil && purchases[$0.key] == nil }
    }

    /// Every token that there may be a question about.
    var tokens: Set<PlayToken> {
        Set(named.keys).union(subscriptions.keys).union(purchases.keys)
    }

    /// What to ask for, of a token that is known here.
    func kind(of token: PlayToken) -> PlayRead.Kind? {
        if subscriptions[token] != nil { return .subscription }
        return purchases[token] != nil ? .product : named[token]
    }

    /// By when the store was asked; our own clock tells two questions of one second apart.
    private static func isEarlier(_ a: Fact, _ b: Fact) -> Bool {
        (a.assertedAt, a.learnedAt, a.evidence) < (b.assertedAt, b.learnedAt, b.evidence)
    }
}

extension PlaySubscription {
    /// Whether it was ever paid for, or a trial begun.
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
