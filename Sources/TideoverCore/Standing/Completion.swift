// A poorer word completes what is known of a thing, and erases none of it. A receipt has no price, no
// storefront and no offer but the introductory one; what was signed years ago lacks what was added
// since. Of what two words both state, the newer one counts.

extension Term {
    /// The term as this word has it; what it leaves open is as an older word on the same term said.
    package func completed(by older: Term) -> Term {
        guard self != older else { return self }
        var term = self
        term.webOrderLineItemId = webOrderLineItemId ?? older.webOrderLineItemId
        if plan.unrecognisedValue != nil { term.plan = older.plan }
        // What is bought for ever has no end to be left open.
        if term.plan != .nonConsumable { term.end = end ?? older.end }
        term.offer = offer.map { $0.completed(by: older.offer) } ?? older.offer
        term.price = price ?? older.price
        // Nobody takes an upgrade back, and receipts have no flag for it.
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
    /// The offer that a term was sold with does not change. A receipt takes every free trial for the
    /// introductory offer, so that a word which names another kind knows better.
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
    /// Nil for a word that this version does not know.
    fileprivate var known: Offer.Discount? {
        flatMap { $0.unrecognisedValue == nil ? $0 : nil }
    }
}

extension Outlook {
    /// The outlook as this word has it; what it leaves open is as an older word on the same term said.
    /// Flags of failure, their reasons and their dates have rules of their own: to be silent of one of
    /// them can mean that it is over.
    package func completed(by older: Outlook) -> Outlook {
        guard self != older else { return self }
        var outlook = self
        outlook.productId = productId ?? older.productId
        outlook.renewsInto = renewsInto ?? older.renewsInto
        outlook.willRenew = willRenew ?? older.willRenew
        // What is known of another next product is nothing about this one.
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

extension Word<Term> {
    /// The same word, completed by the others of its rank on the term; `words` are sorted oldest first.
    func completed(by words: [Word<Term>]) -> Word<Term> {
        guard words.count > 1 else { return self }
        let term = words.reversed().lazy.filter { $0 !== self && $0.rank == self.rank }
            .reduce(value) { $0.completed(by: $1.value) }
        return term == value ? self : Word(term, like: self)
    }
}

extension TermDraft {
    /// Completes each outlook by those of its rank before it.
    mutating func completeOutlooks() {
        for position in outlooks.indices.dropFirst() {
            let word = outlooks[position]
            guard let older = outlooks[..<position].last(where: { $0.rank == word.rank }) else {
                continue
            }
            let outlook = word.value.completed(by: older.value)
            if outlook != word.value { outlooks[position] = Word(outlook, like: word) }
        }
    }
}
