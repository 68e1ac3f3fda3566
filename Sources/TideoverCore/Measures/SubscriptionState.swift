/// The state of a subscription, as counts of subscribers distinguish it.
package enum SubscriptionState: String, Hashable, Sendable, CaseIterable {
    /// A free trial that will become a paid subscription.
    case trial
    /// A free trial with renewal switched off.
    case trialCancelled
    /// Paid; it renews, or the store has not reported whether it does.
    case active
    /// Paid and running, with renewal switched off.
    case cancelled
    case grace, hold, paused
    /// Ended for any reason.
    case expired
    /// It should have renewed, and no store could confirm what happened.
    case unconfirmed

    /// Whether it is a subscription for money that has not ended: what churn is measured of.
    package var isSubscribed: Bool {
        switch self {
        case .active, .cancelled, .grace, .hold, .paused: true
        case .trial, .trialCancelled, .expired, .unconfirmed: false
        }
    }

    /// Whether its price is a part of the recurring revenue, or may be again once it is paid.
    var hasPrice: Bool { isSubscribed && self != .paused }
}

extension Step {
    /// The state of the subscription; nil before it began, and for other kinds of purchases.
    var subscription: SubscriptionState? {
        guard let term, term.term.plan == .autoRenewable else { return nil }
        switch phase {
        case .none: return nil
        case .running where term.isTrial:
            return willRenew(term) == false ? .trialCancelled : .trial
        case .running: return standing.willRenew == false ? .cancelled : .active
        case .grace: return .grace
        case .hold: return .hold
        case .paused: return .paused
        case .ended: return .expired
        case .unconfirmed: return .unconfirmed
        }
    }
}
