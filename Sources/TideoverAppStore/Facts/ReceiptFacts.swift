import TideoverCore

extension Message {
    /// The purchases in a receipt or in a verifyReceipt response.
    private var purchases: [AppStoreReceiptPurchase] {
        receipt?.purchases.onceEach ?? receiptAnswer?.purchases ?? []
    }

    /// Returns all statements of a receipt or response, with its single date.
    func receiptStatements(at assertedAt: Instant) -> [Statement] {
        let purchases = purchases
        return purchases.flatMap { statements(of: $0, among: purchases, at: assertedAt) }
            + (receiptAnswer?.pendingRenewals ?? []).flatMap { renewal in
                statements(of: renewal, among: purchases, at: assertedAt)
            }
    }

    private func statements(
        of purchase: AppStoreReceiptPurchase,
        among all: [AppStoreReceiptPurchase],
        at assertedAt: Instant
    ) -> [Statement] {
        guard let lineage = lineage(of: purchase) else { return [] }
        let unknown = purchase.unrecognised.map {
            Statement(lineage, .unrecognised($0), at: assertedAt)
        }
        guard purchase.ownership != nil else { return unknown }
        let isUpgraded = purchase.isUpgradedAway(among: all)
        guard let term = purchase.term(isUpgraded: isUpgraded) else { return unknown }
        var words = [Statement(lineage, .term(term), from: term.start, at: assertedAt)]
        if let revocation = purchase.revocation(of: term) {
            let date = revocation.date
            words.append(Statement(lineage, .revocation(revocation), from: date, at: assertedAt))
        }
        return words + unknown
    }

    private func statements(
        of renewal: AppStorePendingRenewal,
        among all: [AppStoreReceiptPurchase],
        at assertedAt: Instant
    ) -> [Statement] {
        let own = all.filter { $0.originalTransactionId == renewal.originalTransactionId }
        // A renewal has no ownership; the purchases beside it do.
        guard let purchase = own.first, let lineage = lineage(of: purchase),
            purchase.ownership != nil
        else { return [] }
        let end = own.filter { !$0.isUpgradedAway(among: all) }.compactMap(\.expiresDate).max()
        let outlook = renewal.outlook(renewalDate: end)
        return [Statement(lineage, .outlook(outlook), at: assertedAt)]
            + renewal.unrecognised.map { Statement(lineage, .unrecognised($0), at: assertedAt) }
    }

    private func lineage(of purchase: AppStoreReceiptPurchase) -> Lineage? {
        guard let id = purchase.originalTransactionId else { return nil }
        return Lineage(
            store: .appStore,
            environment: environment,
            id: id,
            ownership: purchase.ownership ?? .purchased
        )
    }

    var unrecognisedInReceipt: [Unrecognised] {
        purchases.flatMap(\.unrecognised)
            + (receiptAnswer?.pendingRenewals.flatMap(\.unrecognised) ?? [])
    }

    var receiptNotes: [AppStoreNote] {
        guard receipt != nil || receiptAnswer != nil else { return [] }
        var notes: [AppStoreNote] = isInAnswer ? [.answerNotSigned] : []
        let purchases = purchases
        if purchases.isEmpty { notes.append(.noPurchases) }
        let incomplete = purchases.first { !$0.missing.isEmpty }
        if let incomplete { notes.append(.incompleteTransaction(missing: incomplete.missing)) }
        if let word = purchases.lazy.compactMap(\.unknownOwnership).first {
            notes.append(.unknownOwnership(word))
        }
        let owners = purchases.map(\.inAppOwnershipType?.known)
        if owners.contains(.familyShared) { notes.append(.familyShared) }
        if owners.contains(.assigned) { notes.append(.assigned) }
        if purchases.contains(where: { $0.isUpgradedAway(among: purchases) }) {
            notes.append(.upgradedAway)
        }
        return notes
    }
}

extension [AppStoreReceiptPurchase] {
    /// Returns the purchases with distinct transactions. Two statements of the same date about one
    /// transaction have no order.
    fileprivate var onceEach: [AppStoreReceiptPurchase] {
        var known: Set<String> = []
        return filter { known.insert($0.transactionId ?? "").inserted }
    }
}

extension AppStoreReceiptPurchase {
    /// The missing fields that a purchase needs to state facts. The product type is required only
    /// without an expiry date, which shows a subscription.
    var missing: [String] {
        let ids = [
            ("original_transaction_id", originalTransactionId), ("transaction_id", transactionId),
            ("product_id", productId),
        ]
        return ids.filter { $0.1 == nil }.map(\.0)
            + (purchaseDate == nil ? ["purchase_date"] : [])
            + (plan == nil ? ["product type"] : [])
    }

    /// The ownership; nil for a value that this version does not know. Receipts do not state it:
    /// the default is the purchaser.
    var ownership: Ownership? { Ownership(inAppOwnershipType) }

    var unknownOwnership: String? { ownership == nil ? inAppOwnershipType?.raw : nil }

    /// Returns whether an upgrade replaced this purchase. Receipts have no flag for it. Without
    /// one, another purchase of the subscription must begin at the cancellation.
    func isUpgradedAway(among all: [AppStoreReceiptPurchase]) -> Bool {
        if let isUpgraded { return isUpgraded }
        guard let cancellationDate else { return false }
        return all.contains { other in
            other.originalTransactionId == originalTransactionId
                && other.transactionId != transactionId
                && other.purchaseDate?.isWithin(.seconds(1), of: cancellationDate) ?? false
        }
    }

    func term(isUpgraded: Bool) -> Term? {
        guard missing.isEmpty, let transactionId, let productId, let plan, let purchaseDate else {
            return nil
        }
        return Term(
            transactionId: transactionId,
            webOrderLineItemId: webOrderLineItemId,
            productId: productId,
            plan: plan,
            start: purchaseDate,
            end: expiresDate,
            offer: offer,
            isUpgraded: isUpgraded,
            isRevoked: cancellationDate != nil && !isUpgraded,
            origin: transactionId == originalTransactionId ? .purchase : .unstated,
            group: subscriptionGroupIdentifier,
            accountToken: appAccountToken.flatMap { CustomerID($0) }
        )
    }

    /// Only auto-renewable subscriptions have an expiry date in receipts. Without an expiry date
    /// and a product type, the plan is unknown.
    private var plan: Term.Plan? {
        switch productType?.known {
        case .autoRenewableSubscription: .autoRenewable
        case .nonRenewingSubscription: .nonRenewing
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case nil:
            expiresDate != nil
                ? .autoRenewable : productType.map { .unrecognised("\($0.raw)") }
        }
    }

    /// A trial is free. The store does not state whether another introductory price is paid up
    /// front.
    private var offer: Offer? {
        let discount: Offer.Discount? = isTrialPeriod == true ? .freeTrial : nil
        if let promotionalOfferId {
            return Offer(kind: .promotional, discount: discount, identifier: promotionalOfferId)
        }
        if let offerCodeRefName {
            return Offer(kind: .code, discount: discount, identifier: offerCodeRefName)
        }
        let isIntroductory = discount != nil || isInIntroOfferPeriod == true
        return isIntroductory ? Offer(kind: .introductory, discount: discount) : nil
    }

    /// Returns the revocation of a term. A cancellation date that an upgrade sets is not a refund.
    func revocation(of term: Term) -> Revocation? {
        guard term.isRevoked, let cancellationDate else { return nil }
        let cause: Revocation.Cause =
            switch inAppOwnershipType?.known {
            case .familyShared: .familyAccessRemoved
            case .assigned: .assignmentRemoved
            case .purchased, nil: .refund
            }
        return Revocation(term: term.key, date: cancellationDate, cause: cause)
    }

    /// The values that this version does not know.
    var unrecognised: [Unrecognised] {
        [
            productType.unrecognised(as: "productType"),
            cancellationReason.unrecognised(as: "cancellationReason"),
            inAppOwnershipType.unrecognised(as: "inAppOwnershipType"),
        ].compactMap(\.self)
    }
}

extension AppStorePendingRenewal {
    /// Returns the store's renewal outlook at the end of the period; the response does not repeat
    /// the date here.
    func outlook(renewalDate: Instant?) -> Outlook {
        Outlook(
            renewalDate: renewalDate,
            productId: productId,
            renewsInto: autoRenewProductId,
            willRenew: autoRenewStatus?.known.map { $0 == .on },
            isRetrying: isInBillingRetryPeriod,
            graceEnd: gracePeriodExpiresDate,
            lapse: expirationIntent.map(Outlook.Lapse.init),
            priceIncreasePending: priceIncreaseStatus?.known.map { $0 == .pendingConsent },
            offer: promotionalOfferId.map { Offer(kind: .promotional, identifier: $0) }
                ?? offerCodeRefName.map { Offer(kind: .code, identifier: $0) }
        )
    }

    /// The values that this version does not know.
    var unrecognised: [Unrecognised] {
        [
            autoRenewStatus.unrecognised(as: "autoRenewStatus"),
            expirationIntent.unrecognised(as: "expirationIntent"),
            priceIncreaseStatus.unrecognised(as: "priceIncreaseStatus"),
        ].compactMap(\.self)
    }
}
