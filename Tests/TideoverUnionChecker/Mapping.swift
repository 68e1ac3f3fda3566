import TideoverJSON

extension UnionChecker {
    /// The entitlements of products, from which an SDK computes access while the server is down.
    package struct Mapping: Hashable, Sendable {
        fileprivate struct Entry: Hashable, Sendable {
            let product: String
            let plan: String?
            let entitlements: [String]
        }

        private var entries: [String: Entry] = [:]

        /// Throws a `Refusal` for what a decoder refuses, and for an entry that an SDK does not find.
        package init(_ body: [UInt8]) throws {
            let map = try Members(body: body).object("product_entitlement_mapping")
            var keysOfIOS: Set<[String?]> = []
            for (key, _) in map.node.members {
                let entry = try Entry(map.object(key))
                guard entry.keys.contains(key) else {
                    throw map.fault(key, "neither the product nor its base plan")
                }
                guard keysOfIOS.insert([entry.product, entry.plan]).inserted else {
                    throw map.fault(key, "the base plan has an entry already")
                }
                entries[key] = entry
            }
            // Android looks up the product without a base plan.
            for (key, _) in map.node.members where entries[entries[key]?.product ?? ""] == nil {
                throw map.fault(key, "its product has no entry of its own")
            }
        }

        /// Returns the entitlements that an SDK finds for a product; nil if it finds none.
        package func entitlements(
            of product: String,
            plan: String? = nil,
            on platform: Platform
        ) -> [String]? {
            if platform == .android { return entries[product]?.entitlements }
            return entries.values.first { $0.product == product && $0.plan == plan }?.entitlements
        }
    }
}

extension UnionChecker.Mapping.Entry {
    fileprivate init(_ members: Members) throws {
        product = try members.text("product_identifier")
        plan = try members.optional("base_plan_id", \.string)
        entitlements = try members.needed("entitlements") { list in
            let names = list.elements.compactMap(\.string)
            return list.kind == .array && names.count == list.count ? names : nil
        }
    }

    /// The keys that the entry may have.
    fileprivate var keys: [String] { [product] + (plan.map { ["\(product):\($0)"] } ?? []) }
}
