import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverRevenueCat

extension RevenueCatSDK {
    var offered: SDKOfferings {
        SDKOfferings(
            current: currentOffering ?? "",
            offerings: offerings.map { offering in
                SDKOfferings.Offering(
                    identifier: offering.identifier,
                    description: offering.description,
                    packages: offering.packages.map {
                        SDKOfferings.Package(identifier: $0.identifier, products: $0.products)
                    },
                    metadata: offering.metadata
                )
            },
            placements: placements.map { ($0.identifier, $0.offering) }
        )
    }
}

/// The keys of the SDKs. A key finds its app and its store, since the path names neither.
struct SDKKeyTable: Sendable {
    struct Owner: Hashable, Sendable {
        let app: String
        let store: Store
    }

    private let owners: [String: Owner]
    /// The length of the longest key in bytes.
    private let longest: Int

    /// Creates the table. The configuration has each key once.
    init(_ apps: [App]) {
        var owners: [String: Owner] = [:]
        for app in apps.sorted(by: { $0.id < $1.id }) {
            let sdk = app.revenueCatSDK ?? RevenueCatSDK()
            for (store, keys) in [
                (Store.appStore, sdk.appStoreKeys), (.googlePlay, sdk.googlePlayKeys),
            ] {
                for key in keys where owners[key] == nil {
                    owners[key] = Owner(app: app.id, store: store)
                }
            }
        }
        self.owners = owners
        longest = owners.keys.map(\.utf8.count).max() ?? 0
    }

    var isEmpty: Bool { owners.isEmpty }

    /// Returns the owner of a request's key; nil if it has none of these keys.
    func owner(of request: Request) -> Owner? {
        guard let key = request.bearerToken, key.utf8.count <= longest else { return nil }
        return owners[String(key)]
    }
}
