package import TideoverCore

/// Finds the store's lineage for a purchase from RevenueCat, so that no purchase counts twice.
///
/// RevenueCat names a Google Play purchase by its order, and the store's reads name it by token.
/// RevenueCat's API names an App Store purchase by its newest transaction. If a store fact has the
/// same order or transaction, RevenueCat's statements belong to the store's lineage.
package struct StoreChains: Sendable {
    private struct Name: Hashable {
        let store: Store
        let environment: Environment
        let name: PurchaseName
    }

    /// The lineage of each name, with the rank of the fact that states it.
    private var lineages: [Name: (lineage: Lineage, rank: Rank)] = [:]

    /// - Parameter facts: all known facts of one app, or all that may name the same purchases.
    package init(_ facts: some Sequence<Fact>) {
        for fact in facts {
            switch fact.lineage.store {
            case .appStore: fact.names.forEach { note($0, fact) }
            // The names in relayed facts are already orders, and have no token.
            case .googlePlay where fact.rank > .relayed: fact.names.forEach { note($0, fact) }
            case .googlePlay, .revenueCat, .tideover: break
            }
        }
    }

    private mutating func note(_ name: PurchaseName, _ fact: Fact) {
        let key = Name(
            store: fact.lineage.store,
            environment: fact.lineage.environment,
            name: name
        )
        let lineage = fact.lineage
        // The store has priority over a relay. Between equal ranks the smaller lineage wins, so the
        // order of facts does not matter.
        if let found = lineages[key],
            (found.rank, lineage) > (fact.rank, found.lineage)
                || found.lineage == lineage
                    && found.rank >= fact.rank
        {
            return
        }
        lineages[key] = (lineage, fact.rank)
    }

    /// Returns the store's lineage for a relayed lineage, or the relayed one if none is known.
    package func lineage(of relayed: Lineage) -> Lineage {
        let name: PurchaseName
        switch relayed.store {
        case .appStore: name = .transaction(relayed.id)
        case .googlePlay: name = PurchaseName(order: relayed.id)
        case .revenueCat, .tideover: return relayed
        }
        let key = Name(store: relayed.store, environment: relayed.environment, name: name)
        return lineages[key]?.lineage ?? relayed
    }

    /// Returns the fact with the store's lineage, if the fact is relayed and the store's lineage is
    /// known.
    package func joined(_ fact: Fact) -> Fact {
        guard fact.rank == .relayed else { return fact }
        var fact = fact
        fact.lineage = lineage(of: fact.lineage)
        return fact
    }
}
