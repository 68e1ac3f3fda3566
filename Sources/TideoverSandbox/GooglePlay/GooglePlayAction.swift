/// What a customer, or Google Play by itself, can do. A `product` of nil means the customer's only
/// subscription or purchase, or the newest of several.
public enum GooglePlayAction: Hashable, Sendable {
    /// Buys a subscription: one product, or one with add-ons. While a cancelled one of the same product
    /// has not lapsed this signs up again and takes over what is left of it.
    case subscribe(to: [GooglePlayChoice], payment: Payment, from: Place)
    /// Puts another product or base plan in the place of a running one.
    case replace(product: String?, with: GooglePlayChoice, mode: ReplacementMode)
    /// Adds products to a running subscription and takes others out of it at their expiry.
    case changeItems(product: String?, adding: [GooglePlayChoice], removing: [String])
    /// Pays for one more period of a prepaid plan.
    case topUp(product: String?)
    /// Buys something that is sold once.
    case buy(product: String, quantity: Int64, payment: Payment)
    /// A payment that was awaited has arrived.
    case completePayment(product: String?)
    /// A payment that was awaited will not come.
    case dropPayment(product: String?)
    /// From now on every charge to the customer's account is declined.
    case failPayments
    /// The customer corrects the payment method; the store tries every outstanding charge at once.
    case fixPayments
    /// Turns automatic renewal off. While a charge is outstanding without service, or during a pause,
    /// this ends the subscription. Of an instalment plan it acts after the last payment committed to.
    case cancel(product: String?, survey: CancelSurvey?)
    /// The store itself turns automatic renewal off.
    case cancelBySystem(product: String?)
    /// Turns automatic renewal on again before the expiry, in the Play Store.
    case restart(product: String?)
    /// Pauses from the next expiry on; not with add-ons, nor in instalments.
    case pause(product: String?, StorePeriod)
    /// Takes a pause back that has not begun, or ends one that has.
    case resume(product: String?)
    /// The next renewal is to have another price.
    case changePrice(product: String?, to: StorePrice, PriceChangeMode)
    /// Agrees to a higher price.
    case acceptPrice(product: String?)
    /// A step from an introductory price to the full one needs consent by an instant.
    case askStepUpConsent(product: String?, deadline: Int64)
    /// Agrees to such a step.
    case acceptStepUp(product: String?)
    /// Asks for a refund that the developer may speak to first. It is no refund.
    case requestRefund(product: String?)
    /// Google refunds the newest order; a subscription goes on unless it is revoked with it.
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
        /// In the Play Store, where the app cannot say who buys.
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
        /// Without consent it does not renew.
        case increase = "PRICE_INCREASE"
        /// The customer is told, and can only leave.
        case optOutIncrease = "OPT_OUT_PRICE_INCREASE"
    }

    /// What a customer says of why.
    public struct CancelSurvey: Hashable, Codable, Sendable {
        /// What was chosen from the list.
        public let reason: Reason
        /// What was written, where the reason is `others`.
        public let input: String?

        /// An answer to the survey.
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

/// A product to be subscribed to.
public struct GooglePlayChoice: Hashable, Sendable {
    /// The product's id.
    public let product: String
    /// The base plan's id; nil for the product's first.
    public let basePlan: String?
    /// The offer's id; nil for none.
    public let offer: String?

    /// A product in one of its plans.
    public init(_ product: String, basePlan: String? = nil, offer: String? = nil) {
        self.product = product
        self.basePlan = basePlan
        self.offer = offer
    }
}

/// What a developer does through the Play Developer API.
public enum GooglePlayWrite: Hashable, Sendable {
    /// Tells the store that a purchase was granted; a second time changes nothing.
    case acknowledge(token: String)
    /// Says that a one-time purchase was used up, which also acknowledges it.
    case consume(token: String)
    case cancel(token: String, CancellationType)
    /// Moves every expiry. With an etag that is not the newest it is refused; without one nothing is
    /// checked.
    case deferRenewal(token: String, milliseconds: Int64, etag: String?)
    case revoke(token: String, Revocation)
    /// Gives the money of one order back, and takes the purchase away only when told to.
    case refund(order: String, revokes: Bool)

    /// Google's `cancellationType`.
    public enum CancellationType: String, CaseIterable, Hashable, Sendable {
        /// The customer could turn it on again.
        case userRequestedStopRenewals = "USER_REQUESTED_STOP_RENEWALS"
        case developerRequestedStopPayments = "DEVELOPER_REQUESTED_STOP_PAYMENTS"
    }

    /// Google's `revocationContext`.
    public enum Revocation: Hashable, Sendable {
        case fullRefund
        case proratedRefund
        /// One of several products; the others go on.
        case item(product: String)
    }
}

/// The store's answer to an action or a write that it does not carry out.
public struct GooglePlayRefusal: Error, Hashable, Sendable {
    /// Which rule of the store stands in the way.
    public let reason: Reason
    /// The customer's name, the purchase token or the order that was named.
    public let subject: String
    /// The product asked for or held, if one is meant.
    public let product: String?

    init(_ reason: Reason, _ subject: String, product: String? = nil) {
        self.reason = reason
        self.subject = subject
        self.product = product
    }

    /// One case for each rule of the store that an action can meet.
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
        /// A subscription with the product is running or its payment is being tried.
        case alreadySubscribed
        /// It lasts, and was bought before.
        case alreadyOwned
        case paymentDeclined
        /// Only a purchase that awaits its payment can be completed or dropped.
        case notPending
        /// Only while a paid or free period runs can it be changed so.
        case notRunning
        case renewalAlreadyOff
        case renewalAlreadyOn
        /// It has ended: only a new purchase brings it back.
        case ended
        /// Prepaid plans know no renewal, renewing ones no topping up, and not every plan pauses.
        case wrongKindOfPlan
        case notPaused
        /// Only what the customer turned off can be turned on again.
        case notRestorable
        /// It is in this plan already, or has this product already.
        case samePlan
        /// The last product of a subscription cannot be taken out of it.
        case lastItem
        case noPriceToAccept
        case alreadyRefunded
        /// More than were bought and not given back.
        case tooMany
        /// The etag is not the newest.
        case outdated
        /// An expiry can be moved by a day to a year.
        case badDuration
    }
}
