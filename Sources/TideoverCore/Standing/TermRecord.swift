/// A store observation, with the fields that decide which of two observations wins.
///
/// A class, because observations are sorted, bound and looked up often, and are large to copy.
final class Observation<Value: Hashable & Sendable>: Sendable {
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

    /// Copies the metadata of another observation onto a new value.
    init<Other>(_ value: Value, like other: Observation<Other>) {
        self.value = value
        assertedAt = other.assertedAt
        envelopeSignedAt = other.envelopeSignedAt
        evidence = other.evidence
        rank = other.rank
    }

    /// Orders observations oldest first; the newest wins. The later fields only make the order
    /// total.
    static func isOlder(_ a: Observation, _ b: Observation) -> Bool {
        if a.assertedAt != b.assertedAt { return a.assertedAt < b.assertedAt }
        return (a.envelopeSignedAt, a.evidence) < (b.envelopeSignedAt, b.evidence)
    }
}

extension [Observation<Outlook>] {
    func newest(by instant: Instant) -> Observation<Outlook>? { newestWord(self, by: instant) }
}

extension [Observation<Condition>] {
    func newest(by instant: Instant) -> Observation<Condition>? { newestWord(self, by: instant) }
}

/// Returns the newest observation of the highest rank asserted by an instant. Requires `words`
/// sorted oldest first.
private func newestWord<Value>(
    _ words: [Observation<Value>],
    by instant: Instant,
    where isMeant: (Value) -> Bool = { _ in true }
) -> Observation<Value>? {
    var best: Observation<Value>?
    for word in words.reversed() where word.assertedAt <= instant && isMeant(word.value) {
        if word.rank == .store { return word }
        if best.map({ word.rank > $0.rank }) ?? true { best = word }
    }
    return best
}

/// A term while its observations are collected.
///
/// A class, because drafts are changed one observation at a time, and are large to copy.
final class TermDraft {
    let key: TermKey
    /// The newest observation of the highest rank, completed by the others of that rank.
    let word: Observation<Term>
    /// Nil for a lifetime.
    var end: Instant?
    /// The entitlement that an operator granted; nil for a sold term.
    var entitlement: String?
    /// The first assertion of the term itself.
    let firstAsserted: Instant
    /// True when only an outlook reports this term.
    let isUnseen: Bool
    /// When the term was first reported, by its own observation or by an outlook of it.
    var firstTold: Instant
    /// From when the term counts; its purchase date except after a recovery in grace.
    var effectiveStart: Instant
    /// When the customer upgraded away from it.
    var upgradedAt: Instant?
    /// Ends that older observations of its rank state. The store has moved the end since.
    var formerEnds: Set<Instant> = []
    /// Ends that only observations of a lower rank state, such as a relay's.
    var lowerEnds: Set<Instant> = []
    /// The observations of the term itself, oldest first; none if it is unseen.
    var words: [Observation<Term>] = []
    /// Observations bound to this term, oldest first.
    var outlooks: [Observation<Outlook>] = []
    var conditions: [Observation<Condition>] = []
    var revocations: [Observation<Revocation>] = []
    /// When the store reversed refunds of the term.
    var reversals: [Instant] = []
    /// When the term was signed without a revocation.
    var cleanSignings: [Instant] = []
    /// The clean signings from notifications that report an active subscription; none if nothing of
    /// the lineage was revoked.
    var cleanNotices: [Instant] = []
    /// The billing grace that the catalogue names for its product.
    var plannedGrace: Period?

    /// The payment failure that the observations report. `settle` computes it.
    private(set) var failure = Failure()
    /// The observation that states when grace ends, with its end.
    private(set) var grace: Observation<Outlook>?

    var term: Term { word.value }
    var rank: Rank { word.rank }

    init(
        key: TermKey,
        word: Observation<Term>,
        end: Instant?,
        firstAsserted: Instant,
        isUnseen: Bool,
        firstTold: Instant,
        effectiveStart: Instant
    ) {
        self.key = key
        self.word = word
        self.end = end
        self.firstAsserted = firstAsserted
        self.isUnseen = isUnseen
        self.firstTold = firstTold
        self.effectiveStart = effectiveStart
    }

    /// Whether the term is over, or close enough to its end for an early billing failure. Close
    /// means within a day, and within a fifth of its length.
    func isDue(at instant: Instant) -> Bool {
        guard let end else { return false }
        let fifth = Milliseconds(max(0, (end - term.start).count / 5))
        return end - min(.days(1), fifth) <= instant
    }

    /// Computes the failure and the grace once, so that rules need not search again.
    func settle() {
        failure = Failure(of: self)
        grace = end.flatMap { end in
            newestWord(outlooks, by: .distantFuture) { $0.graceEnd.map { $0 > end } ?? false }
        }
    }

    /// At each observation, whether the observations by then keep grace; oldest first.
    fileprivate var graceTurns: [(at: Instant, isKept: Bool)] {
        guard grace != nil else { return [] }
        let said = Set(outlooks.map(\.assertedAt) + conditions.map(\.assertedAt)).sorted()
        return said.map { ($0, keepsGrace(by: $0)) }
    }

    private func keepsGrace(by instant: Instant) -> Bool {
        let condition = conditions.newest(by: instant)
        return condition?.value.saysExpired != true
            && RuleContext.keepsGrace(outlooks.newest(by: instant), condition)
    }
}

/// A term with all its observations, or an unseen term that only a later outlook reports.
///
/// A class, because every decision on a term refers to it.
final class TermRecord: Sendable {
    let key: TermKey
    /// The newest observation of the highest rank, completed by the others of that rank.
    private let word: Observation<Term>
    /// Nil for a lifetime.
    let end: Instant?
    /// The entitlement that an operator granted; nil for a sold term.
    let entitlement: String?
    /// The first assertion of the term itself.
    let firstAsserted: Instant
    /// True when only an outlook reports this term.
    let isUnseen: Bool
    /// When the term was first reported, by its own observation or by an outlook of it.
    let firstTold: Instant
    /// From when the term counts; its purchase date except after a recovery in grace.
    let effectiveStart: Instant
    /// When the customer upgraded away from it.
    let upgradedAt: Instant?
    /// The observations of the term itself, oldest first; none if it is unseen, or a period that
    /// Google Play's reads report.
    let words: [Observation<Term>]
    /// Observations bound to this term, oldest first.
    let outlooks: [Observation<Outlook>]
    let conditions: [Observation<Condition>]
    let revocations: [Observation<Revocation>]
    /// When the store reversed refunds of the term.
    let reversals: [Instant]
    /// When the term was signed without a revocation.
    let cleanSignings: [Instant]
    /// The clean signings from notifications that report an active subscription; none if nothing of
    /// the lineage was revoked.
    let cleanNotices: [Instant]
    /// The billing grace that the catalogue names for its product.
    let plannedGrace: Period?
    let failure: Failure
    /// The observation that states when grace ends, with its end.
    let grace: Observation<Outlook>?
    private let graceTurns: [(at: Instant, isKept: Bool)]
    /// Whether any observation says that it was revoked.
    private let mayBeTakenBack: Bool
    /// The subject of the standings that it decides; nil for a period that Google Play's reads
    /// report.
    let subject: Standing.Subject?

    /// Creates a record from a draft after `settle`, of a lineage with bought terms.
    init(_ draft: TermDraft, of lineage: Lineage? = nil) {
        subject = lineage.map { lineage in
            Standing.Subject(
                draft.entitlement == nil ? draft.word.value.productId : nil,
                draft.entitlement,
                lineage
            )
        }
        key = draft.key
        word = draft.word
        end = draft.end
        entitlement = draft.entitlement
        firstAsserted = draft.firstAsserted
        isUnseen = draft.isUnseen
        firstTold = draft.firstTold
        effectiveStart = draft.effectiveStart
        upgradedAt = draft.upgradedAt
        words = draft.words
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
        mayBeTakenBack =
            !draft.revocations.isEmpty
            || draft.conditions.contains { $0.value.status == .revoked }
    }

    var term: Term { word.value }
    var rank: Rank { word.rank }

    /// When the first observation of a failure of this term was asserted, if any.
    var firstFailure: Instant? { failure.first }

    /// The newest grace end that any outlook of this term states. A later outlook without one does
    /// not erase it. A grace end before the term's end persists from an earlier failure.
    var graceEnd: Instant? { grace?.value.graceEnd }

    /// Returns the start of the unbroken time up to `instant` in which the observations end grace;
    /// nil if they keep it.
    func graceCut(by instant: Instant) -> Instant? {
        var cut: Instant?
        for turn in graceTurns where turn.at <= instant {
            cut = turn.isKept ? nil : cut ?? turn.at
        }
        return cut
    }

    /// When access by the term ended, as far as the observations by an instant cut its grace short:
    /// with the term, or with its grace.
    func lastAccess(by instant: Instant) -> Instant? {
        guard let end, let graceEnd else { return end }
        return max(end, min(graceEnd, graceCut(by: instant) ?? graceEnd))
    }

    /// When an outlook of this term was last asserted by an instant.
    func lastTold(by instant: Instant) -> Instant? {
        outlooks.last { $0.assertedAt <= instant }?.assertedAt
    }

    /// The earlier of the term's start and its first report. Older observations concern something
    /// before the term.
    var begun: Instant { min(term.start, firstTold) }

    /// Whether this was bought after a renewal was announced and before that renewal began. An
    /// upgrade takes effect at once, so it replaces the announced renewal too. An announcement of a
    /// lower rank, such as a relay's, dates no renewal that the store reports.
    func overtakes(_ renewal: TermRecord) -> Bool {
        guard rank == .store, term.origin != .renewal, renewal.term.origin != .purchase,
            term.start >= renewal.firstAsserted, term.start < renewal.term.start,
            renewal.term.start + LineageHistory.sameEnd < end ?? .distantFuture
        else { return false }
        return renewal.words.contains { $0.rank == renewal.rank && $0.assertedAt <= term.start }
    }

    /// Returns the revocation in force at an instant.
    ///
    /// A revocation acts from its own date. Three things undo it: a refund reversal, a later
    /// notification of an active subscription without it, or a later read without it. Such a read
    /// must come at least an hour (at the lineage's pace) after the last one that carried it. A
    /// stale read right after a refund must not restore access. The same date does not revoke
    /// again.
    func revocation(at instant: Instant, pace: Pace) -> Revocation? {
        guard let newest = newestRevocation(at: instant) else { return nil }
        return undone(newest.value, at: instant, pace: pace) == nil ? newest.value : nil
    }

    /// Returns the newest revocation in effect by an instant, undone or not.
    func newestRevocation(at instant: Instant) -> Observation<Revocation>? {
        var newest: Observation<Revocation>?
        for word in revocations where counts(word, at: instant) {
            if let found = newest, found.value.date > word.value.date { continue }
            newest = word
        }
        return newest
    }

    /// Whether a revocation is in force at an instant if no other fact is considered.
    func counts(_ word: Observation<Revocation>, at instant: Instant) -> Bool {
        word.value.date <= instant && !isUpgrade(word.value)
    }

    /// Returns when a revocation was undone, by an instant.
    private func undone(_ revocation: Revocation, at instant: Instant, pace: Pace) -> Instant? {
        let reversal = reversals.first { $0 <= instant && $0 >= revocation.date }
        // Oldest first, like all observations.
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

    /// Returns since when and why the term is revoked at an instant.
    ///
    /// The source is a revocation, or a bare store status that names no cause. The status counts
    /// until something newer undoes it. A status in the same evidence as a revocation concerns that
    /// revocation.
    func takenBack(at instant: Instant, pace: Pace) -> TakenBack? {
        guard mayBeTakenBack else { return nil }
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
        /// Nil if the store names no cause.
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

    /// Whether any revocation was undone by an instant.
    func isUndone(by instant: Instant, pace: Pace) -> Bool {
        reversals.contains { $0 <= instant } || lastUndoing(by: instant, pace: pace) != nil
    }

    private func isUndone(_ said: Instant, by instant: Instant, pace: Pace) -> Bool {
        let wait = pace.scale(.hours(1))
        return reversals.contains { $0 >= said && $0 <= instant }
            || cleanSignings.contains { $0 >= said + wait && $0 <= instant }
            || lastUndoing(by: instant, pace: pace).map { $0 >= said } ?? false
    }

    /// Whether this is an upgrade. Old receipts also write a cancellation date on an upgrade, which
    /// is not a refund.
    private func isUpgrade(_ revocation: Revocation) -> Bool {
        if term.isUpgraded { return true }
        guard let upgradedAt else { return false }
        return revocation.date.isWithin(.seconds(1), of: upgradedAt)
    }
}

extension Outlook {
    /// Whether the outlook reports a failed payment. A grace end that persists after a recovery
    /// lies before the recovered term's end; it reports no failure.
    func isFailing(termEnd: Instant?) -> Bool {
        if isRetrying == true || lapse == .billingError { return true }
        guard let graceEnd, let end = renewalDate ?? termEnd else { return false }
        return graceEnd > end
    }
}

extension Outlook {
    /// Returns the outlook for a term with a moved end. Auto-renew and a pause still apply; a
    /// failure concerned the old end. It still applies if a relay stated the end of grace in place
    /// of the term's own.
    func moved(to end: Instant?) -> Outlook {
        var outlook = self
        outlook.renewalDate = end
        if let graceEnd, let renewalDate,
            graceEnd.isWithin(LineageHistory.sameEnd, of: renewalDate)
        {
            return outlook
        }
        outlook.isRetrying = nil
        outlook.graceEnd = nil
        if lapse != .paused { outlook.lapse = nil }
        return outlook
    }
}

extension Condition {
    /// The fields that this version recognises; nil without any.
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

/// When a term's payment was reported as failed.
///
/// A failure report of a lower rank counts while the store is silent. It stops counting at the
/// store's first report at or after the term's end.
struct Failure: Sendable {
    /// The first report from the store.
    private var stated: Instant?
    /// The first report of a lower rank.
    private var supposed: Instant?
    /// When the store first reported after the term's end.
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

    /// Returns the rank that reported the failure by an instant. The failure lasts until another
    /// term starts.
    func rank(by instant: Instant) -> Rank? {
        if let stated, stated <= instant { return .store }
        guard let supposed, supposed <= instant, instant < silentUntil else { return nil }
        return .relayed
    }
}
