import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

@Suite struct APIPagingTests {
    struct Enough: Error {}

    static func page(_ ids: [String], _ revision: String?, more: Bool) -> Response {
        .answer([
            "signedTransactions": .array(ids.map { .string($0) }),
            "revision": revision.map { .string($0) } ?? .null, "hasMore": .bool(more),
        ])
    }

    static let three = [
        page(["a", "b"], "r1", more: true), page([], "r2", more: true),
        page(["c"], "r3", more: false),
    ]

    /// Fetches pages of refunds, and returns the transactions and the requested revisions.
    func walk(
        _ store: FakeAPI,
        from place: String? = nil,
        atMost bound: Int = 10,
        until isLast: (RefundHistoryPage) throws -> Bool = { _ in false }
    ) async throws -> (end: AppStorePagesEnd, seen: [String], asked: [String?]) {
        let api = store.api()
        var seen: [String] = []
        let end = try await walkPages(from: place, atMost: bound) { place in
            try await api.refundHistory(of: "1", revision: place)
        } each: { answer in
            seen += answer.content.signedTransactions.map { String(decoding: $0, as: UTF8.self) }
            return try !isLast(answer.content)
        }
        let asked = await store.requests.map { $0.queryValue("revision") }
        return (end, seen, asked)
    }

    @Test func `all pages are read in order, including an empty one`() async throws {
        let store = FakeAPI(Self.three.map { .success($0) })
        let walked = try await walk(store)
        #expect(walked.seen == ["a", "b", "c"])
        #expect(walked.asked == [nil, "r1", "r2"])
        // A later request with the last revision returns only newer refunds.
        #expect(walked.end == AppStorePagesEnd(place: "r3", isComplete: true, pages: 3))
    }

    @Test func `reading stops at the page limit and returns the next cursor`() async throws {
        let store = FakeAPI(Self.three.map { .success($0) })
        let first = try await walk(store, atMost: 2)
        #expect(first.end == AppStorePagesEnd(place: "r2", isComplete: false, pages: 2))
        let rest = try await walk(store, from: first.end.place)
        #expect(rest.seen == ["c"])
        #expect(rest.asked == [nil, "r1", "r2"])
        #expect(rest.end.isComplete)
        let none = try await walk(FakeAPI(Self.three[0]), from: "r7", atMost: 0)
        #expect(none.end == AppStorePagesEnd(place: "r7", isComplete: false, pages: 0))
        #expect(none.asked.isEmpty)
    }

    @Test func `a caller can stop and continue after the last page`() async throws {
        let walked = try await walk(FakeAPI(Self.three[0])) { _ in true }
        #expect(walked.seen == ["a", "b"])
        #expect(walked.end == AppStorePagesEnd(place: "r1", isComplete: false, pages: 1))
    }

    @Test func `a failure between pages keeps the pages already delivered`() async throws {
        let store = FakeAPI(Self.three[0], .error(4_290_000, status: 429))
        let api = store.api()
        var places: [String?] = []
        let failed = await failure {
            _ = try await walkPages(atMost: 9) {
                try await api.refundHistory(of: "1", revision: $0)
            } each: { answer in
                places.append(answer.content.place)
                return true
            }
        }
        #expect(failed?.isRetryable == true)
        #expect(places == ["r1"])
    }

    @Test(arguments: [nil, "r1"])
    func `pages that repeat a cursor end the reading`(second: String?) async throws {
        let store = FakeAPI(
            Self.page(["a"], "r1", more: true),
            Self.page(["b"], second, more: true)
        )
        let failed = try #require(await failure { _ = try await walk(store) })
        guard case .endless = failed.reason else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(await store.requests.count == 2)
        #expect(!failed.isRetryable)
    }

    @Test func `an error of the caller's closure ends the reading`() async throws {
        await #expect(throws: Enough.self) {
            try await walk(FakeAPI(Self.three[0])) { _ in throw Enough() }
        }
    }

    @Test func `notifications and transactions are paged in the same way`() async throws {
        let history = FakeAPI(
            .answer([
                "signedTransactions": ["a"], "revision": "r1", "hasMore": true,
            ]),
            .answer(["signedTransactions": ["b"], "revision": "r2", "hasMore": false])
        )
        let api = history.api()
        let end = try await walkPages(atMost: 5) {
            try await api.transactionHistory(of: "1", revision: $0)
        } each: { _ in
            true
        }
        #expect(end.place == "r2")
        let notifications = FakeAPI(
            .answer(["notificationHistory": [], "paginationToken": "t1", "hasMore": true]),
            .answer(["notificationHistory": [], "hasMore": false])
        )
        let other = notifications.api()
        let filter = NotificationHistoryFilter(from: APIRequestTests.from, to: FakeAPI.now)
        let otherEnd = try await walkPages(atMost: 5) {
            try await other.notificationHistory(filter, paginationToken: $0)
        } each: { _ in
            true
        }
        #expect(otherEnd == AppStorePagesEnd(place: nil, isComplete: true, pages: 2))
        let asked = await notifications.requests
        #expect(asked.map { $0.queryValue("paginationToken") } == [nil, "t1"])
        #expect(asked[0].body == asked[1].body)
    }
}
