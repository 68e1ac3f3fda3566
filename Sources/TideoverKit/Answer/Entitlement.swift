public import TideoverCore

/// Whether the customer may use an entitlement.
public enum Access: Hashable, Sendable {
    /// There is no answer yet. Show neither the content nor the paywall.
    case unknown
    case granted
    case denied
}

/// One entitlement of the customer, as the app shows it.
public struct Entitlement: Hashable, Sendable {
    public var name: String
    public var access: Access
    /// Nil before the first answer, and for a state that this version does not support.
    public var state: TideoverCore.State?
    /// The reason for the state, such as `trial` or `refunded`.
    public var reason: String
    public var confidence: Confidence
    public var productId: String?
    /// When access ends or ended; nil with access means unlimited.
    public var until: Instant?
    public var graceUntil: Instant?
    /// Nil if the store has not reported it.
    public var willRenew: Bool?
    /// The current free trial, if any.
    public var trial: RunningTrial?
    /// The free trial that the products of this entitlement offer, if any; nil in answers from a
    /// pass.
    public var offer: OfferedTrial?
    /// The prompt for a failed payment of this entitlement; nil if there is none to show.
    public var prompt: RecoveryPrompt?
    /// The message for a screen; nil if there is none to show, in answers from a pass, and once a
    /// server's answer is past the end that it stated.
    public var words: ScreenWords?
    /// Whether a purchase of it is waiting for approval.
    public var isWaiting = false
    /// Whether the app keeps the customer's downloads and files after a refund.
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

    /// Whether the entitlement was revoked, rather than expired.
    var isTakenBack: Bool {
        guard access == .denied else { return false }
        return switch Reason(rawValue: reason) {
        case .refunded, .familyAccessRemoved, .assignmentRemoved, .revoked: true
        default: false
        }
    }
}

/// A current free trial.
public struct RunningTrial: Hashable, Sendable {
    public var startedAt: Instant
    public var endsAt: Instant
    /// The latest recommended time to cancel.
    public var cancelBy: Instant

    public init(startedAt: Instant, endsAt: Instant, cancelBy: Instant) {
        self.startedAt = startedAt
        self.endsAt = endsAt
        self.cancelBy = cancelBy
    }

    /// Returns the days left, rounded up. In a sandbox with trials of minutes, days are shortened
    /// in proportion.
    public func daysLeft(at now: Instant) -> Int64 {
        let left = (endsAt - now).count
        return left > 0 ? (left - 1) / day + 1 : 0
    }

    /// Whether the recommended time to cancel has passed.
    public func isUrgent(at now: Instant) -> Bool { now >= cancelBy }

    /// Returns the next instant at which `daysLeft` or `isUrgent` changes; nil after the end.
    func nextTick(after now: Instant) -> Instant? {
        let left = (endsAt - now).count
        return left > 0 ? endsAt - Milliseconds((left - 1) / day * day) : nil
    }

    private var day: Int64 { max(1, (endsAt - cancelBy).count) }
}

/// A free trial that a product offers.
public struct OfferedTrial: Hashable, Sendable {
    public var productId: String
    public var length: Period
    /// Whether the customer can have it. Ask the store if it is unknown.
    public var eligibility: IntroductoryEligibility
    /// The price after the trial; nil if it is not configured.
    public var price: Price?

    public init(
        productId: String,
        length: Period,
        eligibility: IntroductoryEligibility,
        price: Price? = nil
    ) {
        self.productId = productId
        self.length = length
        self.eligibility = eligibility
        self.price = price
    }
}

/// The prompt for a customer with a failed payment.
public struct RecoveryPrompt: Hashable, Sendable {
    public var kind: Prompt.Kind
    public var entitlement: String
    public var words: ScreenWords
    /// The page where the customer updates the payment method.
    public var url: String
    /// When access ends unless the payment succeeds; nil if it has ended, if the end is unknown, or
    /// if the payment does not keep access because it is for a lesser product.
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

/// All entitlements of the customer at one instant.
public struct EntitlementState: Hashable, Sendable {
    /// Entitlements by name; empty before the first answer.
    public var entitlements: [String: Entitlement] = [:]
    public var prompt: RecoveryPrompt?
    public var environment: TideoverCore.Environment
    /// Whether every entitlement has an answer.
    public var isAnswered = false
    /// Whether the device's clock is behind the latest time known to the device.
    public var isClockSetBack = false
    /// Consumables that wait for delivery by the app, if no server delivers them.
    public var undelivered: [SignedPurchase] = []

    public init(environment: TideoverCore.Environment) {
        self.environment = environment
    }

    /// Returns the entitlement with a name. An unknown name is denied once all answers are present.
    public subscript(_ name: String) -> Entitlement {
        if let entitlement = entitlements[name] { return entitlement }
        guard isAnswered else { return Entitlement(name: name) }
        return Entitlement(name: name, access: .denied, state: .never)
    }
}
