package import TideoverAppStore
package import TideoverCore

/// What the machine decides by. It does not change while the app runs.
package struct KitSettings: Hashable, Sendable {
    package var bundleId: String
    package var customer: CustomerID
    package var catalogue: Catalogue
    package var policy = Policy()
    /// Nil where the device decides alone.
    package var server: ServerIdentity?
    /// The environment where no purchase names one.
    package var environment = TideoverCore.Environment.production
    /// Who vouches for signatures outside Xcode's own test store.
    package var authority = Authority.appStore
    package var artifacts = ArtifactBoundary.endOfPeriod
    /// How many purchases wait for the server at most. The store keeps what does not fit.
    package var capacity = 256

    package init(bundleId: String, customer: CustomerID, catalogue: Catalogue) {
        self.bundleId = bundleId
        self.customer = customer
        self.catalogue = catalogue
    }
}

/// The server whose answers and passes count.
package struct ServerIdentity: Hashable, Sendable {
    /// The app's id on the server.
    package var app: String
    /// The public key of the app's devices.
    package var apiKey: String
    /// The issuer of passes.
    package var issuer: String
    /// Keys that are built into the app. They count beside those that the server publishes.
    package var pinnedKeys: [PassKey] = []

    package init(app: String, apiKey: String, issuer: String, pinnedKeys: [PassKey] = []) {
        self.app = app
        self.apiKey = apiKey
        self.issuer = issuer
        self.pinnedKeys = pinnedKeys
    }
}

/// When an app removes what a customer downloaded or made with a right that was refunded. The right
/// itself ends at once.
public enum ArtifactBoundary: Hashable, Sendable {
    /// When the refunded period would have ended; for what has no end, at the next launch.
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
