import TideoverJSON
import TideoverStoreKitFile

/// Reads the bytes of a file that a scenario names.
public typealias ScenarioFileReader = (_ path: String) throws -> [UInt8]

/// The products of a scenario from Xcode's StoreKit configuration file.
enum ScenarioCatalogue {
    /// Reads the file's products, with the entitlements in `entitlements`: by product, or by name
    /// for a whole group. Consumables unlock nothing by default. Products in `listed` override the
    /// file and are omitted here.
    static func products(
        _ node: JSONNode,
        unlocking said: JSONNode?,
        beside listed: [ScenarioProduct],
        _ readFile: ScenarioFileReader
    ) throws(ScenarioError) -> [ScenarioProduct] {
        let name = try readString(node)
        let file = try file(name, node, readFile)
        let subscriptions = AppStoreProduct.subscriptions(of: file)
        let others = AppStoreOneTimeProduct.products(of: file)
        guard !(subscriptions.isEmpty && others.isEmpty) else {
            throw fault(.none(of: "catalogue"), node)
        }
        let names =
            subscriptions.map(\.id) + others.map(\.id) + Set(subscriptions.map(\.group)).sorted()
        var unlocked: [String: [String]] = [:]
        if let said {
            try checkKind(said, .object, "entitlements", .object)
            for (name, list) in said.members {
                guard names.contains(name) else {
                    let near = closestName(to: name, among: names)
                    throw fault(
                        .unknown(name, .product, suggestion: near, allowed: names),
                        list.key ?? list
                    )
                }
                unlocked[name] = try readStrings(list)
            }
        }
        var products: [ScenarioProduct] = []
        let known = Set(listed.map(\.id))
        for product in subscriptions where !known.contains(product.id) {
            guard let entitlements = unlocked[product.id] ?? unlocked[product.group] else {
                throw fault(.missingKey(product.id, in: "entitlements"), said ?? node)
            }
            products.append(
                ScenarioProduct(sale: .subscription(product), entitlements: entitlements)
            )
        }
        for product in others where !known.contains(product.id) {
            guard product.kind != .nonRenewing else {
                throw fault(.lengthUnknown(product.id), node)
            }
            let entitlements = unlocked[product.id] ?? (product.kind == .consumable ? [] : nil)
            guard let entitlements else {
                throw fault(.missingKey(product.id, in: "entitlements"), said ?? node)
            }
            products.append(ScenarioProduct(sale: .oneTime(product), entitlements: entitlements))
        }
        return products
    }

    private static func file(
        _ name: String,
        _ node: JSONNode,
        _ readFile: ScenarioFileReader
    ) throws(ScenarioError) -> StoreKitFile {
        let bytes: [UInt8]
        do {
            bytes = try readFile(name)
        } catch {
            throw fault(.unreadableFile(name, cause: "\(error)"), node)
        }
        do {
            return try StoreKitFile(bytes)
        } catch {
            throw fault(.badCatalogue(name, error), node)
        }
    }
}

/// The error of a scenario that was read without other files.
struct NoFilesBeside: Error, CustomStringConvertible {
    var description: String { "this scenario has no files beside it" }
}
