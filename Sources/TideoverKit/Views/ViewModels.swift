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
    public init?(_ prompt: RecoveryPrompt?, delaysSoftPrompts: Bool = false) {
        guard let prompt, prompt.kind == .hard || !delaysSoftPrompts else { return nil }
        title = prompt.words.title
        message = prompt.words.message
        label = prompt.words.label
        url = prompt.url
        isHard = prompt.kind == .hard
    }

    /// The text for VoiceOver.
    public var accessibilityLabel: String { "\(title). \(message)" }
}

/// The content of a free trial countdown.
public struct TrialCountdownModel: Hashable, Sendable {
    public var daysLeft: Int64
    public var cancelBy: Instant
    public var endsAt: Instant
    /// Whether the recommended time to cancel has passed: the last day has begun.
    public var isUrgent: Bool
    /// The message key and text, if the answer has them.
    public var words: ScreenWords?

    /// Fails if no trial is running.
    public init?(_ entitlement: Entitlement, at now: Instant) {
        guard entitlement.access == .granted, let trial = entitlement.trial, now < trial.endsAt
        else {
            return nil
        }
        daysLeft = trial.daysLeft(at: now)
        cancelBy = trial.cancelBy
        endsAt = trial.endsAt
        isUrgent = trial.isUrgent(at: now)
        words = entitlement.words
    }

    /// `3 days left`, `Last day`.
    public var text: String {
        if isUrgent || daysLeft <= 1 { return "Last day" }
        return "\(daysLeft) days left"
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

    public init(_ entitlement: Entitlement, prompt: RecoveryPrompt?) {
        switch entitlement.access {
        case .unknown: self = .waiting
        case .granted: self = .content
        case .denied:
            let own = prompt.flatMap { $0.entitlement == entitlement.name ? $0 : nil }
            if let own, own.kind == .hard, let banner = RecoveryBannerModel(own) {
                self = .recovery(banner)
            } else {
                self = .paywall
            }
        }
    }
}
