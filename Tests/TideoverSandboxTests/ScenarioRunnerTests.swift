import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

@Suite struct ScenarioRunnerTests {
    private let authority: SandboxAuthority

    init() throws {
        authority = try SandboxAuthority()
    }

    private func play(
        _ scenario: Scenario,
        against kind: FakeBackEnd.Kind
    ) async throws -> ScenarioReport {
        let backEnd = try FakeBackEnd(kind, trusting: authority)
        return try await ScenarioRunner(target: backEnd.target, authority: authority)
            .run(scenario)
    }

    private func scenario(_ steps: String, lag: String = "1s") throws -> Scenario {
        try Scenario(
            reading: Array(
                """
                { scenario: "A case", source: "a page",
                  app: { id: "my cards", bundleId: "com.example.cards" },
                  products: { "cards.pro.monthly": { entitlements: ["premium"], group: "pro",
                              period: "P1M", price: "9.99 USD", grace: "P16D" } },
                  customers: { anna: {} }, delivery: { lag: "\(lag)" },
                  start: "2026-05-01T10:00:00Z",
                  steps: [\(steps)] }
                """.utf8
            )
        )
    }

    private var life: Scenario {
        get throws { try Scenario(reading: ScenarioFiles.read("one-subscribers-life.json5")) }
    }

    @Test func `one subscriber's life passes with a correct back end`()
        async throws
    {
        let report = try await play(life, against: .right)
        for moment in report.failures { Issue.record("\(moment)") }
        #expect(report.passed)
        #expect(report.verdicts.count > 80)
        #expect(report.readings.allSatisfy { $0.mistake(about: "premium") == nil })
        #expect(report.readings.contains { $0.naiveMistake == .lockedOut })
        #expect(report.readings.contains { $0.naiveMistake == .servedUnpaid })
    }

    @Test func `the report of one subscriber's life is in order`()
        async throws
    {
        let moments = try await play(life, against: .right).moments
        #expect(moments.map(\.at) == moments.map(\.at).sorted())
        let heard = moments.compactMap { moment -> String? in
            guard case .notification(let delivery) = moment.happening, moment.customer == "anna"
            else { return nil }
            let event = delivery.notification.event
            return [event.notificationType, event.subtype].compactMap { $0 }
                .joined(separator: "/")
        }
        #expect(
            heard == [
                "SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_RENEW",
                "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED",
                "DID_RENEW/BILLING_RECOVERY", "DID_RENEW", "DID_FAIL_TO_RENEW/GRACE_PERIOD",
                "DID_RENEW/BILLING_RECOVERY", "DID_RENEW", "REFUND", "REFUND_REVERSED",
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
            ]
        )
    }

    @Test func `one subscriber's life fails with a check of the expiry date only`() async throws {
        let report = try await play(life, against: .naive)
        #expect(!report.passed)
        let wrong = report.verdicts.filter { $0.label == "premium.state" && !$0.holds }
        #expect(
            wrong.map { "\($0.expected), not \($0.actual?.string ?? "?")" } == [
                "grace, not expired", "grace, not expired", "hold, not expired",
                "grace, not expired", "expired, not active",
            ]
        )
        #expect(report.readings.contains { $0.mistake(about: "premium") == .lockedOut })
    }

    @Test func `equal seeds give equal runs in every number`() async throws {
        func words(_ report: ScenarioReport) -> [[UInt8]] {
            report.moments.compactMap { moment in
                guard case .notification(let delivery) = moment.happening else { return nil }
                return delivery.notification.unsigned
            }
        }
        let first = try await play(life, against: .right)
        let second = try await play(life, against: .right)
        #expect(words(first) == words(second))
        #expect(first.moments == second.moments)
    }

    /// Returns only the devices' reports, each with its path.
    private func reports(_ steps: String) async throws -> [JSONValue] {
        let backEnd = try FakeBackEnd(.right, trusting: authority)
        var target = backEnd.target
        let heard = Locked<[JSONValue]>([])
        let readBack = target.readBack
        target.readBack = { request in
            guard request.method == "POST" else { return try await readBack(request) }
            let report = JSONValue(try JSONDocument(request.body).root)
            heard.withLock { $0.append(report) }
            return .json(["path": .string(request.path)])
        }
        let report = try await ScenarioRunner(target: target, authority: authority)
            .run(try scenario(steps))
        #expect(report.passed)
        return heard.withLock { $0 }
    }

    @Test func `a device presents its purchases and reports its own state`() async throws {
        let reports = try await reports(
            """
            { do: "subscribe" },
            { after: "1 d", do: "openApp",
              expect: { answer: { path: { present: true } } } },
            { at: "2026-06-02T10:00:00Z", do: "openApp", looks: false, presents: false },
            { do: "openApp", verifies: false, ahead: "40 d", finishes: false },
            { do: "openApp", environment: "sandbox" },
            """
        )
        let words = reports.map { $0["device"]?["entitlements"]?["premium"] }
        #expect(words.map { $0?["access"]?.bool } == [true, false, false, false])
        #expect(
            words.map { $0?["until"]?.string } == [
                "2026-06-01T10:00:00.000Z", "2026-06-01T10:00:00.000Z",
                "2026-07-01T10:00:00.000Z", nil,
            ]
        )
        #expect(words.map { $0?["verified"]?.bool } == [true, true, false, nil])
        #expect(words.map { $0?["unfinished"]?.array?.count } == [nil, nil, 1, nil])
        #expect(reports.map { $0["transactions"]?.array?.count } == [1, nil, 1, 0])
        #expect(reports.map { $0["renewalInfos"]?.array?.count } == [1, nil, 1, 0])
        let devices = reports.map { $0["device"] }
        #expect(
            devices.map { $0?["askedAt"]?.string } == [
                "2026-05-02T10:00:00.000Z", "2026-05-02T10:00:00.000Z",
                "2026-06-02T10:00:00.000Z", "2026-06-02T10:00:00.000Z",
            ]
        )
        #expect(devices[2]?["deviceTime"]?.string == "2026-07-12T10:00:00.000Z")
        #expect(
            devices.map { $0?["environment"]?.string } == [
                "simulated", "simulated", "simulated", "sandbox",
            ]
        )
    }

    @Test(arguments: ["", #", message: "none""#])
    func `an opened app fails if its report is refused, also without an expectation`(
        member: String
    ) async throws {
        let backEnd = try FakeBackEnd(.right, trusting: authority)
        var target = backEnd.target
        let readBack = target.readBack
        target.readBack = { request in
            request.method == "POST" ? Response(status: 403) : try await readBack(request)
        }
        let report = try await ScenarioRunner(target: target, authority: authority)
            .run(try scenario(#"{ do: "openApp"\#(member) },"#))
        #expect(!report.passed)
        guard case .action(let deed)? = report.failures.first?.happening else {
            Issue.record("the action passed")
            return
        }
        #expect(deed.words == "anna opens the app.")
        #expect(deed.verdict?.label == "answer")
        #expect(deed.verdict?.expected == "200")
        #expect(deed.verdict?.actual == 403)
    }

    @Test func `a lost message is not delivered and not sent again`() async throws {
        let lost = try await play(
            scenario(
                """
                { do: "loseNotifications" },
                { after: "1 min", do: "subscribe" },
                { after: "1 d", do: "deliverNotifications" },
                { after: "5 d", do: "cancel" },
                """
            ),
            against: .right
        )
        let heard = lost.moments.compactMap { moment -> String? in
            guard case .notification(let delivery) = moment.happening else { return nil }
            return delivery.notification.event.notificationType
        }
        #expect(heard == ["DID_CHANGE_RENEWAL_STATUS"])
        #expect(lost.passed)
    }

    @Test func `a message that is not accepted is sent again, and fails the scenario`()
        async throws
    {
        let backEnd = try FakeBackEnd(.right, trusting: authority)
        var target = backEnd.target
        let tries = Tries()
        target.deliver = { request in
            await tries.count() < 3
                ? Response(status: 503) : try await backEnd.target.deliver(request)
        }
        let scenario = try scenario(
            """
            { do: 'subscribe', expect: { premium: { state: 'never' } } },
            { after: '14 h', expect: { premium: { state: 'active' } } }
            """
        )
        let report = try await ScenarioRunner(target: target, authority: authority).run(scenario)
        let deliveries = report.moments.compactMap { moment -> (Int64, Delivery.Outcome)? in
            guard case .notification(let delivery) = moment.happening else { return nil }
            return (moment.at, delivery.outcome)
        }
        #expect(
            deliveries.map(\.1) == [
                .answered(status: 503), .answered(status: 503), .answered(status: 200),
            ]
        )
        let first = try #require(deliveries.first?.0)
        #expect(deliveries.map { ($0.0 - first) / 3_600_000 } == [0, 1, 13])
        #expect(report.failures.count == 2)
        #expect(report.verdicts.filter { !$0.holds }.isEmpty)
    }

    private actor Tries {
        private var made = 0

        func count() -> Int {
            made += 1
            return made
        }
    }

    @Test func `a system under test can ask the store while the scenario plays`() async throws {
        let backEnd = try FakeBackEnd(.right, trusting: authority)
        let asked = Asked()
        var target = backEnd.target
        target.storeKeys = [
            AppStoreAPIKey(
                issuerId: StoreClient.issuer,
                keyId: StoreClient.keyId,
                publicKey: asked.key.publicKey
            )
        ]
        target.meetStore = { await asked.meet($0) }
        target.deliver = { request in
            let now = await backEnd.clocks.last ?? 0
            try await asked.ask(at: now)
            return try await backEnd.target.deliver(request)
        }
        let report = try await ScenarioRunner(target: target, authority: authority)
            .run(scenario("{ do: 'subscribe' }, { after: '40 d', do: 'cancel' }"))
        #expect(report.passed)
        #expect(await asked.statuses == [200, 200, 200])
    }

    /// Requests all notifications so far.
    private actor Asked {
        nonisolated let key = P256PrivateKey.generate()
        private var serverAPI: Handler?
        private(set) var statuses: [Int] = []

        func meet(_ serverAPI: @escaping Handler) { self.serverAPI = serverAPI }

        func ask(at now: Int64) async throws {
            let token = try StoreClient.token(at: now, by: key)
            let body: JSONValue = [
                "startDate": .integer(now - 1000), "endDate": .integer(now),
            ]
            let request = Request(
                method: "POST",
                path: "/inApps/v1/notifications/history",
                headers: ["Authorization": "Bearer \(token)"],
                body: body.encoded()
            )
            guard let serverAPI else { return }
            statuses.append(try await serverAPI(request).status)
        }
    }

    @Test func `a message is posted at its arrival and the state is read right after`()
        async throws
    {
        let backEnd = try FakeBackEnd(.right, trusting: authority)
        let scenario = try scenario("{ do: 'subscribe' }", lag: "90 s")
        let report = try await ScenarioRunner(target: backEnd.target, authority: authority)
            .run(scenario)
        let moment = try #require(report.moments.last)
        guard case .notification(let delivery) = moment.happening else {
            Issue.record("the last moment is no notification")
            return
        }
        #expect(delivery.outcome == .answered(status: 200))
        #expect(delivery.notification.at == scenario.start)
        #expect(moment.at == delivery.notification.signedDate + 90_000)
        #expect(delivery.reading?.at == moment.at)
        #expect(delivery.reading?.entitlement("premium")?["state"] == "active")
        #expect(await backEnd.requests == ["POST /v1/apps/my%20cards/notifications/app-store"])
        #expect(await backEnd.clocks == [scenario.start, moment.at, moment.at])
    }

    @Test func `a slow message is overtaken by later actions`() async throws {
        let report = try await play(
            scenario(
                """
                { do: 'subscribe' }, { after: '1 h', do: 'cancel' },
                { after: '1 h', do: 'reenable' },
                """,
                lag: "90 min"
            ),
            against: .right
        )
        let kinds = report.moments.map { moment in
            switch moment.happening {
            case .action(let deed): deed.words
            case .notification(let delivery): delivery.notification.event.notificationType
            case .push(let push): push.name
            case .webhook(let webhook): webhook.event.type.rawValue
            case .readBack: "read"
            }
        }
        #expect(
            kinds == [
                "anna buys cards.pro.monthly.", "anna cancels.", "SUBSCRIBED",
                "anna turns renewal back on.", "DID_CHANGE_RENEWAL_STATUS",
                "DID_CHANGE_RENEWAL_STATUS",
            ]
        )
    }

    @Test func `an expected refusal passes, and any other fails`() async throws {
        func passed(_ steps: String) async throws -> Bool {
            try await play(scenario(steps), against: .right).passed
        }
        #expect(
            try await passed(
                "{ do: 'failPayments' }, { do: 'subscribe', refused: 'paymentDeclined' }"
            )
        )
        #expect(try await !passed("{ do: 'failPayments' }, { do: 'subscribe' }"))
        #expect(try await !passed("{ do: 'subscribe', refused: 'paymentDeclined' }"))
        #expect(try await !passed("{ do: 'cancel', refused: 'ended' }"))
        #expect(try await passed("{ do: 'requestTestNotification' }"))
    }

    @Test func `a system with wrong answers fails, and the report gives the details`() async throws
    {
        struct Unreachable: Error {}
        let scenario = try scenario(
            "{ do: 'subscribe', expect: { premium: { access: true } } }"
        )
        let answers: [(Handler, Reading.Answer)] = [
            ({ _ in Response(status: 500) }, .status(500)),
            ({ _ in throw Unreachable() }, .failed("Unreachable()")),
        ]
        for (handler, answer) in answers {
            let target = ScenarioTarget(deliver: handler, readBack: handler, setClock: { _ in })
            let report = try await ScenarioRunner(target: target, authority: authority)
                .run(scenario)
            #expect(report.failures.count == 2)
            #expect(report.readings.map(\.answer) == [answer, answer])
            #expect(report.verdicts.map(\.holds) == [false])
        }
    }

    @Test func `a naive check misses an undelivered purchase`() async throws {
        let deaf = ScenarioTarget(
            deliver: { _ in Response(status: 503) },
            readBack: { _ in Response(status: 404) },
            setClock: { _ in }
        )
        let report = try await ScenarioRunner(target: deaf, authority: authority)
            .run(scenario("{ do: 'subscribe' }"))
        #expect(report.readings.map(\.naiveMistake) == [.lockedOut])
        #expect(!report.passed)
    }
}
