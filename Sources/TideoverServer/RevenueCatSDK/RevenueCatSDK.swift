import TideoverCore
import TideoverHTTP
public import TideoverJSON
import TideoverRevenueCat

/// The apps with RevenueCat's SDKs that send their requests here, as configured.
public struct RevenueCatSDK: Hashable, Sendable {
    /// The public keys in builds for the App Store.
    public let appStoreKeys: [String]
    /// The public keys in builds for Google Play.
    public let googlePlayKeys: [String]
    /// The offering that an app shows without another choice; nil for none.
    public let currentOffering: String?
    /// What an app offers for sale.
    public let offerings: [Offering]
    /// The promotional offers of the App Store that are signed for any customer of the app.
    public let promotionalOffers: [String]

    /// Packages that an app shows together.
    public struct Offering: Hashable, Sendable {
        public let identifier: String
        public let description: String
        public let packages: [Package]
        /// Free values for the app.
        public let metadata: JSONObject

        public init(
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

    /// One choice of an offering, with its products in the stores.
    public struct Package: Hashable, Sendable {
        public let identifier: String
        public let products: [String]

        public init(identifier: String, products: [String]) {
            self.identifier = identifier
            self.products = products
        }
    }

    public init(
        appStoreKeys: [String] = [],
        googlePlayKeys: [String] = [],
        currentOffering: String? = nil,
        offerings: [Offering] = [],
        promotionalOffers: [String] = []
    ) {
        self.appStoreKeys = appStoreKeys
        self.googlePlayKeys = googlePlayKeys
        self.currentOffering = currentOffering
        self.offerings = offerings
        self.promotionalOffers = promotionalOffers
    }

    /// The keys of both stores.
    var keys: [String] { appStoreKeys + googlePlayKeys }

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
            }
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
    }

    var isEmpty: Bool { owners.isEmpty }

    /// Returns the owner of a request's key; nil if it has none of these keys.
    func owner(of request: Request) -> Owner? {
        request.bearerToken.flatMap { owners[String($0)] }
    }
}
