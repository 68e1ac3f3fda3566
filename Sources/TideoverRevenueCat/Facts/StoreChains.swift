public import TideoverCore

/// Finds the store's own chain of what RevenueCat speaks of, so that one purchase never counts twice.
///
/// RevenueCat names a purchase of Google Play by its order, the store's reads by their tokens; and its
/// API names one of the App Store by its newest transaction. Where a fact of the store names the same
/// order or transaction, what RevenueCat says belongs to the store's lineage.
public struct StoreChains: Sendable {
    private struct Name: Hashable {
        let store: Store
        let environment: Environment
        let name: PurchaseName
    }

    /// The lineage that a name belongs to, and who says so.
    private var lineages: [Name: (lineage: Lineage, rank: Rank)] = [:]

    /// - Parameter facts: all that are known of one app, or all that may name the same purchases.
    public init(_ facts: some Sequence<Fact>) {
        for fact in facts {
            switch fact.lineage.store {
            case .appStore: fact.names.forEach { note($0, fact) }
            // A relay's names are orders already, and tell of no token.
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
        // The store's word outweighs a relay's; of two as good the first by key is taken, so that the
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

    /// The store's lineage of what RevenueCat calls otherwise; the one given where none is known.
    public func lineage(of relayed: Lineage) -> Lineage {
        let name: PurchaseName
        switch relayed.store {
        case .appStore: name = .transaction(relayed.id)
        case .googlePlay: name = PurchaseName(order: relayed.id)
        case .revenueCat, .tideover: return relayed
        }
        let key = Name(store: relayed.store, environment: relayed.environment, name: name)
        return lineages[key]?.lineage ?? relayed
    }

    /// The fact with the store's lineage, if it is a relay's and the store's is known.
    public func joined(_ fact: Fact) -> Fact {
        guard fact.rank == .relayed else { return fact }
        var fact = fact
        fact.lineage = lineage(of: fact.lineage)
        return fact
    }
}
