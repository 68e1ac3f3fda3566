package import TideoverJSON

/// The offerings in a response of RevenueCat's API, for the configuration.
///
/// Version 1 is what an SDK receives, with the products of one store. Version 2 is
/// `GET /v2/projects/{project}/offerings` with its packages and products expanded.
package struct RevenueCatOfferings: Hashable, Sendable {
    package private(set) var current: String?
    package private(set) var offerings: [Offering] = []

    package struct Offering: Hashable, Sendable {
        package let identifier: String
        package let description: String?
        package let metadata: JSONObject?
        package fileprivate(set) var packages: [Package]
    }

    package struct Package: Hashable, Sendable {
        package let identifier: String
        /// With the base plan after a colon, for a subscription of Google Play.
        package fileprivate(set) var products: [String]
    }

    package init(_ root: JSONNode) throws(RevenueCatOfferingsFault) {
        guard root.kind == .object else { throw .notOfferings }
        if let listed = root["offerings"] {
            let current = root["current_offering_id"]?.string ?? ""
            self.current = current.isEmpty ? nil : current
            for node in listed.elements { try add(Offering(version1: node)) }
        } else if root["object"]?.string == "list", let items = root["items"] {
            for node in items.elements {
                try add(Offering(version2: node))
                if node["is_current"]?.bool == true { current = node["lookup_key"]?.string }
            }
        } else {
            throw .notOfferings
        }
        if let more = root["next_page"], !more.isNull { throw .notAllPages }
    }

    /// Adds the offerings of another file, such as those of the other store.
    package mutating func merge(
        _ other: RevenueCatOfferings
    ) throws(RevenueCatOfferingsFault) {
        if let current, let theirs = other.current, current != theirs {
            throw .twoCurrent(current, theirs)
        }
        current = current ?? other.current
        for offering in other.offerings { add(offering) }
    }

    private mutating func add(_ offering: Offering) {
        guard let place = offerings.firstIndex(where: { $0.identifier == offering.identifier })
        else {
            offerings.append(offering)
            return
        }
        for package in offering.packages { offerings[place].add(package) }
    }

    /// The members of `revenueCat.sdk` in the configuration.
    package var configuration: JSONValue {
        var named: JSONObject = [:]
        for offering in offerings {
            var form: JSONObject = [:]
            form["description"] = offering.description.map(JSONValue.string)
            form["metadata"] = offering.metadata.map(JSONValue.object)
            var packages: JSONObject = [:]
            for package in offering.packages {
                packages[package.identifier] = .array(package.products.map(JSONValue.string))
            }
            form["packages"] = .object(packages)
            named[offering.identifier] = .object(form)
        }
        var form: JSONObject = [:]
        form["currentOffering"] = current.map(JSONValue.string)
        form["offerings"] = .object(named)
        return .object(form)
    }
}

/// Why a file has no offerings that can be imported.
package enum RevenueCatOfferingsFault: Error, Hashable, Sendable {
    /// It is no response with offerings.
    case notOfferings
    case missing(String)
    /// A response of version 2 without its packages.
    case notExpanded(offering: String)
    /// A response of version 2 with further pages.
    case notAllPages
    case twoCurrent(String, String)

    package var sentence: String {
        switch self {
        case .notOfferings:
            "It is no response with offerings. Save GET /v1/subscribers/{id}/offerings, or "
                + "GET /v2/projects/{project}/offerings?expand=items.package.product."
        case .missing(let member): "A member is missing: `\(member)`."
        case .notExpanded(let offering):
            "The offering `\(offering)` has no packages in it. Add "
                + "?expand=items.package.product to the request."
        case .notAllPages: "It is one page of several. Add `limit=1000` to the request."
        case .twoCurrent(let one, let other):
            "The files have different current offerings, `\(one)` and `\(other)`."
        }
    }
}

extension RevenueCatOfferings.Offering {
    fileprivate init(version1 node: JSONNode) throws(RevenueCatOfferingsFault) {
        guard let identifier = node["identifier"]?.string else {
            throw .missing("offerings[].identifier")
        }
        self.identifier = identifier
        description = node["description"]?.string
        metadata = Self.metadata(in: node)
        packages = []
        for node in node["packages"]?.elements.map(\.self) ?? [] {
            guard let name = node["identifier"]?.string else {
                throw .missing("packages[].identifier")
            }
            guard let product = node["platform_product_identifier"]?.string else {
                throw .missing("packages[].platform_product_identifier")
            }
            let plan = node["platform_product_plan_identifier"]?.string
            let id = plan.map { "\(product):\($0)" } ?? product
            add(RevenueCatOfferings.Package(identifier: name, products: [id]))
        }
    }

    fileprivate init(version2 node: JSONNode) throws(RevenueCatOfferingsFault) {
        guard let identifier = node["lookup_key"]?.string else {
            throw .missing("items[].lookup_key")
        }
        self.identifier = identifier
        description = node["display_name"]?.string
        metadata = Self.metadata(in: node)
        packages = []
        guard let listed = node["packages"]?["items"] else {
            throw .notExpanded(offering: identifier)
        }
        for node in listed.elements {
            guard let name = node["lookup_key"]?.string else {
                throw .missing("packages.items[].lookup_key")
            }
            guard let products = node["products"]?["items"] else {
                throw .notExpanded(offering: identifier)
            }
            var ids: [String] = []
            for node in products.elements {
                guard let id = node["product"]?["store_identifier"]?.string else {
                    throw .missing("products.items[].product.store_identifier")
                }
                ids.append(id)
            }
            add(RevenueCatOfferings.Package(identifier: name, products: ids))
        }
    }

    private static func metadata(in node: JSONNode) -> JSONObject? {
        guard let node = node["metadata"], node.kind == .object, node.count > 0 else { return nil }
        return JSONValue(node).object
    }

    fileprivate mutating func add(_ package: RevenueCatOfferings.Package) {
        guard let place = packages.firstIndex(where: { $0.identifier == package.identifier })
        else {
            packages.append(package)
            return
        }
        let known = packages[place].products
        packages[place].products += package.products.filter { !known.contains($0) }
    }
}
