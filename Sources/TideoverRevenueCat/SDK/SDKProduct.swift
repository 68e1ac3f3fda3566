package import TideoverCore

/// A product as the SDKs key it: without the base plan, which is a member of its own. A base plan
/// in a key crashes apps on iOS if the same key without it is listed too.
package struct SDKProduct: Hashable, Sendable {
    package let id: String
    package let basePlan: String?

    /// Creates a product from its ID in the catalogue, such as `cards.pro:monthly`.
    package init(_ productId: String, in store: Store) {
        let parts = productId.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard store == .googlePlay, parts.count == 2 else {
            id = productId
            basePlan = nil
            return
        }
        id = String(parts[0])
        basePlan = String(parts[1])
    }

    /// Returns the product ID of an operator's grant, as RevenueCat names those of its own.
    static func grant(of entitlement: String, isForEver: Bool) -> String {
        "rc_promo_\(entitlement)_\(isForEver ? "lifetime" : "custom")"
    }
}
