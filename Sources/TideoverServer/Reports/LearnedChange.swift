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
    /// The observations by topic, in the order of their assertion.
    private var words: [Topic: [(assertedAt: Instant, word: Word)]] = [:]

    /// Adds one message, and returns nil if it contains nothing new.
    mutating func take(_ message: [Fact]) -> LearnedChange? {
        let told = message.compactMap { fact in Word(fact).map { (fact, $0) } }
        let news = told.filter { isNews($0.1, assertedAt: $0.0.assertedAt) }
        for (fact, word) in told { add(word, assertedAt: fact.assertedAt) }
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

    private func isNews(_ word: Word, assertedAt: Instant) -> Bool {
        let known = words[word.topic] ?? []
        let place = known.endOfPrefix { $0.assertedAt <= assertedAt }
        let before = place > 0 ? known[place - 1].word : nil
        let after = place < known.count ? known[place].word : nil
        return before != word && after != word
    }

    private mutating func add(_ word: Word, assertedAt: Instant) {
        let place = (words[word.topic] ?? []).endOfPrefix { $0.assertedAt <= assertedAt }
        words[word.topic, default: []].insert((assertedAt, word), at: place)
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
        case .grant, .move, .inquiry, .pending, .playReplacement, .unrecognised: return nil
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
