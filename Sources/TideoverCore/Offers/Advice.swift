/// What a customer can do to have, or to go on having, an entitlement.
public struct Advice: Hashable, Sendable {
    public var kind: Kind
    /// What it is about; nil where no product is known that is still sold.
    public var productId: String?
    /// What is charged next, by the store's word, else the catalogue's; nil where neither says.
    public var price: Price?
    /// When that is charged; nil for at once, and where nothing is to be paid.
    public var chargedAt: Instant?
    /// Where the store lets the customer do it; nil for what is done in the app.
    public var url: String?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The period runs on and will not renew: to turn that on again costs nothing now.
        case reEnableRenewal
        /// A payment failed: to mend it brings all back, and to buy again would be to pay twice.
        case fixPayment
        /// It has ended: to buy it again, at the full price.
        case purchase
        /// The customer paused it.
        case resume
        /// What the store knows is not known here: nothing may be bought before it is.
        case wait
    }
}

/// What the standings of one customer for one entitlement amount to.
package struct Counsel: Hashable, Sendable {
    /// One for each lineage, in the order of keys.
    package let standings: [Standing]
    /// Whether a purchase for it waits for its payment or its approval.
    package let isPending: Bool

    package init(standings: [Standing], isPending: Bool = false) {
        self.standings = standings
        self.isPending = isPending
    }

    /// The customer's own purchases: not what a family shares.
    var own: [Standing] { standings.filter { $0.lineage?.ownership == .purchased } }

    /// What to advise, and the standing it is about; nil for nothing.
    package var advice: (kind: Advice.Kind, about: Standing)? {
        guard let best = standings.best else { return nil }
        if best.state == .active { return adviceOnActive(best) }
        // A customer who paused one purchase may have to pay for another.
        if let failing = own.filter({ $0.isFailing }).best { return (.fixPayment, failing) }
        guard !best.access else { return nil }
        if let paused = own.first(where: \.isPaused) { return (.resume, paused) }
        if isPending { return (.wait, best) }
        if let unclear = own.first(where: \.isUnclear) { return (.wait, unclear) }
        guard let ended = own.best, ended.state == .expired else { return nil }
        return (.purchase, ended)
    }

    /// Nothing is advised that would have two purchases charge for the same.
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

    /// The customer's own purchases that each charge for it, or will when a payment recovers; empty
    /// unless there are two.
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

    /// Whether it is something that can renew: neither a gift of the operator nor paid for ahead.
    fileprivate var isRenewable: Bool {
        lineage?.store != .tideover && grantedEntitlement == nil && reason != .prepaid
    }

    /// Whether the store's answer, or the catalogue's, could change what is advised. One that ended
    /// by a receipt is over, though the store is still asked.
    fileprivate var isUnclear: Bool {
        asksStore && confidence != .confirmed || hasUnlistedProduct && !access
    }

    /// Whether a payment for it failed and can still be mended.
    var isFailing: Bool { state == .grace || state == .hold && reason != .paused }
}
