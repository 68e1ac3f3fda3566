/// The facts of one lineage, arranged for the rules of standing.
///
/// The same set of facts produces the same history in any order and with any repetition.
///
/// A class, because every situation and every answer refers to its history, which is large to copy.
public final class LineageHistory: Sendable {
    public let lineage: Lineage
    /// Terms we have seen, by purchase date. The rules on terms use these.
    let terms: [TermRecord]
    /// Terms that only a later outlook reports, by when it did.
    let unseen: [TermRecord]
    /// Whether any outlook or condition was asserted.
    let hasWords: Bool
    /// The subscription on Google Play; nil for every other lineage.
    let play: PlayHistory?
    /// The products of a one-time purchase of several on Google Play, which count beside each
    /// other; empty for every other lineage.
    let bundle: [String]
    /// Purchases that waited for approval or payment, by when they were reported.
    let pending: [PendingSpan]
    let inquiries: InquiryLog
    /// When receipts that list the purchase were made, oldest first.
    let receipts: [Instant]
    let announcements: Announcements
    /// The terms that were revoked and may return, by purchase date.
    let revokedTerms: [TermRecord]
    /// The products with a newest term that unlocks nothing.
    let inertProducts: Set<String>
    public let pace: Pace
    /// The subject of standings without a product.
    let subject: Standing.Subject

    /// How far two instants may differ and still name the same end.
    static let sameEnd = Milliseconds.seconds(1)
    /// How far apart the parts of one envelope are signed.
    static let sameEnvelope = Milliseconds.minutes(1)

    /// Creates a history. Lengths that no store states come from the catalogue in effect when a
    /// term began.
    public init(
        lineage: Lineage,
        facts: some Sequence<Fact>,
        catalogue: Versioned<Catalogue>
    ) {
        var builder = HistoryBuilder(
            of: lineage,
            catalogue: catalogue,
            facts: facts.underestimatedCount
        )
        var play = PlayHistoryBuilder(catalogue: catalogue)
        var answers: [Inquiry.Answer] = []
        for fact in facts where fact.lineage == lineage {
            builder.add(fact)
            play.add(fact)
            if let answer = Inquiry.Answer(fact) { answers.append(answer) }
        }
        self.lineage = lineage
        subject = Standing.Subject(nil, nil, lineage)
        hasWords = !builder.outlooks.isEmpty || !builder.conditions.isEmpty
        (terms, unseen) = builder.records()
        let isReal = lineage.environment == .production
        let isShared = lineage.ownership == .familyShared
        let pace: Pace =
            isReal ? .real : .slower(builder.pace(of: terms, isShared: isShared), play.pace)
        self.play = play.history(pace: pace)
        bundle = self.play == nil ? builder.purchases.bundle : []
        pending = (builder.pendingSpans(terms) + (self.play?.pending ?? [])).sorted {
            ($0.since, $0.id) < ($1.since, $1.id)
        }
        inquiries = InquiryLog(answers)
        receipts = builder.receipts.sorted()
        announcements = Announcements(terms)
        revokedTerms = terms.filter { !$0.revocations.isEmpty || !$0.reversals.isEmpty }
        inertProducts = terms.reduce(into: []) { inert, record in
            if !record.unlocksAnything {
                inert.insert(record.term.productId)
            } else if !inert.isEmpty {
                inert.remove(record.term.productId)
            }
        }
        self.pace = pace
    }

    /// Every term that a store or a relay reported directly.
    var seenTerms: [TermRecord] { play.map { terms + $0.periods } ?? terms }

    /// Returns the renewal of a term's product that begins where the term ends, if it was reported
    /// by an instant before that.
    func announcedRenewal(of term: TermRecord, at instant: Instant) -> TermRecord? {
        guard let end = term.end,
            let start = announcements.next(after: instant, toldSince: .distantPast),
            start.isWithin(Self.sameEnd, of: end)
        else { return nil }
        let renewal = terms[terms.endOfPrefix { $0.term.start < start }...].first {
            $0.term.origin != .purchase
        }
        guard let renewal, renewal.term.start == start, renewal.firstTold <= instant,
            renewal.rank >= term.rank, renewal.term.productId == term.term.productId
        else { return nil }
        return renewal
    }

    /// Whether its products have standings of their own.
    var hasItems: Bool { play != nil || !bundle.isEmpty }

    func isPending(at instant: Instant) -> Bool {
        pending.contains { $0.isOpen(at: instant) }
    }
}

/// How long a purchase waited for approval or for its first payment.
struct PendingSpan: Sendable {
    let id: String
    let productId: String
    let since: Instant
    /// The first instant it no longer waited; nil if no end is known.
    let until: Instant?

    func isOpen(at instant: Instant) -> Bool {
        since <= instant && instant < (until ?? .distantFuture)
    }
}

/// Renewals that were announced before they began, found without a full search.
struct Announcements: Sendable {
    /// Ordered by when they begin.
    private let entries: [(start: Instant, told: Instant)]
    /// The first instant at which an entry, or any after it, was reported.
    private let firstTold: [Instant]

    /// Creates the index. Requires `terms` ordered by start.
    init(_ terms: [TermRecord]) {
        entries = terms.lazy.filter {
            $0.firstTold < $0.term.start && $0.term.origin != .purchase
        }.map { ($0.term.start, $0.firstTold) }
        var earliest = Instant.distantFuture
        firstTold = entries.reversed().map { entry in
            earliest = min(earliest, entry.told)
            return earliest
        }.reversed()
    }

    /// Returns the start of the first renewal after `instant` that was reported between `since` and
    /// `instant`.
    func next(after instant: Instant, toldSince since: Instant) -> Instant? {
        var position = entries.endOfPrefix { $0.start <= instant }
        while position < entries.count, firstTold[position] <= instant {
            let entry = entries[position]
            if entry.told <= instant, entry.told >= since { return entry.start }
            position += 1
        }
        return nil
    }
}

/// When the store was queried, and whether it answered.
struct InquiryLog: Sendable {
    private let entries: [Inquiry.Answer]

    init(_ entries: [Inquiry.Answer]) {
        self.entries = entries.sorted { $0.order < $1.order }
    }

    /// Whether the newest request by an instant failed and is not older than `start`.
    func isUnanswered(at instant: Instant, since start: Instant) -> Bool {
        let asked = entries.endOfPrefix { $0.at <= instant }
        guard let newest = entries[..<asked].last else { return false }
        return newest.isFailure && newest.at >= start
    }

    var instants: [Instant] { entries.map(\.at) }
}

extension Inquiry {
    /// A request to the store, with when it was sent.
    struct Answer: Sendable {
        let at: Instant
        let isFailure: Bool

        /// A read also counts as an answer.
        init?(_ fact: Fact) {
            switch fact.assertion {
            case .inquiry(let inquiry):
                (at, isFailure) = (fact.assertedAt, inquiry.outcome.isFailure)
            case .playSubscription, .playPurchase: (at, isFailure) = (fact.assertedAt, false)
            default: return nil
            }
        }

        /// Orders answers; of two at one instant a success counts.
        fileprivate var order: (Instant, Int) { (at, isFailure ? 0 : 1) }
    }
}
