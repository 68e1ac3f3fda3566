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
    /// The lineages that another one continues.
    private var continued: [Lineage: Lineage] = [:]

    /// Finds lineages by the names in facts.
    ///
    /// - Parameters:
    ///   - facts: All known facts of one app, or all that may name the same purchases.
    ///   - isOfOneCustomer: Whether all facts are about purchases of one customer. A renewal then
    ///     also belongs to the purchase that ends at its start.
    package init(_ facts: some Collection<Fact>, isOfOneCustomer: Bool = false) {
        for fact in facts {
            switch fact.lineage.store {
            case .appStore, .revenueCat: fact.names.forEach { note($0, fact) }
            // The names in relayed facts are already orders, and have no token.
            case .googlePlay where fact.rank > .relayed: fact.names.forEach { note($0, fact) }
            case .googlePlay, .tideover: break
            }
        }
        if isOfOneCustomer { findContinued(in: facts) }
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
        return lineages[Name(name, of: relayed)]?.lineage ?? continued[relayed] ?? relayed
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

// MARK: - Renewals of imported purchases

extension StoreChains {
    /// How far a renewal's start may be from the end before it.
    private static let sameEnd = Milliseconds.minutes(1)

    /// Finds the imported App Store purchases that another lineage renews.
    ///
    /// A response names only the newest transaction. A later renewal has another one, and its first
    /// transaction names the lineage. The product, and an end equal to the start of the renewal,
    /// then identify the purchase.
    private mutating func findContinued(in facts: some Collection<Fact>) {
        let terms = facts.compactMap { fact in Self.renewable(fact).map { (fact.lineage, $0) } }
        let renewals = terms.filter { $0.id != $1.transactionId }
        guard !renewals.isEmpty else { return }
        let known = Set(renewals.map(\.0))
        let isRelayed = Set(facts.map(\.lineage)).subtracting(
            facts.filter { $0.rank > .relayed }.map(\.lineage)
        )
        let alike = Dictionary(grouping: renewals) { Kind(of: $1, in: $0) }
        for (lineage, term) in terms where isRelayed.contains(lineage) && !known.contains(lineage) {
            guard let end = term.end else { continue }
            let renewed = alike[Kind(of: term, in: lineage), default: []].filter { _, renewal in
                renewal.start.isWithin(Self.sameEnd, of: end)
            }
            if let other = renewed.map(\.0).min() { continued[lineage] = other }
        }
    }

    /// What a renewal has in common with the purchase that it continues.
    private struct Kind: Hashable {
        let product: String
        let environment: Environment
        let ownership: Ownership

        init(of term: Term, in lineage: Lineage) {
            product = term.productId
            environment = lineage.environment
            ownership = lineage.ownership
        }
    }

    private static func renewable(_ fact: Fact) -> Term? {
        guard fact.lineage.store == .appStore, case .term(let term) = fact.assertion,
            term.plan == .autoRenewable
        else { return nil }
        return term
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
