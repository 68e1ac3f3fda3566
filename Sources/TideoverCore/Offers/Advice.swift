/// The action by which a customer gets or keeps an entitlement.
public struct Advice: Hashable, Sendable {
    public var kind: Kind
    /// The product concerned; nil if no product on sale is known.
    public var productId: String?
    /// The next charge, from the store if stated, otherwise from the catalogue; nil if neither has
    /// it.
    public var price: Price?
    /// When that is charged; nil if at once, or if nothing is due.
    public var chargedAt: Instant?
    /// The store page for the action; nil for an action in the app.
    public var url: String?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The period continues and will not renew. Switching renewal on costs nothing now.
        case reEnableRenewal
        /// A payment failed. Fixing it restores access; a new purchase would charge twice.
        case fixPayment
        /// Access has ended. The customer can buy again at the full price.
        case purchase
        /// The customer paused it.
        case resume
        /// The store's current state is unknown to the server. Nothing may be bought until it is
        /// known.
        case wait
    }
}

/// The standings of one customer for one entitlement, as the input of advice.
package struct Counsel: Hashable, Sendable {
    /// One for each lineage, ordered by key.
    package let standings: [Standing]
    /// Whether a purchase for it awaits payment or approval.
    package let isPending: Bool

    package init(standings: [Standing], isPending: Bool = false) {
        self.standings = standings
        self.isPending = isPending
    }

    /// The customer's own purchases, without family-shared ones.
    var own: [Standing] { standings.filter { $0.lineage?.ownership == .purchased } }

    /// The advice and the standing that it concerns; nil for none.
    package var advice: (kind: Advice.Kind, about: Standing)? {
        guard let best = standings.best else { return nil }
        if best.state == .active { return adviceOnActive(best) }
        let own = own
        // A customer who paused one purchase may have to pay for another.
        if let failing = own.filter({ $0.isFailing }).best { return (.fixPayment, failing) }
        guard !best.access else { return nil }
        if let paused = own.first(where: \.isPaused) { return (.resume, paused) }
        if isPending { return (.wait, best) }
        if let unclear = standings.first(where: \.isUnclear) { return (.wait, unclear) }
        // A family share in hold gives access again once its purchaser has paid.
        guard best.state != .hold, let ended = own.best, ended.state == .expired else {
            return nil
        }
        return (.purchase, ended)
    }

    /// Returns the advice for an active entitlement. Never advises an action that causes two
    /// purchases to charge for it.
    private func adviceOnActive(_ best: Standing) -> (kind: Advice.Kind, about: Standing)? {
        if best.asksStore { return (.wait, best) }
        guard best.lineage?.ownership == .purchased, best.willRenew == false,
            best.accessUntil != nil, best.isRenewable
        else { return nil }
        let isCovered = standings.contains { other in
            other.lineage != best.lineage && (other.access || other.state == .hold)
                && (other.willRenew != false || other.accessUntil == nil)
        }
        return isCovered ? nil : (.reEnableRenewal, best)
    }

    /// Returns the customer's own purchases that each charge for it, or will when a payment
    /// recovers. Empty unless there are at least two.
    package func charging(in catalogue: Catalogue) -> [Standing] {
        let found = own.filter { standing in
            guard standing.access || standing.state == .hold, standing.willRenew != false,
                standing.accessUntil != nil, standing.isRenewable
            else { return false }
            return standing.productId.flatMap { catalogue[$0] }?.kind == .autoRenewable
        }
        return found.count > 1 ? found : []
    }
}

extension Standing {
    /// Whether the customer suspended it.
    var isPaused: Bool { state == .hold && reason == .paused }

    /// Whether it can renew: neither an operator's grant nor prepaid.
    fileprivate var isRenewable: Bool {
        lineage?.store != .tideover && grantedEntitlement == nil && reason != .prepaid
    }

    /// Whether an answer from the store, or a catalogue entry, could change the advice. A purchase
    /// that ended by a receipt is over, although the store is still queried.
    fileprivate var isUnclear: Bool {
        asksStore && confidence != .confirmed || hasUnlistedProduct && !access
    }

    /// Whether a payment for it failed and can still be fixed.
    var isFailing: Bool { state == .grace || state == .hold && reason != .paused }
}
