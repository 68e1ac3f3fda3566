package import TideoverAppStore
package import TideoverCore

/// The settings of the machine. They do not change while the app runs.
package struct KitSettings: Hashable, Sendable {
    package var bundleId: String
    package var customer: CustomerID
    package var catalogue: Catalogue
    package var policy = Policy()
    /// Nil if there is no server.
    package var server: ServerIdentity?
    /// The environment if neither a purchase nor the store's record of the app names it.
    package var environment = TideoverCore.Environment.production
    /// The authority for signatures outside Xcode's test store.
    package var authority = Authority.appStore
    package var artifacts = ArtifactBoundary.endOfPeriod
    /// Whether the kept file stays until the kit replaces it. An Apple TV may remove it.
    package var isFileLasting = true
    /// The maximum number of purchases queued for the server. The store keeps further ones.
    package var capacity = 256

    package init(bundleId: String, customer: CustomerID, catalogue: Catalogue) {
        self.bundleId = bundleId
        self.customer = customer
        self.catalogue = catalogue
    }
}

/// The trusted server and its keys.
package struct ServerIdentity: Hashable, Sendable {
    /// The app's id on the server.
    package var app: String
    /// The public key of the app's devices.
    package var apiKey: String
    /// The issuer of passes.
    package var issuer: String
    /// Keys built into the app. They are trusted in addition to those that the server publishes.
    package var pinnedKeys: [PassKey] = []

    package init(app: String, apiKey: String, issuer: String, pinnedKeys: [PassKey] = []) {
        self.app = app
        self.apiKey = apiKey
        self.issuer = issuer
        self.pinnedKeys = pinnedKeys
    }
}

/// When an app removes downloads and files of a refunded entitlement. Access itself ends at once.
public enum ArtifactBoundary: Hashable, Sendable {
    /// At the end of the refunded period; without an end, at the next launch.
    case endOfPeriod
    case nextLaunch
    case afterDays(Int)

    func instant(periodEnd: Instant?, now: Instant) -> Instant? {
        switch self {
        case .endOfPeriod: periodEnd
        case .nextLaunch: nil
        case .afterDays(let days): now + .days(Int64(days))
        }
    }
}
