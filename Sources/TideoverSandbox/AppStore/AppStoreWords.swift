// The texts of the simulated App Store for people.

extension AppStoreNotification {
    /// The event, in one sentence.
    public var words: String {
        guard let customer else { return "The store sends a test notification." }
        return event.words(customer)
    }
}

extension AppStoreEvent {
    fileprivate func words(_ customer: String) -> String {
        switch self {
        case .subscribed(let until, let trial, let again):
            let verb = again ? "subscribes again" : "subscribes"
            return "\(customer) \(verb)\(trial ? " with a free trial" : ""), until \(day(until))."
        case .renewed(let until, true):
            return "\(customer)'s trial becomes a paid period until \(day(until))."
        case .renewed(let until, false):
            return "\(customer)'s subscription renews until \(day(until))."
        case .failedToRenew(let graceUntil?, _):
            return "\(customer)'s payment fails; grace until \(day(graceUntil))."
        case .failedToRenew(nil, let retryUntil):
            return "\(customer)'s payment fails; no grace, retries until \(day(retryUntil))."
        case .graceEnded(let retryUntil):
            return "\(customer)'s grace is over; retries until \(day(retryUntil))."
        case .recovered(let until, true):
            return "\(customer)'s payment is recovered in grace: same cycle, until \(day(until))."
        case .recovered(let until, false):
            return "\(customer)'s payment is recovered: a new cycle, until \(day(until))."
        case .renewalTurnedOff(let endsAt):
            return "\(customer) turns renewal off; the subscription ends \(day(endsAt))."
        case .renewalTurnedOn(let renewsAt):
            return "\(customer) turns renewal on; it renews \(day(renewsAt))."
        case .expired(.voluntary): return "\(customer)'s subscription ends as the customer chose."
        case .expired(.billingRetry):
            return "\(customer)'s subscription ends; no payment was collected in 60 days."
        case .expired(.priceIncrease):
            return "\(customer)'s subscription ends; the higher price was not agreed to."
        case .refunded(.appIssue): return "\(customer) is refunded, naming an issue with the app."
        case .refunded(.other): return "\(customer) is refunded."
        case .refundReversed(let until?):
            return "\(customer)'s refund is taken back; the period still ends \(day(until))."
        case .refundReversed(nil): return "\(customer)'s refund is taken back."
        case .renewalExtended(let until):
            return "\(customer)'s renewal date is extended to \(day(until))."
        case .upgraded(let product, let until, let refund):
            return
                "\(customer) has \(product) from now until \(day(until)); \(refund) is given back."
        case .downgraded(let product, let at):
            return "\(customer)'s subscription will renew into \(product) \(day(at))."
        case .changeDropped(let product):
            return "\(customer)'s subscription will renew into \(product) after all."
        case .priceRaised(let price, true):
            return "\(customer) is asked to agree to \(price) from the next renewal on."
        case .priceRaised(let price, false):
            return "\(customer) is informed of \(price) from the next renewal on."
        case .priceAccepted: return "\(customer) agrees to the higher price."
        case .refundRequested: return "\(customer) asks for a refund."
        case .expired(.productUnavailable):
            return "\(customer)'s subscription ends; the product is no longer for sale."
        case .offerRedeemed(.atRenewal):
            return "\(customer) redeems an offer for the next renewal."
        case .offerRedeemed(.upgrade): return "\(customer) redeems an offer and has more at once."
        case .offerRedeemed(.downgrade):
            return "\(customer) redeems an offer for another product from the next renewal on."
        case .charged(let product): return "\(customer) has \(product)."
        case .shareRevoked: return "\(customer) no longer shares the family's purchase."
        case .extensionFailed:
            return "\(customer)'s renewal date could not be extended with the others'."
        case .extensionsCompleted(let succeeded, let failed):
            return "The renewal dates of \(succeeded) are extended, those of \(failed) are not."
        case .refundDeclined: return "\(customer) is not refunded."
        case .tested: return "The store sends a test notification."
        }
    }

    private func day(_ instant: Int64) -> String { InstantText.writeForPeople(instant) }
}

extension AppStoreAction {
    /// Returns a description of the action, in one sentence.
    public func words(_ customer: String) -> String {
        switch self {
        case .subscribe(let product, _), .buy(let product, false): "\(customer) buys \(product)."
        case .buy(let product, true): "\(customer) buys \(product) outside of the app."
        case .askToBuy(let product): "\(customer) asks for \(product)."
        case .approvePurchase: "What \(customer) asked for is approved."
        case .declinePurchase: "What \(customer) asked for is declined."
        case .interruptPurchase(let product): "\(customer)'s purchase of \(product) is interrupted."
        case .resumePurchase: "\(customer) goes on with the interrupted purchase."
        case .redeem(_, let offer): "\(customer) redeems \(offer)."
        case .allowPurchases(true): "\(customer)'s account allows purchases and renewals."
        case .allowPurchases(false): "\(customer)'s account allows no purchases and renewals."
        case .removeFromSale(let product): "\(product) is taken off sale."
        case .failPayments: "From now on \(customer)'s payments are declined."
        case .fixPayments: "\(customer) corrects the payment method."
        case .cancel: "\(customer) cancels."
        case .reenable: "\(customer) turns renewal back on."
        case .changePlan(let product): "\(customer) chooses \(product)."
        case .share(_, let member): "\(customer) shares with \(member)."
        case .stopSharing(_, let member): "\(customer) stops sharing with \(member)."
        case .extendRenewal(_, let days): "\(customer)'s renewal is put off by \(days) d."
        case .raisePrice(_, let price, _): "\(customer)'s renewal is to cost \(price)."
        case .acceptPrice: "\(customer) agrees to the price."
        case .requestRefund: "\(customer) wants the money back."
        case .declineRefund: "The store declines \(customer)'s refund."
        case .refund(_, _, percent: 100): "\(customer) gets the money back."
        case .refund(_, _, let percent): "\(customer) gets \(percent) % of the money back."
        case .reverseRefund: "The store takes \(customer)'s refund back."
        }
    }
}

extension AppStoreRefusal: CustomStringConvertible {
    /// The reason for the refusal, in one sentence.
    public var description: String {
        let product = product ?? "a subscription"
        return switch reason {
        case .unknownCustomer: "The store knows no customer \(customer)."
        case .customerExists: "The store knows a customer \(customer) already."
        case .unknownProduct: "The store does not sell \(product)."
        case .alreadySubscribed: "\(customer) is subscribed to \(product)'s group already."
        case .notSubscribed: "\(customer) has never bought \(product)."
        case .trialNotOffered: "\(product) has no free trial."
        case .trialAlreadyUsed: "\(customer) has used the free trial of \(product)'s group."
        case .paymentDeclined: "\(customer)'s payment for \(product) was declined."
        case .purchasesNotAllowed: "\(customer)'s account allows no purchases."
        case .notForSale: "\(product) is not for sale."
        case .alreadyOwned: "\(customer) has \(product) already."
        case .notBought: "\(customer) has never bought \(product)."
        case .unknownOffer: "\(product) has no offer of this name."
        case .notEligible: "\(customer) may not redeem this offer of \(product)."
        case .alreadyPending: "\(customer)'s purchase of \(product) is pending already."
        case .notPending: "No purchase of \(customer)'s is waiting for this."
        case .renewalAlreadyOff: "\(customer) has turned renewal of \(product) off already."
        case .renewalAlreadyOn: "\(customer)'s renewal of \(product) is on already."
        case .ended: "\(customer)'s subscription to \(product) has ended."
        case .alreadyRefunded: "\(customer)'s payment for \(product) is refunded already."
        case .notRefunded: "\(customer)'s payment for \(product) was not refunded."
        case .notShareable: "\(customer) cannot share \(product) with this customer."
        case .alreadyShared: "\(customer) shares \(product) with this customer already."
        case .notShared: "\(customer) does not share \(product) with this customer."
        case .refundNotRequested: "No refund of \(customer)'s \(product) is asked for."
        case .samePlan: "\(customer)'s subscription already renews into \(product)."
        case .notRunning: "\(customer)'s \(product) is waiting for a payment."
        case .noPriceToAccept: "\(customer) has no higher price of \(product) to agree to."
        case .notHigher: "\(customer) pays that much for \(product) already."
        case .notExtendable: "\(customer)'s renewal of \(product) cannot be extended now."
        case .extensionsUsedUp:
            "\(customer)'s renewal of \(product) was extended as often as a year allows."
        }
    }
}

extension StorePrice: CustomStringConvertible {
    /// Such as `9.99 USD`, with two decimals, or with three if needed.
    public var description: String {
        let thousandths = milliunits % 1000
        let digits = String(1000 + thousandths).dropFirst()
        let decimals = digits.hasSuffix("0") ? digits.dropLast() : digits
        return "\(milliunits / 1000).\(decimals) \(currency)"
    }
}

extension AppStoreFault: StoreFault {
    /// The subject of a rule that names no operation.
    public static var concerned: String { "Calls of the Server API" }

    /// The outcome of a call.
    public var words: String {
        switch self {
        case .rateLimited: "too many requests"
        case .unauthorized: "not authorized"
        case .refused(let error): "error \(error.rawValue)"
        case .unavailable(let status): "status \(status)"
        case .slow(let length): "late by \(length) ms"
        case .noAnswer: "no answer"
        case .truncated: "cut in half"
        case .stale(let length): "what was so \(length) ms ago"
        }
    }
}
