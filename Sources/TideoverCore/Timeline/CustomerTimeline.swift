/// The timeline of one customer in one environment up to an instant, over all lineages they owned.
public struct CustomerTimeline: Sendable {
    public let customer: CustomerID
    public let environment: Environment
    public let until: Instant
    /// Every lineage that the customer ever owned, by key, each with its complete timeline.
    public let lineages: [LineageTimeline]
    /// Oldest first, none later than `until`. Only transitions during the customer's ownership.
    public let transitions: [Transition]
    /// Ordered by lineage. Only issues that were entered during the customer's ownership.
    public let issues: [BillingIssue]
    let lineageRecords: [OwnedSteps]
    /// The ID that names the customer in experiments, whatever ID was asked for.
    let primary: CustomerID
    private let reconciledAt: Instant?

    /// Creates the timeline as known now. For the timeline as known at an instant, pass the record
    /// of that instant.
    public init(_ record: CustomerRecord, until: Instant) {
        self.init(record, record.history, until: until)
    }

    /// Creates the timeline from the record's own history, if the caller already has it.
    public init(_ record: CustomerRecord, _ history: CustomerHistory, until: Instant) {
        let held = record.answering.filter { $0.lineage.environment == record.environment }
            .sorted { $0.lineage < $1.lineage }
        let lineages = zip(held, history.lineageRecords).map { lineageRecord, known in
            LineageTimeline(
                known.history,
                facts: lineageRecord.ownFacts,
                catalogue: record.catalogue,
                policy: record.policy,
                until: until
            )
        }
        let lineageRecords = zip(lineages, held).map {
            OwnedSteps(steps: $0.steps, owners: $1.owners, identity: record.identity)
        }
        var story = CustomerStory(lineages: lineages, lineageRecords: lineageRecords, until: until)
        story.findNewPurchases()
        customer = record.customer
        primary = record.identity.primary
        environment = record.environment
        self.until = until
        self.lineages = lineages
        self.lineageRecords = lineageRecords
        reconciledAt = history.reconciledAt
        transitions = story.transitions.inOrder(by: Transition.isEarlier)
        issues = story.issues
    }

    /// Returns the timeline of one entitlement: at each instant the best answer of the lineages
    /// owned then.
    public func timeline(of entitlement: String) -> Timeline {
        let (lived, ahead) = lineageRecords.bestAnswers(of: entitlement, reconciledAt)
            .spans(until: until)
        return Timeline(
            entitlement: entitlement,
            spans: lived,
            transitions: transitions.filter { $0.concerns(entitlement) },
            expected: ahead
        )
    }

    /// Returns the deadlines after an instant, earliest first; only during the customer's
    /// ownership.
    public func deadlines(
        after instant: Instant,
        trialEnding: Milliseconds,
        graceEnding: Milliseconds
    ) -> [Deadline] {
        zip(lineages, lineageRecords).flatMap { lineage, lineageRecord in
            lineage.deadlines(after: instant, trialEnding: trialEnding, graceEnding: graceEnding)
                .filter { lineageRecord.isOwned(at: $0.at) }
        }.sorted(by: Deadline.isEarlier)
    }

    /// Every move of a purchase to the customer, ordered by lineage.
    var moves: [PurchaseMove] { lineageRecords.flatMap(\.moves) }

    /// Every reminder of the customer's own purchases, past and future, earliest first.
    var reminders: [Reminder] {
        let all = zip(lineages, lineageRecords).flatMap { lineage, lineageRecord in
            lineage.reminders.filter { lineageRecord.isOwned(at: $0.deadline.at) }
        }
        return lineages.count > 1
            ? all.sorted { Deadline.isEarlier($0.deadline, $1.deadline) } : all
    }
}

/// The steps of a lineage, with the times of one customer's ownership.
struct OwnedSteps: Sendable {
    let steps: LineageSteps
    let owners: [OwnershipEntry]
    let identity: CustomerIdentity

    func isOwned(at instant: Instant) -> Bool { identity.owns(owners, at: instant) }

    /// When the customer's data of the lineage begins.
    fileprivate var opening: Instant? {
        let owned = owners.deciding.compactMap { entry in
            identity.start(of: entry.customer).map { max($0, entry.from) }
        }.min()
        guard let first = steps.all.first?.from, let owned else { return nil }
        return max(first, owned)
    }

    fileprivate var edges: [Instant] {
        owners.flatMap { [$0.from, $0.until].compactMap(\.self) } + identity.instants
    }
}

extension [OwnedSteps] {
    /// Returns the best standing at an instant over the lineages owned then.
    func best(of entitlement: String, at instant: Instant) -> Standing {
        let owned = filter { $0.isOwned(at: instant) }
        return owned.map { $0.steps.standing(of: entitlement, at: instant) }.best
            ?? .unheardOf(isReconciled: false)
    }

    /// Returns the transitions of one lineage during the customer's ownership. They are copied only
    /// if some differ, as they are large.
    fileprivate func owned(lineage told: [Transition], by owned: OwnedSteps) -> [Transition] {
        let isUnchanged = told.indices.allSatisfy { position in
            told[position].kind != .cleanupDue && owned.isOwned(at: told[position].at)
        }
        guard !isUnchanged else { return told }
        return told.compactMap { owned.isOwned(at: $0.at) ? withoutKept($0) : nil }
    }

    /// Removes entitlements from a cleanup that another purchase still gives access to, or may
    /// restore.
    func withoutKept(_ transition: Transition) -> Transition? {
        guard transition.kind == .cleanupDue else { return transition }
        var narrowed = transition
        narrowed.entitlements = transition.entitlements.filter { entitlement in
            let best = best(of: entitlement, at: transition.at)
            return best.state == .expired && best.confidence != .unknown
        }
        return narrowed.entitlements.isEmpty ? nil : narrowed
    }

    /// Returns the best standing from each boundary of any lineage, and from the first device
    /// report.
    fileprivate func bestAnswers(
        of entitlement: String,
        _ reconciledAt: Instant?
    ) -> [Answer] {
        guard let opening = compactMap(\.opening).min() else { return [] }
        var voices = map { Voice(lineageRecord: $0, answers: $0.steps.answers(of: entitlement)) }
        let instants = voices.flatMap { voice in
            voice.answers.map(\.from) + voice.lineageRecord.edges
        }
        return Set(instants + [opening, reconciledAt ?? opening]).filter { $0 >= opening }.sorted()
            .map { instant in
                for position in voices.indices { voices[position].move(to: instant) }
                let owned = voices.filter { $0.lineageRecord.isOwned(at: instant) }
                return Answer(
                    from: instant,
                    standing: owned.compactMap(\.current).best
                        ?? .unheardOf(isReconciled: reconciledAt.map { $0 <= instant } ?? false)
                )
            }
    }

    /// The answers of one lineage, iterated forwards.
    private struct Voice {
        let lineageRecord: OwnedSteps
        let answers: [Answer]
        var position = 0
        var current: Standing?

        mutating func move(to instant: Instant) {
            while position < answers.count, answers[position].from <= instant {
                current = answers[position].standing
                position += 1
            }
        }
    }
}

/// Merges the timelines of a customer's lineages.
private struct CustomerStory {
    private let lineageRecords: [OwnedSteps]
    private let until: Instant
    private(set) var transitions: [Transition]
    private(set) var issues: [BillingIssue]

    init(lineages: [LineageTimeline], lineageRecords: [OwnedSteps], until: Instant) {
        self.lineageRecords = lineageRecords
        self.until = until
        let pairs = zip(lineages, lineageRecords)
        issues = pairs.flatMap { lineage, lineageRecord in
            lineage.issues.filter { lineageRecord.isOwned(at: $0.enteredAt) }
        }
        let told = pairs.map { lineageRecords.owned(lineage: $0.transitions, by: $1) }
        transitions = told.count == 1 ? told[0] : Array(told.joined())
    }

    /// Finds the purchases in other lineages that ended a billing issue.
    mutating func findNewPurchases() {
        guard lineageRecords.count > 1 else { return }
        let purchases = transitions.filter {
            $0.kind.isPurchase && !$0.isFamilyShared && $0.lineage.store != .tideover
        }
        for position in issues.indices {
            let issue = issues[position]
            guard !issue.isRecoveredByPurchase,
                let lost = transitions.first(where: { $0.id == issue.id })?.entitlements,
                let purchase = purchases.first(where: {
                    $0.lineage != issue.lineage && issue.isOpen(at: $0.at)
                        && !$0.entitlements.allSatisfy { !lost.contains($0) }
                })
            else { continue }
            let recovered = Transition(purchase, mending: issue)
            transitions.append(recovered)
            issues[position].outcome = .recoveredByNewPurchase(
                BillingIssue.Recovery(recovered),
                by: purchase.lineage
            )
        }
    }
}

extension CustomerRecord.LineageRecord {
    /// The facts, without those of other lineages.
    fileprivate var ownFacts: [Fact] {
        let isWhole = facts.indices.allSatisfy { facts[$0].lineage == lineage }
        return isWhole ? facts : facts.filter { $0.lineage == lineage }
    }
}

extension Transition.Kind {
    fileprivate var isPurchase: Bool {
        switch self {
        case .started, .resubscribed, .trialStarted: true
        default: false
        }
    }
}

extension BillingIssue {
    fileprivate var isRecoveredByPurchase: Bool {
        if case .recoveredByNewPurchase = outcome { true } else { false }
    }

    fileprivate func isOpen(at instant: Instant) -> Bool {
        enteredAt < instant && instant < endedAt ?? .distantFuture
    }
}
