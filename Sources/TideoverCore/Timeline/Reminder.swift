/// A reminder that an end is near, for systems that message the customer.
public struct Reminder: Hashable, Sendable, Identifiable {
    /// When to remind the customer, and of which end: `trial_ending` or `grace_ending`.
    public internal(set) var deadline: Deadline
    /// The end that is near.
    public let endsAt: Instant
    /// Whether the purchase renews then, as known at the deadline; nil if the store has not said. A
    /// cancelled trial does not renew, and nothing is charged.
    public let willRenew: Bool?

    public var id: String { deadline.id }
}

extension LineageTimeline {
    /// Every reminder of its complete timeline, past and future, earliest first. Each uses the
    /// policy in effect when its period began. There is none for a period shorter than its
    /// reminder, for family-shared purchases, or for a period that was over when the server first
    /// learned of it.
    var reminders: [Reminder] {
        let all = steps.all.indices.compactMap { position -> Reminder? in
            let step = steps.all[position]
            // Most steps have neither, and are skipped quickly.
            guard let end = step.standing.trial?.endsAt ?? step.standing.graceUntil else {
                return nil
            }
            let lengths = steps.policy.value(at: start(ofPeriodAt: position)).reminders
            guard
                let deadline = reminder(
                    in: step,
                    trialEnding: lengths.trialEnding,
                    graceEnding: lengths.graceEnding
                ), wasKnown(step, before: end)
            else { return nil }
            let then = steps.step(at: deadline.at) ?? step
            return Reminder(deadline: deadline, endsAt: end, willRenew: then.standing.willRenew)
        }
        guard all.count > 1 else { return all }
        return Set(all).sorted { Deadline.isEarlier($0.deadline, $1.deadline) }
    }

    /// Returns when the period of a step began. A period has a step for each change, such as each
    /// day of grace on Google Play.
    private func start(ofPeriodAt position: Int) -> Instant {
        let step = steps.all[position]
        let period = steps.all[...position].reversed().prefix {
            $0.phase == step.phase && $0.term?.key == step.term?.key
        }
        return period.last?.from ?? step.from
    }

    private func wasKnown(_ step: Step, before end: Instant) -> Bool {
        guard let term = step.term else { return false }
        let proof =
            step.phase == .grace ? evidenceIndex.grace(of: term) : evidenceIndex.entry(into: term)
        return proof.learnedAt < end
    }
}
