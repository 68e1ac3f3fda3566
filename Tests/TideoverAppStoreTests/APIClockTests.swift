import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Tests the difference between our clock and the store's, which its responses show.
@Suite struct APIClockTests {
    /// 2026-05-06T10:00:00Z, the fixed time of our clock.
    static let now = Instant(millisecondsSince1970: 1_778_061_600_000)
    static let date = "Wed, 06 May 2026 10:00:00 GMT"

    func ask(_ response: Response, at now: Instant = now) async throws -> AppStoreAPIFailure {
        let api = FakeAPI(response).api(at: { now })
        return try #require(await failure { _ = try await api.subscriptionStatuses(of: "1") })
    }

    // MARK: 401

    @Test(
        arguments: [
            ("Wed, 06 May 2026 10:00:00 GMT", 0, false),
            ("Wed, 06 May 2026 10:00:59 GMT", 59_000, false),
            ("Wed, 06 May 2026 10:20:00 GMT", 20 * 60_000, true),
            ("Thu, 07 May 2026 10:00:00 GMT", 86_400_000, true),
            ("Wed, 06 May 2026 09:59:59 GMT", -1000, false),
            ("Wed, 06 May 2026 09:59:00 GMT", -60_000, true),
            ("Tue, 06 May 2025 10:00:00 GMT", -365 * 86_400_000, true),
            ("yesterday", nil, false), ("Wed, 6 May 2026 10:00:00 GMT", nil, false),
            ("Wed, 06 May 2026 10:00:00 CET", nil, false),
        ] as [(String, Int64?, Bool)]
    )
    func `a 401 is attributed to the clock only if the clock is wrong`(
        date: String,
        ahead: Int64?,
        isExplained: Bool
    ) async throws {
        let response = FakeAPI.dated(date, .text("Unauthenticated", status: 401))
        let failed = try await ask(response)
        guard case .unauthorised(let skew) = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(skew.ahead?.count == ahead)
        #expect(skew.explainsRefusal == isExplained)
        #expect(failed.isRetryable == isExplained)
        #expect(failed.outcome == .refused)
    }

    // MARK: 429

    static let inAMinute = now + .minutes(1)

    @Test(
        arguments: [
            // Milliseconds since 1970, as the App Store writes it.
            ("1778061660000", date, inAMinute),
            ("1778061660000", nil, inAMinute),
            // Our clock is an hour behind, but the wait is still a minute by the store's clock.
            ("1778065260000", "Wed, 06 May 2026 11:00:00 GMT", inAMinute),
            // In the past, or beyond any hourly limit.
            ("1778061600000", date, now), ("1678061600000", date, now),
            ("1878061600000", date, now + .hours(24)),
            ("9223372036854775807", nil, now + .hours(24)),
            // Seconds or a date, as proxies write it.
            ("60", date, inAMinute), ("0", nil, now),
            ("Wed, 06 May 2026 10:01:00 GMT", date, inAMinute),
            ("-5", date, nil), ("soon", date, nil), ("", date, nil), (nil, date, nil),
        ] as [(String?, String?, Instant?)]
    )
    func `the instant for a retry is given in milliseconds since 1970`(
        retryAfter: String?,
        date: String?,
        expected: Instant?
    ) async throws {
        var response = Response.error(4_290_000, status: 429)
        response.headers["Retry-After"] = retryAfter
        response.headers["Date"] = date
        let failed = try await ask(response)
        guard case .throttled = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(failed.retryAt == expected)
        #expect(failed.isRetryable)
    }

    @Test func `status 429 alone reports the rate limit`() async throws {
        let failed = try await ask(.text("", status: 429))
        guard case .throttled = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(failed.outcome == .throttled)
    }

    @Test func `an unavailable store can name the instant for a retry`() async throws {
        var response = Response.text("", status: 503)
        response.headers["Retry-After"] = "120"
        #expect(try await ask(response).retryAt == Self.now + .minutes(2))
    }

    // MARK: Inquiries

    @Test func `an inquiry is a fact dated by the store's clock`() async throws {
        // Our clock is an hour behind, and the response takes four seconds.
        let ours = Ticks(from: Self.now, by: .seconds(4))
        let store = FakeAPI(
            FakeAPI.dated("Wed, 06 May 2026 11:00:04 GMT", .answer(["data": []]))
        )
        let api = store.api(at: { ours.next() })
        let exchange = try await api.subscriptionStatuses(of: "1").exchange
        #expect(exchange.askedAt == Self.now)
        #expect(exchange.answeredAt == Self.now + .seconds(4))
        #expect(exchange.skew == .hours(1))
        let lineage = Lineage(
            store: .appStore,
            environment: .production,
            id: "1",
            ownership: .purchased
        )
        let fact = exchange.fact(
            about: lineage,
            outcome: .answered,
            source: .appStoreAPI,
            evidence: EvidenceID(hex: "00")
        )
        #expect(fact.assertion == .inquiry(Inquiry(askedAt: Self.now, outcome: .answered)))
        #expect(fact.assertedAt == Self.now + .hours(1))
        #expect(fact.learnedAt == exchange.answeredAt)
        #expect(fact.source == .appStoreAPI)
        #expect(fact.rank == .store)
    }
}
