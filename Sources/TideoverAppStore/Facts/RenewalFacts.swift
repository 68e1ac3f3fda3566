import TideoverCore

extension AppStoreRenewalInfo {
    /// The missing members that a renewal info needs to state facts.
    var missing: [String] {
        var names: [String] = []
        if (originalTransactionId ?? "").isEmpty { names.append("originalTransactionId") }
        if signedDate == nil { names.append("signedDate") }
        return names
    }

    /// The store's renewal outlook at the end of the period.
    var outlook: Outlook {
        Outlook(
            renewalDate: renewalDate,
            productId: productId,
            renewsInto: autoRenewProductId,
            willRenew: autoRenewStatus?.known.map { $0 == .on },
            isRetrying: isInBillingRetryPeriod,
            graceEnd: gracePeriodExpiresDate,
            lapse: expirationIntent.map(Outlook.Lapse.init),
            priceIncreasePending: priceIncreaseStatus?.known.map { $0 == .pendingConsent },
            renewalPrice: Money(renewalPrice, currency),
            offer: Offer(offerType, offerDiscountType, offerIdentifier, offerPeriod),
            billing: renewalBillingPlanType.map(Term.Billing.init),
            commitment: commitmentInfo.map { info in
                Outlook.Commitment(
                    willRenew: info.commitmentAutoRenewStatus?.known.map { $0 == .on },
                    renewsInto: info.commitmentAutoRenewProductId,
                    billing: info.commitmentRenewalBillingPlanType.map(Term.Billing.init),
                    date: info.commitmentRenewalDate,
                    price: Money(info.commitmentRenewalPrice, currency)
                )
            }
        )
    }

    /// The values that this version does not know.
    var unrecognised: [Unrecognised] {
        [
            autoRenewStatus.unrecognised(as: "autoRenewStatus"),
            expirationIntent.unrecognised(as: "expirationIntent"),
            priceIncreaseStatus.unrecognised(as: "priceIncreaseStatus"),
            offerType.unrecognised(as: "offerType"),
            offerDiscountType.unrecognised(as: "offerDiscountType"),
            Period.unrecognised(offerPeriod, as: "offerPeriod"),
            renewalBillingPlanType.unrecognised(as: "renewalBillingPlanType"),
            commitmentInfo?.commitmentAutoRenewStatus.unrecognised(
                as: "commitmentAutoRenewStatus"
            ),
            commitmentInfo?.commitmentRenewalBillingPlanType.unrecognised(
                as: "commitmentRenewalBillingPlanType"
            ),
        ].compactMap(\.self)
    }
}

extension Outlook.Lapse {
    init(_ intent: OpenEnum<AppStoreRenewalInfo.ExpirationIntent>) {
        self =
            switch intent.known {
            case .cancelled: .cancelled
            case .billingError: .billingError
            case .noConsentToPriceIncrease: .priceIncrease
            case .productUnavailable: .productUnavailable
            case .other: .other
            case nil: .unrecognised("\(intent.raw)")
            }
    }
}
