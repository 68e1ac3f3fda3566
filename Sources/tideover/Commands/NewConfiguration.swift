import TideoverCore
import TideoverJSON

/// The values of a new configuration, and its text.
struct NewConfiguration: Hashable {
    static let adminKeyFile = "admin.key"
    static let database = "tideover.db"
    static let usualEntitlement = "premium"

    var app: String?
    var bundleId: String?
    /// The App Store app's ID. Production needs it, unless the app is sold on Google Play alone.
    var appAppleId: Int64?
    var packageName: String?
    var pushEmail: String?
    var products: [Product] = []
    var storeKit: StoreKit?
    var entitlement = usualEntitlement
    var publicURL: String?

    /// A product, as `pro.monthly:P1M`, or `lifetime` for a one-time purchase.
    struct Product: Hashable {
        let id: String
        let period: String?

        init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(
                String.init
            )
            guard parts.count <= 2, !parts[0].isEmpty else { return nil }
            id = parts[0]
            period = parts.count == 2 ? parts[1] : nil
            if let period, Period(iso8601: period) == nil { return nil }
        }
    }

    /// Xcode's file, and its names that unlock something: groups, and products outside groups.
    struct StoreKit: Hashable {
        let path: String
        let names: [String]
    }

    // MARK: Names

    static func isAppID(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.first != "-"
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }

    /// The app's id: the given one, else the last part of the bundle id or package.
    var id: String {
        if let app { return app }
        let name = (bundleId ?? packageName ?? "").split(separator: ".").last.map(String.init) ?? ""
        let lower = name.lowercased()
        return Self.isAppID(lower) ? lower : "app"
    }

    func notificationURL(_ store: String) -> String {
        var base = publicURL ?? "https://YOUR-HOST"
        if base.hasSuffix("/") { base.removeLast() }
        return "\(base)/v1/apps/\(id)/notifications/\(store)"
    }

    var servesProduction: Bool { appAppleId != nil || bundleId == nil }

    /// The values to add before the configuration is complete.
    var toComplete: [String] {
        var lines: [String] = []
        if !servesProduction {
            lines.append(
                "only the sandbox is served. For production set appStore.appAppleId, the number in "
                    + "the app's App Store URL, and add \"production\" to environments in "
                    + "tideover.json"
            )
        }
        if products.isEmpty, storeKit == nil { lines.append("add your products to tideover.json") }
        if publicURL == nil { lines.append("set server.publicURL in tideover.json") }
        if packageName != nil {
            let missing = [
                publicURL == nil ? "googlePlay.push.audience" : nil,
                pushEmail == nil ? "googlePlay.push.email" : nil,
            ].compactMap(\.self)
            if !missing.isEmpty {
                lines.append("set \(missing.joined(separator: " and ")) in tideover.json")
            }
        }
        return lines
    }

    // MARK: Text

    private static func quoted(_ text: String) -> String {
        String(decoding: JSONValue.string(text).encoded(), as: UTF8.self)
    }

    var text: String {
        """
        // The configuration of Tideover, in JSON5: comments and trailing commas are allowed.
        // docs/configuration.md describes every key. `tideover config` shows what counts.
        {
          server: {
            listen: "127.0.0.1:8080",        // put a proxy with TLS in front
        \(publicURLLine)
            adminKeyFile: "\(Self.adminKeyFile)",       // the key that commands present to the server
          },

          storage: "sqlite:\(Self.database)",     // beside this file

          // pass: { keyFile: "pass-key.pem" },  // for offline use: tideover keys pass

          apps: [
            {
              id: \(Self.quoted(id)),
        \(environmentsLine)
        \((appStoreLines + googlePlayLines + productLines).joined(separator: "\n"))
            },
          ],
        }

        """
    }

    private var publicURLLine: String {
        publicURL.map { "    publicURL: \(Self.quoted($0))," }
            ?? "    // publicURL: \"https://billing.example.com\",  // where the stores reach the server"
    }

    private var environmentsLine: String {
        servesProduction
            ? "      environments: [\"production\", \"sandbox\"],"
            : "      environments: [\"sandbox\"],   // add \"production\" beside appStore.appAppleId"
    }

    private var appStoreLines: [String] {
        guard let bundleId else { return [] }
        let number =
            appAppleId.map { "        appAppleId: \($0)," }
            ?? "        // appAppleId: 1234567890,   // the number in the app's App Store URL"
        return [
            "", "      appStore: {", "        bundleId: \(Self.quoted(bundleId)),", number,
            "        // A key of the App Store Server API, to request missing notifications:",
            "        // issuerId: \"...\", keyId: \"...\", privateKeyFile: \"AuthKey.p8\",",
            "      },",
        ]
    }

    private var googlePlayLines: [String] {
        guard let packageName else { return [] }
        let email = pushEmail ?? "pubsub-push@YOUR-PROJECT.iam.gserviceaccount.com"
        return [
            "", "      googlePlay: {", "        packageName: \(Self.quoted(packageName)),",
            "        // A service account for the Play Developer API; without it, the content of",
            "        // notifications is only presumed:",
            "        // serviceAccountFile: \"service-account.json\",",
            "        push: {",
            "          audience: \(Self.quoted(notificationURL("google-play"))),",
            "          email: \(Self.quoted(email)),", "        },", "      },",
        ]
    }

    private var productLines: [String] {
        let unlocks = "[\(Self.quoted(entitlement))]"
        if let storeKit {
            return ["", "      catalogue: \(Self.quoted(storeKit.path)),"]
                + ["      entitlements: {            // what a group or product unlocks"]
                + storeKit.names.map { "        \(Self.quoted($0)): \(unlocks)," }
                + ["      },"]
        }
        let products = products.map { product in
            let kind =
                product.period.map { "period: \(Self.quoted($0))" } ?? "kind: \"nonConsumable\""
            return "        \(Self.quoted(product.id)): { entitlements: \(unlocks), \(kind) },"
        }
        let example =
            "        // \"pro.monthly\": { entitlements: \(unlocks), period: \"P1M\", "
            + "grace: \"P16D\" },"
        return ["", "      products: {                // what each product unlocks"]
            + (products.isEmpty ? [example] : products) + ["      },"]
    }
}
