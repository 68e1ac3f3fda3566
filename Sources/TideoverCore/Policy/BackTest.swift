/// A test of another policy or catalogue on the past. It decides the same facts twice over a time
/// range, and compares both results with the store's state as known now.
public struct BackTest: Sendable {
    /// The time range of the test.
    public let range: Range<Instant>
    /// The policy under test; nil keeps each customer's own.
    public let policy: Versioned<Policy>?
    /// The catalogue under test; nil keeps each customer's own.
    public let catalogue: Versioned<Catalogue>?
    /// The facts that past answers rest on.
    public let knowledge: Knowledge

    public init(
        over range: Range<Instant>,
        policy: Versioned<Policy>? = nil,
        catalogue: Versioned<Catalogue>? = nil,
        knowledge: Knowledge = .then
    ) {
        self.range = range
        self.policy = policy
        self.catalogue = catalogue
        self.knowledge = knowledge
    }

    /// The facts that a past answer rests on.
    public enum Knowledge: String, Hashable, Sendable, CaseIterable {
        /// The facts learned by then: the answers that customers got.
        case then
        /// All facts known now: the answers that customers would have got without delays. Use this
        /// for facts that were fetched long after they happened.
        case now
    }

    /// Runs the test on customers. Equal customers give equal reports.
    public func report(on customers: some Sequence<CustomerRecord>) -> Report {
        report { test in for customer in customers { test(customer) } }
    }

    /// Runs the test on each customer that `each` passes to its argument.
    package func report<Failure>(
        _ each: ((CustomerRecord) -> Void) throws(Failure) -> Void
    ) throws(Failure) -> Report {
        var totals: [String: Report.Entitlement] = [:]
        var differences: [Difference] = []
        try each { customer in
            let comparison = Comparison(of: self, on: customer)
            for name in comparison.entitlements {
                let found = comparison.differences(of: name)
                totals[name, default: Report.Entitlement(name: name)]
                    .add(comparison.totals(of: name), differing: !found.isEmpty)
                differences += found
            }
        }
        return Report(
            range: range,
            entitlements: totals.values.sorted { $0.name < $1.name },
            differences: differences.sorted { Self.order($0) < Self.order($1) }
        )
    }

    private static func order(_ difference: Difference) -> (CustomerID, String, Instant) {
        (difference.customer, difference.entitlement, difference.span.lowerBound)
    }

    /// A time range in which one customer's access to one entitlement would have differed.
    public struct Difference: Hashable, Sendable {
        public var customer: CustomerID
        public var entitlement: String
        public var span: Range<Instant>
        /// The actual standing at the beginning of the span.
        public var current: Standing
        /// The standing under test at the beginning of the span.
        public var tried: Standing
    }

    /// The totals of one policy and catalogue.
    public struct Totals: Hashable, Sendable {
        /// The time with access, summed over customers.
        public var access = Milliseconds.zero
        /// The time without access although the store, as known now, reports the customer as
        /// entitled. Only the store's confirmed state counts, not presumed access.
        public var lockout = Milliseconds.zero
        /// The number of such time ranges.
        public var lockouts: Int64 = 0
        /// The time with access although no fact known now, presumed or not, supports it.
        public var exposure = Milliseconds.zero
        /// The number of such time ranges.
        public var exposures: Int64 = 0

        mutating func add(_ other: Totals) {
            access = access + other.access
            lockout = lockout + other.lockout
            lockouts += other.lockouts
            exposure = exposure + other.exposure
            exposures += other.exposures
        }
    }

    /// The result of a back-test.
    public struct Report: Hashable, Sendable {
        public var range: Range<Instant>
        /// Ordered by name.
        public var entitlements: [Entitlement]
        /// Ordered by customer, entitlement and time.
        public var differences: [Difference]

        /// The actual and the tested totals of one entitlement.
        public struct Entitlement: Hashable, Sendable {
            public var name: String
            public var current = Totals()
            public var tried = Totals()
            /// The number of customers with a different answer at some instant.
            public var customersDiffering: Int64 = 0

            init(name: String) {
                self.name = name
            }

            mutating func add(_ totals: (current: Totals, tried: Totals), differing: Bool) {
                current.add(totals.current)
                tried.add(totals.tried)
                if differing { customersDiffering += 1 }
            }
        }
    }
}

extension Policy {
    /// A policy that adds nothing to the stores' reports.
    static let storesAlone = Policy(
        billingRetry: .suspend,
        renewalLeeway: .zero,
        unreachable: .zero
    )
}

extension CustomerRecord {
    /// Returns the same facts under another catalogue or policy.
    public func under(
        catalogue: Versioned<Catalogue>? = nil,
        policy: Versioned<Policy>? = nil
    ) -> CustomerRecord {
        CustomerRecord(
            customer: customer,
            aliases: identity.aliases,
            environment: environment,
            lineageRecords: lineageRecords,
            catalogue: catalogue ?? self.catalogue,
            policy: policy ?? self.policy,
            reconciledAt: reconciledAt,
            googlePlayPackage: googlePlayPackage,
            stores: stores
        )
    }

    /// Every instant at which a fact, an owner, an alias, a policy or a catalogue was learned.
    fileprivate var learnings: [Instant] {
        lineageRecords.flatMap(\.facts).map(\.learnedAt)
            + lineageRecords.flatMap(\.owners).compactMap(\.decidedAt)
            + identity.instants + policy.versions.map(\.learnedAt)
            + catalogue.versions.map(\.learnedAt)
    }

    /// The record with each purchase alone, ordered by purchase. Purchases with one id may answer
    /// together (`answering`), so a record with such ones is not divided.
    fileprivate var parts: [CustomerRecord] {
        let names = Set(lineageRecords.map { "\($0.lineage.store.rawValue):\($0.lineage.id)" })
        guard names.count == lineageRecords.count else { return [self] }
        return lineageRecords.sorted { $0.lineage < $1.lineage }.map { lineageRecord in
            CustomerRecord(
                customer: customer,
                aliases: identity.aliases,
                environment: environment,
                lineageRecords: [lineageRecord],
                catalogue: catalogue,
                policy: policy
            )
        }
    }
}

/// A back-test on one customer.
private struct Comparison {
    let customer: CustomerID
    /// Every entitlement in either catalogue.
    let entitlements: [String]
    private let current: [String: Course]
    private let tried: [String: Course]
    private let vouched: [String: Vouching]

    init(of test: BackTest, on record: CustomerRecord) {
        let other = record.under(catalogue: test.catalogue, policy: test.policy)
        let names = Set(record.catalogue.entitlements + other.catalogue.entitlements).sorted()
        customer = record.customer
        entitlements = names
        current = Self.courses(of: record, names, test.range, test.knowledge)
        tried = Self.courses(of: other, names, test.range, test.knowledge)
        // A store confirms products; the operator decides what they unlock. Both catalogues count,
        // so that a product missing from either one shows.
        let alone = Versioned(Policy.storesAlone)
        let both = test.catalogue == nil ? [record] : [record, other]
        vouched = both.map { $0.under(policy: alone) }.reduce(into: [:]) { all, record in
            for (name, course) in Self.courses(of: record, names, test.range, .now) {
                all[name, default: Vouching()].add(course)
            }
        }
    }

    private static func courses(
        of record: CustomerRecord,
        _ names: [String],
        _ range: Range<Instant>,
        _ knowledge: BackTest.Knowledge
    ) -> [String: Course] {
        let parts = record.parts.map { KnownPart(of: $0, names, over: range, knowledge) }
        let changes = parts.indices.flatMap { position in
            parts[position].steps.map { BestOverTime.Change(at: $0.from, position: position) }
        }.sorted { $0.at < $1.at }
        let reconciled = [record.reconciledAt].compactMap(\.self).filter(range.contains)
        let instants = ([range.lowerBound] + reconciled + changes.map(\.at)).inOrder
        var courses: [String: Course] = [:]
        for (place, name) in names.enumerated() {
            var best = BestOverTime(parts.map { _ in nil }, changes)
            for (start, end) in zip(instants, instants.dropFirst() + [range.upperBound]) {
                best.move(to: start) { parts[$0].standings(at: start)?[place] }
                let isReconciled = record.reconciledAt.map { $0 <= start } ?? false
                courses[name, default: Course()]
                    .append(best.best ?? .unheardOf(isReconciled: isReconciled), over: start..<end)
            }
        }
        return courses
    }

    func totals(of entitlement: String) -> (current: BackTest.Totals, tried: BackTest.Totals) {
        let vouched = vouched[entitlement] ?? Vouching()
        func totals(_ course: Course?) -> BackTest.Totals {
            let access = course?.access ?? Stretches()
            let lockouts = vouched.confirmed.subtracting(access)
            let exposures = access.subtracting(vouched.access)
            return BackTest.Totals(
                access: access.length,
                lockout: lockouts.length,
                lockouts: Int64(lockouts.ranges.count),
                exposure: exposures.length,
                exposures: Int64(exposures.ranges.count)
            )
        }
        return (totals(current[entitlement]), totals(tried[entitlement]))
    }

    func differences(of entitlement: String) -> [BackTest.Difference] {
        guard let current = current[entitlement], let tried = tried[entitlement] else { return [] }
        let spans =
            current.access.subtracting(tried.access).ranges
            + tried.access.subtracting(current.access).ranges
        return spans.compactMap { span in
            guard let before = current.standing(at: span.lowerBound),
                let after = tried.standing(at: span.lowerBound)
            else { return nil }
            return BackTest.Difference(
                customer: customer,
                entitlement: entitlement,
                span: span,
                current: before,
                tried: after
            )
        }
    }
}

/// The standings of a customer's purchases over a time range, by what was known of them at each
/// instant.
///
/// Purchases are arranged again only when something is learned of them, not of the customer's
/// others. So the cost of many purchases grows with their number. That of a single one still grows
/// with its facts times the instants at which some of them were learned.
private struct KnownPart {
    /// Ordered by instant. Each has the best standing for each entitlement; nil if the customer
    /// owns none of the purchases.
    private(set) var steps: [(from: Instant, standings: [Standing?])] = []

    init(
        of record: CustomerRecord,
        _ names: [String],
        over range: Range<Instant>,
        _ knowledge: BackTest.Knowledge
    ) {
        let learnings = knowledge == .then ? record.learnings.filter(range.contains) : []
        let cuts = ([range.lowerBound] + learnings).inOrder
        for (from, until) in zip(cuts, cuts.dropFirst() + [range.upperBound]) {
            let history = (knowledge == .then ? record.asKnown(at: from) : record).history
            for start in [from] + history.boundaries(after: from).prefix(while: { $0 < until }) {
                steps.append((start, names.map { history.standings(of: $0, at: start).best }))
            }
        }
    }

    func standings(at instant: Instant) -> [Standing?]? {
        steps[..<steps.endOfPrefix { $0.from <= instant }].last?.standings
    }
}

/// The standings of one customer for one entitlement, ordered by time.
private struct Course {
    private var steps: [(from: Instant, standing: Standing)] = []
    /// When there was access.
    private(set) var access = Stretches()
    /// When access was confirmed.
    private(set) var confirmed = Stretches()

    mutating func append(_ standing: Standing, over span: Range<Instant>) {
        steps.append((span.lowerBound, standing))
        guard standing.access else { return }
        access.append(span)
        if standing.confidence == .confirmed { confirmed.append(span) }
    }

    func standing(at instant: Instant) -> Standing? {
        steps[..<steps.endOfPrefix { $0.from <= instant }].last?.standing
    }
}

/// When the facts known now give access, and when the store's own reports do.
private struct Vouching {
    private(set) var access = Stretches()
    private(set) var confirmed = Stretches()

    mutating func add(_ course: Course) {
        access = access.union(course.access)
        confirmed = confirmed.union(course.confirmed)
    }
}

/// Time ranges in order that neither touch nor overlap.
private struct Stretches {
    private(set) var ranges: [Range<Instant>] = []

    /// Adds a range. It must not begin before the last one ended.
    mutating func append(_ range: Range<Instant>) {
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    var length: Milliseconds {
        ranges.reduce(.zero) { $0 + ($1.upperBound - $1.lowerBound) }
    }

    func union(_ other: Stretches) -> Stretches { combined(with: other) { $0 || $1 } }

    func subtracting(_ other: Stretches) -> Stretches { combined(with: other) { $0 && !$1 } }

    private func combined(
        with other: Stretches,
        where isKept: (Bool, Bool) -> Bool
    ) -> Stretches {
        let edges = Set((ranges + other.ranges).flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
        return zip(edges, edges.dropFirst()).reduce(into: Stretches()) { result, edge in
            guard isKept(contains(edge.0), other.contains(edge.0)) else { return }
            result.append(edge.0..<edge.1)
        }
    }

    private func contains(_ instant: Instant) -> Bool {
        let begun = ranges[..<ranges.endOfPrefix { $0.lowerBound <= instant }]
        return begun.last?.contains(instant) ?? false
    }
}
