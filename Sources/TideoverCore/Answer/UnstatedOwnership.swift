extension CustomerRecord {
    /// The holdings that answers are computed from.
    ///
    /// A receipt or a renewal info does not state the ownership type, so both are stored as the
    /// purchaser's. If the store reports family sharing elsewhere, they concern the shared
    /// purchase, and the customer has no purchase of their own.
    var answering: [LineageRecord] {
        let strays = lineageRecords.indices.filter { lineageRecords[$0].isOfUnstatedOwnership }
        guard !strays.isEmpty, lineageRecords.count > 1 else { return lineageRecords }
        let places = Dictionary(
            lineageRecords.indices.map { (lineageRecords[$0].lineage, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var all = lineageRecords
        var moved: Set<Int> = []
        for stray in strays {
            var home = lineageRecords[stray].lineage
            home.ownership = .familyShared
            guard let place = places[home] else { continue }
            all[place] = all[place].taking(lineageRecords[stray].facts)
            moved.insert(stray)
        }
        return all.indices.filter { !moved.contains($0) }.map { all[$0] }
    }
}

extension CustomerRecord.LineageRecord {
    /// Whether no observation of a term states the ownership type.
    fileprivate var isOfUnstatedOwnership: Bool {
        guard lineage.store == .appStore, lineage.ownership == .purchased else { return false }
        return facts.allSatisfy { !$0.isTerm || $0.source == .appReceipt }
    }

    /// Returns the holding with the facts of another lineage added as its own.
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
