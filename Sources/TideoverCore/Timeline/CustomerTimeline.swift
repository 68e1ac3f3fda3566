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
        transitions = story.transitions.inOrder
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

    /// Returns the transitions during the customer's ownership. They are copied only if some are
    /// left out, as they are large.
    fileprivate func owned(_ transitions: [Transition]) -> [Transition] {
        let isUnchanged = transitions.indices.allSatisfy { isOwned(at: transitions[$0].at) }
        return isUnchanged ? transitions : transitions.filter { isOwned(at: $0.at) }
    }

    /// When the customer's data of the lineage begins.
    fileprivate var opening: Instant? {
        let owned = owners.deciding.compactMap { entry in
            identity.start(of: entry.customer).map { max($0, entry.from) }
        }.min()
        guard let first = steps.all.first?.from, let owned else { return nil }
        return max(first, owned)
    }

    /// The instants at which the answer to the customer may change.
    fileprivate var changes: [Instant] {
        steps.all.map(\.from) + owners.flatMap { [$0.from, $0.until].compactMap(\.self) }
            + identity.instants
    }

    /// Returns the standing by the lineage itself at an instant; nil if the customer does not own
    /// it then.
    func ownStanding(of entitlement: String, at instant: Instant) -> Standing? {
        isOwned(at: instant) ? steps.standing(of: entitlement, at: instant) : nil
    }

    /// Returns the standing at an instant; nil if the customer does not own the lineage then, and
    /// before its first step.
    fileprivate func standing(of entitlement: String, at instant: Instant) -> Standing? {
        guard isOwned(at: instant), let step = steps.step(at: instant) else { return nil }
        return steps.answer(of: entitlement, from: step).standing
    }
}

extension [OwnedSteps] {
    /// Removes entitlements from cleanups that another purchase still gives access to, or may
    /// restore. The transitions keep their order, and are copied only if some are cleanups, as they
    /// are large.
    func withoutKept(_ transitions: [Transition]) -> [Transition] {
        let cleanups = transitions.indices.filter { transitions[$0].kind == .cleanupDue }
        guard !cleanups.isEmpty else { return transitions }
        let unknown = unknown
        var lineages: [String: BestOverTime] = [:]
        var narrowed = transitions
        for position in cleanups.sorted(by: { transitions[$0].at < transitions[$1].at }) {
            let at = transitions[position].at
            narrowed[position].entitlements.removeAll { entitlement in
                lineages[entitlement, default: unknown]
                    .move(to: at) { self[$0].standing(of: entitlement, at: at) }
                guard let best = lineages[entitlement]?.best else { return true }
                return best.state != .expired || best.confidence == .unknown
            }
        }
        return narrowed.filter { $0.kind != .cleanupDue || !$0.entitlements.isEmpty }
    }

    /// Returns the best standing from each boundary of any lineage, and from the first device
    /// report.
    fileprivate func bestAnswers(
        of entitlement: String,
        _ reconciledAt: Instant?
    ) -> [Answer] {
        guard let opening = compactMap(\.opening).min() else { return [] }
        var lineages = unknown
        let instants = lineages.instants + [opening, reconciledAt ?? opening]
        return instants.filter { $0 >= opening }.inOrder.map { instant in
            lineages.move(to: instant) { self[$0].standing(of: entitlement, at: instant) }
            return Answer(
                from: instant,
                standing: lineages.best
                    ?? .unheardOf(isReconciled: reconciledAt.map { $0 <= instant } ?? false)
            )
        }
    }

    /// The lineages before the first step of any.
    var unknown: BestOverTime {
        let changes = indices.flatMap { position in
            self[position].changes.map { BestOverTime.Change(at: $0, position: position) }
        }
        return BestOverTime(map { _ in nil }, changes.sorted { $0.at < $1.at })
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
        let told = pairs.map { $1.owned($0.transitions) }
        transitions = lineageRecords.withoutKept(told.count == 1 ? told[0] : Array(told.joined()))
    }

    /// Finds the purchases in other lineages that ended a billing issue.
    mutating func findNewPurchases() {
        guard lineageRecords.count > 1, !issues.isEmpty else { return }
        let entered = transitions.lazy.filter { $0.kind == .billingIssueEntered }
        let losses = Dictionary(
            entered.map { ($0.id, $0.entitlements) },
            uniquingKeysWith: { first, _ in first }
        )
        let purchases = transitions.filter(\.isOwnPurchase)
        for position in issues.indices {
            let issue = issues[position]
            guard !issue.isRecoveredByPurchase,
                let lost = losses[issue.id],
                let purchase = purchases.first(where: {
                    issue.isOpen(at: $0.at) && $0.replaces(lost, of: issue)
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

extension Transition {
    /// Whether the customer bought something that can end a billing issue.
    var isOwnPurchase: Bool {
        guard !isFamilyShared, lineage.store != .tideover else { return false }
        switch kind {
        case .started, .resubscribed, .trialStarted: return true
        default: return false
        }
    }

    /// Whether this purchase gives some of the entitlements that an issue of another one lost.
    func replaces(_ lost: [String], of issue: BillingIssue) -> Bool {
        lineage != issue.lineage && entitlements.contains(where: lost.contains)
    }
}

extension BillingIssue {
    fileprivate var isRecoveredByPurchase: Bool {
        if case .recoveredByNewPurchase = outcome { true } else { false }
    }

    func isOpen(at instant: Instant) -> Bool {
        enteredAt < instant && instant < endedAt ?? .distantFuture
    }
}
