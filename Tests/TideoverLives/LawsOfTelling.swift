import TideoverCore

extension Law {
    static let telling = Law(
        name: "telling",
        sentence:
            "a timeline equals the answer at every instant, and the next answer"
    ) { life, trial in
        guard trial.isOneInTen else { return nil }
        for told in life.retold(trial) {
            let history = told.history
            let probes = history.probes(told.policy)
            let story = told.told(until: Answers.late)
            for entitlement in Answers.entitlements {
                let spans = story.timeline(of: entitlement).spans
                let answers = probes.map { told.standing(of: entitlement, in: history, at: $0) }
                if let fault = untruth(in: spans, answers, probes) {
                    return "\(entitlement) \(fault)"
                }
                if let fault = told.next(entitlement, history, probes, answers, trial) {
                    return "\(entitlement) \(fault)"
                }
            }
        }
        return nil
    }

    private static func untruth(
        in spans: [Timeline.Span],
        _ answers: [Standing],
        _ probes: [Instant]
    ) -> String? {
        for (instant, standing) in zip(probes, answers) {
            guard let span = spans.last(where: { $0.from <= instant }) else { continue }
            if !span.says(standing) {
                return
                    "at \(instant.rfc3339) the timeline has \(span.rule.rawValue), not \(standing.told)"
            }
        }
        return nil
    }

    static let stillness = Law(
        name: "stillness",
        sentence: "an instant without a change has no event"
    ) { life, trial in
        guard trial.isOneInTen else { return nil }
        var random = trial.random
        for told in life.retold(trial) {
            let instants = Set(told.history.boundaries(policy: told.policy)).sorted()
            // Adds the same policy again at some of them: these are checked, whatever is known of
            // them.
            let versions = instants.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.map {
                Versioned<Policy>.Version(told.policy, effectiveAt: $0, learnedAt: .distantPast)
            }
            guard let policy = Versioned(versions: versions) else { continue }
            let middle = instants[instants.count / 2]
            let until = (trial.seed / 10).isMultiple(of: 2) ? middle : Answers.late
            let usual = Story(told, Versioned(told.policy), until: until)
            if let fault = usual.difference(from: Story(told, policy, until: until)) {
                return "by \(until.rfc3339) \(fault)"
            }
        }
        return nil
    }
}

/// The events and spans of one life.
private struct Story {
    let customer: CustomerTimeline
    let timeline: LineageTimeline

    init(_ life: Life, _ policy: Versioned<Policy>, until: Instant) {
        let record = CustomerRecord(
            customer: life.holder,
            environment: life.lineage.environment,
            lineageRecords: [
                CustomerRecord.LineageRecord(
                    lineage: life.lineage,
                    facts: life.facts,
                    owners: [life.possession]
                )
            ],
            catalogue: Versioned(life.catalogue),
            policy: policy
        )
        customer = CustomerTimeline(record, until: until)
        timeline = customer.lineages[0]
    }

    func difference(from other: Story) -> String? {
        if timeline.transitions != other.timeline.transitions { return "the events differ" }
        if timeline.expected != other.timeline.expected { return "other events are expected" }
        if timeline.issues != other.timeline.issues { return "the billing issues differ" }
        if deadlines != other.deadlines { return "something else falls due" }
        if customer.news(since: [String]()) != other.customer.news(since: [String]()) {
            return "the news differ"
        }
        let spans = Answers.entitlements.map { customer.timeline(of: $0).spans }
        let others = Answers.entitlements.map { other.customer.timeline(of: $0).spans }
        return spans == others ? nil : "the spans differ"
    }

    private var deadlines: [Deadline] {
        timeline.deadlines(after: .distantPast, trialEnding: .hours(48), graceEnding: .days(3))
    }
}

extension Life {
    fileprivate var holder: CustomerID { CustomerID("anna").unsafelyUnwrapped }

    fileprivate var possession: OwnershipEntry {
        OwnershipEntry(
            lineage: lineage,
            customer: holder,
            from: .distantPast,
            why: .accountToken
        )
    }

    /// Returns copies of the life with lost facts, contradicting observations, and some reported
    /// only by a relay. They use the life's policy, or one that keeps access in retry.
    fileprivate func retold(_ trial: Law.Trial) -> [Life] {
        var lives = withLosses(trial).prefix(2) + [contradicted(trial)]
        for position in lives.indices {
            var random = SeededRandom(seed: trial.seed &+ UInt64(position))
            if position.isMultiple(of: 2) { lives[position].policy.billingRetry = .keep(.days(20)) }
            for fact in lives[position].facts.indices
            where position > 0 && Int.random(in: 0..<5, using: &random) == 0 {
                lives[position].facts[fact].rank = .relayed
            }
        }
        return lives.filter { !$0.facts.isEmpty }
    }

    /// Returns the fault of the stated next change of the answer, at a few of the probed instants.
    fileprivate func next(
        _ entitlement: String,
        _ history: LineageHistory,
        _ probes: [Instant],
        _ answers: [Standing],
        _ trial: Law.Trial
    ) -> String? {
        let customer = customerHistory(of: history)
        var random = trial.random
        for _ in 0..<2 {
            let position = Int.random(in: probes.indices, using: &random)
            let (now, then) = (answers[position], answers[(position + 1)...])
            let change = then.firstIndex {
                $0.state != now.state || $0.reason != now.reason || $0.confidence != now.confidence
            }
            let said = customer.snapshot(at: probes[position])[entitlement]?.nextChange
            if said != change.map({ probes[$0] }) {
                return
                    "at \(probes[position].rfc3339) is to change at \(said?.rfc3339 ?? "no time")"
            }
        }
        return nil
    }
}

extension Life {
    func standing(
        of entitlement: String,
        in history: LineageHistory,
        at instant: Instant
    ) -> Standing {
        history.standing(of: entitlement, at: instant, policy: policy, catalogue: catalogue)
    }

    /// Returns the history of a customer who owns only this lineage.
    func customerHistory(of history: LineageHistory) -> CustomerHistory {
        CustomerHistory(
            customer: holder,
            environment: lineage.environment,
            lineageRecords: [OwnedHistory(history: history, owners: [possession])],
            catalogue: catalogue,
            policy: policy
        )
    }
}

extension Law.Trial {
    /// Whether the seed is one in ten. Checking every boundary of a life costs many times as much
    /// as the other laws together.
    var isOneInTen: Bool { seed.isMultiple(of: 10) }
}
