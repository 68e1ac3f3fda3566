/// The stores available to a customer.
public struct CustomerStores: Hashable, Sendable {
    /// The stores that sell the app; empty if unknown.
    public var selling: [Store]
    /// When a device of each store first presented all the customer's purchases there.
    public var presented: [Store: Instant]
    /// When a device first presented each introductory offer of its store account that paid for
    /// another customer's purchase.
    package var accountOffers: [AccountOffer: Instant] = [:]

    public init(selling: [Store] = [], presented: [Store: Instant] = [:]) {
        self.selling = selling
        self.presented = presented
    }

    /// Returns a copy with only the stores presented by an instant.
    func asKnown(at instant: Instant) -> CustomerStores {
        var known = self
        known.presented = presented.filter { $0.value <= instant }
        known.accountOffers = accountOffers.filter { $0.value <= instant }
        return known
    }
}

/// The introductory offer of a store account that a customer's device presented with another
/// customer's purchase. The store gives the account no second one.
package struct AccountOffer: Hashable, Sendable {
    package let store: Store
    /// The product of the purchase.
    package let productId: String
    /// Whether it was used for certain; otherwise it may have been, by terms that are not known.
    package let isUsed: Bool

    package init(store: Store, productId: String, isUsed: Bool) {
        self.store = store
        self.productId = productId
        self.isUsed = isUsed
    }

    fileprivate var eligibility: IntroductoryEligibility { isUsed ? .used : .unknown }
}

extension CustomerStores {
    /// Returns the eligibility for a group by each offer of the customer's store accounts; `store`
    /// is nil for all stores. An offer of a product that the catalogue lacks may be of any group.
    func accountUses(
        in group: String,
        of store: Store?,
        _ catalogue: Catalogue,
        by instant: Instant
    ) -> [IntroductoryEligibility] {
        accountOffers.compactMap { offer, seenAt in
            guard seenAt <= instant, store == nil || store == offer.store else { return nil }
            guard let name = catalogue[offer.productId]?.group else { return .unknown }
            return name == group ? offer.eligibility : nil
        }
    }
}
