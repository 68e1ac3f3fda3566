package import TideoverCore

/// Finds the store's lineage for a purchase from RevenueCat, so that no purchase counts twice.
///
/// RevenueCat names a Google Play purchase by its order, and the store's reads name it by token.
/// RevenueCat's API names every purchase by its newest transaction, and its events by the first. If
/// another fact has the same order or transaction, the statements belong to the lineage of that
/// fact.
package struct StoreChains: Sendable {
    private struct Name: Hashable {
        let store: Store
        let environment: Environment
        let name: PurchaseName
        /// The store that RevenueCat alone reads, such as `stripe`; nil for the others.
        let seller: Substring?

        init(_ name: PurchaseName, of lineage: Lineage) {
            self.name = name
            store = lineage.store
            environment = lineage.environment
            seller = lineage.store == .revenueCat ? lineage.id.prefix { $0 != ":" } : nil
        }
    }

    /// The lineage of each name, with the rank of the fact that states it.
    private var lineages: [Name: (lineage: Lineage, rank: Rank)] = [:]

    /// - Parameter facts: all known facts of one app, or all that may name the same purchases.
    package init(_ facts: some Sequence<Fact>) {
        for fact in facts {
            switch fact.lineage.store {
            case .appStore, .revenueCat: fact.names.forEach { note($0, fact) }
            // The names in relayed facts are already orders, and have no token.
            case .googlePlay where fact.rank > .relayed: fact.names.forEach { note($0, fact) }
            case .googlePlay, .tideover: break
            }
        }
    }

    private mutating func note(_ name: PurchaseName, _ fact: Fact) {
        let lineage = fact.lineage
        // A name of its own leads to no other lineage.
        guard name != lineage.relayedName else { return }
        let key = Name(name, of: lineage)
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
        guard let name = relayed.relayedName else { return relayed }
        return lineages[Name(name, of: relayed)]?.lineage ?? relayed
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

extension Lineage {
    /// The store's name of a purchase with a relayed lineage; nil for our own grants.
    package var relayedName: PurchaseName? {
        switch store {
        case .appStore: .transaction(id)
        case .googlePlay: PurchaseName(order: id)
        // The ID follows the seller's name.
        case .revenueCat: .transaction(String(id.drop { $0 != ":" }.dropFirst()))
        case .tideover: nil
        }
    }
}
