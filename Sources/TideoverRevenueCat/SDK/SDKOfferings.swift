package import TideoverCore
package import TideoverJSON

/// The packages of products that an app shows, in the form of RevenueCat's offerings.
package struct SDKOfferings: Hashable, Sendable {
    /// The offering that an app shows without another choice; empty for none.
    package var current: String
    package var offerings: [Offering]
    /// The offerings of places in the app; every other place has the current one.
    package var placements: [String: String]

    package struct Offering: Hashable, Sendable {
        package var identifier: String
        package var description: String
        package var packages: [Package]
        /// Free values for the app.
        package var metadata: JSONObject

        package init(
            identifier: String,
            description: String,
            packages: [Package],
            metadata: JSONObject = [:]
        ) {
            self.identifier = identifier
            self.description = description
            self.packages = packages
            self.metadata = metadata
        }
    }

    package struct Package: Hashable, Sendable {
        /// Such as `$rc_monthly`.
        package var identifier: String
        /// The IDs in the catalogue, at most one for each store.
        package var products: [String]

        package init(identifier: String, products: [String]) {
            self.identifier = identifier
            self.products = products
        }
    }

    package init(
        current: String = "",
        offerings: [Offering] = [],
        placements: [(identifier: String, offering: String)] = []
    ) {
        self.current = current
        self.offerings = offerings
        self.placements = Dictionary(placements) { first, _ in first }
    }

    /// Writes the members of a response with the products of one store. An offering without any is
    /// left out.
    package func writeMembers(
        to writer: inout JSONWriter,
        in store: Store,
        of catalogue: Catalogue
    ) {
        let sold = offerings.map { offering in
            (offering, offering.packages.compactMap { $0.sold(in: store, of: catalogue) })
        }
        .filter { !$0.1.isEmpty }
        let isCurrentSold = sold.contains { $0.0.identifier == current }
        // Android needs this member as text.
        writer.field("current_offering_id", isCurrentSold ? current : "")
        writer.field("offerings", objects: sold) { row, writer in
            let (offering, packages) = row
            writer.field("identifier", offering.identifier)
            writer.field("description", offering.description)
            writer.field("metadata", .object(offering.metadata))
            writer.field("packages", each: packages) { package, writer in
                writer.object(package.writeMembers)
            }
        }
        guard isCurrentSold else { return }
        writePlacements(among: Set(sold.map(\.0.identifier)), to: &writer)
    }

    /// Writes the offering of each place; one that is not sold in the store is left out.
    private func writePlacements(among sold: Set<String>, to writer: inout JSONWriter) {
        let placed = placements.filter { sold.contains($0.value) }.inKeyOrder
        writer.field(
            "placements",
            object: { writer in
                writer.field("fallback_offering_id", current)
                writer.field(
                    "offering_ids_by_placement",
                    object: { writer in
                        for (place, offering) in placed { writer.field(place, offering) }
                    }
                )
            }
        )
    }
}

/// A package with its product of one store.
private struct SoldPackage {
    let identifier: String
    let product: SDKProduct

    func writeMembers(to writer: inout JSONWriter) {
        writer.field("identifier", identifier)
        writer.field("platform_product_identifier", product.id)
        // Android skips a subscription without it; a one-time product must not have it.
        if let plan = product.basePlan { writer.field("platform_product_plan_identifier", plan) }
    }
}

extension SDKOfferings.Package {
    fileprivate func sold(in store: Store, of catalogue: Catalogue) -> SoldPackage? {
        products.first { catalogue.offers($0, in: store) }.map {
            SoldPackage(identifier: identifier, product: SDKProduct($0, in: store))
        }
    }
}

extension Catalogue {
    /// Returns whether an SDK can offer a product in a store. Android skips a subscription without a
    /// base plan, and its package with it.
    fileprivate func offers(_ productId: String, in store: Store) -> Bool {
        let isWithoutPlan = SDKProduct(productId, in: store).basePlan == nil
        let isSubscription = products[productId]?.kind == .autoRenewable
        return sells(productId, in: store)
            && !(store == .googlePlay && isSubscription && isWithoutPlan)
    }
}
