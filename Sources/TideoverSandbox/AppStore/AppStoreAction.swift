/// What a customer, or the App Store at a customer's request, can do. A `product` of nil means the
/// customer's only subscription, or the newest of several.
public enum AppStoreAction: Hashable, Sendable {
    /// Buys; after a lapse this resubscribes.
    case subscribe(product: String, trial: TrialChoice)
    /// Buys what does not renew, or subscribes; outside of the app (in the store itself) without the token
    /// that the app would set.
    case buy(product: String, outsideApp: Bool)
    /// A child of the family wants something, and an adult is to approve it.
    case askToBuy(product: String)
    /// The adult approves it, and it is sold.
    case approvePurchase(product: String?)
    case declinePurchase(product: String?)
    /// A purchase fails because the customer must first do something in the store.
    case interruptPurchase(product: String)
    /// The customer does it, and it is sold.
    case resumePurchase(product: String?)
    /// Redeems an offer by its name.
    case redeem(product: String, offer: String)
    /// From now on every charge to the customer's account is declined.
    case failPayments
    /// The customer corrects the payment method; the store tries every outstanding charge at once.
    case fixPayments
    /// Sets the switch "Allow Purchases & Renewals" of the customer's sandbox account. Once on, the store
    /// tries every outstanding charge.
    case allowPurchases(Bool)
    /// The developer takes a product off sale: nobody's subscription renews into it.
    case removeFromSale(product: String)
    /// Turns automatic renewal off. While a charge is outstanding this ends the subscription.
    case cancel(product: String?)
    /// Turns automatic renewal on again.
    case reenable(product: String?)
    /// Chooses another product of a group that the customer subscribes to. A higher level, or the same
    /// level and length, is taken at once; anything else at the next renewal; the current product undoes
    /// such a choice.
    case changePlan(to: String)
    /// Lets a family member have what the customer subscribes to.
    case share(product: String?, with: String)
    /// Takes a family member's share back.
    case stopSharing(product: String?, with: String)
    /// The store extends the renewal date by whole days.
    case extendRenewal(product: String?, days: Int64)
    /// The next renewal is to cost more.
    case raisePrice(product: String?, to: StorePrice, needsConsent: Bool)
    /// Agrees to a higher price.
    case acceptPrice(product: String?)
    /// Asks for a refund of the newest payment; the store asks the app's back end what was consumed, and may
    /// turn renewal off at the same time.
    case requestRefund(product: String?, reason: RefundRequestReason, stopsRenewal: Bool = false)
    /// The store declines what was asked for.
    case declineRefund(product: String?)
    /// The store refunds the newest payment: in full, or so many percent of it, from 1 to 99.
    case refund(product: String?, reason: RefundReason, percent: Int64 = 100)
    /// The store takes its refund back after a dispute.
    case reverseRefund(product: String?)

    /// The product it names.
    var product: String? {
        switch self {
        case .cancel(let product), .reenable(let product), .share(let product, _),
            .stopSharing(let product, _), .extendRenewal(let product, _),
            .raisePrice(let product, _, _), .acceptPrice(let product),
            .requestRefund(let product, _, _), .declineRefund(let product),
            .refund(let product, _, _),
            .reverseRefund(let product), .approvePurchase(let product),
            .declinePurchase(let product), .resumePurchase(let product):
            product
        case .subscribe(let product, _), .changePlan(let product), .buy(let product, _),
            .askToBuy(let product), .interruptPurchase(let product), .redeem(let product, _),
            .removeFromSale(let product):
            product
        case .failPayments, .fixPayments, .allowPurchases: nil
        }
    }

    /// Whether a purchase begins with the product's free trial, or what stands in its place.
    public enum TrialChoice: Hashable, Sendable {
        /// If the product offers one and the customer may still have it, as the store does it.
        case ifEligible
        /// Refused unless the customer may have it.
        case required
        case declined
    }

    /// Apple's `consumptionRequestReason`.
    public enum RefundRequestReason: String, CaseIterable, Hashable, Codable, Sendable {
        case unintendedPurchase = "UNINTENDED_PURCHASE"
        case fulfillmentIssue = "FULFILLMENT_ISSUE"
        case unsatisfied = "UNSATISFIED_WITH_PURCHASE"
        case legal = "LEGAL"
        case other = "OTHER"
    }

    /// Apple's `revocationReason`.
    public enum RefundReason: Int64, CaseIterable, Hashable, Codable, Sendable {
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
        /// The account's switch "Allow Purchases & Renewals" is off.
        case purchasesNotAllowed
        case notForSale
        /// What is bought once and for all is owned already.
        case alreadyOwned
        case notBought
        case unknownOffer
        /// The offer is for others: those who left, or those who subscribe or did.
        case notEligible
        case alreadyPending
        case notPending
        case renewalAlreadyOff
        case renewalAlreadyOn
        /// It has ended: only a new purchase brings it back.
        case ended
        case alreadyRefunded
        case notRefunded
        /// Nobody has asked for a refund, or it was decided already.
        case refundNotRequested
        /// The product is not for families, or the member is the purchaser.
        case notShareable
        case alreadyShared
        case notShared
        /// It renews into this product as it is.
        case samePlan
        /// Only while a paid or free period runs can its renewal change.
        case notRunning
        /// There is no higher price to agree to.
        case noPriceToAccept
        /// A price can only be raised by this.
        case notHigher
        /// Only paid service that is running can be extended.
        case notExtendable
        /// Twice in 365 days is as often as the store extends.
        case extensionsUsedUp
    }
}
