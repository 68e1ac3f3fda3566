import TideoverCore

extension AppStoreTransaction {
    /// The missing members that a transaction needs to state facts.
    var missing: [String] {
        var names: [String] = []
        if (originalTransactionId ?? "").isEmpty { names.append("originalTransactionId") }
        if (transactionId ?? "").isEmpty { names.append("transactionId") }
        if (productId ?? "").isEmpty { names.append("productId") }
        if (type?.raw ?? "").isEmpty { names.append("type") }
        if purchaseDate == nil { names.append("purchaseDate") }
        if signedDate == nil { names.append("signedDate") }
        return names
    }

    /// The ownership; nil for a value that this version does not know.
    var ownership: Ownership? { Ownership(inAppOwnershipType) }

    /// Whether this version knows the ownership.
    var isUnderstood: Bool { ownership != nil }

    /// Whether the store revoked it. A revocation date that an upgrade sets is not a refund.
    var isRevoked: Bool { revocationDate != nil && isUpgraded != true }

    /// The period or purchase that the transaction represents; nil if an essential member is
    /// missing.
    var term: Term? {
        guard missing.isEmpty, let transactionId, let productId, let plan, let purchaseDate else {
            return nil
        }
        return Term(
            transactionId: transactionId,
            webOrderLineItemId: webOrderLineItemId.flatMap { $0.isEmpty ? nil : $0 },
            productId: productId,
            plan: plan,
            start: purchaseDate,
            end: expiresDate,
            offer: Offer(offerType, offerDiscountType, offerIdentifier, offerPeriod),
            price: Money(price, currency),
            isUpgraded: isUpgraded ?? false,
            isRevoked: isRevoked,
            origin: origin,
            group: subscriptionGroupIdentifier,
            storefront: storefront,
            accountToken: appAccountToken.flatMap { CustomerID($0) },
            billing: billingPlanType.map(Term.Billing.init),
            commitment: commitmentInfo.map { info in
                Term.Commitment(
                    payment: info.billingPeriodNumber,
                    payments: info.totalBillingPeriods,
                    end: info.commitmentExpiresDate,
                    price: Money(info.commitmentPrice, currency)
                )
            }
        )
    }

    private var plan: Term.Plan? {
        guard let type else { return nil }
        return switch type.known {
        case .autoRenewableSubscription: .autoRenewable
        case .nonRenewingSubscription: .nonRenewing
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case nil: .unrecognised(type.raw)
        }
    }

    private var origin: Term.Origin {
        switch transactionReason?.known {
        case .purchase: .purchase
        case .renewal: .renewal
        case nil: .unstated
        }
    }

    /// Returns the revocation of a term, if the transaction has one.
    func revocation(
        of term: Term,
        announcedBy type: AppStoreNotification.NotificationType?
    ) -> Revocation? {
        guard isRevoked, let revocationDate else { return nil }
        return Revocation(
            term: term.key,
            date: revocationDate,
            cause: cause(announcedBy: type),
            percentage: revocationPercentage
        )
    }

    /// Returns the cause that the store states. Older transactions do not state it: ownership and
    /// notification type decide.
    private func cause(
        announcedBy type: AppStoreNotification.NotificationType?
    ) -> Revocation.Cause {
        guard let revocationType else {
            if inAppOwnershipType?.known == .assigned { return .assignmentRemoved }
            let isFamily = ownership == .familyShared || type == .revoke
            return isFamily ? .familyAccessRemoved : .refund
        }
        return switch revocationType.known {
        case .fullRefund: .refund
        case .proratedRefund: .proratedRefund
        case .familyRevoke: .familyAccessRemoved
        case .assignmentRevoke: .assignmentRemoved
        case nil: .unrecognised(revocationType.raw)
        }
    }

    /// Returns notes for operators who inspect the message.
    func notes(announcedBy type: AppStoreNotification.NotificationType?) -> [AppStoreNote] {
        var notes: [AppStoreNote] = []
        let missing = missing
        if !missing.isEmpty { notes.append(.incompleteTransaction(missing: missing)) }
        if ownership == nil, let word = inAppOwnershipType {
            notes.append(.unknownOwnership(word.raw))
        }
        switch inAppOwnershipType?.known {
        case .familyShared: notes.append(.familyShared)
        case .assigned: notes.append(.assigned)
        case .purchased, nil: break
        }
        if revocationDate != nil, isUpgraded == true { notes.append(.upgradedAway) }
        if let type, type == .refund || type == .revoke, !isRevoked {
            notes.append(.nothingTakenBack(type.rawValue))
        }
        return notes
    }

    /// The values that this version does not know.
    var unrecognised: [Unrecognised] {
        [
            type.unrecognised(as: "type"),
            inAppOwnershipType.unrecognised(as: "inAppOwnershipType"),
            offerType.unrecognised(as: "offerType"),
            offerDiscountType.unrecognised(as: "offerDiscountType"),
            Period.unrecognised(offerPeriod, as: "offerPeriod"),
            revocationReason.unrecognised(as: "revocationReason"),
            revocationType.unrecognised(as: "revocationType"),
            transactionReason.unrecognised(as: "transactionReason"),
            billingPlanType.unrecognised(as: "billingPlanType"),
        ].compactMap(\.self)
    }
}

extension Ownership {
    /// Defaults to the purchaser if the store states no ownership; nil for a value that this
    /// version does not know. An assigned seat counts as shared: it gives access, and the customer
    /// neither paid for it nor manages it.
    init?(_ type: OpenEnum<AppStoreTransaction.OwnershipType>?) {
        guard let type else {
            self = .purchased
            return
        }
        switch type.known {
        case .purchased: self = .purchased
        case .familyShared, .assigned: self = .familyShared
        case nil: return nil
        }
    }
}

extension Term.Billing {
    init(_ type: OpenEnum<BillingPlanType>) {
        self =
            switch type.known {
            case .billedUpfront: .upfront
            case .monthly: .monthly
            case nil: .unrecognised(type.raw)
            }
    }
}

extension Offer {
    /// The offer that the store states; nil without an offer type.
    init?(
        _ type: OpenEnum<OfferType>?,
        _ discount: OpenEnum<OfferDiscountType>?,
        _ identifier: String?,
        _ period: String?
    ) {
        guard let type else { return nil }
        self.init(
            kind: Kind(type),
            discount: discount.map(Discount.init),
            identifier: identifier,
            period: period.flatMap { Period(iso8601: $0) }
        )
    }
}

extension Offer.Kind {
    fileprivate init(_ type: OpenEnum<OfferType>) {
        self =
            switch type.known {
            case .introductory: .introductory
            case .promotional: .promotional
            case .offerCode: .code
            case .winBack: .winBack
            case nil: .unrecognised("\(type.raw)")
            }
    }
}

extension Offer.Discount {
    fileprivate init(_ type: OpenEnum<OfferDiscountType>) {
        self =
            switch type.known {
            case .freeTrial: .freeTrial
            case .payAsYouGo: .payAsYouGo
            case .payUpFront: .payUpFront
            case .oneTime: .oneTime
            case nil: .unrecognised(type.raw)
            }
    }
}

extension Period {
    /// Reports a length that cannot be parsed as an unknown value.
    static func unrecognised(_ text: String?, as field: String) -> Unrecognised? {
        guard let text, Period(iso8601: text) == nil else { return nil }
        return Unrecognised(field: field, value: text)
    }
}

extension Money {
    /// Nil without an amount or its currency.
    init?(_ milliunits: Int64?, _ currency: String?) {
        guard let milliunits, let currency else { return nil }
        self.init(milliunits: milliunits, currency: currency)
    }
}
