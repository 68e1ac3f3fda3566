/// How many of those who were subscribed when a stretch of time began were not when it ended, and
/// why.
///
/// The denominator is everybody whose own paid subscription ran, was in grace, on hold or paused at
/// the first instant. Trials have a report of their own; what the family shares is left out.
public struct ChurnReport: Hashable, Sendable {
    public var range: Range<Instant>
    /// The names of what the rows are told apart by.
    public var dimensions: [String]
    /// One for each combination of values that occurs, in their order.
    public var rows: [Row]

    public struct Row: Hashable, Sendable {
        /// A value for each dimension as it was at the beginning; nil where it is not known.
        public var values: [String?]
        /// Subscribed at the beginning: the denominator.
        public var atStart = 0
        /// Renewal switched off, or a higher price not agreed to, while all was paid.
        public var voluntary = 0
        public var cancelledFromGrace = 0
        public var cancelledFromHold = 0
        /// The payment was not recovered, or the product was withdrawn.
        public var involuntary = 0
        public var takenBack = 0
        /// Ended in between, and subscribed again at the end: no churn.
        public var returned = 0
        /// Lost sight of: not counted as churn.
        public var unconfirmed = 0

        public var churned: Int {
            voluntary + cancelledFromGrace + cancelledFromHold + involuntary + takenBack
        }

        /// Of those subscribed at the beginning, those that were not at the end.
        public var churn: Share { Share(churned, of: atStart) }
    }

    /// Lineages told at least until the end of the range.
    public init(
        of timelines: some Sequence<LineageTimeline>,
        over range: Range<Instant>,
        by dimensions: [MeasureDimension] = []
    ) {
        var rows: [[String?]: Row] = [:]
        for timeline in timelines where timeline.lineage.ownership == .purchased {
            guard let place = timeline.subscribed(at: range.lowerBound) else { continue }
            let values = dimensions.map { $0.value(place) }
            rows[values, default: Row(values: values)].count(timeline.fate(over: range))
        }
        self.range = range
        self.dimensions = dimensions.map(\.name)
        self.rows = rows.sorted { $0.key.precedes($1.key) }.map(\.value)
    }
}

private enum Fate {
    case subscribed, returned, unconfirmed
    case voluntary, cancelledFromGrace, cancelledFromHold, involuntary, takenBack
}

extension ChurnReport.Row {
    fileprivate init(values: [String?]) {
        self.values = values
    }

    fileprivate mutating func count(_ fate: Fate) {
        atStart += 1
        switch fate {
        case .subscribed: break
        case .returned: returned += 1
        case .unconfirmed: unconfirmed += 1
        case .voluntary: voluntary += 1
        case .cancelledFromGrace: cancelledFromGrace += 1
        case .cancelledFromHold: cancelledFromHold += 1
        case .involuntary: involuntary += 1
        case .takenBack: takenBack += 1
        }
    }
}

extension LineageTimeline {
    /// What the customer was subscribed to and paid for at an instant; nil for none of it.
    fileprivate func subscribed(at instant: Instant) -> MeasuredPlace? {
        guard let step = steps.step(at: instant), step.phase.isSubscribed,
            step.standing.reason != .trial, step.term?.term.plan == .autoRenewable
        else { return nil }
        return MeasuredPlace(
            productId: step.standing.productId,
            lineage: lineage,
            storefront: step.term?.term.storefront
        )
    }

    fileprivate func fate(over range: Range<Instant>) -> Fate {
        let ending = transitions.last { range.contains($0.at) && $0.kind.endsSubscription }
        guard let last = steps.step(before: range.upperBound) else { return .unconfirmed }
        if last.phase.isSubscribed { return ending == nil ? .subscribed : .returned }
        return ending?.fate ?? .unconfirmed
    }
}

extension LineageSteps {
    /// The step that the last millisecond before an instant lies in.
    fileprivate func step(before instant: Instant) -> Step? { step(at: instant - Milliseconds(1)) }
}

extension Phase {
    fileprivate var isSubscribed: Bool {
        switch self {
        case .running, .grace, .hold, .paused: true
        case .none, .ended, .unconfirmed: false
        }
    }
}

extension Transition.Kind {
    fileprivate var endsSubscription: Bool {
        switch self {
        case .expired, .trialEnded, .refunded, .revoked: true
        default: false
        }
    }
}

extension Transition {
    fileprivate var fate: Fate {
        switch (kind, from, reason) {
        case (.refunded, _, _), (.revoked, _, _): .takenBack
        case (_, .grace, .cancelled): .cancelledFromGrace
        case (_, .hold, .cancelled): .cancelledFromHold
        case (_, nil, .cancelled), (_, nil, .priceIncrease): .voluntary
        default: .involuntary
        }
    }
}
