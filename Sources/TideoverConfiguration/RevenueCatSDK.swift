package import TideoverJSON

/// The apps with RevenueCat's SDKs that send their requests here, as configured.
package struct RevenueCatSDK: Hashable, Sendable {
    /// The package keys in builds for the App Store.
    package let appStoreKeys: [String]
    /// The package keys in builds for Google Play.
    package let googlePlayKeys: [String]
    /// The offering that an app shows without another choice; nil for none.
    package let currentOffering: String?
    /// What an app offers for sale.
    package let offerings: [Offering]
    /// The offering of each place in the app; every other place has the current one.
    package let placements: [Placement]
    /// The promotional offers of the App Store that are signed for any customer of the app.
    package let promotionalOffers: [String]
    /// The address of the customer center; nil for none, and no customer center.
    package let supportEmail: String?
    /// The file with the key that signs responses; nil for none.
    package let signingKeyFile: String?

    /// Packages that an app shows together.
    package struct Offering: Hashable, Sendable {
        package let identifier: String
        package let description: String
        package let packages: [Package]
        /// Free values for the app.
        package let metadata: JSONObject

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

    /// One choice of an offering, with its products in the stores.
    package struct Package: Hashable, Sendable {
        package let identifier: String
        package let products: [String]

        package init(identifier: String, products: [String]) {
            self.identifier = identifier
            self.products = products
        }
    }

    /// A place in the app, with the identifier of its offering.
    package struct Placement: Hashable, Sendable {
        package let identifier: String
        package let offering: String
    }

    package init(
        appStoreKeys: [String] = [],
        googlePlayKeys: [String] = [],
        currentOffering: String? = nil,
        offerings: [Offering] = [],
        placements: [Placement] = [],
        promotionalOffers: [String] = [],
        supportEmail: String? = nil,
        signingKeyFile: String? = nil
    ) {
        self.appStoreKeys = appStoreKeys
        self.googlePlayKeys = googlePlayKeys
        self.currentOffering = currentOffering
        self.offerings = offerings
        self.placements = placements
        self.promotionalOffers = promotionalOffers
        self.supportEmail = supportEmail
        self.signingKeyFile = signingKeyFile
    }

    /// The keys of both stores.
    package var keys: [String] { appStoreKeys + googlePlayKeys }
}
