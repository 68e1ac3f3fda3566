public import TideoverCore

/// The content of a recovery banner.
public struct RecoveryBannerModel: Hashable, Sendable {
    public var title: String
    public var message: String
    public var label: String?
    public var url: String
    /// Whether access is blocked until the payment succeeds.
    public var isHard: Bool

    /// Fails if there is no prompt, or a soft one while the app delays it, for example during
    /// onboarding. A hard prompt is never delayed: its customer is locked out.
    public init?(
        _ prompt: RecoveryPrompt?,
        delaysSoftPrompts: Bool = false,
        translation: ScreenTranslation = { $0 }
    ) {
        guard let prompt, prompt.kind == .hard || !delaysSoftPrompts else { return nil }
        let words = translation(prompt.words)
        title = words.title
        message = words.message
        label = words.label
        url = prompt.url
        isHard = prompt.kind == .hard
    }

    /// The text for VoiceOver.
    public var accessibilityLabel: String { "\(title). \(message)" }

    /// The address to show after the system tried to open the page; nil if it opened it.
    func address(unless wasOpened: Bool) -> String? { wasOpened ? nil : url }
}

/// The content of a free trial countdown.
public struct TrialCountdownModel: Hashable, Sendable {
    public var title: String
    public var message: String
    public var daysLeft: Int64
    public var cancelBy: Instant
    public var endsAt: Instant
    /// Whether the recommended time to cancel has passed: the last day has begun.
    public var isUrgent: Bool

    /// Fails if no trial is running.
    public init?(
        _ entitlement: Entitlement,
        at now: Instant,
        translation: ScreenTranslation = { $0 }
    ) {
        guard entitlement.access == .granted, let trial = entitlement.trial, now < trial.endsAt
        else {
            return nil
        }
        daysLeft = trial.daysLeft(at: now)
        cancelBy = trial.cancelBy
        endsAt = trial.endsAt
        isUrgent = trial.isUrgent(at: now)
        let words = translation(trial.words(at: now, stated: entitlement.words))
        title = words.title
        message = words.message
    }

    /// The text for VoiceOver.
    public var accessibilityLabel: String { "\(title). \(message)" }
}

extension RunningTrial {
    /// The words of a trial: those that an answer stated, as of now, or else with only its dates.
    func words(at now: Instant, stated: ScreenWords?) -> ScreenWords {
        let running: [MessageText.Key] = [.trialRunning, .trialRunningUnpriced]
        if var stated {
            guard running.contains(where: { $0.rawValue == stated.key }) else { return stated }
            guard isUrgent(at: now) else {
                stated.arguments[MessageText.Argument.daysLeft.rawValue] = .number(
                    daysLeft(at: now)
                )
                return stated
            }
        }
        var price: Price?
        if case .price(let known) = stated?.arguments[MessageText.Argument.price.rawValue] {
            price = known
        }
        return ScreenWords(
            Wording(
                isUrgent(at: now)
                    ? .trialEnding(endsAt: endsAt, price: price)
                    : .trialRunning(
                        endsAt: endsAt,
                        cancelBy: cancelBy,
                        daysLeft: daysLeft(at: now),
                        price: price
                    )
            )
        )
    }
}

/// The visible part of a gated screen.
public enum EntitlementGateModel: Hashable, Sendable {
    /// There is no answer yet: show neither content nor paywall.
    case waiting
    case content
    /// Access is suspended and recoverable: the customer must update the payment, not buy again.
    case recovery(RecoveryBannerModel)
    case paywall

    public init(_ entitlement: Entitlement, translation: ScreenTranslation = { $0 }) {
        switch entitlement.access {
        case .unknown: self = .waiting
        case .granted: self = .content
        case .denied:
            let hard = entitlement.prompt.flatMap { $0.kind == .hard ? $0 : nil }
            let banner = RecoveryBannerModel(hard, translation: translation)
            self = banner.map { .recovery($0) } ?? .paywall
        }
    }
}
