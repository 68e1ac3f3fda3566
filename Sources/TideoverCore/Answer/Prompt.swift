/// What to tell a customer whose payment failed.
public struct Prompt: Hashable, Sendable {
    public var kind: Kind
    public var entitlement: String
    public var wording: Wording
    public var action: Action

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Nothing stops; a quiet notice.
        case soft
        /// Access is blocked until the payment is mended.
        case hard
    }

    public struct Action: Hashable, Sendable {
        public var label: String
        public var url: String
    }

    /// The key of the words, for the app's own translations.
    public var key: String { wording.screen.key.rawValue }
    public var title: String { wording.title }
    public var message: String { wording.message }

    /// When access ends unless the payment is mended; nil when it has ended, or is not known.
    public var until: Instant? {
        if case .grace(let until) = wording.screen { until } else { nil }
    }
}

/// How an answer is shown to its customer: after which prompts.
public struct Presentation: Hashable, Sendable {
    /// When prompts were shown to the customer before, in any order.
    public var exposures: [Instant]

    public init(exposures: [Instant] = []) {
        self.exposures = exposures
    }
}

/// What to ask a customer now, and when that changes by itself.
struct Prompting {
    /// Nil when there is nothing to ask, or not yet.
    var prompt: Prompt?
    /// When a prompt that is held back will be shown; nil if none is.
    var nextAt: Instant?
}

extension CustomerHistory {
    /// The most pressing prompt: only for the customer's own purchases, and none for an entitlement
    /// that another purchase keeps active.
    func prompting(at instant: Instant, _ presentation: Presentation) -> Prompting {
        let candidates = catalogue.value(at: instant).entitlements.compactMap {
            candidate(for: $0, at: instant, presentation)
        }
        let due = candidates.filter { $0.opensAt <= instant }
        let prompt = (due.first { $0.prompt.kind == .hard } ?? due.first)?.prompt
        guard prompt?.kind != .hard else { return Prompting(prompt: prompt) }
        let heldBack = candidates.map(\.opensAt).filter { $0 > instant }
        return Prompting(prompt: prompt, nextAt: heldBack.min())
    }

    private func candidate(
        for entitlement: String,
        at instant: Instant,
        _ presentation: Presentation
    ) -> (prompt: Prompt, opensAt: Instant)? {
        let counsel = counsel(on: entitlement, at: instant)
        guard let (kind, standing) = counsel.advice, kind == .fixPayment,
            let history = history(of: standing),
            let url = StoreLink.payment(for: standing, package: googlePlayPackage)
        else { return nil }
        let isKept = counsel.standings.contains(where: \.access)
        let screen: Screen = isKept ? .grace(until: standing.graceUntil) : .hold
        let wording = Wording(screen, showsTimes: history.pace != .real)
        let prompt = Prompt(
            kind: isKept ? .soft : .hard,
            entitlement: entitlement,
            wording: wording,
            action: Prompt.Action(label: wording.label ?? "", url: url)
        )
        guard isKept else { return (prompt, instant) }
        let opensAt = policy.value(at: instant).prompts.opening(
            since: failure(of: standing, for: entitlement, in: history, at: instant),
            exposures: presentation.exposures.filter { $0 <= instant },
            pace: history.pace
        )
        return (prompt, opensAt)
    }

    /// Since when a lineage's payment has been failing without a break.
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

    /// The instants up to another at which the answer of one lineage may have changed, in order.
    private func boundaries(before instant: Instant, in history: LineageHistory) -> [Instant] {
        let changes = policy.versions.map(\.effectiveAt) + catalogue.versions.map(\.effectiveAt)
        let words = policy.versions.flatMap { history.boundaries(policy: $0.value) }
        return Set(changes + words).filter { $0 <= instant }.sorted()
    }
}

extension Policy.Prompts {
    /// The first instant at which a soft prompt may be shown again, given since when the payment
    /// has been failing and when prompts were shown.
    func opening(since failure: Instant, exposures: [Instant], pace: Pace) -> Instant {
        let shown = exposures.sorted()
        var opening = failure + pace.scale(quiet)
        if let last = shown.last { opening = max(opening, last + pace.scale(interval)) }
        if let perDay = perDay.map({ max(1, $0) }), shown.count >= perDay {
            let first = shown[shown.count - Int(perDay)]
            opening = max(opening, first + pace.scale(.days(1)))
        }
        return opening
    }
}
