import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat

/// Tests requests to the REST API and their responses.
@Suite struct APITests {
    static let now = RevenueCatWire.instant("2026-05-10T10:00:01Z")

    private struct Broken: Error {}

    static func api(_ handler: @escaping Handler) -> RevenueCatAPI {
        RevenueCatAPI(key: "sk_secret", clock: { now }, handler: handler)
    }

    /// Returns the failure that a response causes; nil if there is none.
    static func failure(_ answer: Response) async -> RevenueCatAPIFailure? {
        await failure { _ in answer }
    }

    static func failure(_ handler: @escaping Handler) async -> RevenueCatAPIFailure? {
        do {
            _ = try await api(handler).subscriber(customer)
            return nil
        } catch {
            return error as? RevenueCatAPIFailure
        }
    }

    static let customer: CustomerID = {
        guard let id = CustomerID("u 42/ä") else { preconditionFailure("an id is not empty") }
        return id
    }()

    @Test func `a customer is requested with the key and an encoded id`() async throws {
        let body = SubscriberWire.answer(["p": .object(SubscriberWire.subscription())])
        let answer = try await Self.api { request in
            #expect(request.method == "GET")
            #expect(request.path == "/v1/subscribers/u%2042%2F%C3%A4")
            #expect(request.headers["Authorization"] == "Bearer sk_secret")
            return Response(
                headers: [
                    "RevenueCat-Rate-Limit-Current-Usage": "478",
                    "RevenueCat-Rate-Limit-Current-Limit": "480",
                ],
                body: body
            )
        }.subscriber(Self.customer)
        #expect(answer.subscriber.subscriptions.map(\.productId) == ["p"])
        #expect(answer.body == body)
        #expect(!answer.isNew)
        #expect(answer.exchange.askedAt == Self.now)
        #expect(answer.exchange.rate?.left == 2)
    }

    @Test func `an answer shows whether the request created the customer`() async throws {
        let answer = try await Self.api { _ in
            Response(status: 201, body: SubscriberWire.answer())
        }.subscriber(Self.customer)
        #expect(answer.isNew)
        #expect(answer.exchange.rate == nil)
    }

    static let failures: [(Response, code: String, isRetryable: Bool, Inquiry.Outcome)] = [
        (Response(status: 401), "unauthorised", false, .refused),
        (Response(status: 403), "forbidden", false, .refused),
        (Response(status: 404), "unknown-customer", false, .gone),
        (Response(status: 429), "throttled", true, .throttled),
        (Response(status: 500), "http-500", true, .unreachable),
        (Response(status: 503, body: Array("<html>".utf8)), "http-503", true, .unreachable),
        (Response(status: 423), "http-423", true, .unreachable),
        (Response(status: 302), "http-302", false, .refused),
        (Response(status: 204), "http-204", false, .refused),
        (
            Response(status: 400, body: Array(#"{"code": 7220, "message": "x"}"#.utf8)),
            "revenuecat-7220", false, .refused
        ),
        (
            Response(status: 422, body: Array(#"{"retryable": true}"#.utf8)),
            "http-422", true, .unreachable
        ),
        (Response(body: Array(#"{"request_date": "#.utf8)), "malformed-json", true, .unreachable),
        (Response(body: Array("{}".utf8)), "malformed", false, .unreachable),
    ]

    @Test(arguments: failures.indices)
    func `each failure is marked as retryable or not`(_ row: Int) async throws {
        let (answer, code, isRetryable, outcome) = Self.failures[row]
        let failure = try #require(await Self.failure(answer))
        #expect(failure.code == code)
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.outcome == outcome)
        #expect(failure.sentence.hasSuffix("."))
        #expect(!failure.sentence.contains("sk_secret") && !failure.sentence.contains("u 42"))
    }

    @Test func `an answer truncated anywhere is refused`() async throws {
        let whole = SubscriberWire.answer(["p": .object(SubscriberWire.subscription())])
        for length in stride(from: 0, to: whole.count, by: 7) {
            let failure = await Self.failure(Response(body: Array(whole[..<length])))
            #expect(failure?.code == "malformed-json")
        }
    }

    @Test func `a missing answer is retryable, and a cancelled request is not`() async throws {
        let failure = try #require(await Self.failure { _ in throw Broken() })
        #expect(failure.code == "unreachable")
        #expect(failure.isRetryable)
        await #expect(throws: CancellationError.self) {
            try await Self.api { _ in throw CancellationError() }.subscriber(Self.customer)
        }
    }

    static let waits: [(Headers, body: String, Milliseconds?)] = [
        ([:], "", nil), (["Retry-After": "30"], "", .seconds(30)),
        (["Retry-After": "1500"], "", Milliseconds(1500)),
        (["Retry-After": "30"], #"{"backoff_ms": 250}"#, Milliseconds(250)),
        (["Retry-After": "soon"], "{}", nil), (["Retry-After": "-1"], "", nil),
        (["Retry-After": "99999999999"], "", .hours(1)),
    ]

    @Test(arguments: waits.indices)
    func `a rate limit contains the instant for a retry`(_ row: Int) async throws {
        let (headers, body, wait) = Self.waits[row]
        let answer = Response(status: 429, headers: headers, body: Array(body.utf8))
        let failure = try #require(await Self.failure(answer))
        #expect(failure.retryAt == wait.map { Self.now + $0 })
    }
}
