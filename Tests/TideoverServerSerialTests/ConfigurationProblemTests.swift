import Testing
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

@Suite struct ConfigurationProblemTests: ConfigurationSuite {
    @Test func `all problems of a file are reported at once, from top to bottom`() {
        let text = #"""
            {
              server: { listen: "8080", port: 80 },
              storage: "postgres://tideover:secret@db/tideover",
              apps: [
                {
                  id: "Cards",
                  environments: ["production", "xcode", "prod"],
                  appStore: { bundelId: "com.example.cards" },
                  products: {
                    "cards.pro.monthly": { entitlements: [], period: "1 month", price: 9.99 },
                  },
                  policy: { renewalLeeway: "1 day" },
                },
                { environments: "sandbox" },
              ],
              webhoks: [],
            }
            """#
        #expect(
            problems(text) == [
                "2:21: server.listen: expected an IP address and a port, such as "
                    + "`127.0.0.1:8080` or `[::1]:8080`, found `8080`",
                "2:29: server: unknown key `port`",
                "3:12: storage: the address has no place for a password; write it to a file, and "
                    + "add `?passfile=` and its path",
                "6:11: apps[0].id: expected an id of up to 63 lower-case letters, digits and "
                    + "hyphens, such as `cards`, found `Cards`",
                "7:36: apps[0].environments[1]: purchases made in Xcode are not served; "
                    + "`production`, `sandbox` and `simulated` are",
                "7:45: apps[0].environments[2]: expected `production`, `sandbox` or `simulated`, "
                    + "found `prod`",
                "8:17: apps[0].appStore.appAppleId: missing; expected the app's number in the "
                    + "App Store, such as `1234567890`",
                "8:17: apps[0].appStore.bundleId: missing; expected a bundle id, such as "
                    + "`com.example.cards`",
                "8:19: apps[0].appStore: unknown key `bundelId`; did you mean `bundleId`?",
                "10:46: apps[0].products.\"cards.pro.monthly\".entitlements: expected a list of "
                    + "at least one entitlement, found an empty list",
                "10:58: apps[0].products.\"cards.pro.monthly\".period: expected a period of "
                    + "ISO 8601, such as `P1M` or `P14D`, found `1 month`",
                "10:76: apps[0].products.\"cards.pro.monthly\".price: expected an amount and its "
                    + "currency, such as `9.99 USD`, found a number",
                "12:32: apps[0].policy.renewalLeeway: expected a length of time, such as `30m`, "
                    + "`24h` or `3d`, found `1 day`",
                "14:5: apps[1].id: missing; expected an id of up to 63 lower-case letters, digits "
                    + "and hyphens, such as `cards`",
                "14:21: apps[1].environments: expected a list of at least one of `production`, "
                    + "`sandbox` and `simulated`, found a text",
                "16:3: unknown key `webhoks`; did you mean `webhooks`?",
            ]
        )
    }

    @Test func `a problem names the file and carries its data`() throws {
        let error = #expect(throws: ConfigurationProblems.self) {
            try load("{\n  apps: [],\n}")
        }
        let problem = ConfigurationProblem.Reason.mismatch(.apps, found: .emptyList)
        #expect(error?.problems.map(\.reason) == [problem])
        #expect(
            error?.problems.map(\.place) == [.file(name: "etc/tideover.json", line: 2, column: 9)]
        )
        #expect(error?.problems.map(\.path) == ["apps"])
        #expect(
            error?.description
                == "etc/tideover.json:2:9: apps: expected a list of at least one app, found an "
                + "empty list"
        )
    }

    @Test(arguments: [
        ("", "1:1: the document is empty"),
        ("{ apps: [", "1:10: the document ends before it is complete"),
        ("{\n apps: [],\n apps: [] }", "3:2: the key \"apps\" is used twice, first on line 2"),
        ("[]", "1:1: expected an object, found a list"),
        ("null", "1:1: expected an object, found null"),
        ("{}", "1:1: apps: missing; expected a list of at least one app"),
        ("{ apps: {} }", "1:9: apps: expected a list of at least one app, found an object"),
        ("{ apps: [7] }", "1:10: apps[0]: expected an object, found a number"),
    ])
    func `a file with another structure is rejected`(text: String, problem: String) {
        #expect(problems(text) == [problem])
    }

    @Test(arguments: [
        "sqlite:", "sqlite://tideover.db", "sqlite::memory:", "tideover.db", "mysql://root:pw@db",
        "", "sqlite:a\\u0000b", "postgres:tideover", "postgres://a\\u0000b/t",
    ])
    func `only an SQLite file or a PostgreSQL is a storage, and the rejected value is not printed`(
        text: String
    ) {
        let text = app("").replacing("{ apps", with: "{ storage: \"\(text)\", apps")
        #expect(reasons(text) == [.mismatch(.storage, found: .hidden)])
    }

    @Test(arguments: [
        "postgres://u:secret@db/x", "postgresql://u:secret@db/x", "postgres://u:secret@a,b?x=1",
        "postgres://db/x?sslmode=require&password=secret",
    ])
    func `a password in an address is rejected, and not in the message`(text: String) {
        let text = app("").replacing("{ apps", with: "{ storage: \"\(text)\", apps")
        #expect(reasons(text) == [.unsupported(.passwordInStorage)])
        #expect(!problems(text).joined().contains("secret"))
    }

    @Test(arguments: ["", "-a", "A", "a_b", "é", String(repeating: "a", count: 64), "a b"])
    func `an app's id contains only characters that are safe in URLs`(id: String) {
        let text = #"{ apps: [{ id: "\#(id)", environments: ["sandbox"] }] }"#
        #expect(reasons(text) == [.mismatch(.appId, found: .text(id))])
    }

    @Test func `two apps cannot share an id`() {
        let app = #"{ id: "a", environments: ["sandbox"] }"#
        #expect(
            problems("{ apps: [\n\(app),\n\(app)] }") == [
                "3:7: apps[1].id: `a` is already used on line 2"
            ]
        )
    }

    @Test func `an environment listed twice is rejected`() {
        #expect(
            reasons(app("", environments: #"["sandbox", "sandbox"]"#)) == [
                .repeated("sandbox", firstLine: 1)
            ]
        )
        #expect(
            reasons(app("", environments: "[]")) == [.mismatch(.environments, found: .emptyList)]
        )
    }

    @Test(arguments: ["0", "-1", "1.5", "\"1234567890\"", "1e30"])
    func `an app's number is a positive whole number`(number: String) {
        let text = app("appStore: { bundleId: \"a.b\", appAppleId: \(number) }")
        #expect(expectations(text) == [.appAppleId])
    }

    @Test func `the App Store's number is needed in production only`() {
        let store = #"appStore: { bundleId: "a.b" }"#
        #expect(reasons(app(store)) == [])
        #expect(reasons(app(store, environments: #"["production"]"#)) == [.missing(.appAppleId)])
        #expect(reasons(app("appStore: {}")) == [.missing(.bundleId)])
        #expect(
            reasons(app(#"appStore: { bundleId: "com example" }"#)) == [
                .mismatch(.bundleId, found: .text("com example"))
            ]
        )
    }

    @Test func `an API key without all of its members is rejected`() {
        let text = app(#"appStore: { bundleId: "a.b", keyId: "K" }"#)
        #expect(reasons(text) == [.missing(.text), .missing(.fileName)])
    }

    @Test(arguments: [
        ("trustedProxies: \"10.0.0.0/8\"", "server.trustedProxies: expected a list, found a text"),
        (
            "trustedProxies: [\"10.0.0.1/8\"]",
            "server.trustedProxies[0]: expected an IP network, such as `10.0.0.0/8`, found "
                + "`10.0.0.1/8`"
        ),
        (
            "limits: { refusalsPerMinute: -1 }",
            "server.limits.refusalsPerMinute: expected a whole number from 0 to 10000, found `-1`"
        ),
        (
            "limits: { connectionsPerAddress: 1025 }",
            "server.limits.connectionsPerAddress: expected a whole number from 0 to 1024, found "
                + "`1025`"
        ),
        ("limits: { conections: 5 }", "server.limits: unknown key `conections`"),
    ])
    func `proxies are networks, and limits are numbers`(member: String, problem: String) {
        let found = problems(app("").replacing("{ apps", with: "{ server: { \(member) }, apps"))
        #expect(found.count == 1)
        #expect(found.first?.contains(problem) == true, "\(found)")
    }

    @Test func `a secret in place of its file name is not printed`() {
        let key = #"-----BEGIN PRIVATE KEY-----\nMIGT"#
        let text = app(
            #"appStore: { bundleId: "a.b", issuerId: "i", keyId: "K", privateKeyFile: "\#(key)" }"#
        )
        #expect(
            problems(text).map { $0.drop { $0 != "a" } } == [
                "apps[0].appStore.privateKeyFile: expected the name of a file (not its content)"
            ]
        )
    }

    // MARK: simulated stores

    @Test func `simulated is served only beside a simulated store`() {
        let store = #"appStore: { bundleId: "a.b" }"#
        #expect(
            problems(app(store, environments: #"["simulated"]"#)) == [
                "1:39: apps[0].environments: `simulated` needs a simulated store; "
                    + "set `simulatedStore.root` to its root certificate"
            ]
        )
        let rootless = app(store + ", simulatedStore: {}", environments: #"["simulated"]"#)
        #expect(reasons(rootless) == [.missing(.fileName)])
    }

    @Test func `a root certificate must be there, in DER`() throws {
        let text = app(
            #"appStore: { bundleId: "a.b" }, simulatedStore: { root: "root.der" }"#,
            environments: #"["simulated"]"#
        )
        #expect(
            problems(text) == [
                "1:109: apps[0].simulatedStore.root: the file etc/root.der cannot be read: "
                    + "No such file or directory"
            ]
        )
        let pem = Array("-----BEGIN CERTIFICATE-----\nMIIB".utf8)
        #expect(
            problems(text, files: ["etc/root.der": pem]) == [
                "1:109: apps[0].simulatedStore.root: etc/root.der is in PEM, but DER is needed; "
                    + "convert it with `openssl x509 -outform der -in FILE -out FILE.der`"
            ]
        )
        let others: [([UInt8], TrustAnchorError)] = [
            ([], .malformed), (Array("hello".utf8), .malformed),
            (try Self.certificate(isAuthority: false), .notAnAuthority),
            (try Self.certificate(pathLength: 0), .noIntermediateAllowed),
        ]
        for (bytes, reason) in others {
            #expect(
                reasons(text, files: ["etc/root.der": bytes]) == [
                    .unusableCertificate(path: "etc/root.der", reason)
                ]
            )
        }
    }

    // MARK: products

    @Test(
        arguments: [
            (
                #"kind: "lifetime""#,
                [
                    .mismatch(
                        .oneOf(["autoRenewable", "nonRenewing", "nonConsumable", "consumable"]),
                        found: .text("lifetime")
                    )
                ]
            ),
            ("", [.missing(.entitlements)]),
            (#"kind: "nonConsumable""#, [.missing(.entitlements)]),
            (#"entitlements: ["a"], kind: "nonRenewing""#, [.missing(.period)]),
            (#"entitlements: ["a"], kind: "consumable""#, [.consumableWithEntitlements]),
            (#"entitlements: ["a", 7]"#, [.mismatch(.text, found: .kind(.number))]),
            (#"entitlements: [" "]"#, [.mismatch(.text, found: .hidden)]),
            (#"entitlements: ["a"], trial: "3d""#, [.mismatch(.period, found: .text("3d"))]),
            (#"entitlements: ["a"], grace: "P""#, [.mismatch(.period, found: .text("P"))]),
            (
                #"entitlements: ["a"], price: "9,99 USD""#,
                [.mismatch(.price, found: .text("9,99 USD"))]
            ),
            (#"entitlements: ["a"], price: "9.99""#, [.mismatch(.price, found: .text("9.99"))]),
            (#"entitlements: ["a"], Group: "pro""#, [.unknownKey("Group", closest: "group")]),
        ] as [(String, [ConfigurationProblem.Reason])]
    )
    func `an incomplete product is rejected`(
        members: String,
        reasons expected: [ConfigurationProblem.Reason]
    ) {
        #expect(reasons(product(members)) == expected)
    }

    // MARK: policy, and settings that are only validated

    @Test(
        arguments: [
            (#"billingRetry: "keep""#, .billingRetry), (#"billingRetry: "keep 0d""#, .billingRetry),
            (#"billingRetry: "keep -7d""#, .billingRetry),
            (#"billingRetry: "never""#, .billingRetry),
            (#"unreachable: "P1D""#, .duration), (#"transfer: "steal""#, .transfer),
            (#"transfer: "transfer soon""#, .transfer),
            (#"unknownProduct: "allow""#, .unknownProduct),
            (#"unknownProduct: ["premum"]"#, .unknownProduct),
            (#"unknownProduct: []"#, .unknownProduct),
            (#"sandbox: "allow""#, .oneOf(["testers", "review", "deny"])),
            (#"reminders: { trialEnding: "" }"#, .duration),
        ] as [(String, ConfigurationProblem.Expectation)]
    )
    func `an unknown value of a policy is rejected`(
        members: String,
        expectation: ConfigurationProblem.Expectation
    ) {
        #expect(expectations(app("policy: { \(members) }")) == [expectation])
    }

    @Test func `settings that this version does not use are checked too`() {
        let text = #"""
            {
              server: { publicURL: "billing.example.com" },
              apps: [{
                id: "cards", environments: ["sandbox"],
                googlePlay: { push: { email: "no-address" } },
                revenueCat: { apiKey: "sk_secret" },
                policy: { reminders: { trialEnds: "2d" } },
              }],
              webhooks: [
                { url: "https://me:pw@example.com", events: [], allowNetworks: ["10.0.0.0/33"] },
                { url: "https://example.com", secretFile: "s", allowNetworks: ["fd00::/8", "::1"] },
              ],
            }
            """#
        #expect(
            reasons(text) == [
                .mismatch(.webAddress, found: .hidden),
                .missing(.packageName), .missing(.text),
                .mismatch(.email, found: .text("no-address")),
                .unknownKey("apiKey", closest: "apiKeyFile"),
                .unknownKey("trialEnds", closest: "trialEnding"),
                .missing(.fileName), .mismatch(.webAddress, found: .hidden),
                .mismatch(.events, found: .emptyList),
                .mismatch(.network, found: .text("10.0.0.0/33")),
            ]
        )
    }

    @Test(arguments: [
        "https://example.com", "http://127.0.0.1:9090", "https://example.com/a?b=c@d",
        "https://[::1]:80/",
    ])
    func `a web address has a host and no user`(url: String) {
        let hook = #"{ url: "\#(url)", secretFile: "s", allowNetworks: ["127.0.0.0/8", "::1"] }"#
        #expect(reasons(app("").replacing("{ apps", with: "{ webhooks: [\(hook)], apps")) == [])
    }

    @Test(arguments: [
        "", "example.com", "ftp://example.com", "https://", "https:///x", "https://a b",
        "https://é",
        "https://u@example.com", "https://:80", #"https://example.com\\@evil.example"#,
    ])
    func `an invalid web address is rejected`(url: String) {
        let hook = #"{ url: "\#(url)", secretFile: "s" }"#
        #expect(
            reasons(app("").replacing("{ apps", with: "{ webhooks: [\(hook)], apps")) == [
                .mismatch(.webAddress, found: .hidden)
            ]
        )
    }

    @Test(arguments: [
        "http://example.com", "http://127.0.0.1", "http://127.1:80", "http://[::1]:80",
        "http://10.0.0.1@127.0.0.1/",
    ])
    func `a webhook without https needs an address of an allowed network`(url: String) {
        let hook = #"{ url: "\#(url)", secretFile: "s", allowNetworks: ["10.0.0.0/8"] }"#
        let found = reasons(app("").replacing("{ apps", with: "{ webhooks: [\(hook)], apps"))
        #expect(found.count == 1)
        #expect(
            [.unprotectedWebhook, .mismatch(.webAddress, found: .hidden)].contains(found.first)
        )
    }

    @Test(arguments: [
        ("https://127.0.0.1/", AddressUse.loopback), ("https://[::1]:8443/hooks", .loopback),
        ("https://192.168.1.7", .privateUse), ("https://169.254.169.254/x?y", .linkLocal),
    ])
    func `a webhook's address is public or of an allowed network`(url: String, use: AddressUse) {
        let hook = #"{ url: "\#(url)", secretFile: "s", allowNetworks: ["10.0.0.0/8"] }"#
        let text = app("").replacing("{ apps", with: "{ webhooks: [\(hook)], apps")
        #expect(reasons(text) == [.webhookNotPublic(use)])
        #expect(problems(text).joined().contains("`allowNetworks`"))
    }

    @Test func `the SDKs have an address of their own, or none`() {
        for (address, isRefused) in [("127.0.0.1:8080", true), ("127.0.0.1:0", false)] {
            let server = #"{ server: { listen: "\#(address)", sdkListen: "\#(address)" }, apps"#
            let expected: [ConfigurationProblem.Reason] =
                isRefused ? [.repeated(address, firstLine: nil)] : []
            #expect(reasons(app("").replacing("{ apps", with: server)) == expected)
        }
    }

    @Test func `two webhooks with one id, and webhooks of unknown apps, are problems`() {
        let hooks = #"""
            { id: "a", url: "https://example.com/1", secretFile: "s" },
            { id: "a", url: "https://example.com/2", secretFile: "s" },
            { id: "b", url: "https://example.com/3", secretFile: "s", apps: ["nowhere"] }
            """#
        let found = reasons(app("").replacing("{ apps", with: "{ webhooks: [\(hooks)], apps"))
        #expect(found.contains(.repeated("a", firstLine: nil)))
        #expect(found.count == 2)
    }

    @Test func `a problem contains no control characters of the file`() {
        let text = app(##""\u001b[31mred": 1, appStore: { bundleId: "a\nb" }"##)
        let lines = problems(text)
        #expect(lines.count == 2)
        #expect(!lines.joined().unicodeScalars.contains { $0.value < 0x20 })
    }

    // MARK: every member of the example

    @Test func `a value of the wrong kind is reported at its position for every key`() throws {
        let nodes = try Self.nodes()
        #expect(nodes.count > 50)
        for node in nodes {
            let text = Self.example(replacing: node, with: "true")
            let error = #expect(throws: ConfigurationProblems.self) { try load(text) }
            let (line, column) = node.position
            let place = ConfigurationProblem.Place.file(
                name: "etc/tideover.json",
                line: line,
                column: column
            )
            let problem = error?.problems.first { $0.place == place }
            guard case .mismatch(_, .kind(.bool)) = problem?.reason else {
                Issue.record("true was accepted at \(place)")
                continue
            }
        }
    }

    @Test func `a mistyped key is reported with the correct key`() throws {
        let keys = try Self.nodes().compactMap(\.key).filter { $0.source.first != 0x22 }
        #expect(keys.count > 40)
        for key in keys {
            let name = try #require(key.string)
            let slip = name + String(name.suffix(1))
            let found = reasons(Self.example(replacing: key, with: slip))
            #expect(found.contains(.unknownKey(slip, closest: name)), "\(found)")
        }
    }

    /// Returns every value of the example except the root.
    static func nodes() throws -> [JSONNode] {
        let document = try JSONDocument(designExample, syntax: .relaxed, limits: .local)
        var found: [JSONNode] = []
        var open = [document.root]
        while let node = open.popLast() {
            let within = Array(node.elements) + node.members.map(\.value)
            found += within
            open += within
        }
        return found
    }

    /// Returns the example with the text of one node replaced.
    static func example(replacing node: JSONNode, with text: String) -> String {
        var bytes = Array(designExample.utf8)
        bytes.replaceSubrange(node.offset..<node.offset + node.source.count, with: text.utf8)
        return String(decoding: bytes, as: UTF8.self)
    }
}
