/// Something the store said, with what decides between two words on the same thing.
///
/// A class: words are sorted, bound and looked up again and again, and are too large to be copied.
final class Word<Value: Hashable & Sendable>: Sendable {
    let value: Value
    let assertedAt: Instant
    let envelopeSignedAt: Instant
    let evidence: EvidenceID
    let rank: Rank

    init(_ value: Value, of fact: Fact) {
        self.value = value
        assertedAt = fact.assertedAt
        envelopeSignedAt = fact.envelopeSignedAt
        evidence = fact.evidence
        rank = fact.rank
    }

    /// The same word, read as something else.
    init<Other>(_ value: Value, like other: Word<Other>) {
        self.value = value
        assertedAt = other.assertedAt
        envelopeSignedAt = other.envelopeSignedAt
        evidence = other.evidence
        rank = other.rank
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

/// A term while what was said of it is gathered.
struct TermDraft: Sendable {
    let key: TermKey
    /// The newest word of the highest rank, completed by the others of that rank.
    let word: Word<Term>
    /// Nil for a lifetime.
    var end: Instant?
    /// What an operator granted; nil for what was sold.
    var entitlement: String?
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
    /// Ends that older words of its rank state; the store has moved the end since.
    var formerEnds: Set<Instant> = []
    /// Ends that only words of a lower rank state, as a relay's.
    var lowerEnds: Set<Instant> = []
    /// Words bound to this term, oldest first.
    var outlooks: [Word<Outlook>] = []
    var conditions: [Word<Condition>] = []
    var revocations: [Word<Revocation>] = []
    /// When refunds of it were taken back.
    var reversals: [Instant] = []
    /// When the term was signed without a revocation.
    var cleanSignings: [Instant] = []
    /// Those of them in a notification by which the subscription is active.
    var cleanNotices: [Instant] = []
    /// The billing grace that the catalogue names for its product.
    var plannedGrace: Period?

    /// What the words come to; `settle` finds it once they are all there.
    private(set) var failure = Failure()
    /// The word that states when grace ends, and its end.
    private(set) var grace: Word<Outlook>?

    var term: Term { word.value }
    var rank: Rank { word.rank }

    /// Whether the term is over, or near enough to its end for an early billing failure: within a day
    /// and a fifth of its length.
    func isDue(at instant: Instant) -> Bool {
        guard let end else { return false }
        let fifth = Milliseconds(max(0, (end - term.start).count / 5))
        return end - min(.days(1), fifth) <= instant
    }

    /// Finds what the words come to, so that no rule has to look for it again.
    mutating func settle() {
        failure = Failure(of: self)
        grace = end.flatMap { end in
            newestWord(outlooks, by: .distantFuture) { $0.graceEnd.map { $0 > end } ?? false }
        }
    }

    /// At each word, whether the words by then let grace go on; oldest first.
    fileprivate var graceTurns: [(at: Instant, isKept: Bool)] {
        guard grace != nil else { return [] }
        let said = Set(outlooks.map(\.assertedAt) + conditions.map(\.assertedAt)).sorted()
        return said.map { ($0, keepsGrace(by: $0)) }
    }

    private func keepsGrace(by instant: Instant) -> Bool {
        let condition = conditions.newest(by: instant)
        return condition?.value.saysExpired != true
            && Situation.keepsGrace(outlooks.newest(by: instant), condition)
    }
}

/// One term with everything said of it, or a term we have not seen that a later outlook tells of.
///
/// A class, as words are: whatever is decided on a term refers to it.
final class TermRecord: Sendable {
    let key: TermKey
    /// The newest word of the highest rank, completed by the others of that rank.
    let term: Term
    let rank: Rank
    /// Nil for a lifetime.
    let end: Instant?
    /// What an operator granted; nil for what was sold.
    let entitlement: String?
    /// The first assertion of the term itself.
    let firstAsserted: Instant
    /// True when only an outlook tells of this term.
    let isUnseen: Bool
    /// The first word that told of this term: its own, or an outlook of it.
    let firstTold: Instant
    /// From when the term counts; its purchase date except after a recovery in grace.
    let effectiveStart: Instant
    /// When the customer upgraded away from it.
    let upgradedAt: Instant?
    /// Words bound to this term, oldest first.
    let outlooks: [Word<Outlook>]
    let conditions: [Word<Condition>]
    let revocations: [Word<Revocation>]
    /// When refunds of it were taken back.
    let reversals: [Instant]
    /// When the term was signed without a revocation.
    let cleanSignings: [Instant]
    /// Those of them in a notification by which the subscription is active.
    let cleanNotices: [Instant]
    /// The billing grace that the catalogue names for its product.
    let plannedGrace: Period?
    let failure: Failure
    /// The word that states when grace ends, and its end.
    let grace: Word<Outlook>?
    private let graceTurns: [(at: Instant, isKept: Bool)]

    /// From a draft that has settled.
    init(_ draft: TermDraft) {
        key = draft.key
        term = draft.term
        rank = draft.rank
        end = draft.end
        entitlement = draft.entitlement
        firstAsserted = draft.firstAsserted
        isUnseen = draft.isUnseen
        firstTold = draft.firstTold
        effectiveStart = draft.effectiveStart
        upgradedAt = draft.upgradedAt
        outlooks = draft.outlooks
        conditions = draft.conditions
        revocations = draft.revocations
        reversals = draft.reversals
        cleanSignings = draft.cleanSignings
        cleanNotices = draft.cleanNotices
        plannedGrace = draft.plannedGrace
        failure = draft.failure
        grace = draft.grace
        graceTurns = draft.graceTurns
    }

    /// When the first failing word about this term was asserted, if one was.
    var firstFailure: Instant? { failure.first }

    /// The newest grace end any outlook of this term stated; a later outlook that omits it does
    /// not erase it. One that lies before the term's end persists from an earlier failure.
    var graceEnd: Instant? { grace?.value.graceEnd }

    /// Since when, looking back from an instant, the words have stood against grace without a
    /// break; nil if they do not.
    func graceCut(by instant: Instant) -> Instant? {
        var cut: Instant?
        for turn in graceTurns where turn.at <= instant {
            cut = turn.isKept ? nil : cut ?? turn.at
        }
        return cut
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
    /// A revocation acts from its own date. It is undone by a refund reversal, by a later notification
    /// of an active subscription without it, and by a read without it at least an hour (at the
    /// lineage's pace) after the last one that carried it: a stale read right after a refund must not
    /// restore access. The same date does not revoke again.
    func revocation(at instant: Instant, pace: Pace) -> Revocation? {
        guard let newest = newestRevocation(at: instant) else { return nil }
        return undone(newest.value, at: instant, pace: pace) == nil ? newest.value : nil
    }

    /// The newest revocation that had taken effect by an instant, undone or not.
    func newestRevocation(at instant: Instant) -> Word<Revocation>? {
        var newest: Word<Revocation>?
        for word in revocations where counts(word, at: instant) {
            if let found = newest, found.value.date > word.value.date { continue }
            newest = word
        }
        return newest
    }

    /// Whether a revocation would be in force at an instant if nothing else were known.
    func counts(_ word: Word<Revocation>, at instant: Instant) -> Bool {
        word.value.date <= instant && !isUpgrade(word.value)
    }

    /// When a revocation was undone, looking back from an instant.
    private func undone(_ revocation: Revocation, at instant: Instant, pace: Pace) -> Instant? {
        let reversal = reversals.first { $0 <= instant && $0 >= revocation.date }
        // Oldest first, as all words are.
        let carried = revocations.filter { $0.value.date == revocation.date }.map(\.assertedAt)
        let wait = pace.scale(.hours(1))
        let notice = cleanNotices.first { notice in
            notice <= instant && carried.first.map { $0 < notice } ?? false
        }
        let signing = cleanSignings.first { signing in
            signing <= instant
                && carried.last { $0 <= signing }.map { $0 + wait <= signing } ?? false
        }
        return [reversal, notice, signing].compactMap(\.self).min()
    }

    /// Whether a later signing lacks the revocation, too soon to undo it.
    func isRevocationDoubted(at instant: Instant) -> Bool {
        guard let carried = revocations.last(where: { $0.assertedAt <= instant })?.assertedAt else {
            return false
        }
        return cleanSignings.contains { $0 > carried && $0 <= instant }
    }

    /// Since when and why the term is taken back at an instant: by a revocation, or by the store's
    /// bare word for one, which names no cause and counts while nothing newer undid it. A status in the
    /// same evidence as a revocation is about that revocation.
    func takenBack(at instant: Instant, pace: Pace) -> TakenBack? {
        if let revocation = revocation(at: instant, pace: pace) {
            return TakenBack(since: revocation.date, cause: revocation.cause, rank: rank)
        }
        guard let word = conditions.newest(by: instant), word.value.status == .revoked,
            !revocations.contains(where: { $0.evidence == word.evidence }),
            !isUndone(word.assertedAt, by: instant, pace: pace)
        else { return nil }
        return TakenBack(since: word.assertedAt, cause: nil, rank: word.rank)
    }

    /// A revocation in force.
    struct TakenBack: Sendable {
        let since: Instant
        /// Nil if the store names none.
        let cause: Revocation.Cause?
        let rank: Rank
    }

    /// When the last revocation before an instant was undone.
    func lastUndoing(by instant: Instant, pace: Pace) -> Instant? {
        var last: Instant?
        for word in revocations {
            guard let undone = undone(word.value, at: instant, pace: pace) else { continue }
            last = max(last ?? undone, undone)
        }
        return last
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

extension Outlook {
    /// The outlook for a term whose end was moved since: auto-renew still holds, a failure concerned the
    /// old end.
    func withoutFailure(endingAt end: Instant?) -> Outlook {
        var outlook = self
        outlook.renewalDate = end
        outlook.isRetrying = nil
        outlook.graceEnd = nil
        outlook.lapse = nil
        return outlook
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

/// When a term's payment was said to have failed.
///
/// A failing word of a lower rank fills a silence of the store: it counts until the store itself
/// speaks of the term's end or of what came after.
struct Failure: Sendable {
    /// By the store's own words.
    private var stated: Instant?
    /// By words of a lower rank.
    private var supposed: Instant?
    /// When the store first spoke after the term's end.
    private var silentUntil: Instant = .distantFuture

    init() {}

    fileprivate init(of record: TermDraft) {
        for word in record.outlooks {
            note(
                word.assertedAt,
                word.rank,
                isFailing: word.value.isFailing(termEnd: record.end),
                record
            )
        }
        for word in record.conditions {
            note(word.assertedAt, word.rank, isFailing: word.value.isFailing, record)
        }
    }

    private mutating func note(
        _ said: Instant,
        _ rank: Rank,
        isFailing: Bool,
        _ record: TermDraft
    ) {
        guard rank == .store else {
            if isFailing { supposed = min(supposed ?? said, said) }
            return
        }
        if isFailing { stated = min(stated ?? said, said) }
        if said >= record.end ?? .distantFuture { silentUntil = min(silentUntil, said) }
    }

    var first: Instant? {
        guard let supposed, supposed < silentUntil else { return stated }
        return min(stated ?? supposed, supposed)
    }

    /// Whether it had been said by an instant, and by whom; it stands until another term starts.
    func rank(by instant: Instant) -> Rank? {
        if let stated, stated <= instant { return .store }
        guard let supposed, supposed <= instant, instant < silentUntil else { return nil }
        return .relayed
    }
}
