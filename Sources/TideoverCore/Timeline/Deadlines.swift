extension LineageTimeline {
    /// Returns the deadlines after an instant if the store reports nothing more, earliest first,
    /// each once.
    ///
    /// `trialEnding` and `graceEnding` state how long before the end customers are reminded, in
    /// real time. Both are scaled to the lineage's pace. A period shorter than its reminder has
    /// none. Family-shared purchases have none: only the purchaser can fix them.
    public func deadlines(
        after instant: Instant,
        trialEnding: Milliseconds,
        graceEnding: Milliseconds
    ) -> [Deadline] {
        let boundaries = steps.stories.flatMap { story in
            zip([nil] + story.all.map(Optional.some), story.all).flatMap { before, step in
                step.from > instant ? step.deadlines(after: before, of: lineage) : []
            }
        }
        let reminders = steps.all.compactMap {
            reminder(in: $0, trialEnding: trialEnding, graceEnding: graceEnding)
        }
        let cleanups = (transitions + expected).filter { $0.kind == .cleanupDue }.map {
            Deadline(.cleanup, at: $0.at, of: lineage, productId: $0.productId)
        }
        let all = boundaries + reminders + cleanups + acknowledgements
        return Set(all.filter { $0.at > instant }).sorted(by: Deadline.isEarlier)
    }

    func reminder(
        in step: Step,
        trialEnding: Milliseconds,
        graceEnding: Milliseconds
    ) -> Deadline? {
        guard lineage.ownership == .purchased else { return nil }
        let pace = steps.history.pace
        if let trial = step.standing.trial {
            let at = trial.endsAt - pace.scale(trialEnding)
            return at > trial.startedAt ? deadline(.trialEnding, at: at, in: step) : nil
        }
        guard step.phase == .grace, let end = step.standing.graceUntil else { return nil }
        return deadline(.graceEnding, at: end - pace.scale(graceEnding), in: step)
    }

    /// Returns a deadline; nil unless the step itself is still the answer then.
    private func deadline(_ kind: Deadline.Kind, at instant: Instant, in step: Step) -> Deadline? {
        guard let then = steps.step(at: instant), then.phase == step.phase,
            then.term?.key == step.term?.key
        else { return nil }
        return Deadline(kind, at: instant, of: lineage, productId: step.standing.productId)
    }
}

extension Step {
    /// Returns the deadlines at the beginning of this step.
    fileprivate func deadlines(after before: Step?, of lineage: Lineage) -> [Deadline] {
        var kinds: [Deadline.Kind] = []
        if let before, let end = before.boundary(to: self) { kinds.append(end) }
        if phase == .running, let term = seenTerm, term.key != before?.seenTerm?.key {
            kinds.append(.termStart)
        }
        if standing.asksStore, before?.standing.asksStore != true { kinds.append(.reread) }
        return kinds.map {
            Deadline($0, at: from, of: lineage, productId: standing.productId)
        }
    }

    /// Returns the kind of end at the start of the next step, if any.
    private func boundary(to next: Step) -> Deadline.Kind? {
        switch (phase, next.phase) {
        case (.running, _) where next.from == term?.end: .expiry
        case (.running, .ended), (.running, .unconfirmed): .presumedEnd
        case (.grace, .hold), (.grace, .ended), (.grace, .unconfirmed): .graceEnd
        case (.hold, .hold) where standing.access && !next.standing.access: .keptEnd
        case (.hold, .ended), (.hold, .unconfirmed): .retryEnd
        default: nil
        }
    }
}

extension Deadline {
    static func isEarlier(_ a: Deadline, _ b: Deadline) -> Bool {
        (a.at, a.kind.rawValue, a.id) < (b.at, b.kind.rawValue, b.id)
    }
}
