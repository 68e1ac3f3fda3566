/// A message for a customer with a failed payment.
public struct Prompt: Hashable, Sendable {
    public var kind: Kind
    public var entitlement: String
    public var wording: Wording
    public var action: Action
    /// Other ways to fix the payment, besides the action's link.
    public var alternatives: [Alternative] = []
    /// The customer's arm in an experiment, so that the app can show the arm's words; nil for none.
    public var experiment: ExperimentAssignment?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Access continues; a quiet notice.
        case soft
        /// Access is blocked until the payment is fixed.
        case hard
    }

    public enum Alternative: String, Hashable, Sendable, CaseIterable {
        /// Open the app. If it calls `BillingClient.showInAppMessages`, Google Play shows its own
        /// message, and the customer fixes the payment there.
        case openApp
    }

    public struct Action: Hashable, Sendable {
        public var label: String
        public var url: String
    }

    /// The key of the text, for the app's own translations.
    public var key: String { wording.screen.key.rawValue }
    public var title: String { wording.title }
    public var message: String { wording.message }

    /// When access ends unless the payment is fixed; nil if it has ended, if the end is unknown, or
    /// if the payment does not keep access because it is for a lesser product.
    public var until: Instant? {
        if case .grace(let until) = wording.screen { until } else { nil }
    }
}

/// How an answer is shown to its customer: the earlier prompts and the device's store.
public struct Presentation: Hashable, Sendable {
    /// When prompts were shown to the customer before, in any order.
    public var exposures: [Instant]
    /// When the store showed its own messages, in any order.
    public var storeMessages: [Instant]
    /// The store of the device; nil if it is not known.
    public var store: Store?

    public init(
        exposures: [Instant] = [],
        storeMessages: [Instant] = [],
        store: Store? = nil
    ) {
        self.exposures = exposures
        self.storeMessages = storeMessages
        self.store = store
    }

    /// Creates a presentation after everything that was reported.
    public init(after reports: [PromptExposure], store: Store? = nil) {
        self.init(
            exposures: reports.map(\.shownAt),
            storeMessages: reports.filter { $0.kind == .store }.map(\.shownAt),
            store: store
        )
    }
}

/// The prompt for a customer now, and when that changes by itself.
public struct Prompting: Hashable, Sendable {
    /// Nil if there is no prompt, or not yet.
    public var prompt: Prompt?
    /// The next prompt, and the reason for its delay; nil if none is delayed.
    public var hold: Hold?
    /// Whether no prompt is shown because the customer is in the holdout of an experiment.
    var isHeldOut = false

    public struct Hold: Hashable, Sendable {
        public var until: Instant
        public var reason: Reason

        /// Waits until the instant, if that is longer.
        mutating func wait(until instant: Instant, _ reason: Reason) {
            if instant > until { self = Hold(until: instant, reason: reason) }
        }
    }

    /// The part of `policy.prompts` that delays a prompt, or the store's own message.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        case quiet, interval, perDay, store
    }

    /// One sentence on why a prompt is shown or not.
    public var sentence: String {
        if prompt != nil { return "A prompt is shown now." }
        if isHeldOut, hold == nil {
            return "No prompt is shown: the customer is in the holdout of an experiment."
        }
        return switch hold?.reason {
        case .quiet: "The prompt waits: the payment has not failed for as long as `prompts.quiet`."
        case .interval: "The prompt waits: the last one was shown within `prompts.interval`."
        case .perDay: "The prompt waits: `prompts.perDay` prompts were shown within a day."
        case .store: "The prompt waits: the store showed its own message within a day."
        case nil: "There is nothing to ask the customer."
        }
    }
}

extension CustomerHistory {
    /// Returns the most urgent prompt. Only the customer's own purchases cause prompts, and only
    /// for entitlements that no other purchase keeps active.
    public func prompting(at instant: Instant, _ presentation: Presentation) -> Prompting {
        let counsels = catalogue.value(at: instant).entitlements.map {
            ($0, counsel(on: $0, at: instant))
        }
        return prompting(counsels, at: instant, presentation)
    }

    /// Returns the most urgent prompt, from the counsel on each entitlement at the instant.
    func prompting(
        _ counsels: [(entitlement: String, counsel: Counsel)],
        at instant: Instant,
        _ presentation: Presentation
    ) -> Prompting {
        let all = counsels.compactMap {
            candidate(for: $0.entitlement, $0.counsel, at: instant, presentation)
        }
        let candidates = all.filter { !$0.isHeldOut }
        let due = candidates.filter { $0.opening.until <= instant }
        let prompt = (due.first { $0.prompt.kind == .hard } ?? due.first)?.prompt
        guard prompt?.kind != .hard else { return Prompting(prompt: prompt) }
        let heldBack = candidates.map(\.opening).filter { $0.until > instant }
        return Prompting(
            prompt: prompt,
            hold: heldBack.min { $0.until < $1.until },
            isHeldOut: all.contains(where: \.isHeldOut)
        )
    }

    private func candidate(
        for entitlement: String,
        _ counsel: Counsel,
        at instant: Instant,
        _ presentation: Presentation
    ) -> (prompt: Prompt, opening: Prompting.Hold, isHeldOut: Bool)? {
        guard let (kind, standing) = counsel.advice, kind == .fixPayment,
            let history = history(of: standing),
            let url = StoreLink.payment(for: standing, package: googlePlayPackage)
        else { return nil }
        let isKept = counsel.standings.contains(where: \.access)
        let screen =
            isKept
            ? graceScreen(for: entitlement, standing, at: instant)
            : holdScreen(for: entitlement, standing, at: instant)
        let wording = Wording(screen, showsTimes: history.pace != .real)
        let failedAt = failure(of: standing, for: entitlement, in: history, at: instant)
        // One arm for all that the payment unlocks, as in the plan and in the report.
        let assignment = policy.value(at: instant).assignment(
            of: identity.primary,
            for: history.entitlements(
                of: standing,
                at: instant,
                in: catalogue.value(at: instant),
                policy: policy
            ),
            failedAt: failedAt
        )
        // A locked-out customer is asked in every arm.
        let isHeldOut = isKept && assignment?.arm.isHoldout == true
        let prompt = Prompt(
            kind: isKept ? .soft : .hard,
            entitlement: entitlement,
            wording: wording,
            action: Prompt.Action(label: wording.label ?? "", url: url),
            alternatives: standing.lineage?.store == .googlePlay ? [.openApp] : [],
            experiment: assignment
        )
        guard isKept else {
            return (prompt, Prompting.Hold(until: instant, reason: .quiet), isHeldOut)
        }
        var prompts = policy.value(at: instant).prompts
        if let quiet = assignment?.arm.quiet { prompts.quiet = quiet }
        var opening = prompts.opening(
            since: failedAt,
            exposures: presentation.exposures.filter { $0 <= instant },
            pace: history.pace
        )
        if let last = presentation.storeMessages.filter({ $0 <= instant }).max() {
            opening.wait(until: last + history.pace.scale(.days(1)), .store)
        }
        return (prompt, opening, isHeldOut)
    }

    /// Returns the start of the unbroken payment failure of a lineage.
    private func failure(
        of standing: Standing,
        for entitlement: String,
        in history: LineageHistory,
        at instant: Instant
    ) -> Instant {
        let earlier = boundaries(before: instant, in: history)
        let failing = earlier.reversed().prefix { boundary in
            history.standing(
                of: entitlement,
                at: boundary,
                policy: policy.value(at: boundary),
                catalogue: catalogue.value(at: boundary)
            ).isFailing
        }
        return failing.last ?? instant
    }

    /// Returns the instants before `instant` at which the answer of one lineage may have changed,
    /// in order.
    private func boundaries(before instant: Instant, in history: LineageHistory) -> [Instant] {
        let changes = policy.versions.map(\.effectiveAt) + catalogue.versions.map(\.effectiveAt)
        let words = policy.versions.flatMap { history.boundaries(policy: $0.value) }
        return Set(changes + words).filter { $0 <= instant }.sorted()
    }
}

extension Policy.Prompts {
    /// Returns the first instant at which a soft prompt may be shown again, and the reason for it.
    /// Depends on when the payment began to fail and when prompts were shown.
    func opening(since failure: Instant, exposures: [Instant], pace: Pace) -> Prompting.Hold {
        let shown = exposures.sorted()
        var opening = Prompting.Hold(until: failure + pace.scale(quiet), reason: .quiet)
        if let last = shown.last { opening.wait(until: last + pace.scale(interval), .interval) }
        if let perDay = perDay.map({ max(1, $0) }), shown.count >= perDay {
            let first = shown[shown.count - Int(perDay)]
            opening.wait(until: first + pace.scale(.days(1)), .perDay)
        }
        return opening
    }
}
