extension CustomerRecord {
    /// The holdings as they answer. Neither a receipt nor a renewal info says how the customer came to
    /// a purchase, and both are taken for the purchaser's; where the store says elsewhere that a family
    /// shares it, that is what they speak of, and no purchase of the customer's own.
    var answering: [Holding] {
        let strays = holdings.indices.filter { holdings[$0].isOfUnstatedOwnership }
        guard !strays.isEmpty, holdings.count > 1 else { return holdings }
        var all = holdings
        var moved: Set<Int> = []
        for stray in strays {
            var home = holdings[stray].lineage
            home.ownership = .familyShared
            guard let place = holdings.firstIndex(where: { $0.lineage == home }) else { continue }
            all[place] = all[place].taking(holdings[stray].facts)
            moved.insert(stray)
        }
        return all.indices.filter { !moved.contains($0) }.map { all[$0] }
    }
}

extension CustomerRecord.Holding {
    /// Whether no word on a term of it says whose it is.
    fileprivate var isOfUnstatedOwnership: Bool {
        guard lineage.store == .appStore, lineage.ownership == .purchased else { return false }
        return facts.allSatisfy { !$0.isTerm || $0.source == .appReceipt }
    }

    /// With the words of another lineage, as if they had been said of this one.
    fileprivate func taking(_ others: [Fact]) -> Self {
        let moved = others.map { fact in
            var fact = fact
            fact.lineage = lineage
            return fact
        }
        return Self(lineage: lineage, facts: facts + moved, owners: owners)
    }
}

extension Fact {
    fileprivate var isTerm: Bool {
        if case .term = assertion { true } else { false }
    }
}
