/// What a portfolio report needs of one failed renewal: its state at each instant.
package struct FailureFigures: Hashable, Sendable {
    package var enteredAt: Instant
    /// The price of the failed renewal, if known.
    var price: Money?
    /// The changes of its state, in order; it begins as open.
    var changes: [Change]

    struct Change: Hashable, Sendable {
        var at: Instant
        var state: FailureState
    }

    func state(at instant: Instant) -> FailureState {
        changes.last { $0.at <= instant }?.state ?? .open
    }
}

enum FailureState: UInt8, Hashable, Sendable {
    /// Also if the state of the subscription became unknown.
    case open, recovered, lost
}

extension BillingIssue.Outcome {
    var failureState: FailureState {
        switch self {
        case .open, .unconfirmed: .open
        case .recovered, .recoveredByNewPurchase: .recovered
        case .cancelled, .expired, .takenBack: .lost
        }
    }
}

extension FailureFigures {
    /// Creates the figures of an issue as known at the end of its timeline.
    package init(_ issue: BillingIssue) {
        let end = issue.endedAt.map { Change(at: $0, state: issue.outcome.failureState) }
        self.init(
            enteredAt: issue.enteredAt,
            price: issue.moneyAtRisk,
            changes: [end].compactMap(\.self).filter { $0.state != .open }
        )
    }

    /// Returns the figures of issues that were seen at several instants, in order. An issue that
    /// seemed to have ended may go on later.
    static func history(
        at instants: [Instant],
        _ issues: (Instant) -> [BillingIssue]
    ) -> [FailureFigures] {
        var order: [String] = []
        var known: [String: FailureFigures] = [:]
        for instant in instants {
            for issue in issues(instant) {
                if known[issue.id] == nil { order.append(issue.id) }
                known[issue.id, default: FailureFigures(issue, changes: [])]
                    .change(to: issue.outcome.failureState, at: instant)
            }
        }
        return order.compactMap { known[$0] }
    }

    private init(_ issue: BillingIssue, changes: [Change]) {
        self.init(enteredAt: issue.enteredAt, price: issue.moneyAtRisk, changes: changes)
    }

    private mutating func change(to state: FailureState, at instant: Instant) {
        guard state != changes.last?.state ?? .open else { return }
        changes.append(Change(at: instant, state: state))
    }
}

extension CustomerTimeline {
    /// Returns the figures of a customer's failed renewals, for every instant.
    package static func failures(of record: CustomerRecord) -> [FailureFigures] {
        let history = record.history
        let whole = CustomerTimeline(record, history, until: .distantFuture)
        guard whole.revisesIssues else { return whole.issues.map { FailureFigures($0) } }
        let instants = Set(whole.lineages.flatMap { $0.steps.all.map(\.from) }).sorted()
        return FailureFigures.history(at: instants) {
            CustomerTimeline(record, history, until: $0).issues
        }
    }

    /// Whether the state of an issue at an instant before `until` can differ from what its end
    /// implies: because it was reopened, or one of several purchases ended it.
    private var revisesIssues: Bool {
        lineages.contains(where: \.reopensIssues)
            || (lineages.count > 1
                && issues.contains {
                    if case .recoveredByNewPurchase = $0.outcome { true } else { false }
                })
    }
}

extension LineageTimeline {
    /// Returns the figures of a purchase's failed renewals, for every instant. `timeline` returns
    /// the timeline of the same facts up to another instant.
    package func failures(_ timeline: (Instant) -> LineageTimeline) -> [FailureFigures] {
        guard reopensIssues else { return issues.map { FailureFigures($0) } }
        return FailureFigures.history(at: steps.all.map(\.from)) { timeline($0).issues }
    }
}

/// The failed renewals of a range of time, as they were at its end.
package struct PortfolioFailures: Hashable, Sendable {
    package let range: Range<Instant>
    package private(set) var issues = 0
    /// Issues without a known price, which are in no sum.
    package private(set) var withoutPrice = 0
    private var sums: [String: RecoveryReport.Sum] = [:]

    package init(over range: Range<Instant>) {
        self.range = range
    }

    /// Ordered by currency code.
    package var money: [RecoveryReport.Sum] {
        sums.values.sorted { $0.currency < $1.currency }
    }

    /// Counts a failure, if it was entered in the range.
    package mutating func add(_ failure: FailureFigures) {
        guard range.contains(failure.enteredAt) else { return }
        issues += 1
        guard let price = failure.price else {
            withoutPrice += 1
            return
        }
        let currency = price.currency
        sums[currency, default: RecoveryReport.Sum(currency: currency)]
            .add(price.milliunits, failure.state(at: range.upperBound))
    }
}

extension RecoveryReport.Sum {
    fileprivate mutating func add(_ milliunits: Int64, _ state: FailureState) {
        atRisk = atRisk.addingSaturated(milliunits)
        switch state {
        case .open: open = open.addingSaturated(milliunits)
        case .recovered: recovered = recovered.addingSaturated(milliunits)
        case .lost: lost = lost.addingSaturated(milliunits)
        }
    }
}
