/// How many subscribers at the start of a time range were not subscribed at its end, and why.
///
/// A subscription that ends at the very instant at which one range ends and the next one starts has
/// churned in the first, and is no subscriber of the second.
///
/// The denominator is every customer with their own paid subscription that was running, in grace,
/// on hold or paused at the first instant. Trials have their own report; family-shared purchases
/// are excluded.
public struct ChurnReport: Hashable, Sendable {
    public var range: Range<Instant>
    /// The names of the dimensions that distinguish the rows.
    public var dimensions: [String]
    /// One row for each combination of values that occurs, in order.
    public var rows: [Row]

    public struct Row: Hashable, Sendable {
        /// A value for each dimension at the beginning; nil if unknown.
        public var values: [String?]
        /// Subscribed at the beginning: the denominator.
        public var atStart = 0
        /// Renewal switched off, or a price increase without consent, while everything was paid.
        public var voluntary = 0
        public var cancelledFromGrace = 0
        public var cancelledFromHold = 0
        /// The payment was not recovered, or the product was withdrawn.
        public var involuntary = 0
        public var takenBack = 0
        /// Ended in between, and subscribed again at the end: not churn.
        public var returned = 0
        /// The state became unknown: not counted as churn.
        public var unconfirmed = 0

        public var churned: Int {
            voluntary + cancelledFromGrace + cancelledFromHold + involuntary + takenBack
        }

        /// The share of subscribers at the beginning that were not subscribed at the end.
        public var churn: Share { Share(churned, of: atStart) }
    }

    /// Creates a report. Requires timelines that extend at least to the end of the range.
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
    /// Returns the customer's paid subscription at an instant; nil if there is none.
    fileprivate func subscribed(at instant: Instant) -> MeasuredPlace? {
        guard let step = steps.step(at: instant), step.subscription?.isSubscribed == true
        else { return nil }
        return MeasuredPlace(
            productId: step.standing.productId,
            lineage: lineage,
            storefront: step.term?.term.storefront
        )
    }

    fileprivate func fate(over range: Range<Instant>) -> Fate {
        var ending: Transition?
        var isOver = false
        for event in transitions where range.lowerBound < event.at && event.at <= range.upperBound {
            // A refund after the end is not the reason for it.
            if event.endsSubscription, !isOver { ending = event }
            isOver = event.state == .expired && (isOver || event.endsSubscription)
        }
        guard let last = steps.step(at: range.upperBound) else { return .unconfirmed }
        if last.phase.isSubscribed { return ending == nil ? .subscribed : .returned }
        // A refund may be dated before access ends: Google Play ends it with a later message, and a
        // renewal may be refunded before it begins.
        if !isOver, last.phase == .ended, last.standing.reason.isTakingBack { return .takenBack }
        return ending?.fate ?? .unconfirmed
    }
}

extension Phase {
    fileprivate var isSubscribed: Bool {
        switch self {
        case .running, .grace, .hold, .paused: true
        case .none, .ended, .unconfirmed: false
        }
    }
}

extension Transition {
    /// False for a refund that leaves access, or that is of an earlier period.
    fileprivate var endsSubscription: Bool {
        switch kind {
        case .expired, .trialEnded, .refunded, .revoked: state == .expired
        default: false
        }
    }

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
