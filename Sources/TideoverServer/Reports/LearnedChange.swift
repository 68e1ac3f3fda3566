package import TideoverCore

/// One message of a store that contained something new about a purchase.
package struct LearnedChange: Hashable, Sendable {
    /// How a change first reached the server.
    package enum Way: String, Hashable, Sendable, CaseIterable {
        /// The store pushed it.
        case pushed
        /// The server queried the store.
        case asked
        /// A device, or an app's back end, sent data that the store had signed for it.
        case device
    }

    package let way: Way
    /// When the store signed the message.
    package let signedAt: Instant
    /// Since when the change is true, as far as the store dates it: the start of a period, or the
    /// date of a refund. It is never later than `signedAt`, and equals it if the store states no
    /// other date.
    package let trueSince: Instant
    package let learnedAt: Instant

    /// The time from the store's signature to its receipt; zero if the store's clock is ahead.
    package var delay: Milliseconds { max(.zero, learnedAt - signedAt) }

    /// The time during which the change was true and unknown to the server.
    package var blindness: Milliseconds { max(.zero, learnedAt - trueSince) }
}

extension LearnedChange {
    /// Returns the changes among all facts of one lineage, in the order they were learned.
    ///
    /// An observation is new if it differs from its neighbours: the observations of the same topic
    /// asserted just before and just after it. Only those known at its arrival count. A late
    /// notification of a state that a read has already returned is therefore not a change.
    package static func changes(among facts: [Fact]) -> [LearnedChange] {
        var messages: [EvidenceID: [Fact]] = [:]
        for fact in facts where Way(fact.source) != nil {
            messages[fact.evidence, default: []].append(fact)
        }
        let inOrder = messages.sorted {
            ($0.value[0].learnedAt, $0.key) < ($1.value[0].learnedAt, $1.key)
        }
        var known = KnownWords()
        return inOrder.compactMap { known.take($0.value) }
    }
}

extension LearnedChange.Way {
    /// Returns nil for facts that do not come from a store.
    package init?(_ source: Source) {
        switch source {
        case .appStoreNotification, .playNotification, .revenueCatWebhook: self = .pushed
        case .appStoreAPI, .playAPI, .revenueCatAPI: self = .asked
        case .deviceTransaction, .appReceipt: self = .device
        case .imported, .operator, .server: return nil
        }
    }
}

/// The observations of one lineage so far.
private struct KnownWords {
    /// An observation, and whether it comes from RevenueCat.
    private typealias Known = (assertedAt: Instant, word: Word, isRelayed: Bool)

    /// The observations by topic, in the order of their assertion.
    private var words: [Topic: [Known]] = [:]
    /// The key that the first observation of a transaction had. RevenueCat does not state what the
    /// App Store's own key contains.
    private var keys: [String: TermKey] = [:]
    private var hasPlayReads = false

    /// Adds one message, and returns nil if it contains nothing new.
    mutating func take(_ message: [Fact]) -> LearnedChange? {
        let told = message.compactMap { fact in Word(fact).map { (fact, $0) } }
        let news = told.filter { isNews($0.1, $0.0) }
        // A repetition by RevenueCat must not hide what the store says next and it does not state.
        for (fact, word) in told where fact.rank != .relayed || isNews(word, fact) {
            add(word, fact)
        }
        guard let first = news.first, let way = LearnedChange.Way(first.0.source) else {
            return nil
        }
        let signedAt = news.map(\.0.envelopeSignedAt).reduce(first.0.envelopeSignedAt, max)
        return LearnedChange(
            way: way,
            signedAt: signedAt,
            trueSince: news.map(\.0.effectiveAt).reduce(signedAt, min),
            learnedAt: first.0.learnedAt
        )
    }

    private func isNews(_ word: Word, _ fact: Fact) -> Bool {
        let isRelayed = fact.rank == .relayed
        // A read of Google's contains all that RevenueCat learns from the same read.
        if isRelayed, hasPlayReads { return false }
        let known = words[topic(of: word)] ?? []
        let place = known.endOfPrefix { $0.assertedAt <= fact.assertedAt }
        let neighbours = known[max(place - 1, 0)..<min(place + 1, known.count)]
        return !neighbours.contains { other in
            isRelayed || other.isRelayed
                ? word.asRelayed == other.word.asRelayed : word == other.word
        }
    }

    private mutating func add(_ word: Word, _ fact: Fact) {
        let topic = topic(of: word)
        switch word {
        case .term(let term) where keys[term.transactionId] == nil:
            keys[term.transactionId] = term.key
        case .playSubscription, .playPurchase: hasPlayReads = true
        default: break
        }
        let place = (words[topic] ?? []).endOfPrefix { $0.assertedAt <= fact.assertedAt }
        let known = (fact.assertedAt, word, fact.rank == .relayed)
        words[topic, default: []].insert(known, at: place)
    }

    private func topic(of word: Word) -> Topic {
        guard case .term(let term) = word else { return word.topic }
        return .term(keys[term.transactionId] ?? term.key)
    }
}

/// The content of a fact, without the time of its assertion.
private enum Word: Hashable {
    case term(Term)
    case outlook(Outlook)
    /// A notification names its cause and a read does not, so only the resulting status is
    /// compared.
    case condition(Condition.Status, renewalDate: Instant?)
    case revocation(Revocation)
    case reversal(TermKey)
    case playSubscription(PlaySubscription)
    case playPurchase(PlayPurchase)
    case playVoid(PlayToken, order: String?)
    /// Each bare notification reports a separate event.
    case playNotice(PlayNotice, at: Instant)

    /// Returns nil for assertions that do not describe a purchase.
    init?(_ fact: Fact) {
        switch fact.assertion {
        case .term(let term): self = .term(term)
        case .outlook(let outlook): self = .outlook(outlook)
        case .condition(let condition):
            guard let status = condition.status ?? condition.notice?.status else { return nil }
            self = .condition(status, renewalDate: condition.renewalDate)
        case .revocation(let revocation): self = .revocation(revocation)
        case .reversal(let reversal): self = .reversal(reversal.term)
        case .playSubscription(let read): self = .playSubscription(read.asWord)
        case .playPurchase(let read): self = .playPurchase(read.asWord)
        case .playVoidedOrder(let void): self = .playVoid(void.token, order: void.orderId)
        case .playNotice(let notice):
            guard notice.kind != .presented else { return nil }
            self = .playNotice(notice, at: fact.assertedAt)
        case .grant, .move, .inferredOwner, .inquiry, .pending, .playReplacement, .unrecognised:
            return nil
        }
    }

    /// What RevenueCat can state too.
    var asRelayed: Word {
        switch self {
        case .term(let term):
            .term(
                Term(
                    transactionId: term.transactionId,
                    productId: term.productId,
                    start: term.start,
                    end: term.end
                )
            )
        case .outlook(let outlook): .outlook(Outlook(willRenew: outlook.willRenew))
        case .condition(let status, _): .condition(status, renewalDate: nil)
        case .revocation, .reversal, .playSubscription, .playPurchase, .playVoid, .playNotice: self
        }
    }

    var topic: Topic {
        switch self {
        case .term(let term): .term(term.key)
        case .outlook: .outlook
        case .condition: .condition
        case .revocation(let revocation): .revocation(revocation.term)
        case .reversal(let term): .reversal(term)
        case .playSubscription(let read): .playToken(read.token)
        case .playPurchase(let read): .playToken(read.token)
        case .playVoid(let token, let order): .playVoid(token, order: order)
        case .playNotice(let notice, let instant): .playNotice(notice, at: instant)
        }
    }
}

extension PlaySubscription {
    /// A copy without the time of the query and our own acknowledgement.
    fileprivate var asWord: PlaySubscription {
        var word = self
        (word.askedAt, word.isAcknowledged) = (.distantPast, nil)
        return word
    }
}

extension PlayPurchase {
    /// A copy without the time of the query and our own acknowledgement.
    fileprivate var asWord: PlayPurchase {
        var word = self
        (word.askedAt, word.isAcknowledged) = (.distantPast, nil)
        return word
    }
}

private enum Topic: Hashable {
    case term(TermKey), outlook, condition, revocation(TermKey), reversal(TermKey)
    case playToken(PlayToken), playVoid(PlayToken, order: String?)
    case playNotice(PlayNotice, at: Instant)
}

extension Condition.Notice {
    /// The App Store's status that corresponds to the notification.
    fileprivate var status: Condition.Status {
        switch self {
        case .failedToRenew, .graceExpired: .retry
        case .failedToRenewInGrace: .grace
        case .expired: .expired
        }
    }
}
