import TideoverAppStore
package import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay
package import TideoverSignatures

extension App {
    /// Creates the app from its configuration. Apple's root is built in; the root of receipts and
    /// those of a simulated store come from files. A server provides the clients for Google and
    /// RevenueCat. Without them only stored data of these stores can be read.
    package init(
        _ configured: Configuration.App,
        googlePlay: PlayTrust? = nil,
        revenueCat: RevenueCatTrust? = nil,
        sdkSigner: SDKSigner? = nil,
        passes: PassIssuer? = nil,
        revocations: RevocationList? = nil
    ) throws(TrustAnchorError) {
        var trust: AppStoreTrust?
        if let store = configured.appStore {
            trust = AppStoreTrust(
                identity: AppStoreIdentity(
                    bundleId: store.bundleId,
                    appAppleId: store.appAppleId,
                    environments: Set(configured.environments)
                ),
                authorities: try AppStoreTrust.roots(simulated: configured.simulatedStore?.root),
                receiptAuthorities: AppStoreTrust.receiptRoots(
                    appStore: store.receiptRoot,
                    simulated: configured.simulatedStore?.receiptRoot
                ),
                revocations: revocations
            )
        }
        self.init(
            id: configured.id,
            environments: configured.environments,
            catalogue: configured.catalogue,
            policy: configured.policy,
            appStore: trust,
            googlePlay: googlePlay ?? PlayTrust(offline: configured),
            playChoices: configured.googlePlay?.choices ?? PlayChoices(),
            revenueCat: revenueCat ?? RevenueCatTrust(configured),
            revenueCatSDK: configured.revenueCat?.sdk,
            sdkSigner: sdkSigner,
            backfill: configured.appStore?.backfill ?? BackfillSchedule(),
            consumption: configured.appStore?.consumption ?? ConsumptionChoices(),
            silence: configured.silence,
            languages: AnswerLanguages(configured.messages, arms: configured.armMessages),
            passes: passes
        )
    }
}
