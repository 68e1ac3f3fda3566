public import TideoverCore

/// What a recovery banner shows.
public struct RecoveryBannerModel: Hashable, Sendable {
    public var title: String
    public var message: String
    public var label: String?
    public var url: String
    /// Whether access is blocked until the payment is corrected.
    public var isHard: Bool

    /// Nil where there is nothing to show: no prompt, or a quiet one while the app delays it, such as
    /// during onboarding. A hard prompt is never delayed: its customer is locked out.
    public init?(_ prompt: RecoveryPrompt?, delaysSoftPrompts: Bool = false) {
        guard let prompt, prompt.kind == .hard || !delaysSoftPrompts else { return nil }
        title = prompt.words.title
        message = prompt.words.message
        label = prompt.words.label
        url = prompt.url
        isHard = prompt.kind == .hard
    }

    /// What VoiceOver reads.
    public var accessibilityLabel: String { "\(title). \(message)" }
}

/// What a countdown of a free trial shows.
public struct TrialCountdownModel: Hashable, Sendable {
    public var daysLeft: Int64
    public var cancelBy: Instant
    public var endsAt: Instant
    /// Whether the advice to cancel comes too late: the last day has begun.
    public var isUrgent: Bool
    /// The key and the words of the screen, where the answer has them.
    public var words: ScreenWords?

    /// Nil where no trial runs.
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

/// Which part of a gated screen is shown.
public enum EntitlementGateModel: Hashable, Sendable {
    /// Nothing has answered yet: neither content nor paywall.
    case waiting
    case content
    /// Access is suspended and recoverable: the customer is asked to correct the payment, not to buy.
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
