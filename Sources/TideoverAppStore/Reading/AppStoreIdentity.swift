package import TideoverCore

/// The app that messages must be for, and the environments that it accepts.
package struct AppStoreIdentity: Hashable, Sendable {
    package let bundleId: String
    /// The app's App Store ID; compared in production only, as Apple's libraries do.
    package let appAppleId: Int64?
    package let environments: Set<Environment>

    package init(bundleId: String, appAppleId: Int64? = nil, environments: Set<Environment>) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environments = environments
    }

    func require(bundleId found: String?) throws(AppStoreRefusal) {
        guard found == bundleId else { throw .wrongBundle(expected: bundleId, found: found) }
    }

    /// The environment is the one that the authority certifies, if any.
    func require(appAppleId found: Int64?, in environment: Environment?) throws(AppStoreRefusal) {
        guard let expected = appAppleId, found != expected else { return }
        if environment != .production {
            // In the sandbox the app ID is optional, and Apple's libraries do not compare it. In an
            // environment that this app does not accept, another app's ID is the better reason to
            // reject.
            let isAccepted = environment.map(environments.contains) ?? false
            if isAccepted || found == nil { return }
        }
        throw .wrongApp(expected: expected, found: found)
    }

    /// Returns the environment if its authority certifies it and the app accepts it.
    func require(
        _ environment: Environment?,
        claimed: OpenEnum<StoreEnvironment>?
    ) throws(AppStoreRefusal) -> Environment {
        guard let environment else { throw .environmentNotVouchedFor(found: claimed?.raw) }
        guard environments.contains(environment) else {
            let accepted = Environment.allCases.filter(environments.contains)
            throw .wrongEnvironment(accepted: accepted, found: environment)
        }
        return environment
    }
}
