/// The products of one app, with the entitlements that they unlock.
public struct Catalogue: Hashable, Sendable {
    /// Shared, because every derivation copies catalogues.
    private var contents: Contents

    public var products: [String: Product] {
        get { contents.products }
        set { contents = Contents(newValue) }
    }

    public init(products: [String: Product] = [:]) {
        contents = Contents(products)
    }

    public static func == (a: Catalogue, b: Catalogue) -> Bool {
        a.contents === b.contents || a.products == b.products
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(products) }

    public subscript(_ productId: String) -> Product? { products[productId] }

    /// Every entitlement that a product unlocks, in alphabetical order.
    public var entitlements: [String] { contents.entitlements }

    /// Returns the entitlements of a product; none if the catalogue lacks it.
    func entitlements(of productId: String) -> [String] { contents.unlocked[productId] ?? [] }

    /// The IDs of the products with a trial, in alphabetical order.
    var trials: [String] { contents.trials }

    /// Returns whether a product is in the catalogue.
    func lists(_ productId: String) -> Bool { contents.unlocked[productId] != nil }

    /// Returns whether a store sells a product. An ID with a base plan, such as
    /// `cards.pro:monthly`, belongs to Google Play.
    public func sells(_ productId: String, in store: Store) -> Bool {
        guard let product = products[productId] else { return false }
        if let only = product.store { return only == store }
        return store == .googlePlay || !productId.contains(":")
    }

    public func unlocks(_ productId: String, _ entitlement: String) -> Bool {
        contents.unlocked[productId]?.contains(entitlement) ?? false
    }
}

extension Catalogue {
    /// The products, with the data that derivations read often.
    private final class Contents: Sendable {
        let products: [String: Product]
        /// The entitlements of each product. They are read without a copy of the product.
        let unlocked: [String: [String]]
        let entitlements: [String]
        let trials: [String]

        init(_ products: [String: Product]) {
            self.products = products
            unlocked = products.mapValues(\.entitlements)
            entitlements = Set(products.values.flatMap(\.entitlements)).sorted()
            trials = products.filter { $0.value.trial != nil }.map(\.key).sorted()
        }
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
