/// A purchase that changes no answer and no event from an instant on, until a new fact about it is
/// learned.
package struct SettledPurchase: Hashable, Sendable {
    package let lineage: Lineage
    package let since: Instant
}

extension CustomerRecord {
    /// The settled purchases; all but the first by key may be left out.
    ///
    /// A settled purchase is a used consumable that was never revoked and that only this customer
    /// ever owned. No configured catalogue version may unlock anything for it. All such purchases
    /// in one store give the same answer. The first one on Google Play does not count as settled,
    /// so that each store keeps a purchase.
    package var settledPurchases: [SettledPurchase] {
        let settled = lineageRecords.compactMap { lineageRecord in
            lineageRecord.settledSince(for: customer, catalogue).map {
                SettledPurchase(lineage: lineageRecord.lineage, since: $0)
            }
        }
        let onPlay = settled.map(\.lineage).filter { $0.store == .googlePlay }
        guard let first = onPlay.min() else { return settled }
        return settled.filter { $0.lineage != first }
    }
}

extension CustomerRecord.LineageRecord {
    /// Returns the instant from which the purchase is settled; nil if it is not. Any purchase in
    /// doubt counts as unsettled, because a purchase omitted by mistake would cause a wrong answer.
    fileprivate func settledSince(
        for customer: CustomerID,
        _ catalogue: Versioned<Catalogue>
    ) -> Instant? {
        // A database sorts keys by bytes and this code by characters. For ASCII the order is the
        // same.
        guard lineage.ownership == .purchased, lineage.id.utf8.allSatisfy({ $0 < 0x80 }),
            owners.count == 1, let owner = owners.first, owner.customer == customer,
            owner.until == nil, !facts.isEmpty,
            facts.allSatisfy({ $0.isOfConsumable(under: catalogue) }),
            lineage.store == .appStore || facts.last?.isUsedUp == true
        else { return nil }
        var since = max(owner.from, owner.decidedAt ?? owner.from)
        for fact in facts {
            since = max(since, fact.effectiveAt, fact.assertedAt, fact.envelopeSignedAt)
            since = max(since, fact.learnedAt, fact.assertion.purchasedAt ?? since)
        }
        return since
    }
}

extension Fact {
    /// Whether the fact reports only that a consumable was bought or used, from the store itself. A
    /// receipt does not state the ownership of a purchase.
    fileprivate func isOfConsumable(under catalogue: Versioned<Catalogue>) -> Bool {
        guard rank == .store, source != .appReceipt else { return false }
        switch assertion {
        case .term(let term):
            return term.plan == .consumable && term.end == nil && term.group == nil
                && !term.isRevoked && !term.isUpgraded
                && catalogue.versions.allSatisfy {
                    $0.value[term.productId]?.entitlements.isEmpty ?? true
                }
        case .playPurchase(let read):
            guard read.state == .purchased, read.items.count == 1 else { return false }
            return catalogue.versions.allSatisfy {
                guard let product = $0.value[read.items[0].productId] else { return false }
                return product.kind == .consumable && product.entitlements.isEmpty
            }
        default: return false
        }
    }

    /// Whether it is a read of a purchase on Google Play that the app has consumed and that needs no
    /// acknowledgement.
    fileprivate var isUsedUp: Bool {
        guard case .playPurchase(let read) = assertion else { return false }
        return read.isAcknowledged != false && read.items.allSatisfy(\.isConsumed)
    }
}

extension Assertion {
    fileprivate var purchasedAt: Instant? {
        switch self {
        case .term(let term): term.start
        case .playPurchase(let read): read.completedAt
        default: nil
        }
    }
}
