/// One-time purchases on Google Play, converted to terms of their tokens.
struct PlayPurchases {
    private var reads: [Observation<PlayPurchase>] = []
    private var notices: [Observation<PlayNotice>] = []
    var voids: [Observation<PlayVoidedOrder>] = []

    mutating func add(_ read: PlayPurchase, of fact: Fact) {
        // An unrecognised state must not displace a recognised one.
        guard read.state.unrecognisedValue == nil else { return }
        reads.append(Observation(read, of: fact))
    }

    mutating func add(_ notice: PlayNotice, of fact: Fact) {
        guard notice.kind == .oneTimePurchased || notice.kind == .oneTimeCancelled else { return }
        notices.append(Observation(notice, of: fact))
    }

    /// The products of a purchase of several, in order; none of a purchase of one.
    var bundle: [String] {
        let products = reads.filter { $0.value.items.count > 1 }
            .flatMap { $0.value.items.map(\.productId) }
        return Set(products).sorted()
    }

    // MARK: As terms

    func words(
        catalogue: Versioned<Catalogue>
    ) -> (terms: [Observation<Term>], revocations: [Observation<Revocation>]) {
        guard !reads.isEmpty || !notices.isEmpty else { return ([], []) }
        let reads = reads.sorted(by: Observation.isAskedEarlier)
        let consumed = consumptions(reads)
        var terms: [Observation<Term>] = []
        var taken: [Observation<Revocation>] = []
        var keys: [PlayToken: Set<TermKey>] = [:]
        func add(_ term: Term, _ token: PlayToken, like word: Observation<some Hashable & Sendable>)
        {
            terms.append(Observation(term, like: word))
            keys[token, default: []].insert(term.key)
        }
        for word in notices {
            if let term = term(of: word, catalogue) { add(term, word.value.token, like: word) }
        }
        for word in reads {
            guard let start = paid(word, among: reads) else { continue }
            for item in word.value.items {
                var term = term(of: item, in: word.value, from: start, catalogue)
                term.end = consumed[term.key]
                let refund = wholeRefund(of: item, in: word, among: reads)
                term.isRevoked = word.value.state == .cancelled || refund != nil
                if let refund {
                    let revocation = Revocation(term: term.key, date: refund, cause: .refund)
                    taken.append(Observation(revocation, like: word))
                }
                add(term, word.value.token, like: word)
            }
        }
        taken += keys.flatMap { token, keys in revocations(of: keys, token, reads) }
        return (terms, taken)
    }

    /// Returns when the purchase that a read reports was paid; nil if it was not.
    private func paid(_ word: Observation<PlayPurchase>, among reads: [Observation<PlayPurchase>])
        -> Instant?
    {
        switch word.value.state {
        case .purchased: word.value.completedAt ?? word.assertedAt
        case .cancelled:
            word.value.completedAt
                ?? reads.first {
                    $0.value.token == word.value.token && $0.value.state == .purchased
                }
                .map { $0.value.completedAt ?? $0.assertedAt }
        case .pending, .unrecognised: nil
        }
    }

    private func term(
        of item: PlayPurchase.Item,
        in read: PlayPurchase,
        from start: Instant,
        _ catalogue: Versioned<Catalogue>
    ) -> Term {
        let order = read.orderId ?? read.token.id
        return Term(
            transactionId: read.items.count == 1 ? order : "\(order):\(item.productId)",
            webOrderLineItemId: Self.name(read.token, item.productId),
            productId: item.productId,
            plan: Self.plan(of: item.productId, catalogue.value(at: start)),
            start: start,
            end: nil,
            origin: .purchase,
            storefront: read.region,
            accountToken: read.accountId
        )
    }

    private func term(of word: Observation<PlayNotice>, _ catalogue: Versioned<Catalogue>) -> Term?
    {
        guard word.value.kind == .oneTimePurchased, let product = word.value.productId else {
            return nil
        }
        return Term(
            transactionId: word.value.token.id,
            webOrderLineItemId: Self.name(word.value.token, product),
            productId: product,
            plan: Self.plan(of: product, catalogue.value(at: word.assertedAt)),
            start: word.assertedAt,
            end: nil,
            origin: .purchase
        )
    }

    /// Returns one name for all observations of one product of one purchase.
    private static func name(_ token: PlayToken, _ product: String) -> String {
        "\(token.id):\(product)"
    }

    /// Returns the plan of a one-time product. The kind comes from the catalogue, because the store
    /// does not report it.
    private static func plan(of product: String, _ catalogue: Catalogue) -> Term.Plan {
        switch catalogue[product]?.kind {
        case .consumable: .consumable
        case .nonRenewing: .nonRenewing
        case .nonConsumable, .autoRenewable, nil: .nonConsumable
        }
    }

    // MARK: Their ends

    /// Returns when each product was first read as consumed.
    private func consumptions(_ reads: [Observation<PlayPurchase>]) -> [TermKey: Instant] {
        var found: [TermKey: Instant] = [:]
        for word in reads {
            for item in word.value.items where item.isConsumed {
                let key = TermKey("w:\(Self.name(word.value.token, item.productId))")
                found[key] = found[key] ?? word.assertedAt
            }
        }
        return found
    }

    /// Returns the revocations. A read with state cancelled revokes the payment, from when the
    /// order was voided if that is known. A voided order revokes it alone, until a later read
    /// reports otherwise.
    private func revocations(
        of terms: Set<TermKey>,
        _ token: PlayToken,
        _ reads: [Observation<PlayPurchase>]
    ) -> [Observation<Revocation>] {
        let voids = voids.filter { $0.value.token == token && !$0.value.isPartial }
        let cancelled = reads.filter { $0.value.token == token && $0.value.state == .cancelled }
        return terms.flatMap { term in
            voids.map { word in
                Observation(
                    Revocation(term: term, date: word.value.date, cause: .refund),
                    like: word
                )
            }
                + cancelled.map { word in
                    let date = voids.map(\.value.date).filter { $0 <= word.assertedAt }.min()
                    let revocation = Revocation(
                        term: term,
                        date: date ?? word.assertedAt,
                        cause: .refund
                    )
                    return Observation(revocation, like: word)
                }
        }
    }

    /// Returns when the last unit of a product was refunded, if a read reports none that is left.
    ///
    /// The purchase stays paid if its units are refunded one part at a time. The store omits a
    /// zero, so a missing quantity counts if an earlier read stated one. The store lists as voided
    /// only what is to be revoked, so the last part must be listed too.
    ///
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
    private func wholeRefund(
        of item: PlayPurchase.Item,
        in word: Observation<PlayPurchase>,
        among reads: [Observation<PlayPurchase>]
    ) -> Instant? {
        guard word.value.state == .purchased, item.refundableQuantity ?? 0 == 0 else { return nil }
        let earlier = reads.filter {
            $0.value.token == word.value.token && $0.value.state == .purchased
                && $0.assertedAt <= word.assertedAt
        }
        let left = earlier.lastIndex { read in
            read.value.items.contains {
                $0.productId == item.productId && $0.refundableQuantity ?? 0 > 0
            }
        }
        guard let left else { return nil }
        let parts = voids.filter {
            $0.value.token == word.value.token && $0.value.isPartial
                && $0.value.date > earlier[left].assertedAt && $0.value.date <= word.assertedAt
        }.map(\.value.date)
        // A part that was voided after none was left is of another product.
        let gone = earlier[(left + 1)...].first ?? word
        return parts.filter { $0 <= gone.assertedAt }.max() ?? parts.min()
    }

    // MARK: Pending

    /// How long each purchase waited for its payment.
    var pendingSpans: [PendingSpan] {
        Dictionary(grouping: reads.sorted(by: Observation.isAskedEarlier)) { $0.value.token }
            .flatMap { token, reads in spans(of: token, reads) }
    }

    private func spans(of token: PlayToken, _ reads: [Observation<PlayPurchase>]) -> [PendingSpan] {
        guard let first = reads.first(where: { $0.value.state == .pending }) else { return [] }
        let settled = reads.first {
            $0.value.state != .pending && $0.assertedAt >= first.assertedAt
        }
        let cancelled = notices.filter {
            $0.value.token == token && $0.value.kind == .oneTimeCancelled
                && $0.assertedAt >= first.assertedAt
        }.map(\.assertedAt)
        let ends = [settled.map { $0.value.completedAt ?? $0.assertedAt }] + cancelled
        let until = ends.compactMap(\.self).min().map { max($0, first.assertedAt) }
        return first.value.items.map { item in
            PendingSpan(
                id: Self.name(token, item.productId),
                productId: item.productId,
                since: first.assertedAt,
                until: until
            )
        }
    }
}

extension Observation<PlayPurchase> {
    /// Orders reads by when the store was queried. Our clock separates two requests of one second.
    static func isAskedEarlier(_ a: Observation, _ b: Observation) -> Bool {
        (a.assertedAt, a.value.askedAt, a.evidence) < (b.assertedAt, b.value.askedAt, b.evidence)
    }
}
