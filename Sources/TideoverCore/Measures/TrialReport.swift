/// The outcomes of trials, by the month they began in.
///
/// The conversion rate is computed over *decided* trials. A trial that is running, or with a first
/// payment that is still being retried, may yet convert.
public struct TrialReport: Hashable, Sendable {
    /// The instant up to which trials were observed.
    public var asOf: Instant
    /// The names of the dimensions that distinguish the rows.
    public var dimensions: [String]
    /// Ordered by cohort, and within a cohort by value.
    public var rows: [Row]

    public struct Row: Hashable, Sendable {
        /// The month in UTC in which the trials began: `2026-05`.
        public var cohort: String
        /// A value for each dimension; nil if unknown.
        public var values: [String?]
        public var started = 0
        public var running = 0
        /// The first payment failed, and the store still retries.
        public var inBillingIssue = 0
        public var converted = 0
        /// Ended unpaid after renewal was switched off.
        public var cancelled = 0
        /// Ended unpaid without that.
        public var lapsed = 0
        public var takenBack = 0
        /// The state was unknown at the end.
        public var unconfirmed = 0

        /// The share of decided trials that converted.
        public var conversion: Share {
            Share(converted, of: converted + cancelled + lapsed + takenBack)
        }
    }

    /// Creates a report. Requires timelines up to `asOf`. Excludes family-shared trials, because
    /// the customer does not decide on them.
    public init(
        of timelines: some Sequence<LineageTimeline>,
        asOf: Instant,
        by dimensions: [MeasureDimension] = []
    ) {
        var rows: [[String?]: Row] = [:]
        for timeline in timelines where timeline.lineage.ownership == .purchased {
            for trial in timeline.trials(until: asOf) {
                let cohort = Self.month(of: trial.start.at)
                let values = dimensions.map { $0.value(MeasuredPlace(trial.start)) }
                rows[[cohort] + values, default: Row(cohort: cohort, values: values)]
                    .count(trial.outcome)
            }
        }
        self.asOf = asOf
        self.dimensions = dimensions.map(\.name)
        self.rows = rows.sorted { $0.key.precedes($1.key) }.map(\.value)
    }

    private static func month(of instant: Instant) -> String {
        String(instant.rfc3339.prefix(7))
    }
}

/// A trial and its outcome.
private struct ToldTrial {
    var start: Transition
    var outcome: Outcome

    enum Outcome {
        case running, inBillingIssue, converted, cancelled, lapsed, takenBack, unconfirmed
    }
}

extension TrialReport.Row {
    fileprivate init(cohort: String, values: [String?]) {
        self.cohort = cohort
        self.values = values
    }

    fileprivate mutating func count(_ outcome: ToldTrial.Outcome) {
        started += 1
        switch outcome {
        case .running: running += 1
        case .inBillingIssue: inBillingIssue += 1
        case .converted: converted += 1
        case .cancelled: cancelled += 1
        case .lapsed: lapsed += 1
        case .takenBack: takenBack += 1
        case .unconfirmed: unconfirmed += 1
        }
    }
}

extension LineageTimeline {
    fileprivate func trials(until instant: Instant) -> [ToldTrial] {
        var trials: [ToldTrial] = []
        var willRenew = true
        /// Whether the subscription has not begun again since the last trial.
        var isCurrent = false
        for event in transitions where event.at <= instant {
            if event.kind == .trialStarted || event.kind == .resubscribed,
                let last = trials.last?.outcome, isCurrent, !last.isDecided
            {
                let end = untoldEnd(at: event.at - Milliseconds(1))
                // A trial of another product that takes the place of a running one continues it.
                if event.kind == .trialStarted, willRenew, end == nil { continue }
                trials[trials.count - 1].outcome =
                    end == .takenBack ? .takenBack : willRenew ? .unconfirmed : .cancelled
            }
            switch event.kind {
            case .trialStarted:
                trials.append(ToldTrial(start: event, outcome: .running))
                (willRenew, isCurrent) = (true, true)
            case .resubscribed: isCurrent = false
            case .trialCancelled, .cancelled: willRenew = false
            case .uncancelled: willRenew = true
            default: break
            }
            guard isCurrent, let last = trials.last?.outcome else { continue }
            trials[trials.count - 1].outcome = last.after(event, willRenew: willRenew)
        }
        if let last = trials.last?.outcome, isCurrent, !last.isDecided,
            let end = untoldEnd(at: instant)
        {
            trials[trials.count - 1].outcome = end
        }
        return trials
    }

    /// Returns the outcome of a trial that is over at an instant without an event that says so: its
    /// state is unknown, or its refund is dated before access ended.
    private func untoldEnd(at instant: Instant) -> ToldTrial.Outcome? {
        guard let step = steps.step(at: instant) else { return nil }
        switch step.phase {
        case .unconfirmed: return .unconfirmed
        case .ended where step.standing.reason.isTakingBack: return .takenBack
        default: return nil
        }
    }
}

extension ToldTrial.Outcome {
    fileprivate var isDecided: Bool {
        switch self {
        case .running, .inBillingIssue: false
        case .converted, .cancelled, .lapsed, .takenBack, .unconfirmed: true
        }
    }

    /// Returns the outcome after a transition. A converted trial stays converted, whatever happens
    /// to the subscription later. One that ended unpaid changes only if that end is undone, or if
    /// the store collects the first payment after all.
    fileprivate func after(_ event: Transition, willRenew: Bool) -> Self {
        switch (self, event.kind) {
        case (_, .trialConverted): .converted
        case (.takenBack, .refundReversed), (.takenBack, .reinstated), (.cancelled, .uncancelled):
            switch event.state {
            case .active: .running
            case .grace, .hold: .inBillingIssue
            case .expired, .never: self
            }
        case _ where isDecided: self
        case (_, .trialEnded): willRenew ? .lapsed : .cancelled
        case (_, .billingIssueEntered): .inBillingIssue
        case (_, .billingIssueRecovered), (_, .recoveredByNewPurchase): .running
        case (_, .refunded) where event.state == .expired: .takenBack
        case (_, .revoked) where event.state == .expired: .takenBack
        default: self
        }
    }
}
