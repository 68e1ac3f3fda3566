/// What measures can be told apart by.
public struct MeasureDimension: Sendable {
    /// What heads its column.
    public let name: String
    let value: @Sendable (MeasuredPlace) -> String?

    public static let product = MeasureDimension(name: "product") { $0.productId }
    public static let store = MeasureDimension(name: "store") { $0.lineage.store.rawValue }
    /// ISO 3166-1 alpha-3, from the store's storefront.
    public static let country = MeasureDimension(name: "country") { $0.storefront }

    /// Something the stores do not know: the app, or the prompt variant that its customer sees. Nil
    /// where it is not known.
    public static func own(
        _ name: String,
        _ value: @escaping @Sendable (Lineage) -> String?
    ) -> MeasureDimension {
        MeasureDimension(name: name) { value($0.lineage) }
    }
}

/// What was sold, by whom and where.
struct MeasuredPlace {
    var productId: String?
    var lineage: Lineage
    /// ISO 3166-1 alpha-3.
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
    /// By value, the unknown last.
    func precedes(_ other: [String?]) -> Bool {
        for (a, b) in zip(self, other) where a != b {
            guard let a else { return false }
            guard let b else { return true }
            return a < b
        }
        return false
    }
}
