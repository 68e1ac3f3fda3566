package import TideoverConfiguration
import TideoverCore
package import TideoverJSON
import TideoverRevenueCat

// Checks before apps with RevenueCat's SDKs are switched to this server.

extension Finding {
    /// Checks what an app offers through RevenueCat's SDKs; nil for an app without them.
    package static func offerings(of app: Configuration.App) -> Finding? {
        guard let sdk = app.revenueCat?.sdk else { return nil }
        let faults = OfferingFaults(sdk, app.catalogue).sentences
        guard let first = faults.first else {
            let offerings = counted(sdk.offerings.count, "offering")
            return Finding(.offerings, of: app.id, .ok, "the products of \(offerings) are known")
        }
        let more = faults.count > 1 ? ", and \(faults.count - 1) more" : ""
        return Finding(
            .offerings,
            of: app.id,
            .warning,
            first + more,
            advice: "Correct revenueCat.sdk.offerings or the catalogue."
        )
    }

    /// Compares the entitlements of each product with those in RevenueCat's own mapping, which an
    /// SDK reads with the app's public key.
    package static func revenueCatMapping(
        of app: Configuration.App,
        _ mapping: Result<JSONNode, RevenueCatMappingFailure>
    ) -> Finding {
        let advice =
            "Customers keep these entitlements only if the catalogue agrees with RevenueCat."
        let listed: JSONNode
        switch mapping {
        case .failure(let failure):
            return Finding(
                .entitlements,
                of: app.id,
                .warning,
                "RevenueCat's mapping could not be read: \(failure.sentence)"
            )
        case .success(let node): listed = node
        }
        let differences = listed.members.compactMap { key, node in
            difference(key, node, app.catalogue)
        }
        guard let first = differences.sorted().first else {
            let products = counted(listed.count, "product")
            return Finding(
                .entitlements,
                of: app.id,
                .ok,
                "\(products) \(listed.count == 1 ? "unlocks" : "unlock") the same as at RevenueCat"
            )
        }
        let more = differences.count > 1 ? ", and \(differences.count - 1) more" : ""
        return Finding(.entitlements, of: app.id, .warning, first + more, advice: advice)
    }

    /// Compares one product; RevenueCat names it by its key, or by its id and base plan.
    private static func difference(
        _ key: String,
        _ node: JSONNode,
        _ catalogue: Catalogue
    ) -> String? {
        let theirs = Set(node["entitlements"]?.elements.compactMap(\.string) ?? [])
        let id = node["product_identifier"]?.string ?? key
        let plan = node["base_plan_id"]?.string.map { "\(id):\($0)" }
        let names = [key, plan, id].compactMap(\.self)
        guard let product = names.lazy.compactMap({ catalogue[$0] }).first else {
            return theirs.isEmpty ? nil : "the catalogue lacks the product \(names.last ?? key)"
        }
        let ours = Set(product.entitlements)
        guard ours != theirs else { return nil }
        return "\(names.last ?? key) unlocks \(ours.listed) here and \(theirs.listed) at RevenueCat"
    }

    /// Checks whether SDKs ask a running server for what it does not have; nil without apps that
    /// contain RevenueCat's SDKs.
    package static func sdkRequests(_ metrics: MetricsReading) -> Finding? {
        guard let count = metrics.unsupportedSDKRequests else { return nil }
        guard count > 0 else {
            return Finding(.sdkRequests, .ok, "each SDK asked only for what is served")
        }
        return Finding(
            .sdkRequests,
            .warning,
            "\(counted(count, "request")) \(count == 1 ? "was" : "were") of an unknown SDK, or for "
                + "a path that is not served",
            advice:
                "The log names them: `unsupported request of RevenueCat's SDK`. Update Tideover "
                + "before apps with that SDK are released."
        )
    }
}

/// Why RevenueCat's mapping could not be read.
package struct RevenueCatMappingFailure: Error, Hashable, Sendable {
    package let sentence: String

    package init(_ sentence: String) {
        self.sentence = sentence
    }
}

extension Set<String> {
    fileprivate var listed: String { isEmpty ? "nothing" : sorted().joined(separator: ", ") }
}

/// What is wrong with the offerings of an app.
private struct OfferingFaults {
    let sdk: RevenueCatSDK
    let catalogue: Catalogue

    init(_ sdk: RevenueCatSDK, _ catalogue: Catalogue) {
        self.sdk = sdk
        self.catalogue = catalogue
    }

    var sentences: [String] {
        sdk.offerings.flatMap { offering in
            offering.packages.flatMap { faults(of: $0, in: offering.identifier) }
        }
    }

    private func faults(of package: RevenueCatSDK.Package, in offering: String) -> [String] {
        let place = "\(offering).\(package.identifier)"
        let known = package.products.filter { catalogue.products[$0] != nil }
        var faults = package.products.filter { !known.contains($0) }.map {
            "\(place) offers \($0), which the catalogue lacks"
        }
        let unlocked = Set(known.map { Set(catalogue.products[$0]?.entitlements ?? []) })
        if unlocked.count > 1 {
            faults.append("the products of \(place) unlock different entitlements")
        }
        for (store, keys) in [
            (Store.appStore, sdk.appStoreKeys), (.googlePlay, sdk.googlePlayKeys),
        ] where !keys.isEmpty {
            faults += storeFaults(of: known, at: place, in: store)
        }
        return faults
    }

    /// A package without a product of a store is missing in the apps for it.
    private func storeFaults(of products: [String], at place: String, in store: Store) -> [String] {
        let sold = products.filter { catalogue.sells($0, in: store) }
        let name = store == .appStore ? "the App Store" : "Google Play"
        guard let first = sold.first else { return ["\(place) has no product of \(name)"] }
        let isSubscription = catalogue.products[first]?.kind == .autoRenewable
        guard store == .googlePlay, isSubscription,
            SDKProduct(first, in: store).basePlan == nil
        else { return [] }
        return ["\(place) offers \(first) without its base plan, so Android skips it"]
    }
}
