extension CustomerRecord.Holding {
    /// The instant from which on the purchase can change no answer and no event; nil where it may.
    ///
    /// That is a consumable of the App Store that was never taken back, that no configured version of
    /// the catalogue has unlock anything, and that only this customer ever owned. All such purchases
    /// answer alike, so that the first of them by key answers for the others. Everything else counts
    /// as unsettled: what is left out by mistake would be an answer that is wrong.
    public func settledSince(
        for customer: CustomerID,
        _ catalogue: Versioned<Catalogue>
    ) -> Instant? {
        // Keys are sorted by bytes in a database and by characters here: of ASCII these are the same.
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
    /// Whether all it says is that a consumable was bought, in the store's own words. A receipt does not
    /// say whose a purchase is.
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
