/// Collects facts by subject, then binds observations to terms.
///
/// Grants and one-time purchases on Google Play become terms too.
struct HistoryBuilder {
    private let lineage: Lineage
    let catalogue: Versioned<Catalogue>
    var terms: [Observation<Term>] = []
    var outlooks: [Observation<Outlook>] = []
    var conditions: [Observation<Condition>] = []
    var revocations: [Observation<Revocation>] = []
    var reversals: [Observation<Reversal>] = []
    var grants: [Observation<Grant>] = []
    var pendings: [Observation<PendingPurchase>] = []
    var purchases = PlayPurchases()
    /// Notifications that report an active subscription.
    private var activeNotices: [EvidenceID] = []
    /// When receipts that list the purchase were made. Each lists all its renewals until then.
    var receipts: Set<Instant> = []

    /// Creates a builder for a number of facts. Most are terms, outlooks and conditions.
    init(of lineage: Lineage, catalogue: Versioned<Catalogue>, facts: Int) {
        self.lineage = lineage
        self.catalogue = catalogue
        terms.reserveCapacity(facts)
        outlooks.reserveCapacity(facts)
        conditions.reserveCapacity(facts)
    }

    mutating func add(_ fact: Fact) {
        switch fact.assertion {
        case .term(let term):
            terms.append(Observation(fact.mayNamePlan ? listed(term, by: fact) : term, of: fact))
            if fact.source == .appReceipt, fact.rank == .store { receipts.insert(fact.assertedAt) }
        case .outlook(let outlook):
            outlooks.append(
                Observation(fact.mayNamePlan ? listed(outlook, by: fact) : outlook, of: fact)
            )
        case .condition(let condition):
            // An unrecognised value must not displace an older recognised one.
            guard let known = condition.known else { return }
            conditions.append(Observation(known, of: fact))
            if known.status == .active, fact.source == .appStoreNotification {
                activeNotices.append(fact.evidence)
            }
        case .revocation(let revocation): revocations.append(Observation(revocation, of: fact))
        case .reversal(let reversal): reversals.append(Observation(reversal, of: fact))
        case .grant(let grant): grants.append(Observation(grant, of: fact))
        case .pending(let pending): pendings.append(Observation(pending, of: fact))
        case .playPurchase(let read): purchases.add(read, of: fact)
        case .playVoidedOrder(let void): purchases.voids.append(Observation(void, of: fact))
        case .playNotice(let notice): purchases.add(notice, of: fact)
        case .move, .inferredOwner, .inquiry, .playSubscription, .playReplacement, .unrecognised:
            break
        }
    }

    private func listed(_ term: Term, by fact: Fact) -> Term {
        var term = term
        term.productId = listed(term.productId, by: fact)
        return term
    }

    private func listed(_ outlook: Outlook, by fact: Fact) -> Outlook {
        var outlook = outlook
        outlook.productId = outlook.productId.map { listed($0, by: fact) }
        outlook.renewsInto = outlook.renewsInto.map { listed($0, by: fact) }
        return outlook
    }

    /// Returns the ID under which the catalogue lists a relayed product. It may have been listed,
    /// with or without its base plan, after the fact was stored.
    private func listed(_ productId: String, by fact: Fact) -> String {
        catalogue.value(at: fact.assertedAt).id(ofPlan: productId)
    }

    /// Returns the seen and the unseen terms, each with its observations.
    mutating func records() -> (seen: [TermRecord], unseen: [TermRecord]) {
        grants.sort(by: Observation.isOlder)
        terms += grants.map { Observation($0.value.term, like: $0) }
        let bought = purchases.words(catalogue: catalogue)
        terms += bought.terms
        revocations += bought.revocations
        terms.sort(by: Observation.isOlder)
        outlooks.sort(by: Observation.isOlder)
        conditions.sort(by: Observation.isOlder)
        revocations.sort(by: Observation.isOlder)
        reversals.sort(by: Observation.isOlder)
        let names = TermNames(of: terms)
        let records = seenTerms(names)
        attachRevocations(to: records, names)
        findUpgrades(in: records, names)
        let ends = EndIndex(records)
        var unseenEnds = EndIndex()
        let unseen = bindOutlooks(to: records, ends, filing: &unseenEnds)
        bindConditions(to: records, ends, and: unseen, unseenEnds)
        for record in records {
            record.completeOutlooks()
            record.settle()
        }
        for record in unseen {
            record.completeOutlooks()
            record.settle()
        }
        moveEffectiveStarts(of: records, ends)
        return (
            records.map { TermRecord($0, of: lineage) },
            unseen.map { TermRecord($0, of: lineage) }
        )
    }

    // MARK: Terms

    private func seenTerms(_ names: TermNames) -> [TermDraft] {
        // They only undo revocations.
        let activeNotices = revocations.isEmpty ? [] : Set(activeNotices)
        let ends = RelayedEnds(outlooks, conditions, refunds: revocations.map(\.value), names)
        let records = groupedTerms(names).map { key, stated in
            let words = ends.counted(stated, of: key) { ($0.value, $0.assertedAt, $0.rank) }
            // Observations are sorted oldest first, so the last of the highest rank is the newest.
            let newest = words.reduce(words[0]) {
                $1.rank >= $0.rank && !$1.lags(behind: $0) ? $1 : $0
            }
            let complete = newest.completed(by: words)
            let first = stated[0].assertedAt
            let record = TermDraft(
                key: key,
                word: complete,
                end: end(of: complete.value),
                firstAsserted: first,
                isUnseen: false,
                firstTold: first,
                effectiveStart: complete.value.start
            )
            record.words = stated
            let clean = words.filter {
                !$0.value.isRevoked && $0.rank == newest.rank && !$0.isRelayedEnd
            }
            record.cleanSignings = clean.map(\.assertedAt)
            if !activeNotices.isEmpty {
                record.cleanNotices = clean.filter { activeNotices.contains($0.evidence) }
                    .map(\.assertedAt)
            }
            record.takeEnds(of: stated, rank: newest.rank)
            record.plannedGrace =
                catalogue.value(at: complete.value.start)[complete.value.productId]?.grace
            record.entitlement = grants.last { $0.value.key == key }?.value.entitlement
            return record
        }
        return records.inOrder {
            ($0.term.start, $0.firstAsserted, $0.key) < ($1.term.start, $1.firstAsserted, $1.key)
        }
    }

    /// Groups observations by term, oldest first. Groups follow their first observation, which is
    /// nearly the order of term starts.
    private func groupedTerms(_ names: TermNames) -> [(key: TermKey, words: [Observation<Term>])] {
        var places = [TermKey: Int](minimumCapacity: terms.count)
        var groups: [(key: TermKey, words: [Observation<Term>])] = []
        groups.reserveCapacity(terms.count)
        for word in terms {
            let key = names.key(of: word.value)
            if let place = places[key] {
                groups[place].words.append(word)
            } else {
                places[key] = groups.count
                groups.append((key, [word]))
            }
        }
        return groups
    }

    /// Returns the end of a term. Non-renewing purchases last as long as the catalogue states.
    /// Without a length they end at once, because nothing supports more. A subscription without a
    /// stated end ended when its payment failed.
    private func end(of term: Term) -> Instant? {
        switch term.plan {
        case .nonConsumable: term.end
        case .nonRenewing:
            term.end ?? length(of: term).map { term.start + $0 } ?? term.start
        case .autoRenewable: term.end ?? failure(of: term) ?? term.start
        case .consumable, .unrecognised: term.end ?? term.start
        }
    }

    /// Returns when a relay first reported that the payment due at the end of a term failed.
    private func failure(of term: Term) -> Instant? {
        outlooks.lazy.filter { $0.rank < .store && $0.assertedAt >= term.start }
            .compactMap { word in word.value.graceEnd.map { min($0, word.assertedAt) } }.first
    }

    private func length(of term: Term) -> Period? {
        catalogue.value(at: term.start)[term.productId]?.period
    }

    private func attachRevocations(to records: [TermDraft], _ names: TermNames) {
        guard !revocations.isEmpty || !reversals.isEmpty else { return }
        let positions = Dictionary(
            uniqueKeysWithValues: records.enumerated().map { ($1.key, $0) }
        )
        for word in revocations {
            guard let position = positions[names.key(word.value.term)],
                word.rank >= records[position].rank
            else { continue }
            records[position].revocations.append(word)
        }
        for word in reversals {
            guard let position = positions[names.key(word.value.term)] else { continue }
            records[position].reversals.append(word.assertedAt)
        }
    }

    /// Dates each upgrade at the earlier of the successor's start and the store's first report. The
    /// first known successor may be only a renewal of a missing one.
    private func findUpgrades(in records: [TermDraft], _ names: TermNames) {
        var said: [TermKey: Instant] = [:]
        for word in terms.reversed() where word.value.isUpgraded {
            said[names.key(of: word.value)] = word.assertedAt
        }
        for position in records.indices
        where records[position].term.isUpgraded || !records[position].revocations.isEmpty {
            let record = records[position]
            // A renewal that was announced before this term began is not its successor.
            let successor = records[(position + 1)...].first {
                $0.term.start > record.term.start && $0.firstAsserted > record.term.start
            }
            let looksUpgraded = record.revocations.contains { word in
                successor?.term.start.isWithin(LineageHistory.sameEnd, of: word.value.date) ?? false
            }
            guard record.term.isUpgraded || looksUpgraded else { continue }
            records[position].upgradedAt = [successor?.term.start, said[record.key]]
                .compactMap(\.self).min()
        }
    }

    // MARK: Binding

    /// Binds each outlook to its term. An outlook that names another end of a term, former or of
    /// its grace, binds to that term. Outlooks that name an unknown end may create unseen terms,
    /// which are returned.
    private func bindOutlooks(
        to records: [TermDraft],
        _ ends: EndIndex,
        filing unseenEnds: inout EndIndex
    ) -> [TermDraft] {
        var unseen: [TermDraft] = []
        let formerEnds = FormerEnds(records)
        for word in outlooks {
            let renewalDate = word.value.renewalDate
            if let renewalDate, ends.nearest(to: renewalDate) == nil,
                let position = formerEnds.nearest(
                    to: renewalDate,
                    named: word.rank,
                    isKnown: { records[$0].firstAsserted <= word.assertedAt }
                )
            {
                let kept = word.value.moved(to: records[position].end)
                records[position].outlooks.append(Observation(kept, like: word))
                continue
            }
            let target = target(
                renewalDate: word.value.renewalDate,
                assertedAt: word.assertedAt,
                isFailing: word.value.isFailing(termEnd: nil),
                among: records,
                ends
            )
            switch target {
            case .term(let position): records[position].outlooks.append(word)
            case .unseenTerm(let end): Self.file(word, endingAt: end, in: &unseen, &unseenEnds)
            case .nothing: break
            }
        }
        for position in records.indices {
            guard let told = records[position].outlooks.first?.assertedAt else { continue }
            records[position].firstTold = min(records[position].firstTold, told)
        }
        return unseen
    }

    private func bindConditions(
        to records: [TermDraft],
        _ ends: EndIndex,
        and unseen: [TermDraft],
        _ unseenEnds: EndIndex
    ) {
        for word in conditions {
            let target = target(
                renewalDate: word.value.renewalDate,
                assertedAt: word.assertedAt,
                isFailing: word.value.isFailing,
                among: records,
                ends
            )
            switch target {
            case .term(let position): records[position].conditions.append(word)
            case .unseenTerm(let end):
                guard let position = unseenEnds.nearest(to: end) else { continue }
                unseen[position].conditions.append(word)
            case .nothing: break
            }
        }
    }

    private enum Target {
        case term(Int)
        case unseenTerm(end: Instant)
        case nothing
    }

    /// Returns the term that an observation concerns.
    ///
    /// With a renewal date, this is the term that ends then. Without one, it is the newest term
    /// asserted by then. A renewal date that matches no known end names an unseen term, unless the
    /// observation is a failure while a known term was running. A failure without a known end binds
    /// to the newest term over by then or near its end, because the store announces a failure up to
    /// a day ahead.
    private func target(
        renewalDate: Instant?,
        assertedAt: Instant,
        isFailing: Bool,
        among records: [TermDraft],
        _ ends: EndIndex
    ) -> Target {
        if let renewalDate {
            if let position = ends.nearest(to: renewalDate) { return .term(position) }
            let isRunning = records.contains {
                $0.firstAsserted <= assertedAt && ($0.end ?? .distantFuture) > assertedAt
            }
            guard isFailing && isRunning else { return .unseenTerm(end: renewalDate) }
        }
        let position = records.lastIndex {
            $0.firstAsserted <= assertedAt && (!isFailing || $0.isDue(at: assertedAt))
        }
        return position.map(Target.term) ?? .nothing
    }

    private static func file(
        _ word: Observation<Outlook>,
        endingAt end: Instant,
        in unseen: inout [TermDraft],
        _ ends: inout EndIndex
    ) {
        if let position = ends.nearest(to: end) {
            unseen[position].outlooks.append(word)
            return
        }
        let term = Term(
            transactionId: "",
            productId: word.value.productId ?? "",
            start: word.assertedAt,
            end: end
        )
        let record = TermDraft(
            key: term.key,
            word: Observation(term, like: word),
            end: end,
            firstAsserted: word.assertedAt,
            isUnseen: true,
            firstTold: word.assertedAt,
            effectiveStart: word.assertedAt
        )
        record.outlooks = [word]
        ends.add(end, at: unseen.count)
        unseen.append(record)
    }

    // MARK: Pace

    /// Returns the smallest ratio of actual to nominal length among plain terms. Stores run in real
    /// time or many times faster, so a slightly short term is no evidence of pace.
    func pace(of terms: [TermRecord], isShared: Bool) -> Pace {
        let graces = terms.filter { $0.firstFailure != nil }.compactMap { record in
            record.end.flatMap { end in record.graceEnd.map { (end: end, graceEnd: $0) } }
        }
        return terms.reduce(.real) { slowest, record in
            let start = record.term.start
            // A recovery in grace ends with the cycle: it began late, and is short for that reason.
            let isRecovery = graces.contains { $0.end < start && start <= $0.graceEnd }
            // A share begins when it is given, and ends with the shared period.
            let isJoined = isShared && !terms.contains { $0.end == start }
            guard let end = record.end, record.upgradedAt == nil, record.entitlement == nil,
                !isRecovery, !isJoined, let nominal = nominalLength(of: record.term)
            else { return slowest }
            return Pace.slower(slowest, Pace(of: end - record.term.start, nominally: nominal))
        }
    }

    /// Returns the nominal length of a term. For a monthly-paid commitment, the product's period is
    /// the whole commitment.
    private func nominalLength(of term: Term) -> Milliseconds? {
        if let period = term.offer?.period { return period.length(from: term.start) }
        guard let whole = length(of: term)?.length(from: term.start) else { return nil }
        guard term.billing == .monthly || term.commitment != nil else { return whole }
        return Milliseconds(whole.count / max(1, term.commitment?.payments ?? 12))
    }

    // MARK: Pending

    /// Returns how long each reported pending purchase waited: until it ended, lapsed, or was
    /// bought.
    func pendingSpans(_ records: [TermRecord]) -> [PendingSpan] {
        guard !pendings.isEmpty else { return purchases.pendingSpans }
        let words = pendings.sorted(by: Observation.isOlder)
        let told = Dictionary(grouping: words) { $0.value.id }.values.compactMap { words in
            span(of: words, records)
        }
        return told + purchases.pendingSpans
    }

    private func span(
        of words: [Observation<PendingPurchase>],
        _ records: [TermRecord]
    ) -> PendingSpan? {
        guard let first = words.first(where: { !$0.value.isOver }), let last = words.last else {
            return nil
        }
        let over = words.first { $0.value.isOver && $0.assertedAt >= first.assertedAt }?.assertedAt
        let bought = records.first {
            $0.term.productId == last.value.productId && $0.term.start >= first.assertedAt
        }?.term.start
        return PendingSpan(
            id: last.value.id,
            productId: last.value.productId,
            since: first.assertedAt,
            until: [over, bought, last.value.until].compactMap(\.self).min()
        )
    }

    // MARK: Effective start

    /// The longest billing grace period that the App Store offers.
    private static let longestGrace = Milliseconds.days(28)

    /// Moves the effective start of recoveries in grace.
    ///
    /// A recovery keeps the old cycle: the new term's purchase date is the old end. It counts from
    /// its first report, so that the billing issue remains in the history. It never counts before
    /// the old end, nor after grace (or the longest grace if none was stated).
    private func moveEffectiveStarts(of records: [TermDraft], _ ends: EndIndex) {
        for position in records.indices {
            let start = records[position].term.start
            guard let before = ends.nearest(to: start), before != position,
                let oldEnd = records[before].end, let failure = records[before].failure.first,
                failure < records[position].firstTold
            else { continue }
            let graceEnd = records[before].grace?.value.graceEnd
            let told = min(records[position].firstTold, graceEnd ?? oldEnd + Self.longestGrace)
            records[position].effectiveStart = max(told, oldEnd)
        }
    }
}

/// Finds the term that ends nearest to an instant, without a full search.
private struct EndIndex {
    /// Ordered by end.
    private var terms: [(end: Instant, position: Int)] = []

    init() {}

    init(_ records: [TermDraft]) {
        self.init(records.enumerated().compactMap { at, record in record.end.map { ($0, at) } })
    }

    fileprivate init(_ ends: [(end: Instant, position: Int)]) {
        terms = ends.sorted { $0 < $1 }
    }

    mutating func add(_ end: Instant, at position: Int) {
        terms.insert((end, position), at: terms.endOfPrefix { $0.end <= end })
    }

    /// Returns nil when none ends within the tolerance; of equally near ones the first.
    func nearest(to instant: Instant) -> Int? {
        near(instant).min { $0 < $1 }?.position
    }

    /// Returns nil when none ends within the tolerance; of equally near ones the newest that is
    /// known, if there is one.
    func nearest(to instant: Instant, newest isKnown: (Int) -> Bool) -> Int? {
        guard let first = near(instant).min(by: { $0 < $1 }) else { return nil }
        let equals = near(instant).filter { $0.distance == first.distance }.map(\.position)
        return equals.filter(isKnown).max() ?? first.position
    }

    /// Inlined, so that its closure is not allocated.
    @inline(__always)
    private func near(
        _ instant: Instant
    ) -> some Sequence<(distance: UInt64, position: Int)> {
        let first = terms.endOfPrefix { $0.end < instant - LineageHistory.sameEnd }
        let latest = instant + LineageHistory.sameEnd
        var end = first
        while end < terms.count, terms[end].end <= latest { end += 1 }
        return terms[first..<end].lazy
            .map { (distance: UInt64(($0.end - instant).count.magnitude), position: $0.position) }
    }
}

/// Finds terms by their ends before an extension.
private struct FormerEnds {
    private let own: EndIndex
    private let lower: EndIndex

    init(_ records: [TermDraft]) {
        let terms = records.enumerated()
        own = EndIndex(terms.flatMap { at, record in record.formerEnds.map { ($0, at) } })
        lower = EndIndex(terms.flatMap { at, record in record.lowerEnds.map { ($0, at) } })
    }

    /// Returns the nearest term; of equally near ones the newest that was known. A store
    /// observation never refers to an end that only a relay states.
    func nearest(to instant: Instant, named rank: Rank, isKnown: (Int) -> Bool) -> Int? {
        own.nearest(to: instant, newest: isKnown)
            ?? (rank < .store ? lower.nearest(to: instant, newest: isKnown) : nil)
    }
}

extension TermDraft {
    /// Sorts the ends that its observations state and that differ from its own.
    fileprivate func takeEnds(of words: [Observation<Term>], rank: Rank) {
        for word in words {
            guard let stated = word.value.end, stated != end else { continue }
            if word.rank == rank { formerEnds.insert(stated) } else { lowerEnds.insert(stated) }
        }
        lowerEnds.subtract(formerEnds)
    }
}

extension Observation<Term> {
    /// Whether this states the end before an extension that the store reported within the last
    /// hour. A read may come from a copy that the extension has not reached yet. A refund or an
    /// upgrade is newer information.
    fileprivate func lags(behind extended: Observation<Term>) -> Bool {
        guard rank == .store, extended.rank == .store, let end = value.end,
            let newEnd = extended.value.end
        else { return false }
        return end < newEnd && assertedAt < extended.assertedAt + .hours(1)
            && !value.isRevoked && !value.isUpgraded
    }
}

extension Observation<Term> {
    /// Whether a relay states this end after it has passed. It says that the term is over, and not
    /// that a refund was reversed.
    fileprivate var isRelayedEnd: Bool { value.isRelayedEnd(at: assertedAt, by: rank) }
}

extension Term {
    fileprivate func isRelayedEnd(at assertedAt: Instant, by rank: Rank) -> Bool {
        guard rank < .store, let end else { return false }
        return end <= assertedAt + LineageHistory.sameEnd
    }
}

/// Decides which ends a relay's observations may set.
///
/// A relay that reports the end of a term after it has passed can shorten the term, because the
/// newest observation counts. After a failed payment it cannot extend it, because RevenueCat states
/// the end of grace instead. After a refund it states the date of the refund, which is no end
/// either.
struct RelayedEnds {
    typealias Word = (term: Term, assertedAt: Instant, rank: Rank)

    /// When the relay reported failed payments.
    private let failures: [Instant]
    /// The ends of grace that it stated, with when it did.
    private let graceEnds: [(statedAt: Instant, end: Instant)]
    private let refunds: [TermKey: [Instant]]

    init(
        _ outlooks: [Observation<Outlook>],
        _ conditions: [Observation<Condition>],
        refunds: [Revocation],
        _ names: TermNames
    ) {
        let relayed = outlooks.filter { $0.rank < .store }
        failures =
            relayed.filter { $0.value.isFailing(termEnd: nil) }.map(\.assertedAt)
            + conditions.filter { $0.rank < .store && $0.value.isFailing }.map(\.assertedAt)
        graceEnds = relayed.compactMap { word in
            word.value.graceEnd.map { (word.assertedAt, $0) }
        }
        self.refunds = Dictionary(grouping: refunds) { names.key($0.term) }
            .mapValues { $0.map(\.date) }
    }

    /// Returns the observations of one term that count. Requires observations oldest first.
    func counted<Element>(
        _ words: [Element],
        of key: TermKey,
        _ read: (Element) -> Word
    ) -> [Element] {
        guard words.count > 1, words.contains(where: { isLate(read($0)) }) else { return words }
        var known: Instant?
        let counted = words.filter { element in
            let word = read(element)
            guard word.rank < .store, let end = word.term.end else { return true }
            if isLate(word),
                isOther(end, word, of: key) || hasFailed(word) && known.map({ $0 < end }) ?? false
            {
                return false
            }
            known = end
            return true
        }
        return counted.isEmpty ? words : counted
    }

    private func isLate(_ word: Word) -> Bool {
        word.term.isRelayedEnd(at: word.assertedAt, by: word.rank)
    }

    /// Whether a payment of the term had failed by then.
    private func hasFailed(_ word: Word) -> Bool {
        failures.contains { $0 >= word.term.start && $0 <= word.assertedAt }
    }

    /// Whether a date is that of a refund of the term, or of the end of its grace.
    private func isOther(_ date: Instant, _ word: Word, of key: TermKey) -> Bool {
        let graces = graceEnds.filter {
            $0.statedAt >= word.term.start && $0.statedAt <= word.assertedAt
        }
        return (refunds[key, default: []] + graces.map(\.end)).contains {
            $0.isWithin(LineageHistory.sameEnd, of: date)
        }
    }
}

/// Resolves two observations of one transaction to the same term, even if only one has the period's
/// ID.
struct TermNames {
    private var byTransaction: [String: TermKey]

    init(of words: [Observation<Term>]) {
        byTransaction = Dictionary(minimumCapacity: words.count)
        for word in words where word.value.webOrderLineItemId != nil {
            byTransaction[word.value.transactionId] = word.value.key
        }
    }

    init(_ terms: [Term]) {
        byTransaction = Dictionary(minimumCapacity: terms.count)
        for term in terms where term.webOrderLineItemId != nil {
            byTransaction[term.transactionId] = term.key
        }
    }

    func key(of term: Term) -> TermKey {
        byTransaction[term.transactionId] ?? term.key
    }

    func key(_ key: TermKey) -> TermKey {
        key.transactionId.flatMap { byTransaction[$0] } ?? key
    }
}

extension Fact {
    /// Whether its product ID may include a base plan: a relay states both in one.
    var mayNamePlan: Bool { rank == .relayed && lineage.store == .googlePlay }
}
