import TideoverCore
import TideoverSignatures
import TideoverStorage

/// Sums the portfolio of an app in one environment over stored figures. Where they are out of date
/// it derives them from the facts, so the sum is that of all facts.
struct FiguresSource {
    private let context: AppContext
    private let environment: Environment
    private let read: LongRead
    private let stamp: Int64
    /// Nil leaves lockouts out.
    private let alarmed: AlarmedLockouts?

    /// More stale subjects than that are not remembered: all purchases are read instead.
    private static let mostStale = 50_000
    private static let pageLength = 1_000
    /// The bookmark with the stamp under which all other figures were marked as stale.
    static let bookmark = "figures"

    private var app: App { context.app }
    private var storage: any Storage { context.storage }

    init(
        _ context: AppContext,
        _ environment: Environment,
        _ read: LongRead,
        alarmed: AlarmedLockouts? = nil
    ) {
        self.context = context
        self.environment = environment
        self.read = read
        stamp = context.app.figuresStamp(in: environment)
        self.alarmed = alarmed
    }

    /// Returns the portfolio in a range of time, at earlier instants and at its end.
    func portfolio(
        at instants: [Instant],
        over range: Range<Instant>
    ) throws -> PortfolioReport {
        let empty = PortfolioSum(at: instants, over: range)
        var sum = empty
        guard let stale = try staleSubjects(), try addStored(to: &sum, without: stale) else {
            sum = empty
            try addAll(to: &sum)
            return sum.report
        }
        return sum.report
    }

    // MARK: Stored figures

    /// Returns nil if there are too many, or if figures of other rules were not marked yet.
    private func staleSubjects() throws -> [FiguresSubject]? {
        guard try context.cursors(in: environment).text(Self.bookmark) == "\(stamp)" else {
            return nil
        }
        let stale = try storage.staleFigures(
            in: AppScope(app.id, environment),
            limit: Self.mostStale + 1
        ).subjects
        return stale.count > Self.mostStale ? nil : stale.map(\.subject)
    }

    /// Returns false if a stored row cannot be used. Then the sum is incomplete.
    private func addStored(
        to sum: inout PortfolioSum,
        without stale: [FiguresSubject]
    ) throws -> Bool {
        let derived = try addDerived(to: &sum, stale)
        for kind in [FiguresSubject.Kind.lineage, .customer] {
            var last: String?
            while true {
                try read.goOn()
                let page = try storage.figures(
                    in: AppScope(app.id, environment),
                    kind: kind,
                    after: last,
                    limit: Self.pageLength
                )
                for row in page where !derived.contains(row.subject) {
                    guard row.stamp == stamp, let figures = FiguresForm.figures(row.form) else {
                        return false
                    }
                    sum.add(figures)
                }
                guard page.count == Self.pageLength else { break }
                last = page.last?.subject.name
            }
        }
        return true
    }

    /// Adds the stale subjects, and what depends on them. Returns all that it added or found gone.
    private func addDerived(
        to sum: inout PortfolioSum,
        _ stale: [FiguresSubject]
    ) throws -> Set<FiguresSubject> {
        var done: Set<FiguresSubject> = []
        var start = 0
        while start < stale.count {
            let end = min(start + Self.pageLength, stale.count)
            for (subject, figures) in try figures(of: stale[start..<end])
            where done.insert(subject).inserted {
                if let figures { sum.add(figures) }
            }
            start = end
        }
        return done
    }

    // MARK: Derivation

    /// Derives the figures of some subjects, and of the owners of the purchases among them. A
    /// subject without any is nil: a purchase without facts, or a customer without a failed
    /// renewal.
    func figures(
        of subjects: some Sequence<FiguresSubject>
    ) throws -> [FiguresSubject: ReportFigures?] {
        var figures: [FiguresSubject: ReportFigures?] = [:]
        var customers: Set<CustomerID> = []
        var denials: [CustomerID: OwnedDenials] = [:]
        for subject in subjects {
            try read.goOn()
            switch subject.kind {
            case .customer: if let id = CustomerID(subject.name) { customers.insert(id) }
            case .lineage:
                let record = try lineageRecord(subject.name)
                var own = record.flatMap { self.figures(of: $0)?.figures }
                if let record, let lockouts = own?.lockouts, !lockouts.isEmpty {
                    own?.lockouts = try self.lockouts(of: record, lockouts, &denials)
                }
                figures[subject] = .some(own)
                customers.formUnion(record?.owners.map(\.customer) ?? [])
            }
        }
        try addFigures(of: customers, to: &figures)
        return figures
    }

    /// How long a customer was denied, by purchase.
    private struct OwnedDenials {
        let primary: CustomerID
        let byLineage: [Lineage: [Lockouts.Cause: Milliseconds]]
    }

    /// Returns how long the owners of a purchase had no access at all by it; without owners, how
    /// long the purchase was denied. `known` has the customers that were read already.
    private func lockouts(
        of record: LineageRecord,
        _ denied: [Lockouts.Cause: Milliseconds],
        _ known: inout [CustomerID: OwnedDenials]
    ) throws -> [Lockouts.Cause: Milliseconds] {
        guard let alarmed, !record.owners.isEmpty else { return denied }
        var counted: Set<CustomerID> = []
        var sum: [Lockouts.Cause: Milliseconds] = [:]
        for customer in record.owners.map(\.customer) {
            let own: OwnedDenials
            if let found = known[customer] {
                own = found
            } else {
                try read.goOn()
                let lineages = try knownLineages(of: customer)
                own = OwnedDenials(
                    primary: lineages.identity.primary,
                    byLineage: alarmed.totals(of: Projector(app: app).record(of: lineages))
                )
                known[customer] = own
            }
            // One customer may own it under several ids.
            guard counted.insert(own.primary).inserted else { continue }
            sum.merge(own.byLineage[record.lineage] ?? [:], uniquingKeysWith: +)
        }
        return sum
    }

    private func lineageRecord(_ key: String) throws -> LineageRecord? {
        guard let lineage = Lineage(key: key, in: environment) else { return nil }
        return try storage.lineageRecord(lineage, app: app.id)
    }

    private func figures(
        of record: LineageRecord
    ) -> (figures: ReportFigures, hasFailures: Bool)? {
        guard let lineage = record.facts.first?.lineage else { return nil }
        let whole = timeline(of: lineage, record.facts)
        var figures = ReportFigures()
        figures.subscription = SubscriptionFigures(whole)
        figures.lockouts = alarmed?.total(lineage, record.facts) ?? [:]
        if whole.issues.contains(where: { !record.owners.hasOwner(at: $0.enteredAt) }) {
            figures.failures = whole.failures.filter {
                !record.owners.hasOwner(at: $0.enteredAt)
            }
        }
        return (figures, !whole.issues.isEmpty)
    }

    private func timeline(of lineage: Lineage, _ facts: [Fact]) -> LineageTimeline {
        let history = app.policyHistory(in: environment)
        return LineageTimeline(
            lineage: lineage,
            facts: facts,
            catalogue: history.catalogue,
            policy: history.policy,
            until: .distantFuture
        )
    }

    /// Adds the failed renewals of customers, each customer once under whatever id.
    private func addFigures(
        of customers: Set<CustomerID>,
        to figures: inout [FiguresSubject: ReportFigures?]
    ) throws {
        for customer in customers {
            try read.goOn()
            var lineages = try knownLineages(of: customer)
            let primary = lineages.identity.primary
            if primary != customer {
                figures[FiguresSubject(.customer, customer.text)] = .some(nil)
                lineages = try knownLineages(of: primary)
            }
            let subject = FiguresSubject(.customer, primary.text)
            guard figures[subject] == nil else { continue }
            var own = ReportFigures()
            let record = Projector(app: app).record(of: lineages).withJoinedIDs
            own.failures = CustomerTimeline.failures(of: record)
            figures[subject] = .some(own.failures.isEmpty ? nil : own)
        }
    }

    private func knownLineages(of customer: CustomerID) throws -> CustomerLineages {
        let key = CustomerKey(app: app.id, environment: environment, customer: customer)
        // The instant has no influence on failed renewals.
        return try storage.knownLineages(of: key, now: .distantPast)
    }

    /// Adds all purchases from their facts, page by page. Only customers with a failed renewal are
    /// read again, with all their purchases.
    private func addAll(to sum: inout PortfolioSum) throws {
        var concerned: Set<CustomerID> = []
        try storage.eachLineageRecord(in: AppScope(app.id, environment)) { record in
            try read.goOn()
            guard let (figures, hasFailures) = figures(of: record) else { return }
            sum.add(figures)
            if hasFailures { concerned.formUnion(record.owners.map(\.customer)) }
        }
        var failures: [FiguresSubject: ReportFigures?] = [:]
        try addFigures(of: concerned, to: &failures)
        for case .some(let figures) in failures.values { sum.add(figures) }
    }
}

/// The sum of figures over an app in one environment.
private struct PortfolioSum {
    private var tally: PortfolioTally
    private var failures: PortfolioFailures

    init(at instants: [Instant], over range: Range<Instant>) {
        tally = PortfolioTally(at: instants + [range.upperBound])
        failures = PortfolioFailures(over: range)
    }

    mutating func add(_ figures: ReportFigures) {
        tally.add(figures.subscription)
        for failure in figures.failures { failures.add(failure) }
    }

    var report: PortfolioReport { PortfolioReport(tally, failures) }
}

extension App {
    /// Identifies everything but the stored facts, owners and aliases that figures are derived
    /// from.
    func figuresStamp(in environment: Environment) -> Int64 {
        let rules = policyHistory(in: environment).versionNames
        let text = "\(FiguresForm.revision) \(fingerprint) \(rules)"
        let digest = SHA256.hash(Array(text.utf8)).prefix(8)
        return digest.reduce(0) { $0 << 8 | Int64($1) }
    }
}
