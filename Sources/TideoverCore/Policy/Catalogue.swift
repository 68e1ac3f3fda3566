/// The products of one app, with the entitlements that they unlock.
public struct Catalogue: Hashable, Sendable {
    public var products: [String: Product]

    public init(products: [String: Product] = [:]) {
        self.products = products
    }

    public subscript(_ productId: String) -> Product? { products[productId] }

    /// Every entitlement that a product unlocks, in alphabetical order.
    public var entitlements: [String] {
        Set(products.values.flatMap(\.entitlements)).sorted()
    }

    /// Returns whether a store sells a product. An ID with a base plan, such as
    /// `cards.pro:monthly`, belongs to Google Play.
    public func sells(_ productId: String, in store: Store) -> Bool {
        guard let product = products[productId] else { return false }
        if let only = product.store { return only == store }
        return store == .googlePlay || !productId.contains(":")
    }

    public func unlocks(_ productId: String, _ entitlement: String) -> Bool {
        products[productId]?.entitlements.contains(entitlement) ?? false
    }
}

/// A product as the operator describes it.
public struct Product: Hashable, Sendable {
    public var entitlements: [String]
    public var kind: Kind
    public var group: String?
    public var period: Period?
    public var trial: Period?
    public var price: Money?
    /// The billing grace period that is configured in the store.
    public var grace: Period?
    /// The only store that sells it; nil if several may.
    public var store: Store?

    public init(
        entitlements: [String],
        kind: Kind = .autoRenewable,
        group: String? = nil,
        period: Period? = nil,
        trial: Period? = nil,
        price: Money? = nil,
        grace: Period? = nil,
        store: Store? = nil
    ) {
        self.entitlements = entitlements
        self.kind = kind
        self.group = group
        self.period = period
        self.trial = trial
        self.price = price
        self.grace = grace
        self.store = store
    }

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case autoRenewable, nonRenewing, nonConsumable, consumable
    }
}
