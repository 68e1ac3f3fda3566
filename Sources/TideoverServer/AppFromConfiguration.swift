import TideoverAppStore
import TideoverCore
public import TideoverSignatures

extension App {
    /// The app as configured. Apple's root is built in; a simulated store's comes from the file.
    public init(
        _ configured: Configuration.App,
        passes: PassIssuer? = nil
    ) throws(TrustAnchorError) {
        var trust: AppStoreTrust?
        if let store = configured.appStore {
            trust = AppStoreTrust(
                identity: AppStoreIdentity(
                    bundleId: store.bundleId,
                    appAppleId: store.appAppleId,
                    environments: Set(configured.environments)
                ),
                authorities: try AppStoreTrust.roots(simulated: configured.simulatedStore?.root)
            )
        }
        self.init(
            id: configured.id,
            environments: configured.environments,
            catalogue: configured.catalogue,
            policy: configured.policy,
            appStore: trust,
            silence: configured.silence,
            passes: passes
        )
    }
}
