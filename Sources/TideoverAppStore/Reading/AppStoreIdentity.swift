public import TideoverCore

/// Which app messages are for, and which environments it takes part in.
public struct AppStoreIdentity: Hashable, Sendable {
    public let bundleId: String
    /// The app's number in the store; compared where the store states it reliably, in production.
    public let appAppleId: Int64?
    public let environments: Set<Environment>

    public init(bundleId: String, appAppleId: Int64? = nil, environments: Set<Environment>) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environments = environments
    }

    func require(bundleId found: String?) throws(AppStoreRefusal) {
        guard found == bundleId else { throw .wrongBundle(expected: bundleId, found: found) }
    }

    /// The environment is the one that the authority vouches for, if it vouches for any.
    func require(appAppleId found: Int64?, in environment: Environment?) throws(AppStoreRefusal) {
        guard let expected = appAppleId, found != expected else { return }
        if environment != .production {
            // The sandbox may leave the number out or state another; in an environment that this
            // app takes no part in, only a number of another app is worth more than that.
            let isAccepted = environment.map(environments.contains) ?? false
            if isAccepted || found == nil { return }
        }
        throw .wrongApp(expected: expected, found: found)
    }

    /// The environment, once its authority vouches for it and the app takes part in it.
    func require(
        _ environment: Environment?,
        claimed: Stated<StoreEnvironment>?
    ) throws(AppStoreRefusal) -> Environment {
        guard let environment else { throw .environmentNotVouchedFor(found: claimed?.raw) }
        guard environments.contains(environment) else {
            let accepted = Environment.allCases.filter(environments.contains)
            throw .wrongEnvironment(accepted: accepted, found: environment)
        }
        return environment
    }
}
