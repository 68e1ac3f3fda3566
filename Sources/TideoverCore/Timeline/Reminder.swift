/// That an end is near: for whoever writes to the customer.
public struct Reminder: Hashable, Sendable, Identifiable {
    /// When the customer is to be reminded, and of what: `trial_ending` or `grace_ending`.
    public internal(set) var deadline: Deadline
    /// The end that comes near.
    public let endsAt: Instant

    public var id: String { deadline.id }
}

extension LineageTimeline {
    /// Every reminder of its whole life, past and to come, earliest first, under the policy in effect
    /// when what it speaks of began. What is shorter than its reminder has none, the family's purchases
    /// have none, and neither has what we first heard of when it was over.
    var reminders: [Reminder] {
        let all = steps.all.compactMap { step -> Reminder? in
            // Most steps are of neither kind, and are passed over quickly.
            guard let end = step.standing.trial?.endsAt ?? step.standing.graceUntil else {
                return nil
            }
            let lengths = steps.policy.value(at: step.from).reminders
            guard
                let deadline = reminder(
                    in: step,
                    trialEnding: lengths.trialEnding,
                    graceEnding: lengths.graceEnding
                ), wasKnown(step, before: end)
            else { return nil }
            return Reminder(deadline: deadline, endsAt: end)
        }
        guard all.count > 1 else { return all }
        return Set(all).sorted { Deadline.isEarlier($0.deadline, $1.deadline) }
    }

    private func wasKnown(_ step: Step, before end: Instant) -> Bool {
        guard let term = step.term else { return false }
        let proof = step.phase == .grace ? dossier.grace(of: term) : dossier.entry(into: term)
        return proof.learnedAt < end
    }
}
