import TideoverCore

extension RevenueCatEvent {
    /// What the event says of purchases in an environment.
    func relayed(in environment: Environment, catalogue: Catalogue) -> RelayedStatements {
        guard let kind = type.known, kind.speaksOfAPurchase else { return RelayedStatements() }
        guard let store = store?.known else {
            return RelayedStatements(notes: [
                self.store.map { .unknownStore($0.raw) }
                    ?? .incomplete(product: productId, missing: ["store"])
            ])
        }
        if kind == .temporaryEntitlementGrant {
            return granted("temporary", in: environment, until: temporaryEnd)
        }
        if store == .promotional || periodType?.known == .promotional {
            return gift(kind, in: environment)
        }
        let purchase = RelayedPurchase(self, store, in: environment, catalogue)
        guard let purchase else {
            return RelayedStatements(notes: [.incomplete(product: productId, missing: missing)])
        }
        var all = purchase.words(of: kind)
        all.statements += unrecognised.map {
            Statement(purchase.lineage, .unrecognised($0), at: timestamp)
        }
        return all
    }

    /// The members without which nothing is said of a purchase.
    private var missing: [String] {
        let texts = [("product_id", productId), ("transaction_id", transactionId)]
        return texts.filter { ($0.1 ?? "").isEmpty }.map(\.0)
            + (purchasedAt == nil ? ["purchased_at_ms"] : [])
    }

    // MARK: What was given, not sold

    /// RevenueCat stands in for a store that it cannot reach for a day at most.
    private var temporaryEnd: Instant {
        let longest = timestamp + .hours(24)
        return min(expiresAt ?? longest, longest)
    }

    private func gift(_ kind: EventType, in environment: Environment) -> RelayedStatements {
        switch kind {
        case .initialPurchase, .nonRenewingPurchase, .renewal, .subscriptionExtended:
            granted("promotional", in: environment, until: expiresAt)
        // Its end, whether it came by itself or somebody took it back.
        case .expiration:
            granted("promotional", in: environment, until: min(expiresAt ?? timestamp, timestamp))
        case .cancellation, .uncancellation, .billingIssue, .subscriptionPaused, .productChange,
            .temporaryEntitlementGrant, .refundReversed, .test, .transfer, .invoiceIssuance,
            .virtualCurrencyTransaction, .experimentEnrollment, .subscriberAlias:
            RelayedStatements()
        }
    }

    /// A gift of each entitlement that the event names, a lineage of its own.
    private func granted(
        _ kind: String,
        in environment: Environment,
        until end: Instant?
    ) -> RelayedStatements {
        let id = transactionId ?? originalTransactionId ?? self.id
        let names =
            entitlementIds.isEmpty
            ? productId.flatMap(promotedEntitlement).map { [$0] } ?? [] : entitlementIds
        guard let customer, !names.isEmpty else {
            let missing = names.isEmpty ? ["entitlement_ids"] : ["app_user_id"]
            return RelayedStatements(notes: [.incomplete(product: productId, missing: missing)])
        }
        let statements = names.map { entitlement in
            Statement(
                gift: "\(kind):\(id):\(entitlement)",
                in: environment,
                of: entitlement,
                to: customer,
                from: purchasedAt ?? timestamp,
                until: end,
                at: timestamp
            )
        }
        return RelayedStatements(statements: statements)
    }
}

extension Statement {
    /// Something RevenueCat gave away; its id is its lineage's too.
    init(
        gift id: String,
        in environment: Environment,
        of entitlement: String,
        to customer: CustomerID,
        from start: Instant,
        until end: Instant?,
        at assertedAt: Instant
    ) {
        let grant = Grant(
            id: id,
            customer: customer,
            entitlement: entitlement,
            start: start,
            end: end,
            why: "RevenueCat"
        )
        let lineage = Lineage(store: .revenueCat, environment: environment, id: id)
        self.init(lineage, .grant(grant), from: start, at: assertedAt)
    }
}

/// The entitlement in the product id of a promotional grant, `rc_promo_<entitlement>_<duration>`.
func promotedEntitlement(_ productId: String) -> String? {
    let prefix = "rc_promo_"
    guard productId.utf8.starts(with: prefix.utf8) else { return nil }
    let rest = productId.dropFirst(prefix.count)
    for duration in durations where rest.hasSuffix(duration) {
        let name = rest.dropLast(duration.count)
        return name.isEmpty ? nil : String(name)
    }
    return nil
}

/// The longer of two that end alike comes first.
private let durations = [
    "_daily", "_three_day", "_weekly", "_two_week", "_two_month", "_three_month", "_six_month",
    "_monthly", "_yearly", "_lifetime", "_custom",
]

extension RevenueCatEvent.EventType {
    fileprivate var speaksOfAPurchase: Bool {
        switch self {
        case .initialPurchase, .renewal, .nonRenewingPurchase, .cancellation, .uncancellation,
            .billingIssue, .expiration, .subscriptionPaused, .productChange,
            .subscriptionExtended, .temporaryEntitlementGrant, .refundReversed:
            true
        case .test, .transfer, .invoiceIssuance, .virtualCurrencyTransaction,
            .experimentEnrollment, .subscriberAlias:
            false
        }
    }
}
