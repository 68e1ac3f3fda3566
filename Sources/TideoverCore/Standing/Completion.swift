// A less detailed observation adds to the known data and erases none of it. A receipt has no price,
// no storefront and only the introductory offer. Data signed years ago lacks fields that were added
// since. If two observations state the same field, the newer one counts.

extension Term {
    /// Returns this term with missing fields taken from an older observation of the same term.
    package func completed(by older: Term) -> Term {
        guard self != older else { return self }
        var term = self
        term.webOrderLineItemId = webOrderLineItemId ?? older.webOrderLineItemId
        if plan.unrecognisedValue != nil { term.plan = older.plan }
        // A permanent purchase has no end to fill in.
        if term.plan != .nonConsumable { term.end = end ?? older.end }
        term.offer = offer.map { $0.completed(by: older.offer) } ?? older.offer
        term.price = price ?? older.price
        // An upgrade is never undone, and receipts have no flag for it.
        term.isUpgraded = isUpgraded || older.isUpgraded
        if origin == .unstated { term.origin = older.origin }
        term.group = group ?? older.group
        term.storefront = storefront ?? older.storefront
        term.accountToken = accountToken ?? older.accountToken
        term.billing = billing ?? older.billing
        term.commitment = commitment ?? older.commitment
        return term
    }
}

extension Offer {
    /// Returns this offer with missing fields taken from an older one. The offer of a sold term
    /// does not change. A receipt reports every free trial as the introductory offer, so another
    /// kind wins.
    func completed(by older: Offer?) -> Offer {
        guard let older, self != older else { return self }
        let (better, other) =
            kind.precision < older.kind.precision ? (older, self) : (self, older)
        var offer = better
        offer.discount = discount.known ?? older.discount.known ?? discount ?? older.discount
        if better.kind == other.kind {
            offer.identifier = better.identifier ?? other.identifier
            offer.period = better.period ?? other.period
        }
        return offer
    }
}

extension Offer.Kind {
    fileprivate var precision: Int {
        switch self {
        case .unrecognised: 0
        case .introductory: 1
        case .promotional, .code, .winBack: 2
        }
    }
}

extension Offer.Discount? {
    /// Nil for a value that this version does not recognise.
    fileprivate var known: Offer.Discount? {
        flatMap { $0.unrecognisedValue == nil ? $0 : nil }
    }
}

extension Outlook {
    /// Returns this outlook with missing fields taken from an older observation of the same term.
    ///
    /// Failure flags, their reasons and their dates have their own rules, because a missing one can
    /// mean that the failure is over.
    package func completed(by older: Outlook) -> Outlook {
        guard self != older else { return self }
        var outlook = self
        outlook.productId = productId ?? older.productId
        outlook.renewsInto = renewsInto ?? older.renewsInto
        outlook.willRenew = willRenew ?? older.willRenew
        // Data about another next product does not apply to this one.
        if outlook.renewsInto == older.renewsInto {
            outlook.renewalPrice = renewalPrice ?? older.renewalPrice
            outlook.billing = billing ?? older.billing
        }
        if let offer, offer.kind == older.offer?.kind {
            outlook.offer = offer.completed(by: older.offer)
        }
        return outlook
    }
}

extension Observation<Term> {
    /// Returns this observation completed by the others of its rank on the term. Requires `words`
    /// sorted oldest first.
    func completed(by words: [Observation<Term>]) -> Observation<Term> {
        guard words.count > 1 else { return self }
        let term = words.reversed().lazy.filter { $0 !== self && $0.rank == self.rank }
            .reduce(value) { $0.completed(by: $1.value) }
        return term == value ? self : Observation(term, like: self)
    }
}

extension TermDraft {
    /// Completes each outlook with the earlier ones of its rank.
    func completeOutlooks() {
        for position in outlooks.indices.dropFirst() {
            let word = outlooks[position]
            let outlook = completedOutlook(at: position)
            if outlook != word.value { outlooks[position] = Observation(outlook, like: word) }
        }
    }

    private func completedOutlook(at position: Int) -> Outlook {
        let word = outlooks[position]
        let earlier = outlooks[..<position]
        guard let older = earlier.last(where: { $0.rank == word.rank }) else { return word.value }
        var outlook = word.value.completed(by: older.value)
        // The start of a pause is reported without its end.
        if outlook.lapse == .paused, outlook.resumesAt == nil {
            let paused = earlier.last { $0.rank == word.rank && $0.value.lapse == .paused }
            outlook.resumesAt = paused?.value.resumesAt
        }
        return outlook
    }
}
