// Descriptions of actions in Google Play, for people.

extension ScenarioPlayAction.Deed {
    /// Returns one sentence, with the customer's name if a customer acts.
    func words(_ customer: String) -> String {
        switch self {
        case .act(let action, _): sentence(action, customer)
        case .write(let write): write.sentence(customer)
        case .requestTestNotification: "The operator asks for a test notification."
        case .loseNotifications(true): "Notifications are lost from now on."
        case .loseNotifications(false): "Notifications arrive again."
        case .disturbNotifications(let rule): "\(rule)."
        case .disturb(let rule): "\(rule)."
        case .disturbPubSub: "Messages are delivered badly from now on."
        case .endDisturbances: "Nothing goes wrong any more."
        }
    }

    private func sentence(_ action: GooglePlayAction, _ customer: String) -> String {
        switch action {
        case .subscribe(let choices, let payment, _):
            "\(customer) buys \(choices.first?.product ?? "nothing")\(payment.words)."
        case .replace(_, let choice, _): "\(customer) changes to \(choice.product)."
        case .changeItems: "\(customer) changes what the subscription holds."
        case .topUp: "\(customer) pays for one more period."
        case .buy(let product, _, let payment): "\(customer) buys \(product)\(payment.words)."
        case .completePayment: "\(customer)'s payment arrives."
        case .dropPayment: "\(customer)'s payment will not come."
        case .failPayments: "\(customer)'s payments fail from now on."
        case .fixPayments: "\(customer) corrects the payment method."
        case .cancel: "\(customer) turns renewal off."
        case .cancelBySystem: "The store turns \(customer)'s renewal off."
        case .restart: "\(customer) turns renewal on again."
        case .pause: "\(customer) pauses from the next expiry on."
        case .resume: "\(customer) resumes."
        case .changePrice(_, let price, _): "\(customer)'s subscription is to cost \(price)."
        case .acceptPrice: "\(customer) agrees to the higher price."
        case .askStepUpConsent: "\(customer) is asked to agree to the full price."
        case .acceptStepUp: "\(customer) agrees to the full price."
        case .requestRefund: "\(customer) asks for a refund."
        case .refund(_, _, _, let revokes):
            "\(customer) is refunded\(revokes ? ", and the purchase is revoked" : "")."
        }
    }
}

extension GooglePlayAction.Payment {
    fileprivate var words: String { self == .delayed ? ", to be paid in cash" : "" }
}

extension ScenarioPlayAction.Write {
    fileprivate func sentence(_ customer: String) -> String {
        switch self {
        case .acknowledge: "\(customer)'s purchase is acknowledged."
        case .consume: "What \(customer) bought is used up."
        case .cancel: "The developer cancels \(customer)'s subscription."
        case .postpone: "The developer puts \(customer)'s renewal off."
        case .revoke: "The developer revokes \(customer)'s subscription."
        case .refundOrder: "The developer refunds \(customer)'s newest order."
        }
    }
}
