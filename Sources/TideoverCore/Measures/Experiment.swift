/// A comparison of ways to ask customers for a failed payment while they have access.
///
/// A customer has the same arm for the whole experiment, by a hash of both names. The first arm is
/// the control. A locked-out customer is always asked, in every arm.
public struct Experiment: Hashable, Sendable, Identifiable {
    public var id: String
    public var entitlement: String
    /// Payments that fail from `start` until `end` are compared; nil for no end.
    public var start: Instant
    public var end: Instant?
    /// The days after the failure within which a recovery counts.
    public var days: Int
    /// The smallest difference that matters, in points of a hundred: 1 to 100.
    public var points: Int
    /// At least two.
    public var arms: [Arm]
    /// Nil unless the server stopped it.
    public var stop: Stop?

    package static let mostDays = 365
    package static let mostPoints = 100

    public struct Arm: Hashable, Sendable {
        public var name: String
        /// Its part of the customers, relative to the other arms; over 0.
        public var weight: Int
        /// Whether customers with access are not asked at all: a holdout.
        public var isHoldout: Bool
        /// `prompts.quiet` for its customers; nil for the policy's.
        public var quiet: Milliseconds?
        /// The channel of `graceEntered` for its customers; nil for the policy's.
        public var channel: PlannedMessage.Channel?

        package static let mostWeight = 1_000

        public init(
            _ name: String,
            weight: Int = 1,
            isHoldout: Bool = false,
            quiet: Milliseconds? = nil,
            channel: PlannedMessage.Channel? = nil
        ) {
            self.name = name
            self.weight = weight
            self.isHoldout = isHoldout
            self.quiet = quiet
            self.channel = channel
        }
    }

    /// The early end of an experiment, because an arm does harm.
    public struct Stop: Hashable, Sendable {
        public var at: Instant
        public var reason: ExperimentReport.Alarm
        /// The name of the arm that does harm.
        public var arm: String

        public init(at: Instant, reason: ExperimentReport.Alarm, arm: String) {
            self.at = at
            self.reason = reason
            self.arm = arm
        }
    }

    /// What customers with a failed payment experience.
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// It has not begun.
        case planned
        case running
        /// Its `end` has passed.
        case ended
        /// Stopped before its `end`; every customer has the control.
        case stopped
    }

    public init(
        id: String,
        entitlement: String,
        start: Instant,
        end: Instant? = nil,
        days: Int = 30,
        points: Int = 5,
        arms: [Arm],
        stop: Stop? = nil
    ) {
        self.id = id
        self.entitlement = entitlement
        self.start = start
        self.end = end
        self.days = days
        self.points = points
        self.arms = arms
        self.stop = stop
    }

    /// The smallest difference that matters, as a share.
    var effect: Double { Double(points) / 100 }

    /// Whether customers with a payment that fails at an instant have an arm.
    public func includes(_ instant: Instant) -> Bool {
        start <= instant && instant < end ?? .distantFuture
    }

    /// Whether a payment that fails at an instant is compared.
    func compares(_ instant: Instant) -> Bool {
        includes(instant) && instant < stop?.at ?? .distantFuture
    }

    public func phase(at instant: Instant) -> Phase {
        if let stop, stop.at <= instant { return .stopped }
        if instant < start { return .planned }
        return includes(instant) ? .running : .ended
    }

    /// Returns the experiment without a stop that is later than an instant.
    public func asKnown(at instant: Instant) -> Experiment {
        var known = self
        if let stop, stop.at > instant { known.stop = nil }
        return known
    }

    /// Returns the arm that a customer is shown: the assigned one, or the control after a stop.
    func shownArm(of customer: CustomerID) -> Arm {
        stop == nil ? arm(of: customer) : arms[0]
    }

    /// Returns the arm assigned to a customer, the same on every machine and in every version.
    public func arm(of customer: CustomerID) -> Arm {
        let whole = UInt64(arms.reduce(0) { $0 + $1.weight })
        var place = Int(StableDigest.number(id, customer.text) % whole)
        for arm in arms {
            guard place >= arm.weight else { return arm }
            place -= arm.weight
        }
        preconditionFailure("the weights of the arms add up to the whole")
    }
}

/// The arm of a customer in an experiment.
public struct ExperimentAssignment: Hashable, Sendable {
    public var experiment: String
    public var arm: Experiment.Arm
}

extension Policy {
    /// Returns the customer's arm in the experiment on a payment that failed at an instant; nil for
    /// none. Of several experiments the first counts that was not stopped before. Without one the
    /// customer has the control of a stopped one.
    func assignment(
        of customer: CustomerID,
        for entitlements: [String],
        failedAt instant: Instant
    ) -> ExperimentAssignment? {
        let all = experiments.filter {
            entitlements.contains($0.entitlement) && $0.includes(instant)
        }
        return (all.first { $0.compares(instant) } ?? all.first).map {
            ExperimentAssignment(experiment: $0.id, arm: $0.shownArm(of: customer))
        }
    }
}

/// One customer in an experiment: the first failed payment, and what followed.
public struct ExperimentEntry: Hashable, Sendable {
    public var arm: String
    /// Time to the recovery.
    public var recovery: KaplanMeier.Observation
    /// Time to the loss of access.
    public var lockout: KaplanMeier.Observation
    /// Time to a refund.
    public var refund: KaplanMeier.Observation
    /// Whether a prompt or a message was reported as shown after the failure.
    public var isExposed: Bool

    public init(
        arm: String,
        recovery: KaplanMeier.Observation,
        lockout: KaplanMeier.Observation,
        refund: KaplanMeier.Observation,
        isExposed: Bool = false
    ) {
        self.isExposed = isExposed
        self.arm = arm
        self.recovery = recovery
        self.lockout = lockout
        self.refund = refund
    }
}

extension CustomerTimeline {
    /// Returns the customer's entry in an experiment: the first payment for its entitlement that
    /// failed during it, and for which no other experiment assigned an arm. One entry for each
    /// customer keeps entries independent. Nil without any. `shown` contains the reports of what
    /// was shown. A stop ends the observation, because every customer has the control from then on.
    public func entry(
        in experiment: Experiment,
        shown: [PromptExposure] = []
    ) -> ExperimentEntry? {
        entry(in: experiment, of: nil, shown: shown)
    }

    /// Returns the entry of a timeline in which all IDs were one customer from the beginning.
    /// `identity` states when each joined: the arm is that of the ID that was asked when the
    /// payment failed.
    package func entry(
        in experiment: Experiment,
        of identity: CustomerIdentity?,
        shown: [PromptExposure] = []
    ) -> ExperimentEntry? {
        let until = min(until, experiment.stop?.at ?? .distantFuture)
        let first = issues.filter { issue in
            experiment.compares(issue.enteredAt) && issue.enteredAt <= until
                && transitions.contains {
                    $0.id == issue.id && $0.concerns(experiment.entitlement)
                        && assigns($0, to: experiment)
                }
        }.min { $0.enteredAt < $1.enteredAt }
        guard let issue = first else { return nil }
        let refund = transitions.first { $0.kind == .refunded && $0.at >= issue.enteredAt }
        func observation(of instant: Instant?) -> KaplanMeier.Observation {
            let time = instant.flatMap { $0 <= until ? $0 - issue.enteredAt : nil }
            return .init(time ?? until - issue.enteredAt, happened: time != nil)
        }
        return ExperimentEntry(
            arm: experiment.arm(of: id(at: issue, identity)).name,
            recovery: issue.life(from: issue.enteredAt, until: until).observation,
            lockout: observation(of: issue.holdFrom),
            refund: observation(of: refund?.at),
            isExposed: shown.contains {
                $0.kind != .store && (issue.enteredAt...until).contains($0.shownAt)
            }
        )
    }

    /// Returns the ID that named the customer when a payment failed: the owner of the purchase, if
    /// it had not joined the others by then.
    private func id(at issue: BillingIssue, _ identity: CustomerIdentity?) -> CustomerID {
        let record = lineageRecords.first { $0.steps.lineage == issue.lineage }
        guard let identity, let owner = record?.owners.owner(at: issue.enteredAt),
            identity.start(of: owner).map({ $0 > issue.enteredAt }) ?? false
        else { return primary }
        return owner
    }

    /// Whether the customer's arm for a failed payment is one of an experiment. The policy of that
    /// time decides. Where it has no experiment for the payment, the newest one does, and without
    /// that the payment counts.
    private func assigns(_ failure: Transition, to experiment: Experiment) -> Bool {
        guard let policy = lineageRecords.first?.steps.policy else { return true }
        let assigned = [failure.at, until].lazy.compactMap { instant in
            policy.value(at: instant).assignment(
                of: primary,
                for: failure.entitlements,
                failedAt: failure.at
            )
        }.first
        return assigned.map { $0.experiment == experiment.id } ?? true
    }
}
