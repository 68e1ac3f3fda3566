import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// The simulated RevenueCat's events and answers, and its use in scenarios.
@Suite struct SimulatedRevenueCatTests {
    private static func text(_ steps: String, head: String, revenueCat: String) -> [UInt8] {
        Array(
            """
            {
              scenario: "A case", source: "These tests",
              app: { id: "cards", bundleId: "com.example.cards" },
              \(head),
              revenueCat: \(revenueCat),
              customers: { anna: { appAccountToken: "u_42" }, ben: { appAccountToken: "u_43" } },
              start: "2026-05-01T10:00:00Z",
              steps: [\(steps)],
            }
            """.utf8
        )
    }

    private static let appStore = """
        products: { "cards.pro.monthly": { entitlements: ["premium"], group: "pro", period: "P1M",
                                           price: "9.99 USD", grace: "P16D" } }
        """

    private static let googlePlay = """
        googlePlay: { packageName: "com.example.cards", subscriptions: { "cards.pro": {
          entitlements: ["premium"], basePlans: { monthly: { period: "P1M", price: "9.99 USD" } } } } }
        """

    private static let alone = "{ authorization: 'of the dashboard', alone: true }"

    /// Returns the requests at a back end that answers with the statuses in turn, and the report.
    private func play(
        _ steps: String,
        head: String = appStore,
        revenueCat: String = alone,
        answering statuses: [Int] = [200]
    ) async throws -> (requests: [Request], report: ScenarioReport) {
        let (rest, requests) = (Locked(statuses), Locked<[Request]>([]))
        let target = ScenarioTarget(
            deliver: { request in
                requests.withLock { $0.append(request) }
                return Response(
                    status: rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? 200 }
                )
            },
            readBack: { _ in Response(body: Array(#"{"entitlements":{}}"#.utf8)) },
            setClock: { _ in }
        )
        let bytes = Self.text(steps, head: head, revenueCat: revenueCat)
        let report = try await played(Scenario(reading: bytes), against: target)
        return (requests.withLock { $0 }, report)
    }

    private func event(_ request: Request) throws -> JSONValue {
        let root = JSONValue(try JSONDocument(request.body).root)
        #expect(root["api_version"] == "1.0")
        return try #require(root["event"])
    }

    private func types(_ requests: [Request]) throws -> [String] {
        try requests.map { request in
            let event = try event(request)
            let reason = event["cancel_reason"]?.string ?? event["expiration_reason"]?.string
            return (event["type"]?.string ?? "?") + (reason.map { " \($0)" } ?? "")
        }
    }

    private static func ms(_ text: String) -> Int64? { InstantText.read(text) }

    // MARK: Events

    @Test func `a failed payment in the App Store is an issue, a cancellation and an end`()
        async throws
    {
        let (requests, report) = try await play(
            """
            { do: 'subscribe', customer: 'anna' },
            { after: '1 week', do: 'failPayments', customer: 'anna' },
            { at: '2026-06-20T10:00:00Z', do: 'fixPayments', customer: 'anna' },
            { after: '1 d', do: 'cancel', customer: 'anna' },
            { after: '40 d', do: 'loseWebhooks' },
            """
        )
        #expect(report.passed)
        let told = try types(requests)
        #expect(
            told == [
                "INITIAL_PURCHASE", "BILLING_ISSUE", "CANCELLATION BILLING_ERROR",
                "EXPIRATION BILLING_ERROR", "RENEWAL", "CANCELLATION UNSUBSCRIBE",
                "EXPIRATION UNSUBSCRIBE",
            ]
        )
        #expect(Set(requests.map(\.path)) == ["/v1/apps/cards/notifications/revenuecat"])
        #expect(requests.allSatisfy { $0.headers["Authorization"] == "of the dashboard" })
        let issue = try event(requests[1])
        #expect(issue["app_user_id"] == "u_42")
        #expect(issue["product_id"] == "cards.pro.monthly")
        #expect(issue["store"] == "APP_STORE")
        #expect(issue["expiration_at_ms"]?.int64 == Self.ms("2026-06-01T10:00:00Z"))
        #expect(issue["grace_period_expiration_at_ms"]?.int64 == Self.ms("2026-06-17T10:00:00Z"))
        let cancellation = try event(requests[2])
        #expect(cancellation["grace_period_expiration_at_ms"] == nil)
    }

    @Test func `a refund of an earlier payment is no event`() async throws {
        let (requests, report) = try await play(
            """
            { do: 'subscribe', customer: 'anna' },
            { at: '2026-05-31T10:00:00Z', do: 'requestRefund', customer: 'anna' },
            { at: '2026-06-02T10:00:00Z', do: 'refund', customer: 'anna',
              revenueCat: { premium: true } },
            { after: '1 d', do: 'refund', customer: 'anna', revenueCat: { premium: false } },
            """
        )
        #expect(report.passed)
        #expect(
            try types(requests) == [
                "INITIAL_PURCHASE", "RENEWAL", "CANCELLATION CUSTOMER_SUPPORT",
                "EXPIRATION CUSTOMER_SUPPORT",
            ]
        )
    }

    @Test func `an offer for the next renewal is no renewal`() async throws {
        let head = """
            products: { "cards.pro.monthly": {
              entitlements: ["premium"], group: "pro", period: "P1M", price: "9.99 USD",
              offers: { stay: { kind: "promotional", mode: "payAsYouGo", payments: 2,
                                price: "4.99 USD" } } } }
            """
        let (requests, report) = try await play(
            """
            { do: 'subscribe', customer: 'anna' },
            { after: '1 d', do: 'redeem', offer: 'stay', customer: 'anna' },
            { after: '1 d', do: 'cancel', customer: 'anna' },
            { after: '1 d', do: 'redeem', offer: 'stay', customer: 'anna' },
            { after: '1 d', do: 'loseWebhooks' },
            """,
            head: head
        )
        #expect(report.passed)
        #expect(
            try types(requests) == [
                "INITIAL_PURCHASE", "CANCELLATION UNSUBSCRIBE", "UNCANCELLATION",
            ]
        )
    }

    @Test func `Google Play events contain the state at the time of the lookup`() async throws {
        let (requests, report) = try await play(
            """
            { do: 'buy', customer: 'anna' },
            { after: '5 weeks', do: 'failPayments', customer: 'anna' },
            { at: '2026-07-10T10:00:00Z', do: 'fixPayments', customer: 'anna' },
            { after: '1 d', do: 'revoke', customer: 'anna' },
            """,
            head: Self.googlePlay,
            revenueCat: "{ authorization: 'a', lag: '5 s', alone: true }"
        )
        #expect(report.passed)
        let told = try types(requests)
        #expect(
            told == [
                "INITIAL_PURCHASE", "RENEWAL", "BILLING_ISSUE", "CANCELLATION BILLING_ERROR",
                "EXPIRATION BILLING_ERROR", "RENEWAL", "CANCELLATION CUSTOMER_SUPPORT",
                "EXPIRATION CUSTOMER_SUPPORT",
            ]
        )
        let (bought, renewed) = (try event(requests[0]), try event(requests[1]))
        #expect(bought["product_id"] == "cards.pro:monthly")
        #expect(bought["store"] == "PLAY_STORE")
        // Pub/Sub takes a second, and RevenueCat processes the message five seconds later.
        #expect(bought["event_timestamp_ms"]?.int64 == Self.ms("2026-05-01T10:00:06Z"))
        #expect(renewed["original_transaction_id"] == bought["transaction_id"])
        #expect(renewed["transaction_id"] != bought["transaction_id"])
        #expect(renewed["purchased_at_ms"]?.int64 == Self.ms("2026-06-01T10:00:00Z"))
        // Without grace, the date is null, not absent.
        let issue = try event(requests[2])
        #expect(issue["grace_period_expiration_at_ms"] == .null)
    }

    @Test func `a pause is reported with its end, and its cancelled plan is not`() async throws {
        let (requests, report) = try await play(
            """
            { do: 'buy', customer: 'anna' },
            { after: '1 d', do: 'pause', customer: 'anna', for: 'P1M' },
            { after: '1 d', do: 'resume', customer: 'anna' },
            { after: '1 d', do: 'pause', customer: 'anna', for: 'P1M' },
            { at: '2026-07-01T11:00:00Z', do: 'failPayments', customer: 'anna' },
            """,
            head: Self.googlePlay
        )
        #expect(report.passed)
        #expect(
            try types(requests) == [
                "INITIAL_PURCHASE", "SUBSCRIPTION_PAUSED", "SUBSCRIPTION_PAUSED",
                "EXPIRATION SUBSCRIPTION_PAUSED", "RENEWAL",
            ]
        )
        let paused = try event(requests[1])
        #expect(paused["auto_resume_at_ms"]?.int64 == Self.ms("2026-07-01T10:00:00Z"))
        #expect(try event(requests[3])["auto_resume_at_ms"] == nil)
    }

    @Test func `a purchase is inactive while its store serves no data`() async throws {
        let (_, report) = try await play(
            """
            { do: 'buy', customer: 'anna', revenueCat: { premium: true } },
            { after: '1 week', do: 'failPayments', customer: 'anna' },
            { at: '2026-06-01T10:00:00Z', customer: 'anna', revenueCat: { premium: true } },
            { after: '1 s', customer: 'anna', revenueCat: { premium: false } },
            { after: '6 h', do: 'fixPayments', customer: 'anna', revenueCat: { premium: true } },
            { customer: 'ben', revenueCat: { premium: false } },
            """,
            head: Self.googlePlay
        )
        #expect(report.passed)
        #expect(report.verdicts.map(\.label) == Array(repeating: "revenueCat.premium", count: 5))
        let silent = report.readings.filter { $0.at == Self.ms("2026-06-01T10:00:01Z") }
        #expect(silent.map(\.truth.isEntitled) == [true])
    }

    @Test func `a transfer contains both customers`() async throws {
        let (requests, _) = try await play(
            """
            { do: 'subscribe', customer: 'anna' },
            { after: '1 d', do: 'transfer', customer: 'anna', to: 'ben' },
            """
        )
        let event = try event(try #require(requests.last))
        #expect(event["type"] == "TRANSFER")
        #expect(event["transferred_from"] == ["u_42"])
        #expect(event["transferred_to"] == ["u_43"])
        #expect(event["app_user_id"] == nil)
    }

    // MARK: Delivery

    @Test func `a webhook not answered with 200 is retried five times with the same id`()
        async throws
    {
        let (requests, report) = try await play(
            "{ do: 'subscribe', customer: 'anna' }, { after: '10 h', do: 'failPayments', customer: 'anna' }",
            answering: [202]
        )
        #expect(!report.passed)
        #expect(requests.count == 6)
        #expect(Set(requests.map(\.body)).count == 1)
        let tried = report.moments.compactMap { moment -> Int64? in
            if case .webhook = moment.happening { moment.at } else { nil }
        }
        let waits = zip(tried, tried.dropFirst()).map { ($1 - $0) / 60_000 }
        #expect(waits == [5, 10, 20, 40, 80])
    }

    @Test func `a signature covers the time and the body`() async throws {
        let (requests, _) = try await play(
            "{ do: 'subscribe', customer: 'anna', revenueCat: { premium: true } }",
            revenueCat: "{ authorization: 'a', signatureSecret: 'of the dashboard', alone: true }"
        )
        let request = try #require(requests.first)
        let time = try #require(Self.ms("2026-05-01T10:00:01Z")) / 1000
        let code = HMACSHA256.code(
            of: Array("\(time).".utf8) + request.body,
            under: Array("of the dashboard".utf8)
        )
        let hex = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(request.headers["X-RevenueCat-Webhook-Signature"] == "t=\(time),v1=\(hex)")
    }

    @Test func `lost webhooks count as delivered, and the store's messages still arrive`()
        async throws
    {
        let (requests, report) = try await play(
            """
            { do: 'loseWebhooks' }, { do: 'subscribe', customer: 'anna' },
            { after: '3 h', do: 'deliverWebhooks' },
            { after: '1 d', do: 'cancel', customer: 'anna', revenueCat: { premium: true } },
            """,
            revenueCat: "{ authorization: 'a' }"
        )
        #expect(report.passed)
        #expect(
            requests.map { $0.path.split(separator: "/").last ?? "" }
                == ["app-store", "app-store", "revenuecat"]
        )
    }

    // MARK: Answers

    @Test func `the API requires the key and creates unknown customers`() async throws {
        let relay = SimulatedRevenueCat(
            RelaySetup(authorization: nil, apiKey: "sk_1", entitlements: [:]),
            seed: 1,
            now: try #require(Self.ms("2026-05-01T10:00:00Z"))
        )
        func ask(_ path: String, _ key: String) async throws -> (Int, JSONValue) {
            let headers: Headers = ["Authorization": "Bearer \(key)"]
            let answer = try await relay.api(Request(path: path, headers: headers))
            return (answer.status, JSONValue(try JSONDocument(answer.body).root))
        }
        let (status, answer) = try await ask("/v1/subscribers/u_42", "sk_1")
        #expect(status == 201)
        #expect(answer["request_date"] == "2026-05-01T10:00:00.000Z")
        #expect(answer["subscriber"]?["original_app_user_id"] == "u_42")
        #expect(answer["subscriber"]?["entitlements"] == [:])
        let (refused, _) = try await ask("/v1/subscribers/u_42", "sk_2")
        let (elsewhere, _) = try await ask("/v1/offerings", "sk_1")
        #expect((refused, elsewhere) == (401, 404))
    }

    @Test func `an answer has the period's end and the grace end separately`() async throws {
        let api = Locked<Handler?>(nil)
        var target = ScenarioTarget(
            deliver: { _ in Response(status: 200) },
            readBack: { _ in Response(body: Array(#"{"entitlements":{}}"#.utf8)) },
            setClock: { _ in }
        )
        target.revenueCat.meetRevenueCat = { handler in api.withLock { $0 = handler } }
        let bytes = Self.text(
            """
            { do: 'subscribe', customer: 'anna' },
            { after: '1 week', do: 'failPayments', customer: 'anna' },
            { at: '2026-06-05T10:00:00Z', customer: 'anna', revenueCat: { premium: true } },
            """,
            head: Self.appStore,
            revenueCat: Self.alone
        )
        _ = try await played(Scenario(reading: bytes), against: target)
        let handler = try #require(api.withLock { $0 })
        let headers: Headers = ["Authorization": "Bearer sk_rehearsal"]
        let answer = try await handler(Request(path: "/v1/subscribers/u_42", headers: headers))
        #expect(answer.status == 200)
        let subscriber = JSONValue(try JSONDocument(answer.body).root)["subscriber"]
        let subscription = subscriber?["subscriptions"]?["cards.pro.monthly"]
        #expect(subscription?["expires_date"] == "2026-06-01T10:00:00.000Z")
        #expect(subscription?["grace_period_expires_date"] == "2026-06-17T10:00:00.000Z")
        #expect(subscription?["billing_issues_detected_at"]?.string != nil)
        #expect(subscription?["store"] == "app_store")
        let entitlement = subscriber?["entitlements"]?["premium"]
        #expect(entitlement?["expires_date"] == "2026-06-17T10:00:00.000Z")
        #expect(entitlement?["product_identifier"] == "cards.pro.monthly")
    }

    // MARK: Use in scenarios

    private func trouble(_ steps: String, revenueCat: String) -> String {
        do {
            _ = try Scenario(
                reading: Self.text(steps, head: Self.appStore, revenueCat: revenueCat)
            )
            return "none"
        } catch {
            return "\(error.reason)"
        }
    }

    @Test func `an invalid RevenueCat setting is reported by name`() {
        let buys = "{ do: 'subscribe', customer: 'anna' }"
        #expect(trouble(buys, revenueCat: Self.alone) == "none")
        #expect(trouble(buys, revenueCat: "{}").contains("\"authorization\""))
        #expect(
            trouble(buys, revenueCat: "{ authorization: 'a', lagg: '1 s' }").contains("\"lag\"")
        )
        #expect(
            trouble("{ do: 'transfer', customer: 'anna' }", revenueCat: Self.alone)
                .contains("\"to\"")
        )
        #expect(
            trouble("{ customer: 'anna', revenueCat: { premium: 1 } }", revenueCat: Self.alone)
                .contains("true or false")
        )
    }
}
