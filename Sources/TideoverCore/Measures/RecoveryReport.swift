/// How many failed renewals recovered, how soon, and their value.
///
/// Every rate states its denominator. An issue too young for a horizon is *not yet known*. The
/// simple ratio excludes it, and the product-limit estimate uses it for as long as it was observed.
public struct RecoveryReport: Hashable, Sendable {
    /// The instant up to which issues were observed.
    public var asOf: Instant
    /// The names of the dimensions that distinguish the rows.
    public var dimensions: [String]
    /// One row for each combination of values that occurs, in order.
    public var rows: [Row]

    public struct Row: Hashable, Sendable {
        /// A value for each dimension; nil if unknown.
        public var values: [String?] = []
        /// Failed renewals: the denominator of everything except the stages' own rates.
        public var issues = 0
        public var open = 0
        public var recoveredFromGrace = 0
        public var recoveredFromHold = 0
        /// The recovered issues with a new purchase instead of a fixed payment.
        public var recoveredByNewPurchase = 0
        public var cancelledFromGrace = 0
        public var cancelledFromHold = 0
        /// The store gave up.
        public var unrecovered = 0
        public var takenBack = 0
        /// The state became unknown: neither recovered nor known to be lost.
        public var unconfirmed = 0
        /// All issues, from their entry.
        public var all: [Horizon] = []
        /// The issues that entered grace, from that entry.
        public var fromGrace: [Horizon] = []
        /// The issues that entered hold, from that entry.
        public var fromHold: [Horizon] = []
        /// When half and nine tenths of the recovered issues had recovered; nil if none has.
        public var medianTime: Milliseconds?
        public var ninthDecileTime: Milliseconds?
        /// Ordered by currency code.
        public var money: [Sum] = []
        /// Issues without a known price of the failed renewal. They are in no sum.
        public var withoutPrice = 0

        public var recovered: Int { recoveredFromGrace + recoveredFromHold }
        public var lost: Int { cancelledFromGrace + cancelledFromHold + unrecovered + takenBack }
    }

    /// Returns the difference between the recovered shares of two rows, for entries old enough to
    /// be decided. Compares a prompt with its holdout group. Nil for a horizon that one of them
    /// lacks.
    public static func difference(
        _ treatment: Row,
        from control: Row,
        within days: Int
    ) -> ShareDifference? {
        guard let treated = treatment.all.first(where: { $0.days == days }),
            let held = control.all.first(where: { $0.days == days })
        else { return nil }
        return ShareDifference(treatment: treated.simple, control: held.simple)
    }

    /// The share recovered within a number of days, computed in two ways.
    public struct Horizon: Hashable, Sendable {
        public var days: Int
        /// The share of the entries old enough to be decided that recovered in time.
        public var simple: Share
        /// The estimate from all entries; nil if none was observed for that long.
        public var estimate: KaplanMeier.Estimate?
        /// The number of entries: the denominator of the estimate.
        public var entries: Int
    }

    /// The value of the failed renewals of one currency, in its thousandths. An unknown state
    /// counts as open.
    public struct Sum: Hashable, Sendable {
        public var currency: String
        public var atRisk: Int64 = 0
        public var recovered: Int64 = 0
        public var lost: Int64 = 0
        public var open: Int64 = 0

        public init(
            currency: String,
            atRisk: Int64 = 0,
            recovered: Int64 = 0,
            lost: Int64 = 0,
            open: Int64 = 0
        ) {
            self.currency = currency
            self.atRisk = atRisk
            self.recovered = recovered
            self.lost = lost
            self.open = open
        }
    }

    public static let standardHorizons = [30, 60, 90]

    public init(
        of issues: some Sequence<BillingIssue>,
        asOf: Instant,
        by dimensions: [MeasureDimension] = [],
        within horizons: [Int] = standardHorizons
    ) {
        var tallies: [[String?]: RecoveryTally] = [:]
        for issue in issues where issue.enteredAt <= asOf {
            let values = dimensions.map { $0.value(MeasuredPlace(issue)) }
            tallies[values, default: RecoveryTally()].add(issue, asOf: asOf)
        }
        self.asOf = asOf
        self.dimensions = dimensions.map(\.name)
        rows = tallies.sorted { $0.key.precedes($1.key) }.map {
            $0.value.row(values: $0.key, horizons: horizons)
        }
    }
}

/// Collects the issues of one row.
private struct RecoveryTally {
    private var row = RecoveryReport.Row()
    private var sums: [String: RecoveryReport.Sum] = [:]
    private var all: [RecoveryLife] = []
    private var grace: [RecoveryLife] = []
    private var hold: [RecoveryLife] = []

    mutating func add(_ issue: BillingIssue, asOf: Instant) {
        row.issues += 1
        let outcome = issue.outcome(asOf: asOf)
        count(outcome)
        add(issue.moneyAtRisk, outcome)
        let life = issue.life(from: issue.enteredAt, until: asOf)
        all.append(life)
        if let began = issue.graceFrom, began <= asOf {
            grace.append(issue.life(from: began, until: asOf))
        }
        if let began = issue.holdFrom, began <= asOf {
            hold.append(issue.life(from: began, until: asOf))
        }
    }

    private mutating func count(_ outcome: BillingIssue.Outcome) {
        switch outcome {
        case .open: row.open += 1
        case .recovered(let recovery): count(recovery)
        case .recoveredByNewPurchase(let recovery, _):
            count(recovery)
            row.recoveredByNewPurchase += 1
        case .cancelled(.grace, _): row.cancelledFromGrace += 1
        case .cancelled: row.cancelledFromHold += 1
        case .expired: row.unrecovered += 1
        case .takenBack: row.takenBack += 1
        case .unconfirmed: row.unconfirmed += 1
        }
    }

    private mutating func count(_ recovery: BillingIssue.Recovery) {
        if recovery.from == .grace {
            row.recoveredFromGrace += 1
        } else {
            row.recoveredFromHold += 1
        }
    }

    private mutating func add(_ price: Money?, _ outcome: BillingIssue.Outcome) {
        guard let price else {
            row.withoutPrice += 1
            return
        }
        let part: WritableKeyPath<RecoveryReport.Sum, Int64> =
            switch outcome {
            case .open, .unconfirmed: \.open
            case .recovered, .recoveredByNewPurchase: \.recovered
            case .cancelled, .expired, .takenBack: \.lost
            }
        var sum = sums[price.currency] ?? RecoveryReport.Sum(currency: price.currency)
        sum.atRisk = sum.atRisk.addingSaturated(price.milliunits)
        sum[keyPath: part] = sum[keyPath: part].addingSaturated(price.milliunits)
        sums[price.currency] = sum
    }

    func row(values: [String?], horizons: [Int]) -> RecoveryReport.Row {
        var row = row
        row.values = values
        row.all = Self.horizons(horizons, of: all)
        row.fromGrace = Self.horizons(horizons, of: grace)
        row.fromHold = Self.horizons(horizons, of: hold)
        row.money = sums.values.sorted { $0.currency < $1.currency }
        let times = all.compactMap(\.recoveredAfter).sorted()
        row.medianTime = times.quantile(1, of: 2)
        row.ninthDecileTime = times.quantile(9, of: 10)
        return row
    }

    private static func horizons(
        _ days: [Int],
        of lives: [RecoveryLife]
    ) -> [RecoveryReport.Horizon] {
        let curve = KaplanMeier(lives.lazy.map(\.observation))
        return days.map { days in
            let end = Milliseconds.days(Int64(days))
            return RecoveryReport.Horizon(
                days: days,
                simple: share(of: lives, by: end),
                estimate: curve.happened(by: end),
                entries: lives.count
            )
        }
    }
}

/// Returns the share recovered in time, of the lives observed for at least that long. A young life
/// is excluded even if it has recovered. Counting only the quick successes among the young would
/// inflate the rate.
private func share(of lives: [RecoveryLife], by end: Milliseconds) -> Share {
    let mature = lives.filter { $0.watched >= end }
    let recovered = mature.count { $0.recoveredAfter.map { $0 <= end } ?? false }
    return Share(recovered, of: mature.count)
}

extension [Milliseconds] {
    /// Returns the nearest rank of a quantile in a sorted list; nil if the list is empty.
    func quantile(_ part: Int, of whole: Int) -> Milliseconds? {
        isEmpty ? nil : self[Swift.max(0, (count * part + whole - 1) / whole - 1)]
    }
}
