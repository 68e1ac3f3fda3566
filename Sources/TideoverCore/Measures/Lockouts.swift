/// The time ranges in which one purchase was denied although the store, as known now, confirms it.
///
/// This is the main measure of failure. The truth at an instant comes from all facts known now, if
/// the store itself reported it (`confirmed`). It is compared with the answer that was given then,
/// from the facts received by then.
public struct Lockouts: Hashable, Sendable {
    /// Oldest first for each judge. Adjacent ranges with one cause are merged.
    public let stretches: [Stretch]
    /// How long the store confirmed access: the denominator.
    public let entitled: Milliseconds

    public struct Stretch: Hashable, Sendable {
        public var judge: Judge
        public var cause: Cause
        public var from: Instant
        /// The first instant after it.
        public var until: Instant

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
        stretches.lazy.filter { $0.judge == judge && (cause == nil || $0.cause == cause) }
            .reduce(.zero) { $0 + $1.length }
    }
}

extension Lockouts {
    /// Measures one lineage for one entitlement, from the first fact to `now`.
    public init(
        lineage: Lineage,
        facts: some Sequence<Fact>,
        entitlement: String,
        until now: Instant,
        catalogue: Catalogue,
        policy: Policy
    ) {
        let court = Court(
            lineage: lineage,
            facts: facts.filter { $0.lineage == lineage },
            entitlement: entitlement,
            catalogue: catalogue,
            policy: policy
        )
        (stretches, entitled) = court.hear(until: now)
    }
}

/// Compares each judge's answer with the truth.
private struct Court {
    let lineage: Lineage
    /// Ordered by when they were learned.
    let facts: [Fact]
    let entitlement: String
    let catalogue: Catalogue
    let policy: Policy
    let truth: LineageHistory

    init(
        lineage: Lineage,
        facts: [Fact],
        entitlement: String,
        catalogue: Catalogue,
        policy: Policy
    ) {
        self.lineage = lineage
        self.facts = facts.sorted { $0.learnedAt < $1.learnedAt }
        self.entitlement = entitlement
        self.catalogue = catalogue
        self.policy = policy
        truth = LineageHistory(lineage: lineage, facts: facts, catalogue: catalogue)
    }

    /// Computes the lockouts up to `now`. Between two arrivals the received facts stay the same, so
    /// only the boundaries of time matter.
    func hear(until now: Instant) -> ([Lockouts.Stretch], Milliseconds) {
        var book = StretchBook()
        var entitled = Milliseconds.zero
        let truths = Set(truth.boundaries(policy: policy))
        let heard = Set(facts.map(\.learnedAt)).filter { $0 < now }.sorted()
        let first = min(truths.min() ?? now, heard.first ?? now)
        for (from, until) in zip([first] + heard, heard + [now]) where from < until {
            let bench = Bench(self, heardBy: from)
            let inside = truths.union(bench.boundaries).filter { from < $0 && $0 < until }
            let points = [from] + inside.sorted() + [until]
            for (start, end) in zip(points, points.dropFirst()) {
                let standing = answer(of: truth, at: start)
                guard standing.access, standing.confidence == .confirmed,
                    standing.reason != .keptByPolicy
                else { continue }
                entitled = entitled + (end - start)
                for (judge, cause) in bench.denials(of: standing, at: start, self) {
                    book.add(.init(judge: judge, cause: cause, from: start, until: end))
                }
            }
        }
        return (book.stretches, entitled)
    }

    func answer(of history: LineageHistory, at instant: Instant) -> Standing {
        history.standing(of: entitlement, at: instant, policy: policy, catalogue: catalogue)
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
    /// The newest end of a term that unlocks the entitlement.
    let expiry: Instant
    let boundaries: Set<Instant>

    init(_ court: Court, heardBy instant: Instant) {
        let facts = court.facts.filter { $0.learnedAt <= instant }
        let relayed = facts.filter { $0.rank == .relayed }
        ours = LineageHistory(lineage: court.lineage, facts: facts, catalogue: court.catalogue)
        relay =
            relayed.isEmpty
            ? nil
            : LineageHistory(lineage: court.lineage, facts: relayed, catalogue: court.catalogue)
        expiry = Self.newestEnd(facts, court)
        var all = Set(ours.boundaries(policy: court.policy))
        if let relay { all.formUnion(relay.boundaries(policy: court.policy)) }
        all.insert(expiry)
        boundaries = all
    }

    private static func newestEnd(_ facts: [Fact], _ court: Court) -> Instant {
        let ends = facts.flatMap { court.catalogue.sold(in: $0) }.compactMap { sold in
            court.catalogue.unlocks(sold.productId, court.entitlement) ? sold.end : nil
        }
        return ends.max() ?? .distantPast
    }

    func denials(
        of truth: Standing,
        at instant: Instant,
        _ court: Court
    ) -> [(Lockouts.Judge, Lockouts.Cause)] {
        var denying: [Lockouts.Judge] = []
        if !court.answer(of: ours, at: instant).access { denying.append(.ours) }
        if instant >= expiry { denying.append(.expiryCheck) }
        if let relay, !court.answer(of: relay, at: instant).access { denying.append(.relay) }
        guard !denying.isEmpty else { return [] }
        let cause: Lockouts.Cause = court.wasSaid(by: instant) ? .notHeard : .saidLater
        let wasHeard = !denying.contains(.ours)
        return denying.map { judge in
            switch judge {
            case .ours: (judge, cause)
            case .expiryCheck, .relay:
                (judge, truth.state == .grace ? .grace : wasHeard ? .judgement : cause)
            }
        }
    }
}

extension Catalogue {
    /// Returns the entitlements of all products in the facts of a purchase, by name.
    package func entitlements(namedIn facts: [Fact]) -> [String] {
        let products = Set(facts.flatMap { sold(in: $0) }.map(\.productId))
        return Set(products.flatMap { self[$0]?.entitlements ?? [] }).sorted()
    }

    /// Returns the products in a fact, each with its end. The end is the distant future for a
    /// lifetime, and nil if the fact states none.
    fileprivate func sold(in fact: Fact) -> [(productId: String, end: Instant?)] {
        switch fact.assertion {
        case .term(let term):
            return [(term.productId, term.isRevoked ? nil : term.end ?? .distantFuture)]
        case .outlook(let outlook):
            return outlook.productId.map { [($0, nil)] } ?? []
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

/// Collects time ranges and merges adjacent ones.
private struct StretchBook {
    private var open: [Lockouts.Judge: Lockouts.Stretch] = [:]
    private var closed: [Lockouts.Stretch] = []

    mutating func add(_ stretch: Lockouts.Stretch) {
        if var last = open[stretch.judge] {
            if last.until == stretch.from, last.cause == stretch.cause {
                last.until = stretch.until
                open[stretch.judge] = last
                return
            }
            closed.append(last)
        }
        open[stretch.judge] = stretch
    }

    var stretches: [Lockouts.Stretch] {
        (closed + open.values).sorted {
            ($0.judge.rawValue, $0.from) < ($1.judge.rawValue, $1.from)
        }
    }
}
