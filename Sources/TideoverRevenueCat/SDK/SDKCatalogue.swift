package import TideoverCore
package import TideoverJSON

/// The products of an app for the SDKs: which entitlements they unlock, and which are consumed.
package struct SDKCatalogue: Hashable, Sendable {
    private let catalogue: Catalogue
    private let store: Store

    /// Creates the catalogue of the store that a key belongs to.
    package init(_ catalogue: Catalogue, in store: Store) {
        self.catalogue = catalogue
        self.store = store
    }

    /// Writes the mapping from which an SDK computes entitlements while the server is unavailable.
    ///
    /// Android looks up the ID without base plan, so the first plan of a product is there. iOS
    /// reads the members.
    package func writeMapping(to writer: inout JSONWriter) {
        writer.field(
            "product_entitlement_mapping",
            object: { writer in
                var written: Set<String> = []
                for (id, product) in sold where !product.entitlements.isEmpty {
                    let keyed = SDKProduct(id, in: store)
                    let isFirst = written.insert(keyed.id).inserted
                    writer.field(
                        isFirst ? keyed.id : id,
                        object: { writer in
                            writer.field("product_identifier", keyed.id)
                            if let plan = keyed.basePlan { writer.field("base_plan_id", plan) }
                            writer.field("entitlements", each: product.entitlements.sorted()) {
                                $1.value($0)
                            }
                        }
                    )
                }
            }
        )
    }

    /// Writes whether Android consumes each product of a purchase. Without it, one version never
    /// consumes, and another consumes everything.
    package func writeConsumption(of products: [String], to writer: inout JSONWriter) {
        writer.field(
            "purchased_products",
            object: { writer in
                var written: Set<String> = []
                for product in products where written.insert(product).inserted {
                    writer.field(
                        product,
                        object: { $0.field("should_consume", isConsumable(product)) }
                    )
                }
            }
        )
    }

    private var sold: [(key: String, value: Product)] {
        catalogue.products.inKeyOrder.filter { catalogue.sells($0.key, in: store) }
    }

    private func isConsumable(_ product: String) -> Bool {
        catalogue[product]?.kind == .consumable
    }
}
