package import TideoverCore

/// Every answer computed from the facts of one life: standings on both sides of every boundary,
/// owners, the timeline, the measures.
struct Answers: Equatable {
    var boundaries: [Instant]
    var standings: [Standing]
    var owners: [CustomerID?]
    var spans: [[Timeline.Span]]
    var happenings: [Happening]
    var issues: [Issue]
    var recovery: [RecoveryReport]
    var churn: [ChurnReport]
    var trials: TrialReport

    static let entitlements = ["archive", "basics", "premium"]
    /// An instant after the end of every generated life.
    static let late = Instant(millisecondsSince1970: 4_070_908_800_000)

    /// Computes the answers as facts arrive. Owners are recorded batch by batch; the rest depends
    /// on the facts alone. `times` is whether to compare when the facts were learned.
    init(_ life: Life, arriving batches: [[Fact]], times: Bool) {
        var known = life
        known.facts = []
        var owners: [OwnershipEntry] = []
        for batch in batches {
            known.facts += batch
            owners += owners.additions(for: known.facts)
        }
        let history = known.history
        let boundaries = Set(history.boundaries(policy: life.policy)).sorted()
        let probes = boundaries.bothSides
        let told = known.told(until: Self.late)
        self.boundaries = boundaries
        standings = probes.map { history.standing(at: $0, policy: life.policy) }
        self.owners = probes.map { owners.owner(at: $0) }
        spans = Self.entitlements.map { told.timeline(of: $0).spans }
        happenings = told.transitions.map { Happening($0, times: times) }
        issues = told.issues.map { Issue($0, times: times) }
        let middle = boundaries[boundaries.count / 2]
        recovery = [middle, Self.late].map {
            RecoveryReport(of: told.issues, asOf: $0, by: [.product])
        }
        churn = [boundaries[0]..<Self.late, middle..<Self.late].map {
            ChurnReport(of: [told], over: $0)
        }
        trials = TrialReport(of: [told], asOf: Self.late)
    }

    /// Returns the first different answer in one line; nil if there is none.
    func difference(from other: Answers) -> String? {
        if boundaries != other.boundaries { return "other instants are boundaries" }
        for (position, instant) in boundaries.bothSides.enumerated() {
            if standings[position] != other.standings[position] {
                return "at \(instant.rfc3339) \(standings[position].told), not "
                    + other.standings[position].told
            }
            if owners[position] != other.owners[position] {
                return "at \(instant.rfc3339) another owner"
            }
        }
        if spans != other.spans { return "another timeline" }
        if happenings != other.happenings {
            let own = Set(happenings).symmetricDifference(other.happenings)
            return "other events: \(own.map { "\($0.kind.rawValue) at \($0.at.rfc3339)" }.sorted())"
        }
        if issues != other.issues { return "other billing issues" }
        return self == other ? nil : "other measures"
    }
}

extension [Instant] {
    /// The last millisecond before each instant, the instant, and the first millisecond after it.
    package var bothSides: [Instant] {
        flatMap { [$0 - Milliseconds(1), $0, $0 + Milliseconds(1)] }
    }
}

/// A transition in comparable form.
struct Happening: Hashable {
    let id: String
    let kind: Transition.Kind
    let at: Instant
    let learnedAt: Instant?
    let state: State
    let reason: Reason
    let confidence: Confidence
    let products: [String?]
    let entitlements: [String]
    let money: Money?
    let duration: Milliseconds?
    let keepArtifactsUntil: Instant?
    let evidence: [EvidenceID]

    init(_ transition: Transition, times: Bool) {
        id = transition.id
        kind = transition.kind
        at = transition.at
        learnedAt = times ? transition.learnedAt : nil
        state = transition.state
        reason = transition.reason
        confidence = transition.confidence
        products = [transition.productId, transition.previousProductId]
        entitlements = transition.entitlements
        money = transition.money
        duration = transition.duration
        keepArtifactsUntil = transition.keepArtifactsUntil
        evidence = transition.evidence
    }
}

/// A billing issue in comparable form. Its end is among the transitions.
struct Issue: Hashable {
    let id: String
    let productId: String?
    let isTrial: Bool
    let instants: [Instant?]
    let moneyAtRisk: Money?
    let learnedAt: Instant?

    init(_ issue: BillingIssue, times: Bool) {
        id = issue.id
        productId = issue.productId
        isTrial = issue.isTrial
        instants = [issue.enteredAt, issue.graceFrom, issue.holdFrom, issue.endedAt]
        moneyAtRisk = issue.moneyAtRisk
        learnedAt = times ? issue.learnedAt : nil
    }
}
