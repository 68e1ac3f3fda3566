import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverServer
import TideoverStorage

/// The billing grace period of the store compared with the catalogue's.
@Suite struct PreflightTests {
    private static func app(grace: String?, period: String = "P1M") -> Configuration.App {
        Configuration.App(
            id: "cards",
            environments: [.production, .sandbox, .simulated],
            appStore: Configuration.AppStore(bundleId: "com.example.cards"),
            catalogue: Catalogue(products: [
                "cards.pro.monthly": Product(
                    entitlements: ["premium"],
                    group: "pro",
                    period: Period(iso8601: period),
                    grace: grace.flatMap { Period(iso8601: $0) }
                )
            ])
        )
    }

    private static let untold = GraceSetting.untold("appStore.keyId may not read it")

    // MARK: Stored failures

    /// Returns a survey of a life at the simulated store, with or without a failed payment.
    private func survey(fails: Bool, grants: Bool = true) async throws -> JSONNode {
        let rehearsed = try RehearsedStore(grace: grants ? .sixteenDays : .off)
        let time = TestTime()
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let store = rehearsed.store
        try await store.register(StoreCustomer(name: "anna", appAccountToken: TestServer.anna))
        try await store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .declined),
            by: "anna"
        )
        if fails { try await store.perform(.failPayments, by: "anna") }
        for _ in 0..<35 {
            time.clock.now = time.clock.now + .days(1)
            try await store.advance(to: time.clock.now.millisecondsSince1970) { body in
                try await backEnd.post(body)
            }
        }
        let answer = try await backEnd.get("/v1/apps/cards/survey?environment=simulated")
        await backEnd.close()
        return try JSONDocument(answer.encoded()).root
    }

    private func judge(
        _ answer: JSONNode,
        grace: String?,
        _ setting: GraceSetting = untold,
        in environment: Environment = .simulated
    ) -> [String] {
        Finding.grace(of: Self.app(grace: grace), in: environment, setting, answer).map {
            "\($0.verdict.rawValue): \($0.detail)"
        }
    }

    @Test func `failures without grace are a problem where the catalogue has a grace`() async throws
    {
        let told = judge(try await survey(fails: true, grants: false), grace: "P16D")
        #expect(told.count == 2)
        #expect(told[0].hasPrefix("ok: App Store Connect does not report the setting"))
        #expect(told[0].contains("may not read it"))
        #expect(told[1].hasPrefix("problem: "))
        #expect(
            told[1].contains("came without grace, like 1 of 1, and the catalogue has 16 days")
        )
    }

    @Test func `a grace of another length than the catalogue's is a problem`() async throws {
        let told = judge(try await survey(fails: true), grace: "P3D")
        #expect(told.last?.hasPrefix("problem: ") == true)
        #expect(told.last?.contains("came with 16 days") == true)
        #expect(told.last?.contains("the catalogue has 3 days") == true)
    }

    @Test func `a grace that the catalogue lacks is a problem, and a matching one is not`()
        async throws
    {
        let answer = try await survey(fails: true)
        #expect(judge(answer, grace: nil).last?.contains("the catalogue has none") == true)
        #expect(judge(answer, grace: nil).last?.hasPrefix("problem: ") == true)
        #expect(judge(answer, grace: "P16D").last?.hasPrefix("ok: ") == true)
        #expect(judge(answer, grace: "P3D", in: .sandbox).last?.hasPrefix("warning: ") == true)
    }

    @Test func `without a failure the check reports that it cannot decide`() async throws {
        let told = judge(try await survey(fails: false), grace: "P16D")
        #expect(told.count == 2)
        #expect(told.last?.hasPrefix("ok: no payment") == true)
        #expect(told.last?.contains("the setting is unknown") == true)
    }

    /// Creates a failed monthly renewal with these assertions.
    private func lineageRecord(
        _ number: Int,
        end: Instant,
        offer: Offer? = nil,
        _ words: [Assertion]
    ) -> LineageRecord {
        let lineage = Lineage(store: .appStore, environment: .production, id: "\(number)")
        let term = Assertion.term(
            Term(
                transactionId: "\(number)",
                productId: "cards.pro.monthly",
                start: end - .days(30),
                end: end,
                offer: offer
            )
        )
        let facts = ([term] + words).map { word in
            Fact(
                lineage: lineage,
                assertion: word,
                effectiveAt: end,
                assertedAt: end,
                learnedAt: end,
                source: .appStoreNotification,
                evidence: EvidenceID(hex: "\(number)")
            )
        }
        return LineageRecord(lineage: lineage, facts: facts, owners: [])
    }

    private func graced(_ days: Int64, _ end: Instant) -> [Assertion] {
        [
            .outlook(Outlook(renewalDate: end, willRenew: true, graceEnd: end + .days(days))),
            .condition(
                Condition(status: .grace, notice: .failedToRenewInGrace, renewalDate: end)
            ),
        ]
    }

    private func denied(_ end: Instant) -> [Assertion] {
        [.condition(Condition(status: .retry, notice: .failedToRenew, renewalDate: end))]
    }

    @Test func `the newest failure shows the present setting, and failures after offers do not`() {
        let may: Instant = "2026-05-01T10:00:00Z"
        let june: Instant = "2026-06-01T10:00:00Z"
        let july: Instant = "2026-07-01T10:00:00Z"
        var survey = StoreSurvey()
        let catalogue = Self.app(grace: "P16D").catalogue
        survey.add(lineageRecord(1, end: june, graced(3, june)), catalogue)
        survey.add(lineageRecord(2, end: may, denied(may)), catalogue)
        let trial = Offer(kind: .introductory, discount: .freeTrial)
        survey.add(lineageRecord(3, end: july, offer: trial, denied(july)), catalogue)
        let failures = survey.failures["cards.pro.monthly"]
        #expect(failures?.keys.sorted() == [.absent, .days(3)])
        #expect(failures?.values.map(\.newest).max() == june)
        #expect(survey.failuresAfterOffers == 1)
        #expect(survey.terms == ["cards.pro.monthly": 3])
    }

    // MARK: App Store Connect

    private func setting(
        _ attributes: JSONValue,
        status: Int = 200
    ) async throws -> GraceSetting {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let setting = try await GraceSetting.ask(
            rehearsed.access(),
            of: backEnd.app,
            clock: { time.clock.now },
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
        await backEnd.close()
        return setting
    }

    private static let sixteen: JSONValue = [
        "optIn": true, "sandboxOptIn": false, "duration": "SIXTEEN_DAYS",
        "renewalType": "ALL_RENEWALS",
    ]

    private static let nothing = try? JSONDocument(Array("{}".utf8)).root

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
        let empty = try #require(Self.nothing)
        let told = judge(empty, grace: grace, try await setting(attributes), in: environment)
        #expect(told.count == 1)
        #expect(told.first?.hasPrefix(words) == true, "\(told)")
    }

    @Test func `a weekly subscription has a grace of at most six days`() async throws {
        let empty = try #require(Self.nothing)
        let told = Finding.grace(
            of: Self.app(grace: "P6D", period: "P1W"),
            in: .production,
            try await setting(Self.sixteen),
            empty
        )
        #expect(told.map(\.verdict) == [.ok])
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

    @Test func `products that the catalogue lacks are reported`() async throws {
        let answer = try await survey(fails: false)
        func finding(_ app: Configuration.App) -> Finding? {
            Finding.catalogue(of: app, in: .simulated, answer)
        }
        #expect(finding(Self.app(grace: nil))?.verdict == .ok)
        let bare = Configuration.App(id: "cards", environments: [.simulated])
        #expect(finding(bare)?.verdict == .problem)
        #expect(finding(bare)?.detail.contains("cards.pro.monthly") == true)
    }
}
