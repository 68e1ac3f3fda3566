public import TideoverCore

/// Whether the customer may use something.
public enum Access: Hashable, Sendable {
    /// Nothing has answered yet. Show neither the content nor the paywall.
    case unknown
    case granted
    case denied
}

/// One named right of the customer, as the app shows it.
public struct Entitlement: Hashable, Sendable {
    public var name: String
    public var access: Access
    /// Nil before the first answer, and for a state that this version does not know.
    public var state: TideoverCore.State?
    /// Why the state is what it is, such as `trial` or `refunded`.
    public var reason: String
    public var confidence: Confidence
    public var productId: String?
    /// Until when access lasts, or when it ended; nil is for ever where there is access.
    public var until: Instant?
    public var graceUntil: Instant?
    /// Nil where the store has said nothing of it.
    public var willRenew: Bool?
    /// The free trial that runs, if one does.
    public var trial: RunningTrial?
    /// Words for a screen; nil when all is well, and in answers from a pass.
    public var words: ScreenWords?
    /// Whether a purchase of it waits for approval.
    public var isWaiting = false
    /// Whether the app keeps what the customer downloaded or made, after a refund.
    public var keepsArtifacts = false

    public init(
        name: String,
        access: Access = .unknown,
        state: TideoverCore.State? = nil,
        reason: String = Reason.unknown.rawValue,
        confidence: Confidence = .unknown,
        productId: String? = nil,
        until: Instant? = nil,
        graceUntil: Instant? = nil,
        willRenew: Bool? = nil,
        trial: RunningTrial? = nil,
        words: ScreenWords? = nil
    ) {
        self.name = name
        self.access = access
        self.state = state
        self.reason = reason
        self.confidence = confidence
        self.productId = productId
        self.until = until
        self.graceUntil = graceUntil
        self.willRenew = willRenew
        self.trial = trial
        self.words = words
    }

    /// Whether the right was taken back, and did not simply end.
    var isTakenBack: Bool {
        guard access == .denied else { return false }
        return switch Reason(rawValue: reason) {
        case .refunded, .familyAccessRemoved, .assignmentRemoved, .revoked: true
        default: false
        }
    }
}

/// A free trial while it runs.
public struct RunningTrial: Hashable, Sendable {
    public var startedAt: Instant
    public var endsAt: Instant
    /// The latest advisable instant to cancel.
    public var cancelBy: Instant

    public init(startedAt: Instant, endsAt: Instant, cancelBy: Instant) {
        self.startedAt = startedAt
        self.endsAt = endsAt
        self.cancelBy = cancelBy
    }

    /// The days left, rounded up. In a sandbox, whose trials last minutes, days are as short.
    public func daysLeft(at now: Instant) -> Int64 {
        let left = (endsAt - now).count
        return left > 0 ? (left - 1) / day + 1 : 0
    }

    /// Whether the advice to cancel by now comes too late.
    public func isUrgent(at now: Instant) -> Bool { now >= cancelBy }

    /// The next instant at which `daysLeft` or `isUrgent` differs; nil once it has ended.
    func nextTick(after now: Instant) -> Instant? {
        let left = (endsAt - now).count
        return left > 0 ? endsAt - Milliseconds((left - 1) / day * day) : nil
    }

    private var day: Int64 { max(1, (endsAt - cancelBy).count) }
}

/// Words for one screen: a key for the app's own translations, and English.
public struct ScreenWords: Hashable, Sendable {
    public var key: String
    public var title: String
    public var message: String
    /// The label of the button; nil where there is nothing to do.
    public var label: String?

    public init(key: String, title: String, message: String, label: String? = nil) {
        self.key = key
        self.title = title
        self.message = message
        self.label = label
    }
}

/// What to show a customer whose payment failed.
public struct RecoveryPrompt: Hashable, Sendable {
    public var kind: Prompt.Kind
    public var entitlement: String
    public var words: ScreenWords
    /// Where the payment method is corrected.
    public var url: String
    /// When access ends unless the payment is corrected; nil when it has ended, or is not known.
    public var until: Instant?

    public init(
        kind: Prompt.Kind,
        entitlement: String,
        words: ScreenWords,
        url: String,
        until: Instant? = nil
    ) {
        self.kind = kind
        self.entitlement = entitlement
        self.words = words
        self.url = url
        self.until = until
    }
}

/// All entitlements of the customer at one moment.
public struct EntitlementState: Hashable, Sendable {
    /// By name; empty before the first answer.
    public var entitlements: [String: Entitlement] = [:]
    public var prompt: RecoveryPrompt?
    public var environment: TideoverCore.Environment
    /// Whether every entitlement was answered.
    public var isAnswered = false
    /// Whether the device's clock shows less than the device has lived through.
    public var isClockSetBack = false
    /// Consumables that wait to be delivered, where no server delivers them.
    public var undelivered: [SignedPurchase] = []

    public init(environment: TideoverCore.Environment) {
        self.environment = environment
    }

    /// The entitlement of a name. One that no answer names is denied once all is answered.
    public subscript(_ name: String) -> Entitlement {
        if let entitlement = entitlements[name] { return entitlement }
        guard isAnswered else { return Entitlement(name: name) }
        return Entitlement(name: name, access: .denied, state: .never)
    }
}
