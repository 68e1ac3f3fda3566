extension CustomerTimeline {
    /// Returns the messages for the customer, by the policies in effect at their occasions.
    ///
    /// Only the customer's own purchases cause messages, never family-shared ones. `shown` contains
    /// the reports of what was shown and sent, in any order.
    public func plan(shown: [PromptExposure] = []) -> MessagePlan {
        let planned = lineages.indices.filter { lineages[$0].isPlanned }
        guard !planned.isEmpty else { return .none }
        let ahead = planned.flatMap { lineages[$0].cleanupsAhead }
        let events = Dictionary(
            grouping: transitions + lineageRecords.withoutKept(ahead),
            by: \.lineage
        )
        var known = Set<String>()
        let messages = planned.flatMap { position in
            let lineage = lineages[position]
            return MessagePlanner(self, lineage, events[lineage.lineage] ?? [], shown).messages
                .filter { lineageRecords[position].isOwned(at: $0.at) }
        }
        // A state that ends and begins again within one term is one occasion.
        .filter { known.insert($0.id).inserted }
        let inOrder = messages.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
        return MessagePlan(messages: lineageRecords.suppressingUnaffected(inOrder))
    }
}

extension LineageTimeline {
    /// Whether any policy plans messages about this lineage.
    fileprivate var isPlanned: Bool {
        lineage.ownership == .purchased && lineage.store != .tideover
            && steps.policy.versions.contains { !$0.value.plan.channels.isEmpty }
    }

    /// The expected cleanups of a purchase that has ended or will not renew.
    fileprivate var cleanupsAhead: [Transition] {
        guard steps.step(at: until)?.standing.willRenew == false else { return [] }
        return expected.filter { $0.kind == .cleanupDue }
    }
}

/// An occasion for a message, before policy and reports are applied.
private struct Occasion {
    var kind: PlannedMessage.Kind
    var at: Instant
    var until: Instant
    /// Identifies it within the lineage and the kind.
    var anchor: String
    var productId: String?
    var entitlements: [String]
    var screen: MessageContext
    /// When the payment failed; nil if it did not.
    var failedAt: Instant?
}

/// Plans the messages about one lineage of a customer.
private struct MessagePlanner {
    let timeline: CustomerTimeline
    let lineage: LineageTimeline
    /// What happened to it, and its cleanups ahead.
    let transitions: [Transition]
    let shown: [PromptExposure]

    /// How long a message without a nearer end remains useful.
    private static let longest = Milliseconds.days(7)
    private static let thanks = Milliseconds.days(1)

    init(
        _ timeline: CustomerTimeline,
        _ lineage: LineageTimeline,
        _ transitions: [Transition],
        _ shown: [PromptExposure]
    ) {
        self.timeline = timeline
        self.lineage = lineage
        self.transitions = transitions
        self.shown = shown
    }

    private var steps: LineageSteps { lineage.steps }
    private var pace: Pace { steps.history.pace }

    var messages: [PlannedMessage] {
        (states + reminders + events).compactMap(message)
    }

    // MARK: Occasions

    /// The beginnings of grace, of hold and of a wait for consent.
    private var states: [Occasion] {
        steps.all.indices.flatMap { position -> [Occasion] in
            let before = position > 0 ? steps.all[position - 1] : nil
            return Self.begun(steps.all[position], after: before).map { begun in
                occasion(begun.kind, from: position, while: begun.holds)
            }
        }
    }

    private typealias Begun = (kind: PlannedMessage.Kind, holds: (Step) -> Bool)

    private static func begun(_ step: Step, after before: Step?) -> [Begun] {
        let all: [Begun] = [
            (.graceEntered, { $0.isInGrace }), (.holdEntered, { $0.isInHold }),
            (.priceConsent, { $0.isAwaitingConsent }),
        ]
        return all.filter { begun in
            guard begun.holds(step), !(before.map(begun.holds) ?? false) else { return false }
            // A hold that turns into grace is no new failure.
            return begun.kind != .graceEntered || !(before?.isInHold ?? false)
        }
    }

    private func occasion(
        _ kind: PlannedMessage.Kind,
        from position: Int,
        while holds: (Step) -> Bool
    ) -> Occasion {
        let step = steps.all[position]
        let end = steps.all[position...].first { !holds($0) }?.from ?? .distantFuture
        let limit = kind == .graceEntered ? end : step.from + pace.scale(Self.longest)
        let anchor = step.term.map { term in
            kind == .priceConsent
                ? lineage.evidenceIndex.anchor(of: term) : lineage.evidenceIndex.endAnchor(of: term)
        }
        return Occasion(
            kind: kind,
            at: step.from,
            until: min(end, limit),
            anchor: anchor ?? "\(step.from.millisecondsSince1970)",
            productId: step.standing.productId,
            entitlements: steps.entitlements(of: step.standing, at: step.from),
            screen: screen(of: kind, step),
            failedAt: kind == .priceConsent ? nil : failure(at: position)
        )
    }

    private func screen(of kind: PlannedMessage.Kind, _ step: Step) -> MessageContext {
        switch kind {
        case .priceConsent: .priceConsent
        case .graceEntered:
            isChanging(step, at: step.from)
                ? .graceChanging : .grace(until: step.standing.graceUntil)
        default: isChanging(step, at: step.from) ? .holdChanging : .hold
        }
    }

    /// Returns whether the next payment is for a product that unlocks less.
    private func isChanging(_ step: Step, at instant: Instant) -> Bool {
        let catalogue = steps.catalogue.value(at: instant)
        return steps.entitlements(of: step.standing, at: instant).contains { entitlement in
            let decisionBasis = steps.history.decisionBasis(
                for: entitlement,
                at: instant,
                policy: steps.policy,
                catalogue: catalogue
            )
            return decisionBasis?.isLosing(entitlement, step.standing, in: catalogue) ?? false
        }
    }

    /// Returns the start of the unbroken failure that contains a step.
    private func failure(at position: Int) -> Instant {
        let failing = steps.all[...position].reversed().prefix { $0.isInGrace || $0.isInHold }
        return failing.last?.from ?? steps.all[position].from
    }

    private var reminders: [Occasion] {
        lineage.reminders.compactMap { reminder in
            let deadline = reminder.deadline
            guard let step = steps.step(at: deadline.at) else { return nil }
            let isTrial = deadline.kind == .trialEnding
            // A cancelled trial becomes no subscription.
            guard !isTrial || step.standing.willRenew != false else { return nil }
            return Occasion(
                kind: isTrial ? .trialEnding : .graceEnding,
                at: deadline.at,
                until: reminder.endsAt,
                anchor: deadline.id,
                productId: deadline.productId,
                entitlements: steps.entitlements(of: step.standing, at: deadline.at),
                screen: isTrial
                    ? trialScreen(step, reminder)
                    : isChanging(step, at: deadline.at)
                        ? .graceChanging : .grace(until: reminder.endsAt),
                failedAt: isTrial
                    ? nil : steps.all.lastIndex { $0.from <= deadline.at }.map(failure)
            )
        }
    }

    /// Returns the screen of a trial that ends soon. Without consent to a higher price, it does not
    /// become a paid subscription.
    private func trialScreen(_ step: Step, _ reminder: Reminder) -> MessageContext {
        let at = reminder.deadline.at
        let decided = steps.history.decision(at: at, policy: steps.policy) { _ in true }
        let isDecidedByConsent =
            step.isAwaitingConsent
            && decided?.decisionBasis.laterPrice(than: reminder.endsAt) == nil
        return isDecidedByConsent
            ? .priceConsent : .trialEnding(endsAt: reminder.endsAt, price: nil)
    }

    /// Recoveries, and cleanups of purchases that have ended or will not renew.
    private var events: [Occasion] {
        transitions.compactMap { event in
            switch event.kind {
            case .billingIssueRecovered, .recoveredByNewPurchase:
                occasion(.recovered, event, .recovered, for: Self.thanks)
            // After a change of product the subscription goes on, and no text says so.
            case .cleanupDue
            where event.state == .expired
                && event.productId == steps.step(at: event.at)?.standing.productId:
                occasion(.cleanupDue, event, .expired(price: nil), for: Self.longest)
            default: nil
            }
        }
    }

    private func occasion(
        _ kind: PlannedMessage.Kind,
        _ event: Transition,
        _ screen: MessageContext,
        for length: Milliseconds
    ) -> Occasion? {
        let quiet = pace.scale(steps.policy.value(at: event.at).prompts.quiet)
        // The customer never saw a failure that was over within the quiet period.
        guard kind != .recovered || event.duration.map({ $0 >= quiet }) ?? true else { return nil }
        return Occasion(
            kind: kind,
            at: event.at,
            until: event.at + pace.scale(length),
            anchor: event.id,
            productId: event.productId,
            entitlements: event.entitlements,
            screen: screen
        )
    }

    // MARK: Policy and reports

    /// Returns the message for an occasion; nil if the policy plans none.
    private func message(_ occasion: Occasion) -> PlannedMessage? {
        let policy = steps.policy.value(at: occasion.at)
        guard let planned = policy.plan.channels[occasion.kind] else { return nil }
        let id = StableDigest.text(
            of: lineage.lineage,
            PlannedMessage.eventKind,
            occasion.kind.rawValue,
            occasion.anchor
        )
        let (assignment, at) = assignment(in: policy, on: occasion, id)
        let isNotice = occasion.kind == .graceEntered
        let channel = (isNotice ? assignment?.arm.channel : nil) ?? planned
        let isHeldOut = assignment?.arm.isHoldout == true && occasion.kind != .holdEntered
        return PlannedMessage(
            id: id,
            kind: occasion.kind,
            channel: channel,
            at: at,
            until: occasion.until,
            lineage: lineage.lineage,
            productId: occasion.productId,
            entitlements: occasion.entitlements,
            wording: Wording(occasion.screen, showsTimes: pace != .real),
            suppression: isHeldOut ? .holdout : suppression(of: occasion, id, due: at),
            experiment: assignment
        )
    }

    /// Returns the customer's arm, and when the message is due in it. An experiment that is stopped
    /// before then shows the control.
    private func assignment(
        in policy: Policy,
        on occasion: Occasion,
        _ id: String
    ) -> (ExperimentAssignment?, at: Instant) {
        var policy = policy
        policy.experiments = policy.experiments.map { $0.asKnown(at: timeline.until) }
        guard let failedAt = occasion.failedAt,
            let assigned = policy.assignment(
                of: timeline.primary,
                for: occasion.entitlements,
                failedAt: failedAt
            )
        else { return (nil, due(occasion, policy.prompts, id)) }
        let at = due(occasion, policy.prompts, assigned.arm, id)
        guard let stopped = stopped(assigned.experiment), let stop = stopped.stop, stop.at <= at
        else { return (assigned, at) }
        let control = stopped.arms[0]
        return (
            ExperimentAssignment(experiment: stopped.id, arm: control),
            max(due(occasion, policy.prompts, control, id), stop.at)
        )
    }

    /// Returns an experiment that was stopped by the instant of the plan; nil if it was not.
    private func stopped(_ id: String) -> Experiment? {
        steps.policy.versions.lazy.filter { $0.effectiveAt <= timeline.until }
            .flatMap(\.value.experiments).first { $0.id == id && $0.stop != nil }
    }

    private func due(
        _ occasion: Occasion,
        _ prompts: Policy.Prompts,
        _ arm: Experiment.Arm,
        _ id: String
    ) -> Instant {
        var prompts = prompts
        if let quiet = arm.quiet { prompts.quiet = quiet }
        return due(occasion, prompts, id)
    }

    /// Returns when an occasion's message is due. A locked-out customer never waits.
    private func due(_ occasion: Occasion, _ prompts: Policy.Prompts, _ id: String) -> Instant {
        var prompts = prompts
        switch occasion.kind {
        case .holdEntered, .recovered: return occasion.at
        case .graceEntered: break
        case .trialEnding, .graceEnding, .priceConsent, .cleanupDue: prompts.quiet = .zero
        }
        let earlier = shown.filter { $0.id != id && $0.shownAt < occasion.until }.map(\.shownAt)
        return prompts.opening(since: occasion.at, exposures: earlier, pace: pace).until
    }

    /// Returns why a message is suppressed, whatever else the customer owns.
    private func suppression(
        of occasion: Occasion,
        _ id: String,
        due: Instant
    ) -> PlannedMessage.Suppression? {
        if shown.contains(where: { $0.id == id }) { return .reported }
        if isShownByStore(occasion) { return .store }
        return due < occasion.until ? nil : .waits
    }

    private func isShownByStore(_ occasion: Occasion) -> Bool {
        switch occasion.kind {
        case .graceEntered, .holdEntered, .priceConsent:
            shown.contains {
                $0.kind == .store && (occasion.at..<occasion.until).contains($0.shownAt)
            }
        case .trialEnding, .graceEnding, .recovered, .cleanupDue: false
        }
    }
}

extension [OwnedSteps] {
    /// Suppresses messages about a failing purchase if the customer is in another state, because
    /// another purchase gives access. Requires messages in the order they are due.
    fileprivate func suppressingUnaffected(_ messages: [PlannedMessage]) -> [PlannedMessage] {
        var messages = messages
        var lineages: [String: BestOverTime] = [:]
        for position in messages.indices where messages[position].suppression == nil {
            let message = messages[position]
            guard let failing = message.kind.failingState else { continue }
            let isAffected = message.entitlements.contains { entitlement in
                lineages[entitlement, default: unknown]
                    .move(to: message.at) { self[$0].ownStanding(of: entitlement, at: message.at) }
                return lineages[entitlement]?.best?.state == failing
            }
            if !isAffected { messages[position] = message.suppressed(.notAffected) }
        }
        return messages
    }
}

extension PlannedMessage.Kind {
    /// The state that a message about a failing payment is for.
    fileprivate var failingState: State? {
        switch self {
        case .graceEntered, .graceEnding: .grace
        case .holdEntered: .hold
        case .trialEnding, .recovered, .priceConsent, .cleanupDue: nil
        }
    }
}

extension Step {
    fileprivate var isInGrace: Bool { standing.state == .grace }
    fileprivate var isInHold: Bool { standing.state == .hold && !standing.isPaused }
    fileprivate var isAwaitingConsent: Bool {
        standing.awaitsConsent && standing.state == .active && standing.willRenew != false
    }
}
