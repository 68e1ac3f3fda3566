import TideoverJSON

extension UnionChecker {
    /// The offerings of an app as both SDKs read them.
    package struct Offerings: Hashable, Sendable {
        package struct Package: Hashable, Sendable {
            package let identifier: String
            package let product: String
            /// The base plan on Google Play.
            package let plan: String?
        }

        package struct Offering: Hashable, Sendable {
            package let identifier: String
            package let packages: [Package]
        }

        /// The identifier of the current offering; empty for none.
        package let current: String
        package let offerings: [Offering]

        /// Throws a `Refusal` for what a decoder refuses, and for a null that Android reads as text.
        package init(_ body: [UInt8]) throws {
            let top = try Members(body: body)
            current = try top.text("current_offering_id")
            offerings = try top.objects("offerings").map(Offering.init)
            try top.requirePlacements()
            try top.requireTargeting()
            _ = try top.textOrAbsent("web_checkout_url")
        }
    }
}

extension UnionChecker.Offerings.Offering {
    fileprivate init(_ members: Members) throws {
        identifier = try members.text("identifier")
        _ = try members.text("description")
        _ = try members.optionalObject("metadata")
        _ = try members.textOrAbsent("web_checkout_url")
        packages = try members.objects("packages").map(UnionChecker.Offerings.Package.init)
    }
}

extension UnionChecker.Offerings.Package {
    fileprivate init(_ members: Members) throws {
        identifier = try members.text("identifier")
        product = try members.text("platform_product_identifier")
        plan = try members.textOrAbsent("platform_product_plan_identifier")
        _ = try members.textOrAbsent("web_checkout_url")
    }
}

extension Members {
    /// A place without an offering may be null.
    fileprivate func requirePlacements() throws {
        guard let placements = node["placements"], !placements.isNull else { return }
        let members = try object("placements")
        _ = try members.optional("fallback_offering_id", \.string)
        let places = try members.object("offering_ids_by_placement")
        for (name, _) in places.node.members { _ = try places.optional(name, \.string) }
    }

    fileprivate func requireTargeting() throws {
        guard let targeting = node["targeting"], !targeting.isNull else { return }
        let members = try object("targeting")
        _ = try members.needed("revision", \.int64)
        _ = try members.text("rule_id")
    }
}
