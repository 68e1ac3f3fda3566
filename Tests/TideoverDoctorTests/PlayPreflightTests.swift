import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLives
import TideoverSandbox
import TideoverSignatures

/// The base plans of Google Play compared with the catalogue, as the simulated store reports them.
@Suite struct PlayPreflightTests {
    private static let keyFile = PlayServiceAccountFile(tokenURL: SimulatedGooglePlay.tokenURL)
    private static let start: Instant = "2026-05-01T10:00:00Z"

    private let push = PubSubPush(
        audience: "https://billing.example.com/push",
        email: "pusher@project.iam.gserviceaccount.com"
    )

    private func plan(
        _ id: String = "monthly",
        _ kind: GooglePlayBasePlan.Kind = .autoRenewing,
        period: String = "P1M",
        grace: Int64 = 7,
        hold: Int64? = 30
    ) throws -> GooglePlayBasePlan {
        GooglePlayBasePlan(
            id: id,
            kind: kind,
            period: try #require(StorePeriod(iso: period)),
            price: GooglePlayPrice(try #require(StorePrice("9.99 USD"))),
            graceDays: kind == .prepaid ? 0 : grace,
            holdDays: kind == .prepaid ? 0 : hold
        )
    }

    private func product(period: String = "P1M", grace: String? = "P7D") -> Product {
        Product(
            entitlements: ["premium"],
            period: Period(iso8601: period),
            grace: grace.flatMap { Period(iso8601: $0) }
        )
    }

    private func app(_ products: [String: Product]) -> Configuration.App {
        Configuration.App(
            id: "cards",
            environments: [.production],
            googlePlay: Configuration.GooglePlay(
                packageName: "com.example.cards",
                audience: push.audience,
                email: push.email
            ),
            catalogue: Catalogue(products: products)
        )
    }

    /// Returns a client of a simulated store that sells these subscriptions.
    private func api(
        _ subscriptions: [GooglePlaySubscriptionProduct],
        account change: (inout PlayServiceAccount) -> Void = { _ in }
    ) throws -> PlayAPI {
        var account = Self.keyFile.account
        change(&account)
        let store = SimulatedGooglePlay(
            GooglePlayApp(packageName: "com.example.cards", subscriptions: subscriptions),
            seed: 1,
            now: Self.start.millisecondsSince1970,
            authority: PlayAuthority(seed: 1),
            push: push,
            accounts: [account]
        )
        let file = try ServiceAccount.read(keyFile: Self.keyFile.json.encoded())
        let key = try RSAPrivateKey(pem: file.privateKey)
        let now: @Sendable () -> Instant = { Self.start }
        let access = PlayAccess(
            account: file.account,
            signer: { key.sign($0, .sha256) },
            clock: now,
            handler: store.google
        )
        return PlayAPI(
            packageName: "com.example.cards",
            access: access,
            clock: now,
            handler: store.google
        )
    }

    /// Returns `check verdict: detail` of the findings for a store that sells these plans of
    /// `cards.pro`.
    private func told(
        _ plans: [GooglePlayBasePlan],
        _ products: [String: Product]
    ) async throws -> [String] {
        let api = try api([GooglePlaySubscriptionProduct(id: "cards.pro", basePlans: plans)])
        return lines(try await findings(api, products))
    }

    private func findings(
        _ api: PlayAPI,
        _ products: [String: Product]
    ) async throws -> [Finding] {
        let findings = Finding.basePlans(of: app(products), try await PlaySettings.ask(api))
        for finding in findings { #expect(finding.subject == "cards googlePlay") }
        return findings
    }

    private func lines(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.check.rawValue) \($0.verdict.rawValue): \($0.detail)" }
    }

    // MARK: Settings of the simulated store

    @Test func `plans that match the catalogue pass the check`() async throws {
        let plans = try [
            plan(), plan("prepaid", .prepaid),
            plan("paid-off", .instalments(payments: 12, renewsCommitment: true), hold: nil),
        ]
        let products = [
            "cards.pro:monthly": product(), "cards.pro:prepaid": product(grace: nil),
            "cards.pro:paid-off": product(),
        ]
        #expect(
            try await told(plans, products) == [
                "base-plans ok: the catalogue matches 3 base plans of Google Play"
            ]
        )
        // Seven days are a week, and one entry may cover several plans.
        let weekly = [try plan(period: "P1W"), try plan("other", period: "P1W")]
        #expect(try await told(weekly, ["cards.pro": product(period: "P7D")]).count == 1)
    }

    @Test func `missing plans of the catalogue and of the store are reported`() async throws {
        #expect(
            try await told(
                [plan(), plan("yearly", period: "P1Y")],
                ["cards.pro:monthly": product()]
            )
                == [
                    "base-plans problem: cards.pro:yearly is on sale, and the catalogue does not "
                        + "have it"
                ]
        )
        let misspelt = ["cards.pro:monthly": product(), "cards.pro:montly": product()]
        #expect(
            try await told([plan()], misspelt) == [
                "base-plans warning: the catalogue has cards.pro:montly, which is not on sale in "
                    + "Google Play"
            ]
        )
    }

    @Test func `a period of another length than the catalogue's is a problem`() async throws {
        #expect(
            try await told([plan(period: "P3M")], ["cards.pro:monthly": product()]) == [
                "base-plans problem: cards.pro:monthly lasts P3M in Google Play, and P1M in the "
                    + "catalogue"
            ]
        )
    }

    @Test(arguments: [
        (
            7, "P3D",
            "problem: Google Play grants cards.pro:monthly 7 days of grace; the catalogue has 3"
        ),
        (
            7, nil,
            "problem: Google Play grants cards.pro:monthly 7 days of grace; the catalogue has none"
        ),
        (
            0, "P3D",
            "problem: Google Play grants cards.pro:monthly no grace, and the catalogue has 3 days"
        ),
    ])
    func `a grace of another length than the catalogue's is a problem`(
        days: Int64,
        own: String?,
        expected: String
    ) async throws {
        let told = try await told([plan(grace: days)], ["cards.pro:monthly": product(grace: own)])
        #expect(told == ["billing-grace \(expected)"])
    }

    @Test func `plans without grace or hold cause warnings without a catalogue setting too`()
        async throws
    {
        let told = try await told(
            [plan(grace: 0, hold: 0)],
            ["cards.pro:monthly": product(grace: nil)]
        )
        #expect(told.count == 2)
        #expect(
            told[0].hasPrefix("billing-grace warning: Google Play grants cards.pro:monthly no")
        )
        #expect(
            told[1].hasPrefix("account-hold warning: Google Play has no account hold for cards.pro")
        )
    }

    @Test func `a grace period of a prepaid plan is a problem`() async throws {
        #expect(
            try await told([plan("prepaid", .prepaid)], ["cards.pro:prepaid": product()]) == [
                "billing-grace problem: cards.pro:prepaid is prepaid and has no grace, and the "
                    + "catalogue has one"
            ]
        )
    }

    @Test func `the advice for a shared catalogue entry changes only one plan`() async throws {
        let api = try api([
            GooglePlaySubscriptionProduct(id: "cards.pro", basePlans: [plan(grace: 3)])
        ])
        let alone = try await findings(api, ["cards.pro:monthly": product()]).first
        #expect(alone?.advice == "Write grace: \"P3D\" in the catalogue, or change the setting.")
        let shared = try await findings(api, ["cards.pro": product()]).first
        #expect(shared?.advice?.contains("under \"cards.pro:monthly\" if it applies") == true)
    }

    @Test func `the check reads all pages`() async throws {
        let subscriptions = try (1...45).map {
            GooglePlaySubscriptionProduct(id: "cards.\($0)", basePlans: [try plan()])
        }
        let products = Dictionary(
            uniqueKeysWithValues: (1...45).map { ("cards.\($0):monthly", product()) }
        )
        let found = try await findings(try api(subscriptions), products)
        #expect(
            lines(found) == [
                "base-plans ok: the catalogue matches 45 base plans of Google Play"
            ]
        )
    }

    @Test func `an account without permission gets advice on the permission`() async throws {
        let api = try api([]) { $0.mayReadApp = false }
        let finding = try #require(try await findings(api, [:]).first)
        #expect(finding.check == .basePlans)
        #expect(finding.verdict == .warning)
        #expect(finding.advice?.contains("view app information") == true)
    }

    // MARK: Settings of the real store only

    private func told(answered plans: [JSONValue], _ products: [String: Product]) async throws
        -> [String]
    {
        let play = FakePlay()
        let answer: JSONValue = [
            "subscriptions": [["productId": "cards.pro", "basePlans": .array(plans)]]
        ]
        play.answer("subscriptions", Response(body: answer.encoded()))
        return lines(try await findings(play.api, products))
    }

    @Test func `a draft plan is ignored, and a plan no longer on sale is checked`() async throws {
        let plans: [JSONValue] = [
            ["basePlanId": "draft", "state": "DRAFT"],
            [
                "basePlanId": "old", "state": "INACTIVE",
                "autoRenewingBasePlanType": ["billingPeriodDuration": "P1M"],
            ],
        ]
        let told = try await told(answered: plans, [:])
        #expect(told.count == 1)
        #expect(told[0].hasPrefix("base-plans warning: cards.pro:old is no longer on sale"))
    }

    @Test func `a missing grace setting is reported where the catalogue expects one`()
        async throws
    {
        let plans: [JSONValue] = [
            [
                "basePlanId": "monthly", "state": "ACTIVE",
                "autoRenewingBasePlanType": ["billingPeriodDuration": "P1M"],
            ]
        ]
        let stated = try await told(answered: plans, ["cards.pro:monthly": product()])
        #expect(stated.count == 1)
        #expect(stated[0].hasPrefix("billing-grace warning: Google Play states no grace"))
        let none = try await told(answered: plans, ["cards.pro:monthly": product(grace: nil)])
        #expect(none.map { $0.hasPrefix("base-plans ok") } == [true])
    }

    @Test func `plans without resubscription or top-up are reported`() async throws {
        let plans: [JSONValue] = [
            [
                "basePlanId": "monthly", "state": "ACTIVE",
                "autoRenewingBasePlanType": [
                    "billingPeriodDuration": "P1M", "gracePeriodDuration": "P7D",
                    "resubscribeState": "RESUBSCRIBE_STATE_INACTIVE",
                ],
            ],
            [
                "basePlanId": "prepaid", "state": "ACTIVE",
                "prepaidBasePlanType": [
                    "billingPeriodDuration": "P1M", "timeExtension": "TIME_EXTENSION_INACTIVE",
                ],
            ],
            ["basePlanId": "new", "state": "ACTIVE", "otherBasePlanType": [:]],
        ]
        let products = [
            "cards.pro:monthly": product(), "cards.pro:prepaid": product(grace: nil),
            "cards.pro:new": product(),
        ]
        #expect(
            try await told(answered: plans, products) == [
                "base-plans warning: a customer whose cards.pro:monthly ended cannot resubscribe "
                    + "in Google Play",
                "base-plans warning: cards.pro:prepaid cannot be topped up in Google Play",
                "base-plans warning: this version does not know the kind of cards.pro:new",
            ]
        )
    }
}
