import Foundation
import Testing
import TideoverConfiguration
import TideoverJSON
import TideoverSandbox
import TideoverServer

@testable import TideoverTestServer

/// The data of `tideover config`: each effective value with its origin.
@Suite struct ConfigurationSettingTests: ConfigurationSuite {
    /// Returns the settings of `etc/tideover.json`; files with secrets must not be opened.
    private func settings(
        _ text: String,
        _ environment: [String: String] = [:]
    ) throws -> [Configuration.Setting] {
        let files = [
            "etc/sandbox-root.der": try Self.certificate(),
            "etc/receipts.der": try ReceiptStore.authority.get().root,
            "etc/Products.storekit": try CatalogueFileTests.file(),
        ]
        return try Configuration.loadWithSettings(
            file: "etc/tideover.json",
            text: Array(text.utf8),
            environment: environment,
            readFile: { path in try #require(files[path], "\(path) was opened") }
        ).settings
    }

    private static let sdk = #"""
        sdk: { appStoreKeys: ["appl_a"], googlePlayKeys: ["goog_a"], currentOffering: "default",
        promotionalOffers: ["winback50"], supportEmail: "help@example.org",
        signingKeyFile: "sdk-key.pem", placements: { onboarding: "default" },
        offerings: { default: { description: "All", metadata: { a: 1 },
        packages: { "$rc_monthly": ["cards.pro.monthly"] } } } }
        """#

    /// The design's example with all later keys.
    private static let everything = fullExample.replacing(
        "server:  {",
        with: "pass: { keyFile: \"pass-key.pem\" }, storageReplica: \"postgres://r/t\", "
            + "server: { adminKeyFile: \"admin.key\", sdkListen: \"127.0.0.1:8081\","
    ).replacing(
        "bundleId:",
        with:
            "receiptRoot: \"receipts.der\", consumption: { refundPreference: \"decline\" }, bundleId:"
    ).replacing(
        "root: \"sandbox-root.der\"",
        with: "root: \"sandbox-root.der\", receiptRoot: \"receipts.der\""
    ).replacing("apiKeyFile:", with: "\(sdk), signatureSecretFile: \"rc-secret.txt\", apiKeyFile:")
        .replacing(
            "products: {",
            with: #"""
                messages: { de: { "grace.soft": { title: "Karte", message: "Bis {until}",
                label: "Los" } } }, experiments: { ask: { entitlement: "premium",
                start: "2026-06-01T00:00:00Z", end: "2027-06-01T00:00:00Z", arms: {
                none: { holdout: true }, early: { quiet: "1h", channel: "app",
                messages: { en: { "grace.soft": { title: "Card", message: "By {until}",
                label: "Go" } } } } } } },
                catalogue: "Products.storekit", entitlements: { pro: ["premium"],
                "cards.lifetime": ["premium"], "cards.season": ["premium"] }, products: {
                """#
        ).replacing(
            "push: {",
            with: "pull: { subscription: \"projects/p/subscriptions/s\" }, push: {"
        ).replacing(
            "kind: \"nonConsumable\" }",
            with: "kind: \"nonConsumable\", store: \"appStore\" }"
        ).replacing(
            "webhooks: [{ ",
            with: """
                webhooks: [{ id: "hooks", apps: ["cards"], previousSecretFile: "old-whsec.txt", \
                signingKeyFile: "whsk.txt", format: "revenuecat", \
                authorizationFile: "hook-auth.txt", environments: ["sandbox"],
                """
        )

    private func lines(_ settings: [Configuration.Setting]) -> [String] {
        settings.map { setting in
            let place: String =
                switch setting.place {
                case .file(let name, let line, let column): "\(name):\(line):\(column)"
                case .variable(let name): name
                case nil: "default"
                }
            return "\(setting.path) = \(setting.text) (\(place))"
        }
    }

    @Test func `each value shows its source`() throws {
        let text = """
            { server: { trustedProxies: ["10.0.0.0/8", "::1"], limits: { refusalsPerMinute: 5 } },
              apps: [{ id: "cards", environments: ["sandbox"],
                       products: { "a.b": { entitlements: ["x"], period: "P1M" } } }] }
            """
        let variables = [
            "TIDEOVER_SERVER_LISTEN": "localhost:9000",
            "TIDEOVER_APPS_CARDS_ENVIRONMENTS": "sandbox, production",
            "TIDEOVER_SERVER_LIMITS_REFUSALS_PER_MINUTE": "7",
        ]
        let found = lines(try settings(text, variables))
        for line in [
            "server.listen = localhost:9000 (TIDEOVER_SERVER_LISTEN)",
            "server.trustedProxies = 10.0.0.0/8, ::1 (etc/tideover.json:1:29)",
            "server.limits.connectionsPerAddress = 64 (default)",
            "server.drain = 0s (default)",
            "server.checkRevocation = true (default)",
            "server.limits.refusalsPerMinute = 7 (TIDEOVER_SERVER_LIMITS_REFUSALS_PER_MINUTE)",
            "storage = sqlite:tideover.db (default)",
            "apps[0].id = cards (etc/tideover.json:2:16)",
            "apps[0].environments = sandbox, production (TIDEOVER_APPS_CARDS_ENVIRONMENTS)",
            #"apps[0].products."a.b".kind = autoRenewable (default)"#,
            #"apps[0].products."a.b".entitlements = x (etc/tideover.json:3:47)"#,
            #"apps[0].products."a.b".period = P1M (etc/tideover.json:3:62)"#,
            "apps[0].policy.billingRetry = suspend (default)",
        ] {
            #expect(found.contains(line), "\(line)")
        }
        #expect(Set(found.map { $0.prefix { $0 != " " } }).count == found.count)
    }

    @Test func `numbers stay numbers, and lists lists`() throws {
        let settings = try settings(Self.fullExample)
        let number = try #require(settings.first { $0.path == "apps[0].appStore.appAppleId" })
        #expect(number.value == 1_234_567_890)
        #expect(number.variable == "TIDEOVER_APPS_CARDS_APP_STORE_APP_APPLE_ID")
        let list = try #require(settings.first { $0.path == "apps[0].environments" })
        #expect(list.value == ["production", "sandbox", "simulated"])
        #expect(settings.first { $0.path == "apps[0].id" }?.variable == nil)
    }

    /// Returns a key in the notation of the reference.
    private func key(of path: String) -> String {
        path.replacing(/\[\d+\]/, with: "[]").replacing(
            /products\.("[^"]*"|\w+)/,
            with: "products.*"
        ).replacing(/\.entitlements\.("[^"]*"|\w+)/, with: ".entitlements.*")
            .replacing(/\.(offerings|packages|placements)\.("[^"]*"|\w+)/) { ".\($0.1).*" }
            .replacing(/\.experiments\.\w+/, with: ".experiments.*")
            .replacing(/\.arms\.\w+/, with: ".arms.*")
            .replacing(/\.messages\.("[^"]*"|\w+)\.("[^"]*"|\w+)/, with: ".messages.*.*")
    }

    @Test func `the list of settings matches the reference`() throws {
        let rows = try ConfigurationDocumentTests.rows()
        let shown = Set(try settings(Self.everything).map { key(of: $0.path) })
        let documented = Set(rows.map(\.key))
        #expect(documented.subtracting(shown) == [])
        #expect(shown.subtracting(documented) == [])
    }

    @Test func `the variable of a setting matches the reference`() throws {
        let rows = try ConfigurationDocumentTests.rows()
        let variables = Dictionary(rows.map { ($0.key, $0.variable) }) { first, _ in first }
        for setting in try settings(Self.everything) {
            let known = variables[key(of: setting.path)]?.replacing("<APP>", with: "CARDS")
                .replacing("<N>", with: "0")
            let product = try #require(known).split(separator: "<PRODUCT>")
            let variable = setting.variable ?? "none"
            #expect(variable.hasPrefix(product[0]), "\(variable)")
            #expect(variable.hasSuffix(product[product.count - 1]), "\(variable)")
        }
    }

    @Test func `the defaults of the reference are in effect`() throws {
        let text = """
            { apps: [{ id: "a", environments: ["sandbox"], products: { p: { entitlements: ["x"] } } }],
              webhooks: [{ url: "https://example.com", secretFile: "s" }] }
            """
        let settings = try settings(text).filter { $0.place == nil }
        #expect(settings.count > 10)
        let documented = try ConfigurationDocumentTests.defaults()
        for setting in settings {
            let name = documented[key(of: setting.path)]
            let words = ["none": "", "empty": "", "all": "*"]
            #expect(name.map { words[$0] ?? $0 } == setting.text, "\(setting.path)")
        }
    }

    @Test(arguments: [
        ("https://example.com", "https://example.com", "https://example.com"),
        ("https://example.com/", "https://example.com/", "https://example.com/..."),
        ("https://example.com/a/b", "https://example.com/a/b", "https://example.com/..."),
        ("http://[::1]:80/a?k=v", "http://[::1]:80/a?...", "http://[::1]:80/..."),
        ("https://example.com?k=v", "https://example.com?...", "https://example.com/..."),
        ("https://example.com#f", "https://example.com?...", "https://example.com/..."),
    ])
    func `a URL is shown without its query, and a receiver's without its path`(
        url: String,
        asItIs: String,
        asReceiver: String
    ) throws {
        let text = """
            { server: { publicURL: "\(url)" }, apps: [{ id: "a", environments: ["sandbox"] }],
              webhooks: [{ url: "\(url)", secretFile: "s", allowNetworks: ["::1"] }] }
            """
        let settings = try settings(text)
        #expect(settings.first { $0.path == "server.publicURL" }?.text == asItIs)
        #expect(settings.first { $0.path == "webhooks[0].url" }?.text == asReceiver)
    }

    @Test(arguments: [
        ("https://me:pw@example.com/a", "https://...@example.com/a"),
        ("https://me@example.com", "https://...@example.com"),
        ("https://a@b:pw@example.com", "https://...@example.com"),
        ("postgres://me:pw@db/x?password=pw", "postgres://...@db/x?..."),
    ])
    func `a user name in a URL is not shown`(url: String, shown: String) {
        #expect(Configuration.Setting.withoutSecrets(url) == shown)
    }

    @Test func `the key of a setting shows that it names a secret file`() throws {
        let secret = try settings(Self.everything).filter(\.namesSecretFile).map(\.text)
        #expect(
            secret == [
                "admin.key", "AuthKey.p8", "play.json", "rc.txt", "rc-secret.txt", "rc-key.txt",
                "sdk-key.pem", "pass-key.pem", "whsec.txt", "old-whsec.txt", "whsk.txt",
                "hook-auth.txt",
            ]
        )
    }
}
