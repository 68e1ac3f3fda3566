/// A dimension that separates measures.
public struct MeasureDimension: Sendable {
    /// The heading of its column.
    public let name: String
    let value: @Sendable (MeasuredPlace) -> String?

    public static let product = MeasureDimension(name: "product") { $0.productId }
    public static let store = MeasureDimension(name: "store") { $0.lineage.store.rawValue }
    /// ISO 3166-1 alpha-3, so that a country is one group for all stores.
    public static let country = MeasureDimension(name: "country") { place in
        place.storefront.map { CountryCode.alpha3($0) ?? $0 }
    }

    /// Creates a dimension that the stores do not know, such as the app or the customer's prompt
    /// variant. `value` returns nil if it is unknown.
    public static func own(
        _ name: String,
        _ value: @escaping @Sendable (Lineage) -> String?
    ) -> MeasureDimension {
        MeasureDimension(name: name) { value($0.lineage) }
    }
}

/// The product, store and country of a sale.
struct MeasuredPlace {
    var productId: String?
    var lineage: Lineage
    /// ISO 3166-1, as the store names it.
    var storefront: String?

    init(productId: String?, lineage: Lineage, storefront: String?) {
        self.productId = productId
        self.lineage = lineage
        self.storefront = storefront
    }

    init(_ issue: BillingIssue) {
        productId = issue.productId
        lineage = issue.lineage
        storefront = issue.storefront
    }

    init(_ transition: Transition) {
        productId = transition.productId
        lineage = transition.lineage
        storefront = transition.storefront
    }
}

extension [String?] {
    /// Whether these values come before others. Unknown values come last.
    func precedes(_ other: [String?]) -> Bool {
        for (a, b) in zip(self, other) where a != b {
            guard let a else { return false }
            guard let b else { return true }
            return a < b
        }
        return false
    }
}
