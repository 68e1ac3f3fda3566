import TideoverCore

extension PlayItem {
    init(_ item: SubscriptionPurchaseV2.LineItem, of purchase: SubscriptionPurchaseV2) {
        // The deprecated order field is valid only for a single line item. After a failed charge it
        // may name the declined order, not a payment.
        let isOnlyItem = purchase.lineItems.count == 1
        let older = isOnlyItem && !purchase.mayNameDeclinedOrder ? purchase.latestOrderId : nil
        self.init(
            productId: item.productId,
            basePlan: item.offerDetails?.basePlanId,
            offerId: item.offerDetails?.offerId,
            expiresAt: item.expiryTime,
            plan: Plan(item.plan),
            phase: item.offerPhase.map(Phase.init),
            promotionCode: item.signupPromotion.flatMap(PromotionCode.init),
            orderId: item.latestSuccessfulOrderId ?? older,
            price: item.renewing?.recurringPrice,
            replacement: item.deferredReplacementProductId,
            isRemovedAtExpiry: item.isRemovedAtExpiry,
            priceChange: item.renewing.flatMap(PriceChange.init),
            installments: item.renewing?.installmentDetails.map { details in
                Installments(
                    remainingPayments: details.remainingCommittedPaymentsCount,
                    isCancellationPending: details.isCancellationPending
                )
            }
        )
    }
}

extension SubscriptionPurchaseV2 {
    /// Whether the latest order may be a declined one.
    fileprivate var mayNameDeclinedOrder: Bool {
        switch subscriptionState?.known {
        case .inGracePeriod, .onHold, .canceled, .expired: true
        case .pending, .active, .paused, .pendingPurchaseCanceled, nil: false
        }
    }
}

extension SubscriptionPurchaseV2.LineItem {
    fileprivate var renewing: SubscriptionPurchaseV2.AutoRenewingPlan? {
        if case .autoRenewing(let plan) = plan { plan } else { nil }
    }

    /// The values that this version does not know.
    var unrecognised: [Unrecognised?] {
        var words = [
            renewing?.priceChangeDetails?.priceChangeMode.unrecognised(as: "priceChangeMode"),
            renewing?.priceChangeDetails?.priceChangeState.unrecognised(as: "priceChangeState"),
            renewing?.priceStepUpConsentDetails?.state
                .unrecognised(as: "priceStepUpConsentDetails.state"),
        ]
        switch offerPhase {
        case .proration(let original):
            words.append(original.unrecognised(as: "originalOfferPhaseType"))
        case .unrecognised(let name):
            words.append(Unrecognised(field: "offerPhase", value: name))
        case .base, .freeTrial, .introductory, nil: break
        }
        if case .unrecognised(let name) = signupPromotion {
            words.append(Unrecognised(field: "signupPromotion", value: name))
        }
        return words
    }
}

extension PlayItem.Plan {
    fileprivate init(_ plan: SubscriptionPurchaseV2.Plan?) {
        self =
            switch plan {
            case .autoRenewing(let plan): .autoRenewing(isOn: plan.autoRenewEnabled)
            case .prepaid(let instant): .prepaid(extendableFrom: instant)
            case nil: .unstated
            }
    }
}

extension PlayItem.Phase {
    fileprivate init(_ phase: SubscriptionPurchaseV2.OfferPhase) {
        self =
            switch phase {
            case .base: .base
            case .freeTrial: .freeTrial
            case .introductory: .introductory
            case .proration: .proration
            case .unrecognised(let name): .unrecognised(name)
            }
    }
}

extension PlayItem.PromotionCode {
    /// Nil for a promotion that this version does not know. A code that cannot be stored has no
    /// text.
    fileprivate init?(_ promotion: SubscriptionPurchaseV2.SignupPromotion) {
        switch promotion {
        case .oneTimeCode: self.init()
        case .vanityCode(let code): self.init(text: code.flatMap { $0.isStorableName ? $0 : nil })
        case .unrecognised: return nil
        }
    }
}

extension PlayItem.PriceChange {
    /// A price step-up that awaits consent has priority over any other price change.
    fileprivate init?(_ plan: SubscriptionPurchaseV2.AutoRenewingPlan) {
        let stepUp = plan.priceStepUpConsentDetails
        let change = plan.priceChangeDetails
        if let stepUp, let state = State(stepUp),
            state == .awaitsConsent || change?.priceChangeState == nil
        {
            self.init(state: state, price: stepUp.newPrice, consentBy: stepUp.consentDeadlineTime)
        } else if let change, let state = State(change) {
            self.init(
                state: state,
                price: change.newPrice,
                chargedFrom: change.expectedNewPriceChargeTime
            )
        } else {
            return nil
        }
    }
}

extension PlayItem.PriceChange.State {
    fileprivate init?(_ consent: SubscriptionPurchaseV2.PriceStepUpConsentDetails) {
        guard let word = consent.state else { return nil }
        self =
            switch word.known {
            case .pending: .awaitsConsent
            case .confirmed: .confirmed
            case .completed: .applied
            case nil: .unrecognised(word.raw)
            }
    }

    fileprivate init?(_ change: SubscriptionPurchaseV2.PriceChangeDetails) {
        guard let word = change.priceChangeState else { return nil }
        self =
            switch word.known {
            case .outstanding: Self(outstanding: change.priceChangeMode)
            case .confirmed: .confirmed
            case .applied: .applied
            case .canceled: .cancelled
            case nil: .unrecognised(word.raw)
            }
    }

    /// Returns the state of an undecided price change, by its mode.
    private init(outstanding mode: OpenEnum<SubscriptionPurchaseV2.PriceChangeMode>?) {
        self =
            switch mode?.known {
            case .increase: .awaitsConsent
            case .decrease, .optOutIncrease: .announced
            case nil: .unrecognised(mode?.raw ?? "")
            }
    }
}
