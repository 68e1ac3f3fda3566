/// An event in the store that it reports to servers. Instants are in milliseconds since 1970.
public enum AppStoreEvent: Hashable, Codable, Sendable {
    case subscribed(until: Int64, trial: Bool, again: Bool)
    case renewed(until: Int64, endedTrial: Bool)
    case failedToRenew(graceUntil: Int64?, retryUntil: Int64)
    case graceEnded(retryUntil: Int64)
    case recovered(until: Int64, inGrace: Bool)
    case renewalTurnedOff(endsAt: Int64)
    case renewalTurnedOn(renewsAt: Int64)
    case expired(Expiry)
    case refunded(reason: AppStoreAction.RefundReason)
    /// With the end of the refunded period; nil if it has none, or the store does not know one.
    case refundReversed(until: Int64?)
    case renewalExtended(until: Int64)
    /// The extension of one subscriber failed, in an extension of all subscribers of a product.
    case extensionFailed
    case extensionsCompleted(succeeded: Int64, failed: Int64)
    /// At once; with the refunded part of the payment for the old product.
    case upgraded(to: String, until: Int64, refund: StorePrice)
    /// At the next renewal; also a crossgrade to another length.
    case downgraded(to: String, at: Int64)
    /// Cancels the product change planned for the next renewal.
    case changeDropped(to: String)
    case priceRaised(to: StorePrice, needsConsent: Bool)
    case priceAccepted
    case refundRequested(AppStoreAction.RefundRequestReason)
    case refundDeclined
    case offerRedeemed(OfferEffect)
    /// A one-time product was bought.
    case charged(product: String)
    /// A family member lost a share of another person's purchase.
    case shareRevoked
    case tested

    /// Why a subscription ended.
    public enum Expiry: Hashable, Codable, Sendable {
        case voluntary
        case billingRetry
        /// The customer did not accept a higher price.
        case priceIncrease
        /// The product is no longer for sale.
        case productUnavailable
    }

    /// The effect of an offer for a customer who is subscribed when redeeming it.
    public enum OfferEffect: Hashable, Codable, Sendable {
        /// Reduces the next renewal of the same product.
        case atRenewal
        /// A product of a higher level, at once.
        case upgrade
        /// Another product, at the next renewal.
        case downgrade
    }

    /// Apple's `notificationType`.
    public var notificationType: String {
        switch self {
        case .subscribed: "SUBSCRIBED"
        case .renewed, .recovered: "DID_RENEW"
        case .failedToRenew: "DID_FAIL_TO_RENEW"
        case .graceEnded: "GRACE_PERIOD_EXPIRED"
        case .renewalTurnedOff, .renewalTurnedOn: "DID_CHANGE_RENEWAL_STATUS"
        case .expired: "EXPIRED"
        case .refunded: "REFUND"
        case .refundReversed: "REFUND_REVERSED"
        case .renewalExtended: "RENEWAL_EXTENDED"
        case .extensionFailed, .extensionsCompleted: "RENEWAL_EXTENSION"
        case .upgraded, .downgraded, .changeDropped: "DID_CHANGE_RENEWAL_PREF"
        case .priceRaised, .priceAccepted: "PRICE_INCREASE"
        case .refundRequested: "CONSUMPTION_REQUEST"
        case .refundDeclined: "REFUND_DECLINED"
        case .offerRedeemed: "OFFER_REDEEMED"
        case .charged: "ONE_TIME_CHARGE"
        case .shareRevoked: "REVOKE"
        case .tested: "TEST"
        }
    }

    /// Apple's `subtype`, where the event has one.
    public var subtype: String? {
        switch self {
        case .subscribed(_, _, let again): again ? "RESUBSCRIBE" : "INITIAL_BUY"
        case .failedToRenew(let graceUntil, _): graceUntil == nil ? nil : "GRACE_PERIOD"
        case .recovered: "BILLING_RECOVERY"
        case .renewalTurnedOff: "AUTO_RENEW_DISABLED"
        case .renewalTurnedOn: "AUTO_RENEW_ENABLED"
        case .expired(.voluntary): "VOLUNTARY"
        case .expired(.billingRetry): "BILLING_RETRY"
        case .expired(.priceIncrease): "PRICE_INCREASE"
        case .expired(.productUnavailable): "PRODUCT_NOT_FOR_SALE"
        case .upgraded, .offerRedeemed(.upgrade): "UPGRADE"
        case .downgraded, .offerRedeemed(.downgrade): "DOWNGRADE"
        case .priceRaised(_, let needsConsent): needsConsent ? "PENDING" : "ACCEPTED"
        case .priceAccepted: "ACCEPTED"
        case .extensionFailed: "FAILURE"
        case .extensionsCompleted: "SUMMARY"
        case .changeDropped, .refundRequested, .refundDeclined, .shareRevoked, .charged: nil
        case .offerRedeemed(.atRenewal): nil
        case .renewed, .graceEnded, .refunded, .refundReversed, .renewalExtended, .tested: nil
        }
    }
}
