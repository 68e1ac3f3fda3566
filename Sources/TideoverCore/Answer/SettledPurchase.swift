extension CustomerRecord.LineageRecord {
    /// The instant from which the purchase can change no answer and no event; nil if it may.
    ///
    /// This applies to an App Store consumable that was never revoked and that only this customer
    /// ever owned. No configured catalogue version may unlock anything for it. All such purchases
    /// give the same answer, so the first one by key answers for the others. Any other purchase
    /// counts as unsettled, because a purchase omitted by mistake would cause a wrong answer.
    public func settledSince(
        for customer: CustomerID,
        _ catalogue: Versioned<Catalogue>
    ) -> Instant? {
        // A database sorts keys by bytes and this code by characters. For ASCII the order is the
        // same.
        guard lineage.store == .appStore, lineage.ownership == .purchased,
            lineage.id.utf8.allSatisfy({ $0 < 0x80 }),
            owners.count == 1, let owner = owners.first, owner.customer == customer,
            owner.until == nil, !facts.isEmpty,
            facts.allSatisfy({ $0.isUsedUp(under: catalogue) })
        else { return nil }
        var since = max(owner.from, owner.decidedAt ?? owner.from)
        for fact in facts {
            since = max(since, fact.effectiveAt, fact.assertedAt, fact.envelopeSignedAt)
            since = max(since, fact.learnedAt)
            if case .term(let term) = fact.assertion { since = max(since, term.start) }
        }
        return since
    }
}

extension Fact {
    /// Whether the fact reports only that a consumable was bought, from the store itself. A receipt
    /// does not state the ownership of a purchase.
    fileprivate func isUsedUp(under catalogue: Versioned<Catalogue>) -> Bool {
        guard rank == .store, source != .appReceipt, case .term(let term) = assertion,
            term.plan == .consumable, term.end == nil, term.group == nil,
            !term.isRevoked, !term.isUpgraded
        else { return false }
        return catalogue.versions.allSatisfy {
            $0.value[term.productId]?.entitlements.isEmpty ?? true
        }
    }
}
