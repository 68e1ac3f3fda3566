import TideoverCore

extension AppStoreNotification {
    /// The subscription state that the notification type itself announces, if any.
    var notice: Condition.Notice? {
        switch notificationType?.known {
        case .didFailToRenew:
            subtype?.known == .gracePeriod ? .failedToRenewInGrace : .failedToRenew
        case .gracePeriodExpired: .graceExpired
        case .expired: .expired
        case .subscribed, .didRenew, .didChangeRenewalPref, .didChangeRenewalStatus,
            .offerRedeemed, .priceIncrease, .refund, .refundDeclined, .refundReversed, .revoke,
            .consumptionRequest, .renewalExtended, .renewalExtension, .test,
            .externalPurchaseToken, .oneTimeCharge, .rescindConsent, .metadataUpdate, .migration,
            .priceChange, nil:
            nil
        }
    }

    /// Whether this version knows the type.
    var isUnderstood: Bool { notificationType?.known != nil }

    /// Why the subscription ended, from the subtype of EXPIRED.
    /// https://developer.apple.com/documentation/appstoreservernotifications/subtype
    private var lapse: Outlook.Lapse? {
        guard notificationType?.known == .expired else { return nil }
        switch subtype?.known {
        case .voluntary: return .cancelled
        case .billingRetry: return .billingError
        case .priceIncrease: return .priceIncrease
        case .productNotForSale: return .productUnavailable
        default: return nil
        }
    }

    /// Returns the store's state of the subscription, for the term that ends at a renewal date. An
    /// unknown status states nothing: it must not replace an older known one. Without a status,
    /// SUBSCRIBED and ONE_TIME_CHARGE mean active.
    func condition(renewalDate: Instant?) -> Condition? {
        let type = notificationType?.known
        if data?.status == nil, type == .subscribed || type == .oneTimeCharge {
            return Condition(status: .active, renewalDate: renewalDate)
        }
        var condition = Condition(data?.status, notice, renewalDate)
        condition?.lapse = lapse
        return condition
    }

    /// The values that this version does not know.
    var unrecognised: [Unrecognised] {
        [
            notificationType.unrecognised(as: "notificationType"),
            subtype.unrecognised(as: "subtype"),
            unknownObject.map { Unrecognised(field: "content", value: $0.name) },
            data?.status.unrecognised(as: "status"),
            data?.consumptionRequestReason.unrecognised(as: "consumptionRequestReason"),
        ].compactMap(\.self)
    }
}

extension Condition {
    /// Nil if neither the status nor the notice is known.
    init?(_ status: OpenEnum<SubscriptionStatus>?, _ notice: Notice?, _ renewalDate: Instant?) {
        let status = status?.known.map(Status.init)
        guard status != nil || notice != nil else { return nil }
        self.init(status: status, notice: notice, renewalDate: renewalDate)
    }
}

extension Condition.Status {
    fileprivate init(_ status: SubscriptionStatus) {
        self =
            switch status {
            case .active: .active
            case .expired: .expired
            case .billingRetry: .retry
            case .billingGracePeriod: .grace
            case .revoked: .revoked
            }
    }
}
