/// The actions of a customer, and those of the App Store at a customer's request. A `product` of
/// nil selects the customer's only subscription, or the newest of several; without one, the product
/// bought last.
public enum AppStoreAction: Hashable, Sendable {
    /// Buys; after a lapse this resubscribes.
    case subscribe(product: String, trial: TrialChoice)
    /// Buys a one-time product, or subscribes. Outside of the app (in the store itself), the
    /// purchase lacks the token that the app would set.
    case buy(product: String, outsideApp: Bool)
    /// A child of the family requests a purchase, which an adult must approve.
    case askToBuy(product: String)
    /// An adult approves it, and it is sold.
    case approvePurchase(product: String?)
    case declinePurchase(product: String?)
    /// A purchase fails because the customer must first act in the store.
    case interruptPurchase(product: String)
    /// The customer completes the required act, and the product is sold.
    case resumePurchase(product: String?)
    /// Redeems an offer by its name.
    case redeem(product: String, offer: String)
    /// Declines every charge to the customer's account from now on.
    case failPayments
    /// Corrects the payment method; the store retries every outstanding charge at once.
    case fixPayments
    /// Sets the switch "Allow Purchases & Renewals" of the customer's sandbox account. When it is
    /// turned on, the store retries every outstanding charge.
    case allowPurchases(Bool)
    /// The developer removes a product from sale: no subscription renews into it.
    case removeFromSale(product: String)
    /// Turns automatic renewal off. While a charge is outstanding this ends the subscription.
    case cancel(product: String?)
    /// Turns automatic renewal on again.
    case reenable(product: String?)
    /// Chooses another product of a group that the customer subscribes to. A higher level, or the
    /// same level and length, takes effect at once. Any other product takes effect at the next
    /// renewal. The current product cancels an earlier choice.
    case changePlan(to: String)
    /// Shares the customer's subscription with a family member.
    case share(product: String?, with: String)
    /// Stops sharing with a family member.
    case stopSharing(product: String?, with: String)
    /// The store extends the renewal date by whole days.
    case extendRenewal(product: String?, days: Int64)
    /// Raises the price of the next renewal.
    case raisePrice(product: String?, to: StorePrice, needsConsent: Bool)
    /// Accepts a higher price.
    case acceptPrice(product: String?)
    /// Requests a refund of the newest payment. The store asks the app's back end about
    /// consumption, and may turn renewal off at the same time.
    case requestRefund(product: String?, reason: RefundRequestReason, stopsRenewal: Bool = false)
    /// The store declines the requested refund.
    case declineRefund(product: String?)
    /// The store refunds the payment for which a refund is requested, or the newest one: in full,
    /// or a percentage of it, from 1 to 99.
    case refund(product: String?, reason: RefundReason, percent: Int64 = 100)
    /// The store reverses its refund after a dispute.
    case reverseRefund(product: String?)

    /// The product that the action names.
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

    /// Whether a purchase begins with the product's free trial, or with its introductory offer.
    public enum TrialChoice: Hashable, Sendable {
        /// If the product has one and the customer is eligible, as in the store.
        case ifEligible
        /// Refused unless the customer is eligible.
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

/// The store's refusal of an action.
public struct AppStoreRefusal: Error, Hashable, Sendable {
    /// The rule that prevents it.
    public let reason: Reason
    /// The customer's name.
    public let customer: String
    /// The requested or owned product, if the refusal is about one.
    public let product: String?

    /// One case for each rule that an action can violate.
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
        /// A non-consumable product is owned already.
        case alreadyOwned
        case notBought
        case unknownOffer
        /// The customer is not eligible: the offer is for lapsed customers, or for current and
        /// former ones.
        case notEligible
        case alreadyPending
        case notPending
        case renewalAlreadyOff
        case renewalAlreadyOn
        /// It has ended; only a new purchase restores access.
        case ended
        case alreadyRefunded
        case notRefunded
        /// No refund is requested, or the request was decided already.
        case refundNotRequested
        /// The product cannot be shared, or the member is the purchaser.
        case notShareable
        case alreadyShared
        case notShared
        /// It already renews into this product.
        case samePlan
        /// Its renewal can change only during a paid or free period.
        case notRunning
        /// There is no higher price to accept.
        case noPriceToAccept
        /// The new price must be higher.
        case notHigher
        /// Only a running paid period can be extended.
        case notExtendable
        /// The store extends at most twice in 365 days.
        case extensionsUsedUp
    }
}
