import TideoverCore
import TideoverJSON
import TideoverStoreKitFile

/// Reads products from Xcode's StoreKit configuration file, and their entitlements from the
/// configuration.
extension ConfigurationSection {
    /// Returns the products of the file that `catalogue` names; none if it is absent or invalid,
    /// which is reported. `entitlements` assigns entitlements by product id and by group name.
    func readCatalogueFile(
        in folder: ConfigurationFolder,
        _ readFile: ConfigurationFileReader
    ) -> [String: Product] {
        let name = value("catalogue", .fileName)
        let unlocking = section("entitlements")
        // These keys are not ours, so no variable can be named after them.
        unlocking.variable = nil
        let entitlements = unlocking.namedLists(of: .text)
        unlocking.close()
        guard let name else {
            if unlocking.isPresent { demand("catalogue", .fileName) }
            return [:]
        }
        guard let file = storeKitFile(folder.path(of: name), readFile) else { return [:] }
        let names = file.groups.map(\.name) + file.products.map(\.id)
        for (name, _) in entitlements where !names.contains(name) {
            let closest = closestName(to: name, among: names)
            unlocking.report(.unknownKey(name, closest: closest), of: name)
        }
        let said = Dictionary(entitlements.map { ($0.name, $0.list) }) { first, _ in first }
        return products(of: file, unlocking: said)
    }

    private func storeKitFile(
        _ path: String,
        _ readFile: ConfigurationFileReader
    ) -> StoreKitFile? {
        let bytes: [UInt8]
        do {
            bytes = try readFile(path)
        } catch {
            report(.unreadableFile(path: path, cause: "\(error)"), of: "catalogue")
            return nil
        }
        do {
            return try StoreKitFile(bytes)
        } catch {
            report(.unusableCatalogue(path: path, error), of: "catalogue")
            return nil
        }
    }

    private func products(
        of file: StoreKitFile,
        unlocking said: [String: [String]]
    ) -> [String: Product] {
        var products: [String: Product] = [:]
        for group in file.groups {
            for subscription in group.subscriptions {
                var product = product(
                    subscription.product,
                    said[subscription.product.id] ?? said[group.name],
                    file
                )
                product.group = group.name
                product.period = Period(iso8601: subscription.period.text)
                if let offer = subscription.introductory, offer.mode == .free {
                    product.trial = Period(iso8601: offer.length.text)
                }
                products[subscription.product.id] = product
            }
        }
        for purchase in file.purchases {
            products[purchase.id] = product(purchase, said[purchase.id], file)
        }
        return products
    }

    private func product(
        _ sold: StoreKitFile.Product,
        _ entitlements: [String]?,
        _ file: StoreKitFile
    ) -> Product {
        if entitlements == nil, sold.kind != .consumable {
            report(.unlocksNothing(product: sold.id), of: "catalogue")
        }
        if sold.kind == .consumable, entitlements?.isEmpty == false {
            report(.consumableWithEntitlements, of: "entitlements")
        }
        return Product(
            entitlements: entitlements ?? [],
            kind: Product.Kind(sold.kind),
            price: file.currency.flatMap { currency in
                sold.milliunits.map { Money(milliunits: $0, currency: currency) }
            },
            store: .appStore
        )
    }
}

extension Product.Kind {
    fileprivate init(_ kind: StoreKitFile.Kind) {
        switch kind {
        case .consumable: self = .consumable
        case .nonConsumable: self = .nonConsumable
        case .nonRenewing: self = .nonRenewing
        case .recurring: self = .autoRenewable
        }
    }
}
