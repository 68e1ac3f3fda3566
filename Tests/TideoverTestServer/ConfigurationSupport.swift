import TideoverConfiguration
import TideoverServer
import TideoverSignatures

/// The error of a file reader for a missing file.
struct NoSuchFile: Error, CustomStringConvertible {
    var description: String { "No such file or directory" }
}

/// The common helpers of the configuration suites.
protocol ConfigurationSuite {}

extension ConfigurationSuite {
    /// Creates a root certificate, or one that breaks a rule.
    static func certificate(
        pathLength: Int? = nil,
        isAuthority: Bool = true
    ) throws -> [UInt8] {
        var template = CertificateTemplate.root(
            subject: "Root",
            notBefore: 946_684_800_000,
            notAfter: 4_102_444_799_000
        )
        template.basicConstraints = BasicConstraints(
            isAuthority: isAuthority,
            pathLength: pathLength
        )
        let root = try CertificateAuthority.selfSigned(template, key: .generate(.p256))
        return root.certificate
    }

    /// Loads a configuration from `etc/tideover.json`, with `files` in the same folder.
    func load(
        _ text: String,
        _ environment: [String: String] = [:],
        files: [String: [UInt8]] = [:]
    ) throws(ConfigurationProblems) -> Configuration {
        try Configuration.load(
            file: "etc/tideover.json",
            text: Array(text.utf8),
            environment: environment,
            readFile: { path in
                guard let bytes = files[path] else { throw NoSuchFile() }
                return bytes
            }
        )
    }

    /// Returns the problems of a configuration, one line each, without the name of the file.
    func problems(
        _ text: String,
        _ environment: [String: String] = [:],
        files: [String: [UInt8]] = [:]
    ) -> [String] {
        do {
            _ = try load(text, environment, files: files)
            return []
        } catch {
            return error.problems.map(\.description).map { line in
                let file = "etc/tideover.json:"
                return line.hasPrefix(file) ? String(line.dropFirst(file.count)) : line
            }
        }
    }

    /// Returns the reasons of a configuration's problems.
    func reasons(
        _ text: String,
        _ environment: [String: String] = [:],
        files: [String: [UInt8]] = [:]
    ) -> [ConfigurationProblem.Reason] {
        do {
            _ = try load(text, environment, files: files)
            return []
        } catch {
            return error.problems.map(\.reason)
        }
    }

    /// Returns the expected values of mismatches.
    func expectations(
        _ text: String
    ) -> [ConfigurationProblem.Expectation] {
        reasons(text).compactMap { reason in
            if case .mismatch(let expectation, _) = reason { expectation } else { nil }
        }
    }

    /// Returns a configuration of one app with additional members.
    func app(_ members: String, environments: String = #"["sandbox"]"#) -> String {
        #"{ apps: [{ id: "cards", environments: \#(environments), \#(members) }] }"#
    }

    /// Returns a configuration of one app with one product with additional members.
    func product(_ members: String) -> String {
        app(#"appStore: { bundleId: "com.example.cards" }, products: { "a.b": { \#(members) } }"#)
    }

    /// The example from the design, unchanged.
    static var designExample: String {
        #"""
        {
          server:  { listen: "127.0.0.1:8080", publicURL: "https://billing.example.com" },
          storage: "sqlite:tideover.db",                      // or "postgres://..."
          apps: [{
            id: "cards",
            environments: ["production", "sandbox"],          // "simulated" only beside a simulated store
            appStore: {
              bundleId: "com.example.cards", appAppleId: 1234567890,
              issuerId: "...", keyId: "...", privateKeyFile: "AuthKey.p8",   // for the App Store Server API; optional
            },
            googlePlay: {
              packageName: "com.example.cards", serviceAccountFile: "play.json",
              push: { audience: "https://billing.example.com/...", email: "pusher@project.iam.gserviceaccount.com" },
            },
            simulatedStore: { url: "http://127.0.0.1:9090", root: "sandbox-root.der" },    // vouches for "simulated" only
            revenueCat: { webhookAuthorizationFile: "rc.txt", apiKeyFile: "rc-key.txt" },
            products: {                                        // or catalogue: "Products.storekit" (Xcode's file, read as it is)
              "cards.pro.monthly": { entitlements: ["premium"], group: "pro", period: "P1M", trial: "P3D", price: "9.99 USD", grace: "P16D" },
              "cards.lifetime":    { entitlements: ["premium"], kind: "nonConsumable" },
            },
            policy: { billingRetry: "suspend", renewalLeeway: "24h", unreachable: "24h", transfer: "claim", sandbox: "testers",   // testers | review | deny
                      reminders: { trialEnding: "48h", graceEnding: "3d" } },
          }],
          webhooks: [{ url: "https://example.com/hooks", events: ["*"], secretFile: "whsec.txt" }],
        }
        """#
    }

    /// The same example, also serving the simulated store's environment.
    static var fullExample: String {
        designExample.replacing(
            #"["production", "sandbox"]"#,
            with: #"["production", "sandbox", "simulated"]"#
        )
    }
}
