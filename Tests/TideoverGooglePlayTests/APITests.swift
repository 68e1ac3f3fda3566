import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON

/// A Play Developer API with fixed responses.
struct FakePlay {
    /// The fixed time of our clock.
    static let now = Instant(rfc3339: "2026-05-06T10:00:00Z") ?? .distantPast
    static let token = Response.json(
        #"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#
    )

    let store: FakeAPI
    let google: FakeAPI

    init(_ answers: Response..., token: Response = FakePlay.token) {
        store = FakeAPI(answers.map { .success($0) })
        google = FakeAPI(token)
    }

    init(failing error: any Error) {
        store = FakeAPI(failing: error)
        google = FakeAPI(Self.token)
    }

    func access(at now: @escaping @Sendable () -> Instant = { FakePlay.now }) -> PlayAccess {
        PlayAccess(
            account: ServiceAccount(clientEmail: "robot@p.example", privateKeyId: "key-1"),
            signer: { _ in Array("signed".utf8) },
            clock: now,
            handler: google.handler
        )
    }

    func api(at now: @escaping @Sendable () -> Instant = { FakePlay.now }) -> PlayAPI {
        PlayAPI(
            packageName: "com.example.cards",
            access: access(at: now),
            clock: now,
            handler: store.handler
        )
    }
}

extension Response {
    static func json(_ text: String, status: Int = 200, headers: Headers = [:]) -> Response {
        Response(status: status, headers: headers, body: Array(text.utf8))
    }
}

/// Returns the failure of an operation; nil if it succeeds.
func failure(of question: () async throws -> Void) async -> PlayAPIFailure? {
    do {
        try await question()
        return nil
    } catch {
        return error as? PlayAPIFailure
    }
}

struct APIRequestTests {
    struct Case: Sendable, CustomStringConvertible {
        let id: String
        let sent: String
        var body = ""
        let ask: @Sendable (PlayAPI) async throws -> Void
        var description: String { id }
    }

    private static let start = Instant(millisecondsSince1970: 1_777_000_000_000)

    /// Methods by their ids in the discovery document, and the expected request of each for the
    /// token `t/k`.
    static let cases: [Case] = [
        Case(
            id: "purchases.subscriptionsv2.get",
            sent: "GET purchases/subscriptionsv2/tokens/t%2Fk"
        ) { _ = try await $0.subscription("t/k") },
        Case(
            id: "purchases.productsv2.getproductpurchasev2",
            sent: "GET purchases/productsv2/tokens/t%2Fk"
        ) { _ = try await $0.product("t/k") },
        Case(
            id: "purchases.subscriptions.acknowledge",
            sent: "POST purchases/subscriptions/cards.pro/tokens/t%2Fk:acknowledge",
            body: "{}"
        ) { try await $0.acknowledge(subscription: "cards.pro", "t/k") },
        Case(
            id: "purchases.products.acknowledge",
            sent: "POST purchases/products/gems/tokens/t%2Fk:acknowledge",
            body: "{}"
        ) { try await $0.acknowledge(product: "gems", "t/k") },
        Case(
            id: "purchases.subscriptionsv2.cancel",
            sent: "POST purchases/subscriptionsv2/tokens/t%2Fk:cancel",
            body: #"{"cancellationContext":{"cancellationType":"USER_REQUESTED_STOP_RENEWALS"}}"#
        ) { try await $0.cancel("t/k", stopping: .renewals) },
        Case(
            id: "purchases.subscriptionsv2.revoke",
            sent: "POST purchases/subscriptionsv2/tokens/t%2Fk:revoke",
            body: #"{"revocationContext":{"proratedRefund":{}}}"#
        ) { try await $0.revoke("t/k", refunding: .prorated) },
        Case(
            id: "purchases.subscriptionsv2.revoke",
            sent: "POST purchases/subscriptionsv2/tokens/t%2Fk:revoke",
            body: #"{"revocationContext":{"itemBasedRefund":{"productId":"cards.pro"}}}"#
        ) { try await $0.revoke("t/k", refunding: .item(productId: "cards.pro")) },
        Case(
            id: "purchases.subscriptionsv2.defer",
            sent: "POST purchases/subscriptionsv2/tokens/t%2Fk:defer",
            body:
                #"{"deferralContext":{"deferDuration":"86400s","etag":"e","validateOnly":true}}"#
        ) { _ = try await $0.postpone("t/k", by: .days(1), etag: "e", asRehearsal: true) },
        Case(id: "orders.get", sent: "GET orders/GPA.1..0") { _ = try await $0.order("GPA.1..0") },
        Case(
            id: "orders.batchget",
            sent: "GET orders:batchGet orderIds=GPA.1 orderIds=GPA.2"
        ) { _ = try await $0.orders(["GPA.1", "GPA.2"]) },
        Case(
            id: "purchases.voidedpurchases.list",
            sent: "GET purchases/voidedpurchases type=1 maxResults=1000 "
                + "includeQuantityBasedPartialRefund=true startTime=1777000000000 token=next"
        ) {
            let filter = VoidedPurchaseFilter(start: start)
            _ = try await $0.voidedPurchases(filter, after: "next")
        },
        Case(
            id: "purchases.voidedpurchases.list",
            sent: "GET purchases/voidedpurchases type=0 maxResults=50"
        ) {
            let filter = VoidedPurchaseFilter(
                includesSubscriptions: false,
                includesPartialRefunds: false,
                pageSize: 50
            )
            _ = try await $0.voidedPurchases(filter)
        },
        Case(
            id: "monetization.subscriptions.list",
            sent: "GET subscriptions pageSize=20 pageToken=next"
        ) { _ = try await $0.subscriptionsOnSale(after: "next") },
    ]

    private static let root = "/androidpublisher/v3/applications/com.example.cards/"

    @Test(arguments: cases)
    func `every request is sent as documented`(question: Case) async throws {
        let fake = FakePlay(.json("{}"))
        try await question.ask(fake.api())
        let request = try #require(await fake.store.requests.first)
        #expect(request.path.hasPrefix(Self.root))
        let query = request.query.map { " \($0.name)=\($0.value)" }.joined()
        let path = request.path.dropFirst(Self.root.count)
        #expect("\(request.method) \(path)\(query)" == question.sent)
        #expect(String(decoding: request.body, as: UTF8.self) == question.body)
        #expect(request.headers["Authorization"] == "Bearer ya29.x")
        #expect((request.headers["Content-Type"] == nil) == question.body.isEmpty)
    }

    @Test(.enabled(if: Vectors.present, "Google's discovery document is not beside the project"))
    func `methods, paths and parameters equal those of the discovery document`() async throws {
        let resources = try #require(try Vectors.androidPublisher()["resources"])
        for question in Self.cases {
            var names = question.id.split(separator: ".").map(String.init)
            let last = names.removeLast()
            var resource = try #require(resources[names.removeFirst()])
            for name in names { resource = try #require(resource["resources"]?[name]) }
            let method = try #require(resource["methods"]?[last])
            let fake = FakePlay(.json("{}"))
            try await question.ask(fake.api())
            let request = try #require(await fake.store.requests.first)
            #expect(method["httpMethod"]?.string == request.method, "\(question.id)")
            let path = try #require(method["path"]?.string)
                .replacing("{packageName}", with: "com.example.cards")
                .replacing("{token}", with: "t%2Fk").replacing("{orderId}", with: "GPA.1..0")
                .replacing("{subscriptionId}", with: "cards.pro")
                .replacing("{productId}", with: "gems")
            #expect("/" + path == request.path, "\(question.id)")
            for item in request.query {
                #expect(method["parameters"]?[item.name]?["location"]?.string == "query")
            }
        }
    }

    @Test func `a request that the store always refuses is not sent`() async {
        let fake = FakePlay(.json("{}"))
        let api = fake.api()
        let early = FakePlay.now - .days(30)
        let questions: [(PlayQuestionFault, () async throws -> Void)] = [
            (.identifier, { _ = try await api.subscription("") }),
            (.identifier, { _ = try await api.subscription("a b") }),
            (.identifier, { _ = try await api.product("..") }),
            (.identifier, { _ = try await api.order(String(repeating: "a", count: 1501)) }),
            (.repeated, { _ = try await api.orders(["a", "a"]) }),
            (.outOfRange(field: "orderIds", 1...1000), { _ = try await api.orders([]) }),
            (
                .outOfRange(field: "deferDuration", 1...31_536_000),
                { _ = try await api.postpone("t", by: .zero, etag: "e") }
            ),
            (
                .startTooOld(earliest: early),
                {
                    let filter = VoidedPurchaseFilter(start: early - .seconds(1))
                    _ = try await api.voidedPurchases(filter)
                }
            ),
            (
                .startAfterEnd,
                {
                    let filter = VoidedPurchaseFilter(start: FakePlay.now, end: FakePlay.now)
                    _ = try await api.voidedPurchases(filter)
                }
            ),
            (
                .outOfRange(field: "maxResults", 1...1000),
                { _ = try await api.voidedPurchases(VoidedPurchaseFilter(pageSize: 1001)) }
            ),
        ]
        for (expected, question) in questions {
            guard case .unaskable(expected)? = await failure(of: question)?.reason else {
                Issue.record("it is not asked: \(expected)")
                continue
            }
        }
        #expect(await fake.store.requests.isEmpty)
    }
}

extension PlayQuestionFault {
    static func ~= (a: PlayQuestionFault, b: PlayQuestionFault) -> Bool { a == b }
}

struct APIFailureTests {
    struct Case: Sendable, CustomStringConvertible {
        let response: Response
        let code: String
        let isRetryable: Bool
        let outcome: Inquiry.Outcome
        var description: String { "\(response.status) \(code)" }
    }

    private static func error(_ status: Int, _ reason: String, _ word: String = "X") -> Response {
        let details = #"[{"message":"m","domain":"d","reason":"\#(reason)"}]"#
        let text =
            #"{"error":{"code":\#(status),"message":"m","status":"\#(word)","errors":\#(details)}}"#
        return .json(text, status: status)
    }

    static let cases: [Case] = [
        Case(
            response: error(400, "invalid", "INVALID_ARGUMENT"),
            code: "http-400",
            isRetryable: false,
            outcome: .refused
        ),
        Case(
            response: error(401, "authError"),
            code: "unauthorised",
            isRetryable: true,
            outcome: .refused
        ),
        Case(
            response: error(403, "permissionDenied"),
            code: "forbidden",
            isRetryable: false,
            outcome: .refused
        ),
        Case(
            response: error(403, "rateLimitExceeded"),
            code: "throttled",
            isRetryable: true,
            outcome: .throttled
        ),
        Case(
            response: error(403, "x", "RESOURCE_EXHAUSTED"),
            code: "throttled",
            isRetryable: true,
            outcome: .throttled
        ),
        Case(
            response: error(404, "purchaseTokenNotFound"),
            code: "not-found",
            isRetryable: false,
            outcome: .gone
        ),
        Case(
            response: error(410, "purchaseTokenNoLongerValid"),
            code: "gone",
            isRetryable: false,
            outcome: .gone
        ),
        Case(
            response: error(412, "conditionNotMet"),
            code: "conflict",
            isRetryable: false,
            outcome: .refused
        ),
        Case(
            response: error(429, "x"),
            code: "throttled",
            isRetryable: true,
            outcome: .throttled
        ),
        Case(
            response: .json("<html>", status: 500),
            code: "http-500",
            isRetryable: true,
            outcome: .unreachable
        ),
        Case(
            response: error(503, "backendError", "UNAVAILABLE"),
            code: "http-503",
            isRetryable: true,
            outcome: .unreachable
        ),
        Case(
            response: .json(#"{"subscriptionState":"SUBSCR"#),
            code: "malformed-json",
            isRetryable: true,
            outcome: .unreachable
        ),
        Case(
            response: .json(""),
            code: "malformed-json",
            isRetryable: true,
            outcome: .unreachable
        ),
        Case(
            response: .json(#"{"lineItems":[{}]}"#),
            code: "malformed",
            isRetryable: false,
            outcome: .unreachable
        ),
    ]

    @Test(arguments: cases)
    func `each failed answer has its own reason`(answer: Case) async throws {
        let fake = FakePlay(answer.response)
        let found = try #require(
            await failure { _ = try await fake.api().subscription("secret-token") }
        )
        #expect(found.code == answer.code)
        #expect(found.isRetryable == answer.isRetryable)
        #expect(found.outcome == answer.outcome)
        #expect(!found.sentence.contains("secret-token"))
        #expect(!found.sentence.contains("ya29"))
    }

    @Test func `a timeout is reported as an unreachable store`() async {
        struct TimedOut: Error {}
        let fake = FakePlay(failing: TimedOut())
        let found = await failure { _ = try await fake.api().subscription("t") }
        #expect(found?.code == "unreachable")
        #expect(found?.isRetryable == true)
        #expect(found?.outcome == .unreachable)
        #expect(found?.exchange.askedAt == FakePlay.now)
    }

    @Test(
        arguments: [
            ("30", FakePlay.now + .seconds(30)), ("0", FakePlay.now),
            ("Wed, 06 May 2026 10:05:00 GMT", FakePlay.now + .minutes(5)),
            ("Wed, 06 May 2026 09:00:00 GMT", FakePlay.now), ("soon", nil), ("-1", nil),
            ("90000", FakePlay.now + .hours(24)), ("99999999999", FakePlay.now + .hours(24)),
            ("9999999999999999999", nil),
        ] as [(String, Instant?)]
    )
    func `Retry-After is kept`(text: String, expected: Instant?) async {
        let fake = FakePlay(.json("", status: 429, headers: ["Retry-After": text]))
        let found = await failure { _ = try await fake.api().subscription("t") }
        #expect(found?.retryAt == expected)
    }

    @Test func `an answer is dated by the store's clock`() async throws {
        let date: Headers = ["Date": "Wed, 06 May 2026 10:00:07 GMT"]
        let fake = FakePlay(.json("{}", headers: date))
        let ticks = Ticks(from: FakePlay.now, by: .seconds(2))
        let answer = try await fake.api(at: { ticks.next() }).subscription("t")
        let exchange = answer.exchange
        let spent = exchange.answeredAt - exchange.askedAt
        #expect(spent > .zero)
        #expect(exchange.dated == FakePlay.now + .seconds(7))
        #expect(exchange.inquiredAt == FakePlay.now + .seconds(7) - spent)
        #expect(answer.body == Array("{}".utf8))
    }
}

struct APIPagingTests {
    private func page(_ order: String, next: String?) -> Response {
        let place = next.map { #","tokenPagination":{"nextPageToken":"\#($0)"}"# } ?? ""
        let item =
            #"{"purchaseToken":"t","orderId":"\#(order)","voidedTimeMillis":"1777000000000"}"#
        return .json(#"{"voidedPurchases":[\#(item)]\#(place)}"#)
    }

    private func walk(_ fake: FakePlay, atMost bound: Int = 10) async throws -> ([String], Bool) {
        var orders: [String] = []
        let isComplete = try await fake.api().walkVoidedPurchases(atMost: bound) { answer in
            orders += answer.content.voidedPurchases.compactMap(\.orderId)
        }
        return (orders, isComplete)
    }

    @Test func `all pages are read`() async throws {
        let fake = FakePlay(page("1", next: "a"), page("2", next: "b"), page("3", next: nil))
        let (orders, isComplete) = try await walk(fake)
        #expect(orders == ["1", "2", "3"])
        #expect(isComplete)
        let places = await fake.store.requests.map { $0.queryValue("token") }
        #expect(places == [nil, "a", "b"])
    }

    @Test func `reading ends at the page limit and at a repeated page token`() async throws {
        let (orders, isComplete) = try await walk(
            FakePlay(page("1", next: "a"), page("2", next: "b")),
            atMost: 2
        )
        #expect(orders == ["1", "2"])
        #expect(!isComplete)
        let endless = await failure { _ = try await walk(FakePlay(page("1", next: "a"))) }
        #expect(endless?.code == "endless-pages")
    }

    @Test func `an answer without voided purchases is read as an empty list`() async throws {
        let (orders, isComplete) = try await walk(FakePlay(.json("{}")))
        #expect(orders.isEmpty)
        #expect(isComplete)
    }
}
