import Testing
import TideoverJSON
import TideoverSandbox

@Suite struct ScenarioReaderTests {
    /// Returns a scenario with these lines as its steps; the first of them is on line 9.
    private func scenario(_ steps: String, customers: String = "anna: {}") throws -> Scenario {
        try Scenario(
            reading: Array(
                """
                {
                  scenario: "A case", source: "a page",
                  app: { id: "cards", bundleId: "com.example.cards" },
                  products: { "cards.pro.monthly": { entitlements: ["premium"], group: "pro",
                              period: "P1M", price: "9.99 USD" } },
                  customers: { \(customers) },
                  start: "2026-05-01T10:00:00Z",
                  steps: [
                \(steps)
                  ],
                }
                """.utf8
            )
        )
    }

    private func fault(_ steps: String, customers: String = "anna: {}") throws -> ScenarioError {
        try #require(throws: ScenarioError.self) {
            try scenario(steps, customers: customers)
        }
    }

    @Test func `the example in the documentation is a valid scenario`() throws {
        let text = String(decoding: try ScenarioFiles.read("README.md"), as: UTF8.self)
        let block = try #require(text.split(separator: "```json5\n").dropFirst().first)
        let example = try #require(block.split(separator: "```").first)
        let scenario = try Scenario(reading: Array(example.utf8))
        #expect(scenario.steps.count == 4)
        #expect(scenario.steps.last?.line == 15)
    }

    @Test func `delays between steps add up`() throws {
        let steps = try scenario(
            """
            { do: "subscribe" },
            { after: "2 d", do: "failPayments" },
            { at: "2026-06-01T10:00:00Z", expect: { premium: { access: true } } },
            { after: "P1M", expect: { premium: { access: false } } },
            """
        ).steps
        #expect(
            steps.map { InstantText.writeForPeople($0.at) } == [
                "2026-05-01 10:00:00", "2026-05-03 10:00:00", "2026-06-01 10:00:00",
                "2026-07-01 10:00:00",
            ]
        )
        #expect(steps.map(\.line) == [9, 10, 11, 12])
        #expect(steps.map(\.customer) == ["anna", "anna", "anna", "anna"])
    }

    @Test(
        arguments: [
            (
                "do: 'changePlan', product: 'cards.pro.monthly'",
                .changePlan(to: "cards.pro.monthly")
            ),
            ("do: 'extendRenewal', days: 90", .extendRenewal(product: nil, days: 90)),
            (
                "do: 'raisePrice', to: '12.99 USD'",
                .raisePrice(
                    product: nil,
                    to: StorePrice(milliunits: 12_990, currency: "USD"),
                    needsConsent: true
                )
            ),
            (
                "do: 'raisePrice', to: '12.99 USD', consent: false",
                .raisePrice(
                    product: nil,
                    to: StorePrice(milliunits: 12_990, currency: "USD"),
                    needsConsent: false
                )
            ),
            ("do: 'acceptPrice'", .acceptPrice(product: nil)),
            ("do: 'requestRefund'", .requestRefund(product: nil, reason: .other)),
            ("do: 'requestRefund', reason: 'LEGAL'", .requestRefund(product: nil, reason: .legal)),
            ("do: 'declineRefund'", .declineRefund(product: nil)),
            ("do: 'share', with: 'anna'", .share(product: nil, with: "anna")),
            ("do: 'stopSharing', with: 'anna'", .stopSharing(product: nil, with: "anna")),
        ] as [(String, AppStoreAction)]
    )
    func `a step contains the change to a subscription`(
        step: String,
        action: AppStoreAction
    ) throws {
        #expect(try scenario("{ \(step) }").steps.map(\.action) == [.store(action)])
    }

    @Test(arguments: [
        ("do: 'changePlan'", "needs \"product\""),
        ("do: 'extendRenewal', days: 91", "\"days\" must be a whole number from 1 to 90"),
        ("do: 'extendRenewal'", "needs \"days\""), ("do: 'raisePrice', to: '9'", "is no price"),
        ("do: 'requestRefund', reason: 'BORED'", "is no reason to ask for a refund"),
        ("do: 'refund', percent: 0", "a whole number from 1 to 100"),
        ("do: 'refund', percent: 101", "a whole number from 1 to 100"),
        ("do: 'share', with: 'eve'", "is no customer of this scenario"),
        ("do: 'acceptPrice', days: 1", "has no key \"days\""),
    ])
    func `a change with missing or unknown fields is refused`(
        step: String,
        words: String
    ) throws {
        #expect("\(try fault("{ \(step) }"))".contains(words))
    }

    @Test func `a visit lists the faults of the device`() throws {
        let steps = try scenario(
            """
            { do: "openApp", customer: "anna" },
            { do: "openApp", customer: "anna", looks: false, presents: false, verifies: false,
              finishes: false, behind: "2 h", account: "ben", environment: "sandbox" },
            { do: "loseNotifications" },
            { do: "deliverNotifications" },
            """,
            customers: "anna: {}, ben: {}"
        ).steps
        var visit = DeviceVisit()
        visit.looks = false
        visit.presents = false
        visit.verifies = false
        visit.finishes = false
        visit.clockOffset = -7_200_000
        visit.account = "ben"
        visit.environment = "sandbox"
        #expect(
            steps.map(\.action) == [
                .openApp(DeviceVisit()), .openApp(visit), .loseNotifications(true),
                .loseNotifications(false),
            ]
        )
        #expect(steps.map(\.customer) == ["anna", "anna", nil, nil])
        let wrong = try fault(#"{ do: "openApp", looks: "no" }"#)
        #expect(wrong.line == 9)
    }

    @Test func `expectations contain paths into the response`() throws {
        let step = try #require(
            try scenario(
                """
                { do: "subscribe", expect: {
                    premium: { state: "active", trial: { urgent: false }, "prompt.kind": "none",
                               prompt: { action: { present: false } }, reason: { not: "trial" } },
                    answer: { "entitlements.premium.pending.0": 3 } } },
                """
            ).steps.first
        )
        let places = step.expectations.map { "\($0.label): \($0.path.joined(separator: "/"))" }
        #expect(
            places == [
                "premium.state: entitlements/premium/state",
                "premium.trial.urgent: entitlements/premium/trial/urgent",
                "prompt.kind: prompt/kind", "prompt.action: prompt/action",
                "premium.reason: entitlements/premium/reason",
                "entitlements.premium.pending.0: entitlements/premium/pending/0",
            ]
        )
        #expect(
            step.expectations.map { "\($0.requirement)" } == [
                "active", "false", "none", "absent", "not trial", "3",
            ]
        )
    }

    @Test func `an expectation checks only what it requires`() throws {
        let answer: JSONValue = [
            "until": "2026-05-17T09:59:59.000Z", "count": 3, "list": ["a", "b"], "none": nil,
        ]
        func holds(_ path: String..., requirement: ScenarioExpectation.Requirement) -> Bool {
            let expectation = ScenarioExpectation(
                label: "",
                path: path,
                requirement: requirement
            )
            return expectation.holds(for: expectation.actual(in: answer))
        }
        #expect(holds("until", requirement: .equals("2026-05-17T11:59:59+02:00")))
        #expect(!holds("until", requirement: .equals("2026-05-17T09:59:58Z")))
        #expect(
            holds("until", requirement: .between("2026-05-17T00:00:00Z", "2026-05-18T00:00:00Z"))
        )
        #expect(holds("count", requirement: .equals(3.0)))
        #expect(!holds("count", requirement: .equals("3")))
        #expect(holds("count", requirement: .between(3, 4)))
        #expect(!holds("count", requirement: .between(4, 5)))
        #expect(holds("list", "1", requirement: .equals("b")))
        #expect(holds("list", requirement: .equals(["a", "b"])))
        #expect(!holds("list", "2", requirement: .not("b")))
        #expect(holds("none", requirement: .equals(nil)))
        #expect(!holds("nothing", requirement: .equals(nil)))
        #expect(holds("nothing", requirement: .present(false)))
        #expect(holds("none", requirement: .present(true)))
        #expect(holds("count", requirement: .oneOf([1, 3])))
    }

    @Test func `an unknown key is refused with a suggestion`() throws {
        let error = try fault("{ do: \"subscribe\", custmer: \"anna\" },")
        #expect(
            error.reason
                == .unknownKey(
                    "custmer",
                    in: "a step that does \"subscribe\"",
                    suggestion: "customer"
                )
        )
        #expect((error.line, error.column) == (9, 20))
        #expect(
            "\(error)" == """
                line 9, column 20: a step that does "subscribe" has no key "custmer"; \
                did you mean "customer"?
                """
        )
    }

    @Test func `a key of another action is refused`() throws {
        let error = try fault("{ do: \"cancel\", reason: \"other\" },")
        #expect(
            error.reason
                == .unknownKey("reason", in: "a step that does \"cancel\"", suggestion: nil)
        )
    }

    @Test func `an invalid instant is refused with its position`() throws {
        let error = try fault(
            "{ do: \"subscribe\" },\n{ at: \"2026-02-30T00:00:00Z\", do: \"cancel\" },"
        )
        #expect(error.reason == .notAnInstant("2026-02-30T00:00:00Z"))
        #expect((error.line, error.column) == (10, 7))
    }

    @Test(arguments: [
        ("{ do: \"failPayment\" },", "failPayments"), ("{ do: \"refnud\" },", "refund"),
        ("{ expect: { premum: { access: true } } },", "premium"),
        ("{ do: \"subscribe\", product: \"cards.pro.montly\" },", "cards.pro.monthly"),
        ("{ do: \"cancel\", refused: \"notsubscribed\" },", "notSubscribed"),
        ("{ do: \"cancel\", customer: \"ana\" },", "anna"),
    ])
    func `a mistyped name is refused with the intended one`(step: String, meant: String) throws {
        guard case .unknown(_, _, let suggestion, _) = try fault(step).reason else {
            Issue.record("another fault was met")
            return
        }
        #expect(suggestion == meant)
    }

    @Test func `a name without a close match is refused with the known names`() throws {
        let error = try fault("{ do: \"explode\" },")
        #expect("\(error)".contains("known: subscribe, failPayments"))
    }

    @Test(
        arguments: [
            ("", .none(of: "steps")), ("{},", .emptyStep), ("{ note: \"x\" },", .emptyStep),
            ("{ do: \"cancel\", expect: {} },", .emptyExpectation),
            ("{ do: \"cancel\", expect: { premium: { trial: {} } } },", .emptyExpectation),
            ("{ after: \"5m\", do: \"cancel\" },", .notASpan("5m")),
            ("{ after: \"9999 years\", do: \"cancel\" },", .tooFar),
            ("{ after: \"5s\", at: \"2026-05-02T00:00:00Z\", do: \"cancel\" },", .bothAtAndAfter),
            (
                "{ at: \"2026-04-30T00:00:00Z\", do: \"cancel\" },",
                .goesBack(to: 1_777_507_200_000, from: 1_777_629_600_000)
            ),
            (
                "{ refused: \"ended\", expect: { premium: { access: true } } },",
                .refusalWithoutAction
            ),
            ("{ do: \"subscribe\", trial: 1 },", .expected(.bool, for: "trial")),
            ("{ do: \"cancel\", expect: { premium: true } },", .expected(.object, for: "premium")),
        ] as [(String, ScenarioError.Reason)]
    )
    func `an invalid step is refused`(
        step: String,
        reason: ScenarioError.Reason
    ) throws {
        #expect(try fault(step).reason == reason)
    }

    @Test func `a step needs a customer if there are two`() throws {
        let customers = "anna: {}, ben: {}"
        #expect(try fault("{ do: \"cancel\" },", customers: customers).reason == .whichCustomer)
        let named = try scenario("{ do: \"cancel\", customer: \"ben\" },", customers: customers)
        #expect(named.steps.first?.customer == "ben")
    }

    @Test func `two customers cannot share a token`() throws {
        let error = try fault(
            "{ do: \"cancel\" },",
            customers: "anna: { appAccountToken: \"t\" }, ben: { appAccountToken: \"t\" }"
        )
        #expect(error.reason == .duplicateToken("ben"))
    }

    @Test func `one customer has an account in each store`() throws {
        let google = "store: \"googlePlay\", appAccountToken: \"t\""
        let apple = "store: \"appStore\", appAccountToken: \"t\""
        let step = "{ do: \"cancel\", customer: \"annas\" },"
        let both = try scenario(step, customers: "anna: { \(google) }, annas: { \(apple) }")
        #expect(both.customers.map(\.person) == ["t", "t"])
        let twice = try fault(step, customers: "anna: { \(apple) }, annas: { \(apple) }")
        #expect(twice.reason == .duplicateToken("annas"))
    }

    @Test func `a customer can have a note`() throws {
        let customers = "anna: { note: \"pays\" }, ben: {}"
        let read = try scenario("{ do: \"cancel\", customer: \"anna\" },", customers: customers)
        #expect(read.notes == ["anna": "pays"])
    }

    @Test func `tokens derive from the seed unless given or refused`() throws {
        let customers = try scenario(
            "{ do: \"cancel\", customer: \"anna\" },",
            customers: "anna: {}, ben: { appAccountToken: \"t\" }, carl: { appAccountToken: null }"
        ).customers
        #expect(customers.first?.appAccountToken?.count == 36)
        #expect(customers.dropFirst().map(\.appAccountToken) == ["t", nil])
    }

    @Test(arguments: [
        ("period: \"P5W\"", "is no period that the App Store sells"),
        ("period: \"P1M\", grace: \"P7D\"", "is no length of grace that the App Store has"),
        ("period: \"P1M\", trial: \"P5D\"", "is no period that the App Store sells"),
        ("period: \"P1M\", price: 9.99", "\"price\" must be a text"),
        ("period: \"P1M\", price: \"9.99\"", "is no price"),
        ("period: \"P1M\", colour: 1", "a product has no key \"colour\""),
        ("perod: \"P1M\"", "did you mean \"period\"?"),
    ])
    func `a product that the store cannot sell is refused`(keys: String, words: String) throws {
        let price = keys.contains("price") ? "" : ", price: \"1 EUR\""
        let error = try #require(throws: ScenarioError.self) {
            try Scenario(
                reading: Array(
                    """
                    { scenario: "A", source: "B", app: { id: "c", bundleId: "d" },
                      products: { p: { entitlements: ["e"], group: "g", \(keys)\(price) } },
                      customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
                      steps: [{ do: "subscribe" }] }
                    """.utf8
                )
            )
        }
        #expect("\(error)".contains(words))
        #expect(error.line == 2)
    }

    @Test func `a file that is not JSON is refused with the position`() throws {
        let error = try #require(throws: ScenarioError.self) {
            try Scenario(reading: Array("{\n  scenario: \"A\",\n  scenario: \"B\" }".utf8))
        }
        #expect(error.line == 3)
    }
}
