/// The actions of a customer, and those of Google Play itself. A `product` of nil selects the
/// customer's only subscription or purchase, or the newest of several.
public enum GooglePlayAction: Hashable, Sendable {
    /// Buys a subscription: one product, or one with add-ons. If a cancelled one of the same
    /// product has not lapsed, this signs up again and takes over its remaining time.
    case subscribe(to: [GooglePlayChoice], payment: Payment, from: Place)
    /// Replaces a running product or base plan with another.
    case replace(product: String?, with: GooglePlayChoice, mode: ReplacementMode)
    /// Adds products to a running subscription, and removes others from it at their expiry.
    case changeItems(product: String?, adding: [GooglePlayChoice], removing: [String])
    /// Pays for one more period of a prepaid plan.
    case topUp(product: String?)
    /// Buys a one-time product.
    case buy(product: String, quantity: Int64, payment: Payment)
    /// Completes a pending payment.
    case completePayment(product: String?)
    /// Abandons a pending payment.
    case dropPayment(product: String?)
    /// Declines every charge to the customer's account from now on.
    case failPayments
    /// Corrects the payment method; the store retries every outstanding charge at once.
    case fixPayments
    /// Turns automatic renewal off. During a hold or a pause, this ends the subscription. For an
    /// instalment plan, it takes effect after the last committed payment.
    case cancel(product: String?, survey: CancelSurvey?)
    /// The store itself turns automatic renewal off.
    case cancelBySystem(product: String?)
    /// Turns automatic renewal on again before the expiry, in the Play Store.
    case restart(product: String?)
    /// Pauses from the next expiry on; not with add-ons, nor in instalments.
    case pause(product: String?, StorePeriod)
    /// Cancels a planned pause, or ends a running one.
    case resume(product: String?)
    /// Sets another price for the next renewal.
    case changePrice(product: String?, to: StorePrice, PriceChangeMode)
    /// Accepts a higher price.
    case acceptPrice(product: String?)
    /// Requires consent, by an instant, to the step from an introductory price to the full one.
    case askStepUpConsent(product: String?, deadline: Int64)
    /// Accepts such a step.
    case acceptStepUp(product: String?)
    /// Requests a refund, on which the developer may comment first. This is not a refund.
    case requestRefund(product: String?)
    /// Google refunds the newest order, and revokes a one-time purchase with it. A subscription
    /// continues unless it is also revoked.
    case refund(product: String?, VoidReason, quantity: Int64?, revokes: Bool)

    /// How a purchase is paid for.
    public enum Payment: Hashable, Sendable {
        case prompt
        /// In cash or by transfer, some time later.
        case delayed
    }

    /// Where a purchase is made.
    public enum Place: Hashable, Sendable {
        case app
        /// In the Play Store, where the app cannot identify the buyer.
        case playStore
    }

    /// Google's `replacementMode`.
    public enum ReplacementMode: String, CaseIterable, Hashable, Sendable {
        case withTimeProration = "WITH_TIME_PRORATION"
        case chargeProratedPrice = "CHARGE_PRORATED_PRICE"
        case withoutProration = "WITHOUT_PRORATION"
        case chargeFullPrice = "CHARGE_FULL_PRICE"
        case deferred = "DEFERRED"
    }

    /// Google's `priceChangeMode`.
    public enum PriceChangeMode: String, CaseIterable, Hashable, Codable, Sendable {
        case decrease = "PRICE_DECREASE"
        /// It does not renew without consent.
        case increase = "PRICE_INCREASE"
        /// The customer is notified, and can only cancel.
        case optOutIncrease = "OPT_OUT_PRICE_INCREASE"
    }

    /// A customer's answer to the cancellation survey.
    public struct CancelSurvey: Hashable, Codable, Sendable {
        /// The option chosen from the list.
        public let reason: Reason
        /// The text entered, if the reason is `others`.
        public let input: String?

        /// Creates an answer to the survey.
        public init(reason: Reason, input: String? = nil) {
            self.reason = reason
            self.input = input
        }

        /// Google's `CancelSurveyResult.reason`.
        public enum Reason: String, CaseIterable, Hashable, Codable, Sendable {
            case notEnoughUsage = "CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE"
            case technicalIssues = "CANCEL_SURVEY_REASON_TECHNICAL_ISSUES"
            case costRelated = "CANCEL_SURVEY_REASON_COST_RELATED"
            case foundBetterApp = "CANCEL_SURVEY_REASON_FOUND_BETTER_APP"
            case others = "CANCEL_SURVEY_REASON_OTHERS"
        }
    }

    /// Google's `voidedReason`.
    public enum VoidReason: Int64, CaseIterable, Hashable, Codable, Sendable {
        case other = 0
        case remorse = 1
        case notReceived = 2
        case defective = 3
        case accidental = 4
        case fraud = 5
        case friendlyFraud = 6
        case chargeback = 7
        case unacknowledged = 8
    }
}

/// A product to subscribe to.
public struct GooglePlayChoice: Hashable, Sendable {
    /// The product's id.
    public let product: String
    /// The base plan's id; nil for the product's first.
    public let basePlan: String?
    /// The offer's id; nil for none.
    public let offer: String?

    /// Creates a choice of a product and one of its plans.
    public init(_ product: String, basePlan: String? = nil, offer: String? = nil) {
        self.product = product
        self.basePlan = basePlan
        self.offer = offer
    }
}

/// A developer's writes through the Play Developer API.
public enum GooglePlayWrite: Hashable, Sendable {
    /// Acknowledges a purchase; a second time changes nothing.
    case acknowledge(token: String)
    /// Consumes a one-time purchase, which also acknowledges it.
    case consume(token: String)
    case cancel(token: String, CancellationType)
    /// Moves every expiry. An outdated etag is refused; without an etag nothing is checked.
    case deferRenewal(token: String, milliseconds: Int64, etag: String?)
    case revoke(token: String, Revocation)
    /// Refunds one order, and revokes the purchase only on request.
    case refund(order: String, revokes: Bool)

    /// Google's `cancellationType`.
    public enum CancellationType: String, CaseIterable, Hashable, Sendable {
        /// The customer can turn renewal on again.
        case userRequestedStopRenewals = "USER_REQUESTED_STOP_RENEWALS"
        case developerRequestedStopPayments = "DEVELOPER_REQUESTED_STOP_PAYMENTS"
    }

    /// Google's `revocationContext`.
    public enum Revocation: Hashable, Sendable {
        case fullRefund
        case proratedRefund
        /// One of several products; the others continue.
        case item(product: String)
    }
}

/// The store's refusal of an action or a write.
public struct GooglePlayRefusal: Error, Hashable, Sendable {
    /// The rule that prevents it.
    public let reason: Reason
    /// The customer's name, the purchase token or the order of the request.
    public let subject: String
    /// The requested or owned product, if the refusal is about one.
    public let product: String?

    init(_ reason: Reason, _ subject: String, product: String? = nil) {
        self.reason = reason
        self.subject = subject
        self.product = product
    }

    /// One case for each rule that an action can violate.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        case unknownCustomer
        case customerExists
        /// No such product, base plan or offer is on sale.
        case unknownProduct
        case unknownToken
        case unknownOrder
        /// It expired more than 60 days ago.
        case tokenGone
        case notSubscribed
        case notBought
        /// A subscription with the product is running, or its payment is being retried.
        case alreadySubscribed
        /// It is not consumable, and was bought before.
        case alreadyOwned
        case paymentDeclined
        /// Only a purchase with a pending payment can be completed or abandoned.
        case notPending
        /// This change is possible only during a paid or free period.
        case notRunning
        case renewalAlreadyOff
        case renewalAlreadyOn
        /// It has ended; only a new purchase restores access.
        case ended
        /// Prepaid plans do not renew, renewing plans have no top-up, and not every plan pauses.
        case wrongKindOfPlan
        case notPaused
        /// Only a cancellation by the customer can be undone.
        case notRestorable
        /// It is in this plan already, or has this product already.
        case samePlan
        /// The last product of a subscription cannot be removed.
        case lastItem
        case noPriceToAccept
        case alreadyRefunded
        /// More than were bought and not refunded.
        case tooMany
        /// The etag is not the newest.
        case outdated
        /// An expiry can be moved by a day to a year.
        case badDuration
    }
}
