package import TideoverConfiguration
package import TideoverCore
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// One app of the server: its rules, and the trust in its stores.
package struct App: Sendable {
    package let id: String
    package let environments: [Environment]
    package let catalogue: Catalogue
    package let policy: Policy
    /// Changes whenever the catalogue, the policy or the rules of this build change. A stored row
    /// with another fingerprint is derived again before it is returned.
    package let fingerprint: String
    /// The fingerprints of the same catalogue and policy under the earlier versions of the rules.
    private let formerFingerprints: Set<String>
    /// The versions for past instants, by environment.
    var policyHistories: [Environment: PolicyHistory]
    /// Nil if the app is not sold on the App Store.
    package let appStore: AppStoreTrust?
    /// Nil if the app is not sold on Google Play.
    package internal(set) var googlePlay: PlayTrust?
    /// The settings for its Google Play purchases.
    package let playChoices: PlayChoices
    /// Nil if the app has no RevenueCat project.
    package let revenueCat: RevenueCatTrust?
    /// The keys and offerings of RevenueCat's SDKs; nil if none is served.
    package let revenueCatSDK: RevenueCatSDK?
    /// Signs the responses to these SDKs; nil if they are not signed.
    package let sdkSigner: SDKSigner?
    /// When the App Store is queried for missing notifications.
    package let backfill: BackfillSchedule
    /// The automatic answers to the App Store's requests for consumption information.
    package let consumption: ConsumptionChoices
    /// How long after a due renewal a missing notification raises an alarm; zero disables it.
    package let silence: Milliseconds
    /// The languages of its answers.
    let languages: AnswerLanguages
    /// Signs the passes of its customers; nil if none are issued.
    package let passes: PassIssuer?

    package init(
        id: String,
        environments: [Environment],
        catalogue: Catalogue,
        policy: Policy,
        appStore: AppStoreTrust?,
        googlePlay: PlayTrust? = nil,
        playChoices: PlayChoices = PlayChoices(),
        revenueCat: RevenueCatTrust? = nil,
        revenueCatSDK: RevenueCatSDK? = nil,
        sdkSigner: SDKSigner? = nil,
        backfill: BackfillSchedule = BackfillSchedule(),
        consumption: ConsumptionChoices = ConsumptionChoices(),
        silence: Milliseconds = .hours(6),
        languages: AnswerLanguages = AnswerLanguages(),
        passes: PassIssuer? = nil
    ) {
        self.id = id
        self.environments = environments
        self.catalogue = catalogue
        self.policy = policy
        self.appStore = appStore
        self.googlePlay = googlePlay
        self.playChoices = playChoices
        self.revenueCat = revenueCat
        self.revenueCatSDK = revenueCatSDK
        self.sdkSigner = sdkSigner
        self.backfill = backfill
        self.consumption = consumption
        self.silence = silence
        self.languages = languages
        self.passes = passes
        let history = PolicyHistory(AppRules(catalogue, policy))
        policyHistories = Dictionary(
            environments.map { ($0, history) },
            uniquingKeysWith: { first, _ in first }
        )
        let fingerprints = (1...Self.answerRevision).map { revision in
            Self.fingerprint(
                of: catalogue,
                policy,
                googlePlay?.packageName,
                isOnAppStore: appStore != nil,
                revision
            )
        }
        fingerprint = fingerprints[Self.answerRevision - 1]
        formerFingerprints = Set(fingerprints.dropLast())
    }

    /// Returns the app with another catalogue and policy.
    func applying(_ rules: AppRules) -> App {
        App(
            id: id,
            environments: environments,
            catalogue: rules.catalogue,
            policy: rules.policy,
            appStore: appStore,
            googlePlay: googlePlay,
            playChoices: playChoices,
            revenueCat: revenueCat,
            revenueCatSDK: revenueCatSDK,
            sdkSigner: sdkSigner,
            backfill: backfill,
            consumption: consumption,
            silence: silence,
            languages: languages,
            passes: passes
        )
    }

    /// The stores in which it is sold.
    var stores: [Store] {
        (appStore == nil ? [] : [.appStore]) + (googlePlay == nil ? [] : [.googlePlay])
    }

    /// Whether it serves only simulated purchases, which need no protection.
    package var isRehearsal: Bool { environments.allSatisfy { $0 == .simulated } }

    /// Incremented when a rule of standing or the form of an answer changes.
    private static let answerRevision = 23

    /// Returns whether a stored answer was derived with this catalogue and policy by an earlier
    /// version of the rules.
    func isDerivedByOlderRules(_ row: CustomerRow) -> Bool {
        formerFingerprints.contains(row.fingerprint)
    }

    private static func fingerprint(
        of catalogue: Catalogue,
        _ policy: Policy,
        _ package: String?,
        isOnAppStore: Bool,
        _ answerRevision: Int
    ) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            writer.value(answerRevision)
            catalogue.write(to: &writer)
            policy.write(to: &writer)
            if let package { writer.value(package) }
            // Earlier revisions offered a trial in every store.
            if answerRevision >= 13 {
                writer.value(isOnAppStore ? Store.appStore.rawValue : "")
            }
        }
        return Hexadecimal.text(SHA256.hash(writer.bytes).prefix(8))
    }
}
