/// The time ranges in which one purchase was denied although the store, as known now, confirms it;
/// of a customer's purchases, without the time that other access covered.
///
/// This is the main measure of failure. The truth at an instant comes from all facts known now, if
/// the store itself reported it (`confirmed`). It is compared with the answer that was given then,
/// from the facts received by then.
///
/// The policy and the catalogue in effect at an instant decide both sides.
public struct Lockouts: Hashable, Sendable {
    /// Oldest first, one for each version of policy and catalogue in effect while the store
    /// confirmed access.
    public let periods: [Period]

    /// How long the store confirmed access: the denominator.
    public var entitled: Milliseconds { periods.reduce(.zero) { $0 + $1.entitled } }

    /// Oldest first for each judge. Adjacent ranges with one cause are merged within a period.
    public var stretches: [Stretch] {
        periods.flatMap(\.stretches).sorted {
            ($0.judge.rawValue, $0.from) < ($1.judge.rawValue, $1.from)
        }
    }

    /// The time in which one version of policy and catalogue was in effect.
    public struct Period: Hashable, Sendable {
        /// When that version took effect; nil for the first one, which also decides all time
        /// before.
        public let since: Instant?
        public internal(set) var entitled = Milliseconds.zero
        public internal(set) var stretches: [Stretch] = []

        /// Returns how long a judge denied access that the store confirms.
        public func total(_ judge: Judge, _ cause: Cause? = nil) -> Milliseconds {
            stretches.lazy.filter { $0.judge == judge && (cause == nil || $0.cause == cause) }
                .reduce(.zero) { $0 + $1.length }
        }
    }

    public struct Stretch: Hashable, Sendable {
        public var judge: Judge
        public var cause: Cause
        public var from: Instant
        /// The first instant after it.
        public var until: Instant

        package init(judge: Judge, cause: Cause, from: Instant, until: Instant) {
            self.judge = judge
            self.cause = cause
            self.from = from
            self.until = until
        }

        public var length: Milliseconds { until - from }
    }

    /// The system that gave the measured answer.
    public enum Judge: String, Hashable, Sendable, CaseIterable {
        /// Tideover, from the facts received by then.
        case ours
        /// A back end that compares the newest received expiry date with the clock.
        case expiryCheck
        /// A relay, such as RevenueCat, from its messages by then.
        case relay
    }

    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// The store kept access in grace, and the judge did not.
        case grace
        /// The store had reported it, and the report had not arrived: a lost or late message.
        case notHeard
        /// The store itself reported it only later.
        case saidLater
        /// Everything had arrived, and the judge reached another conclusion.
        case judgement
    }

    /// Returns how long a judge denied access that the store confirms.
    public func total(_ judge: Judge, _ cause: Cause? = nil) -> Milliseconds {
        periods.reduce(.zero) { $0 + $1.total(judge, cause) }
    }
}

extension Lockouts {
    /// Measures one lineage for one entitlement, from the first fact to `now`.
    public init(
        lineage: Lineage,
        facts: some Sequence<Fact>,
        entitlement: String,
        until now: Instant,
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>
    ) {
        let court = Court(
            lineage: lineage,
            facts: facts.filter { $0.lineage == lineage },
            entitlement: entitlement,
            catalogue: catalogue,
            policy: policy
        )
        self.init(of: court.segments(until: now), court.changes)
    }

    /// Sums segments in order of time that contain none of the changes of policy and catalogue.
    fileprivate init(of segments: [Segment], _ changes: [Instant]) {
        var builder = PeriodBuilder(changes)
        for segment in segments {
            builder.addEntitled(from: segment.range.lowerBound, until: segment.range.upperBound)
            for stretch in segment.denials { builder.add(stretch) }
        }
        periods = builder.periods
    }

    /// A time range in which the store confirms access and no answer changes.
    fileprivate struct Segment {
        let range: Range<Instant>
        var denials: [Stretch]
    }
}

/// Compares each judge's answer with the truth.
private struct Court {
    let lineage: Lineage
    /// Ordered by when they were learned.
    let facts: [Fact]
    let entitlement: String
    let catalogue: Versioned<Catalogue>
    let policy: Versioned<Policy>
    let truth: LineageHistory
    /// When another policy or catalogue takes effect.
    let changes: [Instant]

    init(
        lineage: Lineage,
        facts: [Fact],
        entitlement: String,
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>
    ) {
        self.lineage = lineage
        self.facts = facts.sorted { $0.learnedAt < $1.learnedAt }
        self.entitlement = entitlement
        self.catalogue = catalogue
        self.policy = policy
        truth = LineageHistory(lineage: lineage, facts: facts, catalogue: catalogue)
        changes =
            (catalogue.versions.dropFirst().map(\.effectiveAt)
            + policy.versions.dropFirst().map(\.effectiveAt)).inOrder
    }

    /// Returns the segments in which the store confirms access, up to `now`. Between two arrivals
    /// the received facts stay the same, so only the boundaries of time matter.
    ///
    /// A segment also ends at each of `cuts`. `addAccess` receives every range in which no answer
    /// changes, entitled or not, with the judges that gave access.
    func segments(
        until now: Instant,
        cutAt cuts: [Instant] = [],
        addAccess: ((Range<Instant>, [Lockouts.Judge]) -> Void)? = nil
    ) -> [Lockouts.Segment] {
        var segments: [Lockouts.Segment] = []
        let truths = boundaries(of: truth).union(changes).union(cuts)
        let heard = Set(facts.map(\.learnedAt)).filter { $0 < now }.sorted()
        let first = min(truths.min() ?? now, heard.first ?? now)
        for (from, until) in zip([first] + heard, heard + [now]) where from < until {
            let bench = Bench(self, heardBy: from)
            let inside = truths.union(bench.boundaries).filter { from < $0 && $0 < until }
            let points = [from] + inside.sorted() + [until]
            for (start, end) in zip(points, points.dropFirst()) {
                addAccess?(start..<end, bench.granting(at: start, self))
                let standing = answer(of: truth, at: start)
                guard standing.access, standing.confidence == .confirmed,
                    standing.reason != .keptByPolicy
                else { continue }
                let denials = bench.denials(of: standing, at: start, self).map { judge, cause in
                    Lockouts.Stretch(judge: judge, cause: cause, from: start, until: end)
                }
                segments.append(.init(range: start..<end, denials: denials))
            }
        }
        return segments
    }

    func answer(of history: LineageHistory, at instant: Instant) -> Standing {
        history.standing(
            of: entitlement,
            at: instant,
            policy: policy,
            catalogue: catalogue.value(at: instant)
        )
    }

    /// Returns the boundaries under any of the policies.
    func boundaries(of history: LineageHistory) -> Set<Instant> {
        Set(policy.versions.flatMap { history.boundaries(policy: $0.value) })
    }

    /// Returns whether the store had said something by an instant that had not arrived by then.
    func isMissingMessage(at instant: Instant) -> Bool {
        facts.contains {
            $0.learnedAt > instant && max($0.assertedAt, $0.envelopeSignedAt) <= instant
        }
    }

    /// Returns whether the store's reports by an instant, received or not, together give access.
    func wasSaid(by instant: Instant) -> Bool {
        let said = facts.filter { max($0.assertedAt, $0.envelopeSignedAt) <= instant }
        let history = LineageHistory(lineage: lineage, facts: said, catalogue: catalogue)
        return answer(of: history, at: instant).access
    }
}

/// The judges, with the facts received by an instant.
private struct Bench {
    let ours: LineageHistory
    let relay: LineageHistory?
    /// The newest end of a term that unlocks the entitlement, for each catalogue.
    let expiry: Versioned<Instant>
    let boundaries: Set<Instant>

    init(_ court: Court, heardBy instant: Instant) {
        let facts = court.facts.filter { $0.learnedAt <= instant }
        let relayed = facts.filter { $0.rank == .relayed }
        ours = LineageHistory(lineage: court.lineage, facts: facts, catalogue: court.catalogue)
        relay =
            relayed.isEmpty
            ? nil
            : LineageHistory(lineage: court.lineage, facts: relayed, catalogue: court.catalogue)
        expiry = court.catalogue.map { $0.newestEnd(of: court.entitlement, in: facts) }
        var all = court.boundaries(of: ours)
        if let relay { all.formUnion(court.boundaries(of: relay)) }
        all.formUnion(expiry.versions.map(\.value))
        boundaries = all
    }

    /// Returns the judges that give access.
    func granting(at instant: Instant, _ court: Court) -> [Lockouts.Judge] {
        Lockouts.Judge.allCases.filter { judge in
            switch judge {
            case .ours: court.answer(of: ours, at: instant).access
            case .expiryCheck: instant < expiry.value(at: instant)
            case .relay: relay.map { court.answer(of: $0, at: instant).access } ?? false
            }
        }
    }

    func denials(
        of truth: Standing,
        at instant: Instant,
        _ court: Court
    ) -> [(Lockouts.Judge, Lockouts.Cause)] {
        var denying: [Lockouts.Judge] = []
        let answer = court.answer(of: ours, at: instant)
        if !answer.access { denying.append(.ours) }
        if instant >= expiry.value(at: instant) { denying.append(.expiryCheck) }
        if let relay, !court.answer(of: relay, at: instant).access { denying.append(.relay) }
        guard !denying.isEmpty else { return [] }
        let cause: Lockouts.Cause = court.wasSaid(by: instant) ? .notHeard : .saidLater
        // We also give access that we only presume, before the message arrives.
        let wasHeard =
            answer.access
            && (answer.confidence == .confirmed || !court.isMissingMessage(at: instant))
        return denying.map { judge in
            switch judge {
            case .ours: (judge, cause)
            case .expiryCheck, .relay:
                (judge, truth.state == .grace ? .grace : wasHeard ? .judgement : cause)
            }
        }
    }
}

// MARK: - One customer

extension CustomerRecord {
    /// Returns how long the customer had no access to an entitlement although a purchase entitled
    /// the customer to it, by that purchase. A grant covers time like any other access, but its own
    /// time is not counted, because it was not paid for.
    ///
    /// A purchase counts while the customer owns it. Time is left out in which the same judge gave
    /// access by anything else that the customer owned, and was known to own. Time in which several
    /// purchases were denied counts once, for the first denied purchase. How long the store
    /// confirmed access is that of each purchase.
    package func lockouts(
        of entitlement: String,
        until now: Instant
    ) -> [(lineage: Lineage, lockouts: Lockouts)] {
        let records = answering.filter { $0.lineage.environment == environment }
        let entitles = records.map {
            catalogue.entitlements(namedIn: $0.facts).contains(entitlement)
        }
        guard entitles.contains(true) else { return [] }
        var denials = CustomerDenials()
        for (record, isEntitling) in zip(records, entitles)
        where isEntitling || mayCover(entitlement, record.facts) {
            let court = Court(
                lineage: record.lineage,
                facts: record.facts,
                entitlement: entitlement,
                catalogue: catalogue,
                policy: policy
            )
            let changes = record.owners.flatMap { [$0.from, $0.until, $0.decidedAt] }
            let segments = court.segments(
                until: now,
                cutAt: identity.instants + changes.compactMap(\.self)
            ) { range, judges in
                let known = record.owners.filter {
                    ($0.decidedAt ?? .distantPast) <= range.lowerBound
                }
                guard identity.owns(known, at: range.lowerBound) else { return }
                for judge in judges { denials.addAccess(range, of: judge) }
            }
            guard isEntitling else { continue }
            denials.add(
                segments.filter { identity.owns(record.owners, at: $0.range.lowerBound) },
                of: court
            )
        }
        return denials.lockouts()
    }

    /// Whether a purchase may give access to an entitlement that no product in its facts unlocks:
    /// by a grant, by a product that it may renew into, or by one that no catalogue lists.
    private func mayCover(_ entitlement: String, _ facts: [Fact]) -> Bool {
        let isOpen = policy.versions.contains { $0.value.unknownProduct.unlocks(entitlement) }
        return isOpen
            || facts.contains { fact in
                switch fact.assertion {
                case .grant(let grant): grant.entitlement == entitlement
                case .outlook(let outlook): mayUnlock(entitlement, outlook.renewsInto)
                case .playSubscription(let read):
                    read.items.contains { mayUnlock(entitlement, $0.replacement) }
                case .playNotice(let notice): mayUnlock(entitlement, notice.productId)
                default: false
                }
            }
    }

    /// Whether a product, with any base plan, unlocks an entitlement in any catalogue.
    private func mayUnlock(_ entitlement: String, _ productId: String?) -> Bool {
        guard let name = productId?.prefix(while: { $0 != ":" }) else { return false }
        return catalogue.versions.contains { version in
            version.value.products.contains { id, product in
                product.entitlements.contains(entitlement)
                    && id.prefix { $0 != ":" } == name
            }
        }
    }
}

/// The segments of a customer's purchases, and when each judge gave access by any of them.
private struct CustomerDenials {
    private var purchases: [(court: Court, segments: [Lockouts.Segment])] = []
    private var access: [Lockouts.Judge: [Range<Instant>]] = [:]

    private struct Denial {
        let purchase: Int
        let segment: Int
        /// When the unbroken denial by the same judge began.
        let began: Instant
        let stretch: Lockouts.Stretch
    }

    mutating func addAccess(_ range: Range<Instant>, of judge: Lockouts.Judge) {
        access[judge, default: []].append(range)
    }

    mutating func add(_ segments: [Lockouts.Segment], of court: Court) {
        if !segments.isEmpty { purchases.append((court, segments)) }
    }

    /// Returns the lockouts of each purchase, without time that is covered or counted already.
    mutating func lockouts() -> [(lineage: Lineage, lockouts: Lockouts)] {
        var open = access.mapValues(UncountedTime.init)
        for denial in takeDenials() {
            let stretch = denial.stretch
            let ranges = open[stretch.judge, default: UncountedTime(without: [])]
                .take(stretch.from..<stretch.until)
            purchases[denial.purchase].segments[denial.segment].denials += ranges.map { range in
                var part = stretch
                (part.from, part.until) = (range.lowerBound, range.upperBound)
                return part
            }
        }
        return purchases.map { court, segments in
            (court.lineage, Lockouts(of: segments, court.changes))
        }
    }

    /// Removes the denials from the segments, and returns them by when the unbroken denial began.
    private mutating func takeDenials() -> [Denial] {
        var denials: [Denial] = []
        for purchase in purchases.indices {
            var last: [Lockouts.Judge: Denial] = [:]
            for segment in purchases[purchase].segments.indices {
                for stretch in purchases[purchase].segments[segment].denials {
                    let before = last[stretch.judge].flatMap {
                        $0.stretch.until == stretch.from ? $0 : nil
                    }
                    let denial = Denial(
                        purchase: purchase,
                        segment: segment,
                        began: before?.began ?? stretch.from,
                        stretch: stretch
                    )
                    last[stretch.judge] = denial
                    denials.append(denial)
                }
                purchases[purchase].segments[segment].denials = []
            }
        }
        return denials.sorted {
            ($0.began, $0.purchase, $0.segment) < ($1.began, $1.purchase, $1.segment)
        }
    }
}

/// Time that was not counted yet and is not covered.
private struct UncountedTime {
    /// Ordered by their start.
    private let covered: [Range<Instant>]
    /// Ranges before this position end before any uncounted time.
    private var next = 0
    private var counted = Instant.distantPast

    init(without covered: [Range<Instant>]) {
        self.covered = covered.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Counts a range, and returns its parts that were uncounted. Requires ranges in the order of
    /// their start. Ranges that adjoin may come one after another, in place of their union.
    mutating func take(_ range: Range<Instant>) -> [Range<Instant>] {
        var parts: [Range<Instant>] = []
        var start = max(range.lowerBound, counted)
        while start < range.upperBound {
            while next < covered.count, covered[next].upperBound <= start { next += 1 }
            guard next < covered.count, covered[next].lowerBound < range.upperBound else {
                parts.append(start..<range.upperBound)
                break
            }
            if start < covered[next].lowerBound {
                parts.append(start..<covered[next].lowerBound)
            }
            start = covered[next].upperBound
        }
        counted = max(counted, range.upperBound)
        return parts
    }
}

extension Versioned where Value == Catalogue {
    /// Returns the entitlements of all products in the facts of a purchase, under any version, by
    /// name.
    package func entitlements(namedIn facts: [Fact]) -> [String] {
        Set(versions.flatMap { $0.value.entitlements(namedIn: facts) }).sorted()
    }
}

extension Catalogue {
    fileprivate func entitlements(namedIn facts: [Fact]) -> Set<String> {
        let products = Set(facts.flatMap { sold(in: $0) }.map(\.productId))
        return Set(products.flatMap { self[$0]?.entitlements ?? [] })
    }

    /// Returns the newest end of a term that unlocks an entitlement.
    fileprivate func newestEnd(of entitlement: String, in facts: [Fact]) -> Instant {
        let ends = facts.flatMap { sold(in: $0) }.compactMap { sold in
            unlocks(sold.productId, entitlement) ? sold.end : nil
        }
        return ends.max() ?? .distantPast
    }

    /// Returns the products in a fact, each with its end. The end is the distant future for a
    /// lifetime, and nil if the fact states none.
    fileprivate func sold(in fact: Fact) -> [(productId: String, end: Instant?)] {
        switch fact.assertion {
        case .term(let term):
            // A subscription without an end is known from a failed payment alone.
            let open: Instant? = term.plan == .autoRenewable ? nil : .distantFuture
            let end = term.isRevoked ? nil : term.end ?? open
            return [(listedID(of: term.productId, by: fact), end)]
        case .outlook(let outlook):
            return outlook.productId.map { [(listedID(of: $0, by: fact), nil)] } ?? []
        case .playSubscription(let read):
            return read.items.map { (id(of: $0), $0.expiresAt) }
        case .playPurchase(let read):
            let isPaid = read.state == .purchased
            return read.items.map { ($0.productId, isPaid ? .distantFuture : nil) }
        case .playNotice(let notice):
            return notice.productId.map { [($0, nil)] } ?? []
        default: return []
        }
    }
}

/// Collects time ranges by period, and merges adjacent ones. Requires ranges in order of time that
/// contain no change.
private struct PeriodBuilder {
    private(set) var periods: [Lockouts.Period] = []
    private let changes: [Instant]

    init(_ changes: [Instant]) { self.changes = changes }

    mutating func addEntitled(from start: Instant, until end: Instant) {
        let since = changes.last { $0 <= start }
        if periods.last?.since != since || periods.isEmpty {
            periods.append(Lockouts.Period(since: since))
        }
        periods[periods.count - 1].entitled = periods[periods.count - 1].entitled + (end - start)
    }

    /// Adds a denial within the newest period.
    mutating func add(_ stretch: Lockouts.Stretch) {
        let period = periods.count - 1
        let last = periods[period].stretches.lastIndex { $0.judge == stretch.judge }
        if let last, periods[period].stretches[last].until == stretch.from,
            periods[period].stretches[last].cause == stretch.cause
        {
            periods[period].stretches[last].until = stretch.until
        } else {
            periods[period].stretches.append(stretch)
        }
    }
}
