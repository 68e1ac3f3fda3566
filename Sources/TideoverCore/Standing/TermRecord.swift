/// Something the store said, with what decides between two words on the same thing.
struct Word<Value: Hashable & Sendable>: Sendable {
    var value: Value
    var assertedAt: Instant
    var envelopeSignedAt: Instant
    var evidence: EvidenceID
    var rank: Rank

    init(_ value: Value, of fact: Fact) {
        self.value = value
        assertedAt = fact.assertedAt
        envelopeSignedAt = fact.envelopeSignedAt
        evidence = fact.evidence
        rank = fact.rank
    }

    /// The newest word wins; the later parts only make the order total.
    static func isOlder(_ a: Word, _ b: Word) -> Bool {
        (a.assertedAt, a.envelopeSignedAt, a.evidence)
            < (b.assertedAt, b.envelopeSignedAt, b.evidence)
    }
}

extension [Word<Outlook>] {
    func newest(by instant: Instant) -> Word<Outlook>? { newestWord(self, by: instant) }
}

extension [Word<Condition>] {
    func newest(by instant: Instant) -> Word<Condition>? { newestWord(self, by: instant) }
}

/// The newest word of the highest rank asserted by an instant; `words` are sorted oldest first.
private func newestWord<Value>(
    _ words: [Word<Value>],
    by instant: Instant,
    where isMeant: (Value) -> Bool = { _ in true }
) -> Word<Value>? {
    var best: Word<Value>?
    for word in words.reversed() where word.assertedAt <= instant && isMeant(word.value) {
        if word.rank == .store { return word }
        if best.map({ word.rank > $0.rank }) ?? true { best = word }
    }
    return best
}

/// One term with everything said of it, or a term we have not seen that a later outlook tells of.
struct TermRecord: Sendable {
    let key: TermKey
    /// The newest word of the highest rank.
    let term: Term
    let rank: Rank
    /// Nil for a lifetime.
    let end: Instant?
    /// The first assertion of the term itself.
    let firstAsserted: Instant
    /// True when only an outlook tells of this term.
    let isUnseen: Bool
    /// The first word that told of this term: its own, or an outlook of it.
    var firstTold: Instant
    /// From when the term counts; its purchase date except after a recovery in grace.
    var effectiveStart: Instant
    /// When the customer upgraded away from it.
    var upgradedAt: Instant?
    /// Words bound to this term, oldest first.
    var outlooks: [Word<Outlook>] = []
    var conditions: [Word<Condition>] = []
    var revocations: [Word<Revocation>] = []
    /// When refunds of it were taken back.
    var reversals: [Instant] = []
    /// When the term was signed without a revocation.
    var cleanSignings: [Instant] = []

    /// When the first failing word about this term was asserted, if one was.
    var firstFailure: Instant? {
        let told = outlooks.first { $0.value.isFailing(termEnd: end) }?.assertedAt
        let stated = conditions.first { $0.value.isFailing }?.assertedAt
        return [told, stated].compactMap(\.self).min()
    }

    /// The newest grace end any outlook of this term stated; a later outlook that omits it does
    /// not erase it. One that lies before the term's end persists from an earlier failure.
    var graceEnd: Instant? {
        guard let end else { return nil }
        return newestWord(outlooks, by: .distantFuture) { $0.graceEnd.map { $0 > end } ?? false }?
            .value.graceEnd
    }

    /// When an outlook of this term was last asserted by an instant.
    func lastTold(by instant: Instant) -> Instant? {
        outlooks.last { $0.assertedAt <= instant }?.assertedAt
    }

    /// When the store had first spoken of this term or it had begun, whichever came first: words
    /// older than that are about something before it.
    var begun: Instant { min(term.start, firstTold) }

    /// The revocation in force at an instant.
    ///
    /// A revocation acts from its own date. It is undone by a refund reversal, and by a signing
    /// without it made at least an hour (at the lineage's pace) after the last signing that carried
    /// it: a stale read right after a refund must not give access back.
    func revocation(at instant: Instant, pace: Pace) -> Revocation? {
        var newest: Word<Revocation>?
        for word in revocations where word.value.date <= instant && !isUpgrade(word.value) {
            if let found = newest, found.value.date > word.value.date { continue }
            newest = word
        }
        guard let newest else { return nil }
        return undone(newest.value, at: instant, pace: pace) == nil ? newest.value : nil
    }

    /// When a revocation was undone, looking back from an instant.
    private func undone(_ revocation: Revocation, at instant: Instant, pace: Pace) -> Instant? {
        let reversal = reversals.last { $0 <= instant && $0 >= revocation.date }
        if let reversal { return reversal }
        let lastCarried = revocations.last { $0.assertedAt <= instant }?.assertedAt
        guard let lastCarried else { return nil }
        let wait = pace.scale(.hours(1))
        return cleanSignings.first { $0 <= instant && $0 >= lastCarried + wait }
    }

    /// Since when and why the term is taken back at an instant: by a revocation, or by the store's
    /// bare word for one, which names no cause and counts while nothing newer undid it.
    func takenBack(at instant: Instant, pace: Pace) -> (since: Instant, cause: Revocation.Cause?)? {
        if let revocation = revocation(at: instant, pace: pace) {
            return (revocation.date, revocation.cause)
        }
        guard let word = conditions.newest(by: instant), word.value.status == .revoked,
            !isUndone(word.assertedAt, by: instant, pace: pace)
        else { return nil }
        return (word.assertedAt, nil)
    }

    /// When the last revocation before an instant was undone.
    func lastUndoing(by instant: Instant, pace: Pace) -> Instant? {
        revocations.compactMap { undone($0.value, at: instant, pace: pace) }.max()
    }

    private func isUndone(_ said: Instant, by instant: Instant, pace: Pace) -> Bool {
        let wait = pace.scale(.hours(1))
        return reversals.contains { $0 >= said && $0 <= instant }
            || cleanSignings.contains { $0 >= said + wait && $0 <= instant }
            || lastUndoing(by: instant, pace: pace).map { $0 >= said } ?? false
    }

    /// Old receipts write a cancellation date on an upgrade too: that is no refund.
    private func isUpgrade(_ revocation: Revocation) -> Bool {
        if term.isUpgraded { return true }
        guard let upgradedAt else { return false }
        return revocation.date.isWithin(.seconds(1), of: upgradedAt)
    }
}

extension Outlook {
    /// Whether it says that a payment failed. A grace end that merely persists after a recovery
    /// lies before the recovered term's end and says nothing.
    func isFailing(termEnd: Instant?) -> Bool {
        if isRetrying == true || lapse == .billingError { return true }
        guard let graceEnd, let end = renewalDate ?? termEnd else { return false }
        return graceEnd > end
    }
}

extension Condition {
    /// What of it this version knows; nil for nothing.
    var known: Condition? {
        var known = self
        if status?.unrecognisedValue != nil { known.status = nil }
        return known.status == nil && known.notice == nil ? nil : known
    }

    var isFailing: Bool {
        if status == .retry || status == .grace { return true }
        switch notice {
        case .failedToRenew, .failedToRenewInGrace, .graceExpired: return true
        case .expired, nil: return false
        }
    }

    var saysGrace: Bool {
        status == .grace || notice == .failedToRenewInGrace
    }

    var saysExpired: Bool { status == .expired || notice == .expired }
}
