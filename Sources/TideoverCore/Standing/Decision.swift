/// The basis of a standing.
enum DecisionBasis {
    case term(RuleContext)
    case item(PlayRuleContext)

    var history: LineageHistory {
        switch self {
        case .term(let now): now.history
        case .item(let now): now.history
        }
    }

    /// The governing term or period.
    var term: TermRecord? {
        switch self {
        case .term(let now): now.term
        case .item(let now): now.record
        }
    }

    /// The product that it renews into; nil if none is known.
    var nextProduct: String? {
        switch self {
        case .term(let now): now.nextProduct
        case .item(let now): now.nextProduct
        }
    }

    /// The end of a renewal that was charged before it begins; nil if there is none.
    var chargedUntil: Instant? {
        switch self {
        case .term(let now): now.chargedRenewal?.end
        case .item: nil
        }
    }

    /// Whether a pause is announced from the end of the term. A read of Google Play's states only
    /// one that has begun.
    var isPaused: Bool {
        switch self {
        case .term(let now): now.isPaused
        case .item: false
        }
    }

    /// When a pause ends; nil if there is none, or no end was stated.
    var resumesAt: Instant? {
        switch self {
        case .term(let now): now.resumesAt
        case .item(let now): now.resumesAt
        }
    }

    /// Returns when a changed price is charged first, if that is with a later renewal than the one
    /// due at an instant. Google Play states it; the App Store charges it with the next renewal.
    func laterPrice(than due: Instant) -> Instant? {
        guard case .item(let now) = self,
            let first = now.statement?.item?.priceChange?.chargedFrom,
            first >= due + history.pace.scale(.days(1))
        else { return nil }
        return first
    }

    /// Returns whether it renews into a product that does not unlock the entitlement. An ID of
    /// Google Play may lack the base plan.
    func isLosing(_ entitlement: String, _ standing: Standing, in catalogue: Catalogue) -> Bool {
        guard standing.willRenew != false, standing.grantedEntitlement == nil,
            let next = nextProduct, next != standing.productId
        else { return false }
        let known = catalogue.products.filter { $0.key == next || $0.key.hasPrefix("\(next):") }
        let keeps = known.values.contains { $0.entitlements.contains(entitlement) }
        return !known.isEmpty && !keeps
    }

    /// The product of the renewal that is overdue; nil if none is awaited.
    var awaitedProduct: String? {
        switch self {
        case .term(let now): now.awaitsRenewal ? now.nextProduct : nil
        case .item(let now): now.awaitsRenewal ? now.nextProduct : nil
        }
    }
}

extension LineageHistory {
    /// Returns the standing of this lineage at an instant. Pure and total; reads no clock.
    public func standing(at instant: Instant, policy: Policy) -> Standing {
        standing(at: instant, policy: Versioned(policy))
    }

    /// Returns the standing of this lineage at an instant, under a policy that may have changed.
    package func standing(at instant: Instant, policy: Versioned<Policy>) -> Standing {
        guard hasItems else {
            return RuleContext.decide(self, at: instant, policy: policy).standing
        }
        return standing(among: candidates(at: instant, policy: policy), at: instant)
    }

    private func standing(among candidates: Candidates, at instant: Instant) -> Standing {
        guard let best = best(of: candidates, at: instant, where: { _ in true }) else {
            preconditionFailure("one of a lineage's answers is the best")
        }
        return best.standing
    }

    /// Returns the best standing that matches, with its basis; nil if none matches.
    func decision(
        at instant: Instant,
        policy: Versioned<Policy>,
        where isMeant: (Standing) -> Bool
    ) -> (standing: Standing, decisionBasis: DecisionBasis)? {
        best(of: candidates(at: instant, policy: policy), at: instant, where: isMeant)
    }

    /// The candidate standings at an instant; one of them is the best.
    private struct Candidates {
        /// The standing of the governing term, if there is one or no subscription on Google Play is
        /// known; those of the products of a purchase of several.
        let byTerm: [(standing: Standing, now: RuleContext)]
        let items: [PlayHistory.Candidate]
    }

    private func candidates(at instant: Instant, policy: Versioned<Policy>) -> Candidates {
        let isOfTerms = play == nil || !terms.isEmpty || hasWords
        let items = play?.candidates(at: instant, in: self, policy: policy) ?? []
        guard bundle.isEmpty else {
            let byTerm = RuleContext.decideBundle(self, at: instant, policy: policy)
            return Candidates(byTerm: byTerm, items: items)
        }
        let governing = isOfTerms ? [RuleContext.decide(self, at: instant, policy: policy)] : []
        return Candidates(byTerm: governing, items: items)
    }

    private func best(
        of candidates: Candidates,
        at instant: Instant,
        where isMeant: (Standing) -> Bool
    ) -> (standing: Standing, decisionBasis: DecisionBasis)? {
        let read = PlayHistory.best(of: candidates.items, where: isMeant)
        var meant: (standing: Standing, now: RuleContext)?
        for candidate in candidates.byTerm where isMeant(candidate.standing) {
            if let best = meant, !candidate.standing.isBetter(than: best.standing) { continue }
            meant = candidate
        }
        guard let told = meant else {
            return read.map { ($0.standing, .item($0.now)) }
        }
        let decisionBasis = DecisionBasis.term(told.now)
        guard let read, !isFilled(read.standing, by: told.standing, decisionBasis, at: instant)
        else {
            return (told.standing, decisionBasis)
        }
        return (read.standing, .item(read.now))
    }

    /// Whether a relay's term covers a time that the store's reads do not: before the first read,
    /// or after the last.
    private func isFilled(
        _ read: Standing,
        by told: Standing,
        _ decisionBasis: DecisionBasis,
        at instant: Instant
    ) -> Bool {
        if read.access { return false }
        if read.state == .never { return told.state != .never }
        guard told.access, let term = decisionBasis.term else { return false }
        return term.effectiveStart >= play?.lastSaid(by: instant) ?? .distantPast
    }
}

// MARK: - For an entitlement

extension LineageHistory {
    /// Returns the standing of this lineage for one entitlement.
    public func standing(
        of entitlement: String,
        at instant: Instant,
        policy: Policy,
        catalogue: Catalogue
    ) -> Standing {
        standing(of: entitlement, at: instant, policy: Versioned(policy), catalogue: catalogue)
    }

    /// Returns the standing of this lineage for one entitlement, under a policy that may have
    /// changed.
    package func standing(
        of entitlement: String,
        at instant: Instant,
        policy: Versioned<Policy>,
        catalogue: Catalogue
    ) -> Standing {
        guard hasItems else {
            let standing = standing(at: instant, policy: policy)
            return narrowed(standing, to: entitlement, at: instant, catalogue, policy)
        }
        let candidates = candidates(at: instant, policy: policy)
        let meant = best(of: candidates, at: instant) {
            $0.state != .never && unlocks($0, entitlement, at: instant, catalogue)
        }
        if let meant { return meant.standing }
        let unlisted = best(of: candidates, at: instant) {
            $0.access && isUnlisted($0, at: instant, in: catalogue)
        }
        if let unlisted {
            let unlocked = policy.value(at: instant).unknownProduct
            return unlistedStanding(unlisted.standing, entitlement, unlocked)
        }
        let standing = standing(among: candidates, at: instant)
        return narrowed(standing, to: entitlement, at: instant, catalogue, policy)
    }

    /// Returns the lineage's own standing at an instant, narrowed to one entitlement.
    func narrowed(
        _ standing: Standing,
        to entitlement: String,
        at instant: Instant,
        _ catalogue: Catalogue,
        _ policy: Versioned<Policy>
    ) -> Standing {
        guard standing.state == .never else {
            if unlocks(standing, entitlement, at: instant, catalogue) { return standing }
            if let other = other(for: entitlement, at: instant, catalogue, policy) {
                return other.standing
            }
            let isUnlisted = isUnlisted(standing, at: instant, in: catalogue)
            if isUnlisted, standing.access {
                let unlocked = policy.value(at: instant).unknownProduct
                return unlistedStanding(standing, entitlement, unlocked)
            }
            return awaited(standing, entitlement, at: instant, catalogue, policy)
                ?? former(of: standing, entitlement, at: instant, catalogue, isUnlisted)
        }
        return isAboutAnotherProduct(standing, entitlement, catalogue)
            ? notEntitled(standing) : standing
    }

    /// Returns the basis of the standing for an entitlement.
    func decisionBasis(
        for entitlement: String,
        at instant: Instant,
        policy: Versioned<Policy>,
        catalogue: Catalogue
    ) -> DecisionBasis? {
        let meant = decision(at: instant, policy: policy) {
            $0.state != .never && unlocks($0, entitlement, at: instant, catalogue)
        }
        if meant == nil, let other = other(for: entitlement, at: instant, catalogue, policy) {
            return .term(other.now)
        }
        let unlisted = decision(at: instant, policy: policy) {
            hasItems && $0.access && isUnlisted($0, at: instant, in: catalogue)
        }
        return (meant ?? unlisted ?? decision(at: instant, policy: policy, where: { _ in true }))?
            .decisionBasis
    }

    /// Returns the standing for an entitlement that the deciding term does not unlock, of another
    /// term that counts beside it because a revocation was undone; nil if there is none.
    ///
    /// The other term is the earlier one while it runs. If that one decides, it is the governing
    /// term while its renewal may still be paid.
    private func other(
        for entitlement: String,
        at instant: Instant,
        _ catalogue: Catalogue,
        _ policy: Versioned<Policy>
    ) -> (standing: Standing, now: RuleContext)? {
        guard !revokedTerms.isEmpty, !hasItems else { return nil }
        let returned = revokedTerms.filter { isReturned($0, at: instant) }
        guard !returned.isEmpty else { return nil }
        for record in returned.reversed() {
            let found = RuleContext.decide(returned: record, of: self, at: instant, policy: policy)
            if found.now.isRunning, unlocks(found.standing, entitlement, at: instant, catalogue) {
                return found
            }
        }
        let now = RuleContext(history: self, instant: instant, policy: policy)
        let standing = TermRule.standing(now)
        guard standing.state == .hold || standing.rule == .unconfirmed,
            unlocks(standing, entitlement, at: instant, catalogue)
        else { return nil }
        return (standing, now)
    }

    /// Returns an unconfirmed standing for the product that the overdue renewal would be for, if
    /// that product unlocks the entitlement. The renewal was presumed for it before.
    private func awaited(
        _ standing: Standing,
        _ entitlement: String,
        at instant: Instant,
        _ catalogue: Catalogue,
        _ policy: Versioned<Policy>
    ) -> Standing? {
        guard standing.rule == .unconfirmed else { return nil }
        var awaited = standing
        awaited.productId =
            decision(at: instant, policy: policy) { _ in true }?.decisionBasis.awaitedProduct
        return unlocks(awaited, entitlement, at: instant, catalogue) ? awaited : nil
    }

    /// Returns the standing from an earlier term if the current one unlocks another entitlement.
    private func former(
        of standing: Standing,
        _ entitlement: String,
        at instant: Instant,
        _ catalogue: Catalogue,
        _ isUnlisted: Bool
    ) -> Standing {
        let terms = seenTerms
        // Most terms are of one product.
        var other: String?
        let before = terms.last { record in
            guard record.effectiveStart <= instant,
                record.entitlement != nil || record.term.productId != other
            else { return false }
            if unlocks(record, entitlement, catalogue) { return !isOvertaken(record) }
            if record.entitlement == nil, record.unlocksAnything { other = record.term.productId }
            return false
        }
        let present = standing
        var standing = notEntitled(standing)
        guard let before else {
            guard isUnlisted else { return standing }
            return unlistedStanding(present, entitlement, .deny)
        }
        // An assumed change of product never denies access with confidence `confirmed`.
        if present.access, present.confidence == .presumed {
            standing.confidence = .presumed
            standing.asksStore = present.asksStore
        }
        standing.state = .expired
        standing.reason = .changedProduct
        if before.entitlement == nil, let known = before.subject {
            standing.subject = known
        } else {
            standing.subject = subject
            standing.productId = before.term.productId
        }
        let next = terms.first { $0.term.start > before.term.start }?.effectiveStart
        // A term that returned does not end with a later one.
        let cut = play != nil ? before.upgradedAt : hasReturned(before, by: instant) ? nil : next
        let end = play == nil ? before.lastAccess(by: cut ?? instant) : before.end
        let taken = before.takenBack(at: cut ?? instant, pace: pace)?.since
        standing.accessUntil = [end, cut, taken].compactMap(\.self).min()
        return standing
    }

    /// Whether the catalogue lacks the product of a standing. Such a product may unlock any
    /// entitlement.
    private func isUnlisted(
        _ standing: Standing,
        at instant: Instant,
        in catalogue: Catalogue
    ) -> Bool {
        guard standing.grantedEntitlement == nil, standing.state != .never,
            let product = standing.productId, !product.isEmpty, !catalogue.lists(product)
        else { return false }
        return !isInert(product, at: instant)
    }

    /// Returns the standing for a product that the catalogue lacks. The policy decides while it
    /// runs; otherwise there is no access, with confidence unknown.
    private func unlistedStanding(
        _ standing: Standing,
        _ entitlement: String,
        _ unlocked: Policy.UnknownProduct
    ) -> Standing {
        guard standing.access, unlocked.unlocks(entitlement) else {
            return Standing(
                .never,
                .unknownProduct,
                confidence: .unknown,
                rule: standing.rule,
                of: standing.subject,
                hasUnlistedProduct: standing.access
            )
        }
        var opened = standing
        opened.reason = .unknownProduct
        opened.confidence = .presumed
        opened.hasUnlistedProduct = true
        return opened
    }

    private func notEntitled(_ standing: Standing) -> Standing {
        var other = Standing(.never, .notEntitled, rule: standing.rule, of: subject)
        other.grantedEntitlement = standing.grantedEntitlement
        return other
    }

    /// Whether nothing was paid and the pending purchase unlocks another entitlement.
    private func isAboutAnotherProduct(
        _ standing: Standing,
        _ entitlement: String,
        _ catalogue: Catalogue
    ) -> Bool {
        guard standing.rule == .pending || standing.rule == .calledOff else { return false }
        return !pending.contains { catalogue.unlocks($0.productId, entitlement) }
    }

    private func unlocks(
        _ standing: Standing,
        _ entitlement: String,
        at instant: Instant,
        _ catalogue: Catalogue
    ) -> Bool {
        if let granted = standing.grantedEntitlement { return granted == entitlement }
        guard let product = standing.productId, catalogue.unlocks(product, entitlement) else {
            return false
        }
        return !isInert(product, at: instant)
    }

    /// Whether the newest term of a product begun by an instant unlocks nothing. A later term of an
    /// unknown kind takes nothing from the terms before it.
    private func isInert(_ product: String, at instant: Instant) -> Bool {
        guard inertProducts.contains(product) else { return false }
        let begun = terms.last { $0.term.productId == product && $0.effectiveStart <= instant }
        return begun.map { !$0.unlocksAnything } ?? true
    }

    private func unlocks(
        _ record: TermRecord,
        _ entitlement: String,
        _ catalogue: Catalogue
    ) -> Bool {
        if let granted = record.entitlement { return granted == entitlement }
        return record.unlocksAnything && catalogue.unlocks(record.term.productId, entitlement)
    }
}

extension TermRecord {
    /// Whether the product can unlock an entitlement. Consumables are used up, and an unknown kind
    /// of product must never grant.
    var unlocksAnything: Bool {
        switch term.plan {
        case .autoRenewable, .nonRenewing, .nonConsumable: true
        case .consumable, .unrecognised: false
        }
    }
}
