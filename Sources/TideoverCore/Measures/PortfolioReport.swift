/// How many subscriptions an app has in each state, their recurring revenue, and the money of the
/// renewals that failed in a range of time.
///
/// Only the customers' own renewing subscriptions count, as in `ChurnReport`. Money is summed by
/// currency.
package struct PortfolioReport: Hashable, Sendable {
    package var range: Range<Instant>
    /// The subscriptions at each instant that was asked for, oldest first.
    package var points: [Point]
    /// Renewals that failed in the range, as `RecoveryReport` counts them.
    package var failures: PortfolioFailures

    /// The subscriptions at one instant, as known now.
    package struct Point: Hashable, Sendable {
        package var at: Instant
        package var counts: [SubscriptionState: Int] = [:]
        /// Ordered by currency code.
        package var revenue: [Revenue] = []
        /// Subscriptions without a known price or period, which are in no sum.
        package var withoutPrice = 0

        package subscript(_ state: SubscriptionState) -> Int { counts[state] ?? 0 }

        /// Trials and subscriptions for money that have not ended.
        package var subscribers: Int {
            counts.reduce(0) { sum, count in
                count.key == .expired || count.key == .unconfirmed ? sum : sum + count.value
            }
        }
    }

    /// The prices of a month of one currency, in its thousandths.
    package struct Revenue: Hashable, Sendable {
        package var currency: String
        package var active: Int64 = 0
        package var cancelled: Int64 = 0
        package var grace: Int64 = 0
        package var hold: Int64 = 0

        /// The monthly recurring revenue: of what is paid and running.
        package var recurring: Int64 { active.addingSaturated(cancelled) }

        package init(currency: String) {
            self.currency = currency
        }
    }

    /// Creates a report of every timeline of an app. Requires timelines that extend to the end of
    /// the range, and the issues that were entered in it.
    package init(
        of timelines: some Sequence<LineageTimeline>,
        issues: some Sequence<BillingIssue>,
        over range: Range<Instant>,
        at instants: [Instant] = []
    ) {
        var tally = PortfolioTally(at: instants + [range.upperBound])
        for timeline in timelines { tally.add(SubscriptionFigures(timeline)) }
        var failures = PortfolioFailures(over: range)
        for issue in issues { failures.add(FailureFigures(issue)) }
        self.init(tally, failures)
    }

    /// Creates a report from a tally with the end of the failures' range as its last instant.
    package init(_ tally: PortfolioTally, _ failures: PortfolioFailures) {
        range = failures.range
        points = tally.points
        self.failures = failures
    }
}

/// Counts subscriptions at several instants.
///
/// Each period of a subscription is recorded at its two ends only, and summed once at the end. So
/// the cost of a subscription does not depend on the number of instants.
package struct PortfolioTally: Sendable {
    private let instants: [Instant]
    /// By what is counted: the change of the count at each instant, and after the last.
    private var changes: [Subject: [Int64]] = [:]

    private enum Subject: Hashable {
        case subscriptions(SubscriptionState)
        /// Milliunits of a currency, each for one length.
        case price(SubscriptionState, currency: String, MonthlyPrice.Length)
        case withoutPrice
    }

    /// Creates an empty tally. Requires the instants in order.
    package init(at instants: [Instant]) {
        self.instants = instants
    }

    package mutating func add(_ figures: SubscriptionFigures) {
        let spans = figures.spans
        for position in spans.indices {
            let content = spans[position].content
            guard let state = content.state else { continue }
            let next = position + 1 < spans.count ? spans[position + 1].from : nil
            let first = instants.endOfPrefix { $0 < spans[position].from }
            let end = next.map { next in instants.endOfPrefix { $0 < next } } ?? instants.count
            guard first < end else { continue }
            count(1, .subscriptions(state), first..<end)
            count(content.price, of: state, first..<end)
        }
    }

    private mutating func count(
        _ price: SubscriptionFigures.Price,
        of state: SubscriptionState,
        _ places: Range<Int>
    ) {
        switch price {
        case .none: break
        case .unknown: count(1, .withoutPrice, places)
        case .known(let monthly):
            let price = monthly.price
            let subject = Subject.price(state, currency: price.currency, monthly.length)
            count(price.milliunits, subject, places)
        }
    }

    private mutating func count(_ number: Int64, _ subject: Subject, _ places: Range<Int>) {
        Self.count(
            number,
            places,
            in: &changes[subject, default: Array(repeating: 0, count: instants.count + 1)]
        )
    }

    private static func count(_ number: Int64, _ places: Range<Int>, in change: inout [Int64]) {
        change[places.lowerBound] = change[places.lowerBound].addingSaturated(number)
        let less = number.negatedSaturated
        change[places.upperBound] = change[places.upperBound].addingSaturated(less)
    }

    package var points: [PortfolioReport.Point] {
        var sums: [Subject: Int64] = [:]
        return instants.indices.map { place in
            for (subject, change) in changes {
                sums[subject] = (sums[subject] ?? 0).addingSaturated(change[place])
            }
            return Self.point(at: instants[place], sums)
        }
    }

    private static func point(
        at instant: Instant,
        _ sums: [Subject: Int64]
    ) -> PortfolioReport.Point {
        var point = PortfolioReport.Point(at: instant)
        var monthly: [String: [SubscriptionState: MonthlySum]] = [:]
        for (subject, sum) in sums where sum != 0 {
            switch subject {
            case .subscriptions(let state): point.counts[state] = Int(sum)
            case .withoutPrice: point.withoutPrice = Int(sum)
            case .price(let state, let currency, let length):
                monthly[currency, default: [:]][state, default: MonthlySum()]
                    .add(sum, each: length)
            }
        }
        point.revenue = monthly.sorted { $0.key < $1.key }.map {
            PortfolioReport.Revenue($0.key, $0.value)
        }
        return point
    }
}

extension PortfolioReport.Revenue {
    fileprivate init(_ currency: String, _ sums: [SubscriptionState: MonthlySum]) {
        self.init(currency: currency)
        let amount = { (state: SubscriptionState) in sums[state]?.milliunits ?? 0 }
        active = amount(.active)
        cancelled = amount(.cancelled)
        grace = amount(.grace)
        hold = amount(.hold)
    }
}
