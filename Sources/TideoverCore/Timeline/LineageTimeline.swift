/// The timeline of one lineage up to an instant, computed from its facts.
///
/// Equal facts produce the same timeline with the same IDs, in any order and with any repetition.
/// At each instant the policy and the catalogue in effect then decide.
public struct LineageTimeline: Sendable {
    public let lineage: Lineage
    public let until: Instant
    /// Oldest first, none later than `until`.
    public let transitions: [Transition]
    /// The transitions expected after `until` if the store reports nothing more.
    public let expected: [Transition]
    /// Ordered by when they were entered; empty for family-shared purchases.
    public let issues: [BillingIssue]
    /// Whether an issue that seemed to have ended went on later, before or after `until`.
    let reopensIssues: Bool
    let steps: LineageSteps
    let evidenceIndex: EvidenceIndex
    let acknowledgements: [Deadline]

    /// Creates a timeline. Ignores facts of other lineages.
    public init(
        lineage: Lineage,
        facts: some Sequence<Fact>,
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>,
        until: Instant
    ) {
        let facts = facts.filter { $0.lineage == lineage }
        self.init(
            LineageHistory(lineage: lineage, facts: facts, catalogue: catalogue),
            facts: facts,
            catalogue: catalogue,
            policy: policy,
            until: until
        )
    }

    /// Creates a timeline from a history of the same facts, which must all belong to its lineage.
    init(
        _ history: LineageHistory,
        facts: [Fact],
        catalogue: Versioned<Catalogue>,
        policy: Versioned<Policy>,
        until: Instant
    ) {
        let steps = LineageSteps(history, catalogue: catalogue, policy: policy)
        let evidenceIndex = EvidenceIndex(history, facts)
        var told: [Transition] = []
        var issues: [BillingIssue] = []
        var reopensIssues = false
        for story in steps.stories {
            var builder = TransitionBuilder(story, evidenceIndex)
            for step in story.all where step.from <= until { builder.move(to: step) }
            builder.finish(at: until)
            issues += builder.issues
            for step in story.all where step.from > until { builder.move(to: step) }
            builder.finish(at: .distantFuture)
            reopensIssues = reopensIssues || builder.reopensIssues
            // The only story, as most are, is not copied.
            told = told.isEmpty ? builder.transitions : told + builder.transitions
            let refunds = Refunds(steps: story, evidenceIndex: evidenceIndex).transitions
            if !refunds.isEmpty { told += refunds }
        }
        (self.issues, self.reopensIssues) = (issues, reopensIssues)
        let all = told.inOrder
        let ahead = all.endOfPrefix { $0.at <= until }
        transitions = ahead == all.count ? all : Array(all[..<ahead])
        expected = Array(all[ahead...])
        lineage = history.lineage
        self.until = until
        self.steps = steps
        self.evidenceIndex = evidenceIndex
        acknowledgements = Acknowledgements.deadlines(in: facts, of: history.lineage)
    }

    /// Returns the timeline of one entitlement.
    public func timeline(of entitlement: String) -> Timeline {
        let (lived, ahead) = steps.answers(of: entitlement).spans(until: until)
        return Timeline(
            entitlement: entitlement,
            spans: lived,
            transitions: transitions.filter { $0.concerns(entitlement) },
            expected: ahead
        )
    }
}
