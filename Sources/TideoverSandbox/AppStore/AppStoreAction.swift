/// What a customer, or the App Store at a customer's request, can do. A `product` of nil means the
/// customer's only subscription, or the newest of several.
public enum AppStoreAction: Hashable, Sendable {
    /// Buys; after a lapse this resubscribes.
    case subscribe(product: String, trial: TrialChoice)
    /// From now on every charge to the customer's account is declined.
    case failPayments
    /// The customer corrects the payment method; the store tries every outstanding charge at once.
    case fixPayments
    /// Turns automatic renewal off. While a charge is outstanding this ends the subscription.
    case cancel(product: String?)
    /// Turns automatic renewal on again.
    case reenable(product: String?)
    /// The store refunds the newest payment in full.
    case refund(product: String?, reason: RefundReason)
    /// The store takes its refund back after a dispute.
    case reverseRefund(product: String?)

    /// Whether a purchase begins with the product's free trial.
    public enum TrialChoice: Hashable, Sendable {
        /// If the product offers one and the customer may still have it, as the store does it.
        case ifEligible
        /// Refused unless the customer may have it.
        case required
        case declined
    }

    /// Apple's `revocationReason`.
    public enum RefundReason: Int64, CaseIterable, Hashable, Sendable {
        case other = 0
        /// An actual or perceived issue within the app.
        case appIssue = 1
    }
}

/// The store's answer to an action that it does not carry out.
public struct AppStoreRefusal: Error, Hashable, Sendable {
    /// Which rule of the store stands in the way.
    public let reason: Reason
    /// The customer's name.
    public let customer: String
    /// The product asked for or held, if one is meant.
    public let product: String?

    /// One case for each rule of the store that an action can meet.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        case unknownCustomer
        case customerExists
        case unknownProduct
        /// A subscription of the group is running or its payment is being retried.
        case alreadySubscribed
        case notSubscribed
        case trialNotOffered
        case trialAlreadyUsed
        case paymentDeclined
        case renewalAlreadyOff
        case renewalAlreadyOn
        /// It has ended: only a new purchase brings it back.
        case ended
        case alreadyRefunded
        case notRefunded
        /// Only paid service that is running can be extended.
        case notExtendable
        /// Twice in 365 days is as often as the store extends.
        case extensionsUsedUp
    }
}
