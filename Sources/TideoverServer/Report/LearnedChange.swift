package import TideoverCore

/// One message of a store that told something of a purchase which no message heard before it had told.
package struct LearnedChange: Hashable, Sendable {
    /// How a change reached us first.
    package enum Way: String, Hashable, Sendable, CaseIterable {
        /// The store sent it.
        case pushed
        /// We asked the store.
        case asked
        /// A device, or an app's back end, brought what the store had signed for it.
        case device
    }

    package let way: Way
    /// When the store signed the message.
    package let signedAt: Instant
    /// Since when it has been true, as far as the store dates it: the start of a period, the date of a
    /// refund; never later than it was signed, and that where there is no other date.
    package let trueSince: Instant
    package let learnedAt: Instant

    /// From the store's signature to our learning; none where the store's clock is ahead.
    package var delay: Milliseconds { max(.zero, learnedAt - signedAt) }

    /// How long we did not know what was so.
    package var blindness: Milliseconds { max(.zero, learnedAt - trueSince) }
}

extension LearnedChange {
    /// The changes among everything heard of one lineage, in the order they were learned.
    ///
    /// A word is news if it differs from both the word asserted before it and the one asserted after it,
    /// of those on the same thing that were known when it came: who is told late what a read has told
    /// already learns nothing.
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
    /// Nil for what no store said.
    package init?(_ source: Source) {
        switch source {
        case .appStoreNotification, .playNotification, .revenueCatWebhook: self = .pushed
        case .appStoreAPI, .playAPI, .revenueCatAPI: self = .asked
        case .deviceTransaction, .appReceipt: self = .device
        case .imported, .operator, .server: return nil
        }
    }
}

/// What has been heard of one lineage so far.
private struct KnownWords {
    /// By what they speak of, in the order of their assertion.
    private var words: [Topic: [(assertedAt: Instant, word: Word)]] = [:]

    /// Takes one message in; nil if it tells nothing new.
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

/// What a fact says, without when it was said.
private enum Word: Hashable {
    case term(Term)
    case outlook(Outlook)
    /// A notification names its occasion, a read does not: the state counts, however it was told.
    case condition(Condition.Status, renewalDate: Instant?)
    case revocation(Revocation)
    case reversal(TermKey)
    case playSubscription(PlaySubscription)
    case playPurchase(PlayPurchase)
    case playVoid(PlayToken, order: String?)
    /// Each bare notification is of an event of its own.
    case playNotice(PlayNotice, at: Instant)

    /// Nil for what tells nothing of a purchase.
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
        case .grant, .inquiry, .pending, .playReplacement, .unrecognised: return nil
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
    /// Without when it was asked, and what we told the store ourselves.
    fileprivate var asWord: PlaySubscription {
        var word = self
        (word.askedAt, word.isAcknowledged) = (.distantPast, nil)
        return word
    }
}

extension PlayPurchase {
    /// Without when it was asked, and what we told the store ourselves.
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
    /// The state that the App Store's status would be beside it.
    fileprivate var status: Condition.Status {
        switch self {
        case .failedToRenew, .graceExpired: .retry
        case .failedToRenewInGrace: .grace
        case .expired: .expired
        }
    }
}
