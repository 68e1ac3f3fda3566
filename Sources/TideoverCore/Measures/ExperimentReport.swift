/// The outcome of an experiment so far: the recovery of each arm, and its difference from the
/// control.
///
/// Shares are product-limit estimates at the experiment's horizon with Greenwood's variances, so a
/// young entry counts for as long as it was observed. Intervals are those of `ConfidenceSequence`:
/// looking often, or stopping because of what one sees, does not make them wrong.
public struct ExperimentReport: Hashable, Sendable {
    public var experiment: Experiment
    public var asOf: Instant
    /// Ordered as the arms; the first is the control.
    public var rows: [Row]

    public struct Row: Hashable, Sendable {
        public var arm: String
        /// The customers with a failed payment.
        public var entries: Int
        /// Those of them to whom something was reported as shown.
        public var exposed: Int
        /// The share recovered; nil if none was observed for long enough.
        public var recovery: KaplanMeier.Estimate?
        /// Differences from the control; nil for the control, and while there are too few entries.
        public var difference: Difference?
        public var lockouts: Difference?
        public var refunds: Difference?
        /// The entries of this arm and the control that a decision needs, about.
        public var needed: Int
        public var sentence: String = ""

        /// The reason to stop the arm; nil for none.
        public var alarm: Alarm? {
            if let lockouts, lockouts.interval.lower > 0 { return .lockouts }
            if let refunds, refunds.interval.lower > 0 { return .refunds }
            return nil
        }
    }

    /// A difference between two shares, -1 to 1.
    public struct Difference: Hashable, Sendable {
        public var value: Double
        /// Holds at every look at once, with 95 % confidence.
        public var interval: Interval
        public var standardError: Double

        /// Whether it is more than chance.
        public var isFound: Bool { interval.lower > 0 || interval.upper < 0 }
    }

    /// What an arm must not increase.
    public enum Alarm: String, Hashable, Sendable, CaseIterable {
        case lockouts, refunds
    }

    /// The stop that an alarm calls for while the experiment runs; nil for none.
    public var neededStop: Experiment.Stop? {
        guard experiment.phase(at: asOf) == .running else { return nil }
        return rows.lazy.compactMap { row in
            row.alarm.map { Experiment.Stop(at: asOf, reason: $0, arm: row.arm) }
        }.first
    }

    public init(
        of entries: some Sequence<ExperimentEntry>,
        in experiment: Experiment,
        asOf: Instant
    ) {
        let arms = Dictionary(grouping: entries, by: \.arm)
        let control = arms[experiment.arms[0].name] ?? []
        self.experiment = experiment
        self.asOf = asOf
        rows = experiment.arms.enumerated().map { position, arm in
            let own = arms[arm.name] ?? []
            guard position > 0 else { return Row(own, of: arm, in: experiment) }
            return Row(own, against: control, of: arm, in: experiment)
        }
    }
}

extension ExperimentReport.Row {
    /// The numbers with and without the event from which the normal approximation is used.
    private static let fewest = 25

    fileprivate init(
        _ entries: [ExperimentEntry],
        of arm: Experiment.Arm,
        in experiment: Experiment
    ) {
        self.arm = arm.name
        self.entries = entries.count
        exposed = entries.count(where: \.isExposed)
        recovery = KaplanMeier(entries.map(\.recovery)).happened(by: experiment.horizon)
        needed = 0
        sentence = "The control: \(recovery.map { points($0.value) } ?? "none") of 100 recover."
    }

    fileprivate init(
        _ entries: [ExperimentEntry],
        against control: [ExperimentEntry],
        of arm: Experiment.Arm,
        in experiment: Experiment
    ) {
        self.init(entries, of: arm, in: experiment)
        let sequence = ConfidenceSequence(effect: experiment.effect)
        func compared(
            _ time: KeyPath<ExperimentEntry, KaplanMeier.Observation>
        ) -> ExperimentReport.Difference? {
            Self.difference(
                entries.map { $0[keyPath: time] },
                control.map { $0[keyPath: time] },
                by: experiment.horizon,
                sequence
            )
        }
        difference = compared(\.recovery)
        lockouts = compared(\.lockout)
        refunds = compared(\.refund)
        let both = entries.count + control.count
        needed = Self.needed(both, difference, arm, experiment, sequence)
        sentence = Self.sentence(experiment.stop, of: arm) ?? self.sentence(both)
    }

    private static func sentence(_ stop: Experiment.Stop?, of arm: Experiment.Arm) -> String? {
        guard let stop, stop.arm == arm.name else { return nil }
        return "Stopped at \(stop.at.rfc3339): \(stop.reason.rawValue) rose with this arm."
    }

    private static func difference(
        _ treated: [KaplanMeier.Observation],
        _ held: [KaplanMeier.Observation],
        by horizon: Milliseconds,
        _ sequence: ConfidenceSequence
    ) -> ExperimentReport.Difference? {
        guard let a = estimate(of: treated, by: horizon), let b = estimate(of: held, by: horizon)
        else { return nil }
        let variance = a.standardError * a.standardError + b.standardError * b.standardError
        guard variance > 0 else { return nil }
        let half = sequence.halfWidth(standardError: variance.squareRoot())
        let value = a.value - b.value
        return ExperimentReport.Difference(
            value: value,
            interval: Interval(lower: max(-1, value - half), upper: min(1, value + half)),
            standardError: variance.squareRoot()
        )
    }

    /// Returns the estimate; nil for too few events, or too few lives without one.
    private static func estimate(
        of lives: [KaplanMeier.Observation],
        by horizon: Milliseconds
    ) -> KaplanMeier.Estimate? {
        let events = lives.count { $0.happened && $0.time <= horizon }
        let estimate = KaplanMeier(lives).happened(by: horizon)
        guard events >= fewest, let estimate, estimate.atRisk >= fewest else { return nil }
        return estimate
    }

    /// Returns the entries at which the interval is as narrow as the smallest effect: at the rate
    /// of information so far, or for the widest interval possible.
    private static func needed(
        _ entries: Int,
        _ difference: ExperimentReport.Difference?,
        _ arm: Experiment.Arm,
        _ experiment: Experiment,
        _ sequence: ConfidenceSequence
    ) -> Int {
        guard let error = difference?.standardError else {
            let part = Double(arm.weight) / Double(arm.weight + experiment.arms[0].weight)
            return rounded(sequence.neededInformation / (4 * part * (1 - part)))
        }
        return rounded(sequence.neededInformation * error * error * Double(entries))
    }

    /// Returns a number rounded up to two digits.
    private static func rounded(_ number: Double) -> Int {
        var unit = 1.0
        while number / unit > 100 { unit *= 10 }
        return Int((number / unit).rounded(.up) * unit)
    }

    private func sentence(_ entries: Int) -> String {
        if let alarm { return "Stop it: \(alarm.rawValue) rise with this arm." }
        guard let difference, difference.isFound else {
            guard entries >= needed else {
                return "Not enough data: \(entries.grouped) of about \(needed.grouped) needed."
            }
            guard let difference else {
                return "Not enough data: in each arm \(Self.fewest) must have recovered in time, "
                    + "and \(Self.fewest) must not."
            }
            return "No difference found: \(range(of: difference))."
        }
        let verb = difference.value > 0 ? "more" : "fewer"
        let value = points(difference.value.magnitude)
        return "\(value) \(verb) of 100 recover: \(range(of: difference))."
    }

    private func range(of difference: ExperimentReport.Difference) -> String {
        "between \(points(difference.interval.lower)) and \(points(difference.interval.upper))"
    }
}

extension Experiment {
    fileprivate var horizon: Milliseconds { .days(Int64(days)) }
}

/// Returns a share in points, with one decimal.
private func points(_ share: Double) -> String {
    let tenths = Int((share * 1000).rounded())
    return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
}

extension Int {
    /// The number with a comma between groups of three digits.
    fileprivate var grouped: String {
        self < 1000
            ? "\(self)" : (self / 1000).grouped + "," + String("\(1000 + self % 1000)".dropFirst())
    }
}
