import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverLives

/// The billing grace period in App Store Connect compared with the catalogue's.
@Suite struct GraceSettingTests {
    private static func app(
        grace: String?,
        period: String = "P1M",
        beside others: [String: Product] = [:]
    ) -> Configuration.App {
        Configuration.App(
            id: "cards",
            environments: [.production, .sandbox],
            appStore: Configuration.AppStore(bundleId: "com.example.cards"),
            catalogue: Catalogue(
                products: others.merging([
                    "cards.pro.monthly": Product(
                        entitlements: ["premium"],
                        group: "pro",
                        period: Period(iso8601: period),
                        grace: grace.flatMap { Period(iso8601: $0) }
                    )
                ]) { _, own in own }
            )
        )
    }

    private func setting(
        _ attributes: JSONValue,
        status: Int = 200
    ) async throws -> GraceSetting {
        try await GraceSetting.ask(
            StoreAccess(
                environment: .production,
                key: AppStoreAPIKey(
                    issuerId: "57246542-96fe-1a63-e053-0824d011072a",
                    keyId: "ABCDEFGHIJ",
                    bundleId: "com.example.cards"
                ),
                signer: { _ in [UInt8](repeating: 1, count: 64) },
                handler: { _ in Response(status: 503) }
            ),
            of: AppStoreIdentity(
                bundleId: "com.example.cards",
                appAppleId: 1_234_567_890,
                environments: [.production, .sandbox]
            ),
            clock: { "2026-05-01T10:00:00Z" },
            connect: { request in
                #expect(request.path == "/v1/apps/1234567890/subscriptionGracePeriod")
                #expect(request.headers["Authorization"]?.hasPrefix("Bearer ") == true)
                let body: JSONValue =
                    status == 200
                    ? [
                        "data": [
                            "type": "subscriptionGracePeriods", "id": "1234567890",
                            "attributes": attributes, "links": ["self": "https://a.example"],
                        ],
                        "links": ["self": "https://a.example"],
                    ] : ["errors": [["status": "\(status)", "code": "FORBIDDEN_ERROR"]]]
                return Response(status: status, body: body.encoded())
            }
        )
    }

    private static let sixteen: JSONValue = [
        "optIn": true, "sandboxOptIn": false, "duration": "SIXTEEN_DAYS",
        "renewalType": "ALL_RENEWALS",
    ]

    private static func nothing() throws -> JSONNode { try JSONDocument(Array("{}".utf8)).root }

    private func judge(_ setting: GraceSetting, grace: String?, in environment: Environment) throws
        -> [String]
    {
        let app = Self.app(grace: grace)
        return Finding.grace(of: app, in: environment, setting, try Self.nothing()).map {
            "\($0.verdict.rawValue): \($0.detail)"
        }
    }

    @Test(
        arguments: [
            (sixteen, "P16D", Environment.production, "ok: App Store Connect grants 16 days, like"),
            (sixteen, "P3D", .production, "problem: App Store Connect grants cards.pro.monthly 16"),
            (sixteen, nil, .production, "problem: App Store Connect grants cards.pro.monthly 16"),
            (sixteen, "P16D", .sandbox, "warning: App Store Connect grants no grace"),
            (sixteen, nil, .sandbox, "ok: App Store Connect grants no grace"),
            (["optIn": false], "P16D", .production, "problem: App Store Connect grants no grace"),
            ([:], "P16D", .production, "warning: App Store Connect does not report"),
            (
                ["optIn": true, "duration": "SIXTEEN_DAYS", "renewalType": "PAID_TO_PAID_ONLY"],
                "P16D", .production,
                "ok: App Store Connect grants 16 days, and none after a free trial"
            ),
            (
                ["optIn": true, "duration": "SIXTY_DAYS"], "P16D", .production,
                "warning: App Store Connect grants a length"
            ),
        ] as [(JSONValue, String?, Environment, String)]
    )
    func `a setting that the store returns is compared with the catalogue`(
        attributes: JSONValue,
        grace: String?,
        environment: Environment,
        words: String
    ) async throws {
        let told = try judge(try await setting(attributes), grace: grace, in: environment)
        #expect(told.count == 1)
        #expect(told.first?.hasPrefix(words) == true, "\(told)")
    }

    @Test func `a weekly subscription has a grace of at most six days`() async throws {
        let told = Finding.grace(
            of: Self.app(grace: "P6D", period: "P1W"),
            in: .production,
            try await setting(Self.sixteen),
            try Self.nothing()
        )
        #expect(told.map(\.verdict) == [.ok])
    }

    @Test func `products of Google Play alone are not compared`() async throws {
        let product = { (store: Store?) in
            Product(
                entitlements: ["premium"],
                period: Period(iso8601: "P1M"),
                grace: Period(iso8601: "P7D"),
                store: store
            )
        }
        let others = ["cards.pro:monthly": product(nil), "cards.play": product(.googlePlay)]
        let on = try await setting(Self.sixteen)
        let off = try await setting(["optIn": false])
        for (setting, grace) in [(on, "P16D"), (off, nil)] {
            let told = Finding.grace(
                of: Self.app(grace: grace, beside: others),
                in: .production,
                setting,
                try Self.nothing()
            )
            #expect(told.map(\.verdict) == [.ok])
        }
    }

    @Test(arguments: [
        (403, "may not read it"), (401, "does not know"), (503, "503"), (429, "later"),
    ])
    func `a key without permission for the setting leaves the check to the failures`(
        status: Int,
        words: String
    ) async throws {
        let setting = try await setting([:], status: status)
        guard case .untold(let reason) = setting else {
            Issue.record("a setting was reported")
            return
        }
        #expect(reason.contains(words), "\(reason)")
    }
}
