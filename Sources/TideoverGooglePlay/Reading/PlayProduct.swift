package import TideoverCore

/// A product of Google Play with or without its base plan, as a catalogue may list it.
package struct PlayProduct: Hashable {
    package let id: String
    package let basePlan: String?

    package init(id: String, basePlan: String?) {
        self.id = id
        self.basePlan = basePlan
    }
}

extension Catalogue {
    /// Returns the id under which the catalogue lists a product, with or without its base plan; nil
    /// if it does not.
    package func id(of product: PlayProduct) -> String? {
        let plan = product.basePlan.map { "\(product.id):\($0)" }
        return [plan, product.id].compactMap(\.self).first { self[$0] != nil }
    }
}
