import TideoverCore

extension RevenueCatEvent {
    /// Returns the statements of the event about purchases in an environment.
    func relayed(in environment: Environment, catalogue: Catalogue) -> RelayedStatements {
        guard let kind = type.known, kind.concernsPurchase, unusable.isEmpty else {
            return RelayedStatements()
        }
        // RevenueCat sends this while the store is unreachable; it has fewer members than other
        // events.
        if kind == .temporaryEntitlementGrant {
            return granted("temporary", in: environment, until: temporaryEnd, catalogue)
        }
        return relayed(kind, in: environment, catalogue)
            + endOfTemporaryGrant(in: environment, catalogue)
    }

    /// Whether the environment of the event's purchase is known. A temporary grant has none, and
    /// counts as production.
    var isPlaced: Bool {
        environment.map { $0.known != nil } ?? (type.known == .temporaryEntitlementGrant)
    }

    /// Returns no statements, because a sandbox purchase must not give access in production.
    var unplaced: RelayedStatements {
        guard let kind = type.known, kind.concernsPurchase else { return RelayedStatements() }
        let missing = environment == nil ? "environment" : "known environment"
        return RelayedStatements(notes: [.incomplete(product: productId, missing: [missing])])
    }

    private func relayed(
        _ kind: EventType,
        in environment: Environment,
        _ catalogue: Catalogue
    ) -> RelayedStatements {
        guard let store = store?.known else {
            return RelayedStatements(notes: [
                self.store.map { .unknownStore($0.raw) }
                    ?? .incomplete(product: productId, missing: ["store"])
            ])
        }
        if store == .promotional || periodType?.known == .promotional {
            return gift(kind, in: environment, catalogue)
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

    /// The missing members that a statement about a purchase needs.
    private var missing: [String] {
        let texts = [("product_id", productId), ("transaction_id", transactionId)]
        return texts.filter { ($0.1 ?? "").isEmpty }.map(\.0)
            + (purchasedAt == nil ? ["purchased_at_ms"] : [])
    }

    // MARK: Grants

    /// The maximum duration of a temporary grant, by RevenueCat's documentation.
    private static let longestTemporaryGrant = Milliseconds.hours(24)

    private var temporaryEnd: Instant {
        // The timestamp may be the last instant that can be written.
        let longest = min(timestamp + Self.longestTemporaryGrant, Instant.writable.upperBound)
        return min(expiresAt ?? longest, longest)
    }

    /// Returns the end of a temporary grant for a purchase that could not be validated; nil for
    /// another event. RevenueCat sends an expiration with the grant's transaction ID. Store
    /// subscriptions last longer than a day in production, so the period identifies the grant.
    func temporaryGrantEnd(in environment: Environment) -> Instant? {
        guard type.known == .expiration, environment == .production, let transactionId,
            originalTransactionId ?? transactionId == transactionId,
            let purchasedAt, let expiresAt, periodType?.known != .promotional,
            expiresAt - purchasedAt <= Self.longestTemporaryGrant
        else { return nil }
        return max(purchasedAt, min(expiresAt, timestamp))
    }

    private func endOfTemporaryGrant(
        in environment: Environment,
        _ catalogue: Catalogue
    ) -> [Statement] {
        guard let end = temporaryGrantEnd(in: environment) else { return [] }
        return granted("temporary", in: environment, until: end, catalogue).statements
    }

    private func gift(
        _ kind: EventType,
        in environment: Environment,
        _ catalogue: Catalogue
    ) -> RelayedStatements {
        switch kind {
        case .initialPurchase, .nonRenewingPurchase, .renewal, .subscriptionExtended:
            granted("promotional", in: environment, until: expiresAt, catalogue)
        // The end of a grant, by its date or by early removal.
        case .expiration:
            granted(
                "promotional",
                in: environment,
                until: min(expiresAt ?? timestamp, timestamp),
                catalogue
            )
        case .cancellation, .uncancellation, .billingIssue, .subscriptionPaused, .productChange,
            .temporaryEntitlementGrant, .refundReversed, .test, .transfer, .invoiceIssuance,
            .virtualCurrencyTransaction, .experimentEnrollment, .subscriberAlias:
            RelayedStatements()
        }
    }

    /// Returns a grant of each entitlement that the event names, each with its own lineage.
    private func granted(
        _ kind: String,
        in environment: Environment,
        until end: Instant?,
        _ catalogue: Catalogue
    ) -> RelayedStatements {
        let id = transactionId ?? originalTransactionId ?? self.id
        let names = grantedEntitlements(catalogue)
        guard let customer, !names.isEmpty, id.isStorableName else {
            let party = customer == nil ? "app_user_id" : "transaction_id"
            let missing = names.isEmpty ? "entitlement_ids" : party
            return RelayedStatements(notes: [.incomplete(product: productId, missing: [missing])])
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

extension RevenueCatEvent {
    /// The entitlements that the event names, or those of its product if it names none.
    private func grantedEntitlements(_ catalogue: Catalogue) -> [String] {
        guard entitlementIds.isEmpty else {
            return entitlementIds.indices
                .filter { !entitlementIds[..<$0].contains(entitlementIds[$0]) }
                .map { entitlementIds[$0] }
        }
        guard let productId else { return [] }
        if let promoted = promotedEntitlement(productId) { return [promoted] }
        let name = store?.known?.productId(of: productId, in: catalogue) ?? productId
        return catalogue[name]?.entitlements.sorted() ?? []
    }
}

extension Statement {
    /// A grant from RevenueCat; its lineage has the same ID.
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

/// Returns the entitlement in the product ID of a promotional grant,
/// `rc_promo_<entitlement>_<duration>`.
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

/// With the same end, the longer duration comes first.
private let durations = [
    "_daily", "_three_day", "_weekly", "_two_week", "_two_month", "_three_month", "_six_month",
    "_monthly", "_yearly", "_lifetime", "_custom",
]
