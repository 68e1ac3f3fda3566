import Testing
import TideoverConfiguration
import TideoverDoctor
import TideoverJSON

/// The doctor's checks before apps with RevenueCat's SDKs are switched.
@Suite struct SwitchDiagnosisTests {
    private func app(_ packages: String) throws -> Configuration.App {
        let configuration = try Configuration.load(
            """
            { storage: "sqlite:x.db", apps: [{ id: "cards", environments: ["sandbox"],
              appStore: { bundleId: "com.example.cards" },
              googlePlay: { packageName: "com.example.cards",
                push: { audience: "https://a.example", email: "a@b" } },
              revenueCat: { sdk: { appStoreKeys: ["appl_a"], googlePlayKeys: ["goog_a"],
                offerings: { default: { packages: { \(packages) } } } } },
              products: {
                "cards.monthly": { entitlements: ["premium"], period: "P1M", store: "appStore" },
                "cards:monthly": { entitlements: ["premium"], period: "P1M", store: "googlePlay" },
                "cards": { entitlements: ["premium"], period: "P1M", store: "googlePlay" },
                "gold:monthly": { entitlements: ["gold"], period: "P1M", store: "googlePlay" },
              } }] }
            """
        )
        return try #require(configuration.apps.first)
    }

    @Test(arguments: [
        (#"m: ["cards.monthly", "cards:monthly"]"#, Finding.Verdict.ok, "are known"),
        (#"m: ["cards.monthly", "cards:monthly", "x"]"#, .warning, "offers x"),
        (#"m: ["cards.monthly"]"#, .warning, "no product of Google Play"),
        (#"m: ["cards.monthly", "cards"]"#, .warning, "without its base plan"),
        (#"m: ["cards.monthly", "gold:monthly"]"#, .warning, "unlock different entitlements"),
    ])
    func `an offering that devices could not show is a warning`(
        packages: String,
        verdict: Finding.Verdict,
        words: String
    ) throws {
        let finding = try #require(Finding.offerings(of: try app(packages)))
        #expect(finding.verdict == verdict)
        #expect(finding.detail.contains(words), "\(finding.detail)")
    }

    @Test(arguments: [
        (
            #""cards.monthly": {"product_identifier": "cards.monthly", "entitlements": ["premium"]}"#,
            Finding.Verdict.ok, "1 product unlocks"
        ),
        (
            #""cards.monthly": {"product_identifier": "cards.monthly", "entitlements": ["pro"]}"#,
            .warning, "unlocks premium here and pro at RevenueCat"
        ),
        (
            #""gold": {"product_identifier": "gold", "base_plan_id": "monthly","#
                + #" "entitlements": ["gold"]}"#,
            .ok, "1 product unlocks"
        ),
        (#""new": {"product_identifier": "new", "entitlements": ["gold"]}"#, .warning, "lacks"),
    ])
    func `a product with other entitlements than at RevenueCat is a warning`(
        mapping: String,
        verdict: Finding.Verdict,
        words: String
    ) throws {
        let app = try app(#"m: ["cards.monthly", "cards:monthly"]"#)
        let root = try JSONDocument(Array("{\(mapping)}".utf8)).root
        let finding = Finding.revenueCatMapping(of: app, .success(root))
        #expect(finding.verdict == verdict)
        #expect(finding.detail.contains(words), "\(finding.detail)")
        let failure = RevenueCatMappingFailure("no connection")
        #expect(Finding.revenueCatMapping(of: app, .failure(failure)).verdict == .warning)
    }
}
