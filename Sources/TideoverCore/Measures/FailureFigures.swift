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

    /// Creates the figures of an issue that may have gone on after it seemed to have ended.
    /// `purchasedAt` is when another purchase first gave what was lost; nil if none did.
    fileprivate init(_ history: IssueHistory, purchasedAt: Instant? = nil) {
        let first = history.versions[0].issue
        self.init(enteredAt: first.enteredAt, price: first.moneyAtRisk, changes: [])
        for (position, version) in history.versions.enumerated() {
            let next = position + 1 < history.versions.count ? history.versions[position + 1] : nil
            let until = next?.from ?? .distantFuture
            change(to: version.issue.state(at: version.from, purchasedAt), at: version.from)
            if let purchasedAt, version.from < purchasedAt, purchasedAt < until {
                change(to: version.issue.state(at: purchasedAt, purchasedAt), at: purchasedAt)
            }
        }
    }

    private mutating func change(to state: FailureState, at instant: Instant) {
        guard state != changes.last?.state ?? .open else { return }
        changes.append(Change(at: instant, state: state))
    }
}

extension CustomerTimeline {
    /// Returns the figures of a customer's failed renewals, for every instant.
    package static func failures(of record: CustomerRecord) -> [FailureFigures] {
        let whole = CustomerTimeline(record, until: .distantFuture)
        guard whole.revisesIssues else { return whole.issues.map { FailureFigures($0) } }
        return whole.revisedFailures
    }

    /// The figures of each issue, in the order in which they were entered.
    private var revisedFailures: [FailureFigures] {
        let histories = zip(lineages, lineageRecords).flatMap { lineage, lineageRecord in
            lineage.issueHistories.filter { lineageRecord.isOwned(at: $0.enteredAt) }
        }
        let entered = transitions.lazy.filter { $0.kind == .billingIssueEntered }
        let losses = Dictionary(
            entered.map { ($0.id, $0.entitlements) },
            uniquingKeysWith: { first, _ in first }
        )
        let purchases = transitions.filter(\.isOwnPurchase)
        return histories.inOrder { $0.enteredAt < $1.enteredAt }.map { history in
            let issue = history.versions[0].issue
            let later = purchases[purchases.endOfPrefix { $0.at <= issue.enteredAt }...]
            let purchase = losses[issue.id].flatMap { lost in
                later.first { $0.replaces(lost, of: issue) }
            }
            return FailureFigures(history, purchasedAt: purchase?.at)
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
    /// The figures of a purchase's failed renewals, for every instant. Requires a timeline that
    /// extends to the distant future.
    package var failures: [FailureFigures] {
        guard reopensIssues else { return issues.map { FailureFigures($0) } }
        return issueHistories.map { FailureFigures($0) }
    }

    /// Each issue as it was from step to step, ordered by when they were entered.
    fileprivate var issueHistories: [IssueHistory] {
        var histories: [IssueHistory] = []
        var builder = TransitionBuilder(steps, evidenceIndex)
        for step in steps.all {
            builder.move(to: step)
            // One step changes no other issue.
            guard let issue = builder.lastIssue else { continue }
            if issue.id != histories.last?.id { histories.append(IssueHistory(id: issue.id)) }
            histories[histories.count - 1].add(issue, from: step.from)
        }
        return histories
    }
}

/// A failed renewal as it was at each instant, from the observations of its purchase alone.
private struct IssueHistory {
    let id: String
    /// Oldest first; at least one.
    private(set) var versions: [(from: Instant, issue: BillingIssue)] = []

    init(id: String) {
        self.id = id
    }

    var enteredAt: Instant { versions[0].issue.enteredAt }

    mutating func add(_ issue: BillingIssue, from instant: Instant) {
        if issue != versions.last?.issue { versions.append((instant, issue)) }
    }
}

extension BillingIssue {
    /// Returns the state at an instant, if another purchase gave what was lost.
    fileprivate func state(at instant: Instant, _ purchasedAt: Instant?) -> FailureState {
        guard let purchasedAt, purchasedAt <= instant, isOpen(at: purchasedAt) else {
            return outcome.failureState
        }
        return .recovered
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
