/// The products of one app and what they unlock.
public struct Catalogue: Hashable, Sendable {
    public var products: [String: Product]

    public init(products: [String: Product] = [:]) {
        self.products = products
    }

    public subscript(_ productId: String) -> Product? { products[productId] }

    /// Every entitlement some product unlocks, in alphabetical order.
    public var entitlements: [String] {
        Set(products.values.flatMap(\.entitlements)).sorted()
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
    /// The billing grace period the store is set to.
    public var grace: Period?

    public init(
        entitlements: [String],
        kind: Kind = .autoRenewable,
        group: String? = nil,
        period: Period? = nil,
        trial: Period? = nil,
        price: Money? = nil,
        grace: Period? = nil
    ) {
        self.entitlements = entitlements
        self.kind = kind
        self.group = group
        self.period = period
        self.trial = trial
        self.price = price
        self.grace = grace
    }

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case autoRenewable, nonRenewing, nonConsumable, consumable
    }
}

/// The operator's choices where the stores leave one.
public struct Policy: Hashable, Sendable {
    public var billingRetry: BillingRetry
    /// How long a renewal may stay unannounced before access ends; at most a fifth of the term.
    public var renewalLeeway: Milliseconds

    public init(
        billingRetry: BillingRetry = .suspend,
        renewalLeeway: Milliseconds = .hours(24)
    ) {
        self.billingRetry = billingRetry
        self.renewalLeeway = renewalLeeway
    }

    /// What happens to access while the store retries a payment outside grace.
    public enum BillingRetry: Hashable, Sendable {
        /// Access is suspended, as the App Store says.
        case suspend
        /// Access is kept for a while past the end of the term and its grace.
        case keep(Milliseconds)
    }
}
