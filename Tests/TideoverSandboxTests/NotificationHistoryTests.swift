import Testing
import TideoverCalendar
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// The store's notifications, their delivery attempts, and the notification history.
/// https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications
@Suite struct NotificationHistoryTests {
    private static let path = "/inApps/v1/notifications/history"

    private func history(
        _ client: StoreClient,
        _ more: JSONObject = [:],
        token: String? = nil
    ) async throws -> JSONValue {
        let target = NotificationHistoryTests.path + (token.map { "?paginationToken=\($0)" } ?? "")
        return try await client.answer("POST", target, .object(try await wish(client, more)))
    }

    /// Returns a request for the whole history, with a test's changes.
    private func wish(_ client: StoreClient, _ more: JSONObject) async throws -> JSONObject {
        let now = await client.store.now
        var wish: JSONObject = [
            "startDate": .integer(now - 179 * CivilDate.millisecondsPerDay),
            "endDate": .integer(now),
        ]
        for (name, value) in more { wish[name] = value }
        return wish
    }

    private func records(_ answer: JSONValue) throws -> [JSONValue] {
        try #require(answer["notificationHistory"]?.array)
    }

    @Test func `a failed delivery is retried five times at growing intervals`()
        async throws
    {
        let client = try await StoreClient()
        _ = try await client.buy()
        try await client.pass(until: "2026-05-20T10:00:00Z", answering: 503)
        let record = try #require(try records(try await history(client)).first)
        let attempts = try #require(record["sendAttempts"]?.array)
        #expect(
            attempts.allSatisfy { $0["sendAttemptResult"] == "UNSUCCESSFUL_HTTP_RESPONSE_CODE" }
        )
        let dates = attempts.compactMap { $0["attemptDate"]?.int64 }
        let hours = zip(dates, dates.dropFirst()).map { ($1 - $0) / 3_600_000 }
        #expect(hours == [1, 12, 24, 48, 72])
        #expect(try client.verified(record["signedPayload"])["notificationType"] == "SUBSCRIBED")
    }

    @Test func `a history of the future is empty`() async throws {
        let client = try await StoreClient()
        let now = await client.store.now
        let ahead: JSONObject = ["startDate": .integer(now + 1), "endDate": .integer(now + 2)]
        #expect(try records(try await history(client, ahead)).isEmpty)
    }

    @Test func `a sandbox delivers once`() async throws {
        let client = try await StoreClient(environment: .sandbox)
        _ = try await client.buy()
        try await client.pass(until: "2026-05-20T10:00:00Z", answering: 500)
        let letters = await client.store.letters
        #expect(letters.map(\.attempts.count) == [1])
    }

    @Test(arguments: [200, 204, 206])
    func `retries end with the first success`(status: Int) async throws {
        let client = try await StoreClient()
        _ = try await client.buy()
        try await client.pass(until: "2026-05-01T12:00:00Z", answering: 404)
        try await client.pass(until: "2026-05-20T10:00:00Z", answering: status)
        let letters = await client.store.letters
        #expect(
            letters.map { $0.attempts.map(\.result) } == [
                [.unsuccessfulStatus, .unsuccessfulStatus, .success]
            ]
        )
    }

    @Test func `a retried notification is the same notification`() async throws {
        let client = try await StoreClient()
        _ = try await client.buy()
        let seen = Bodies()
        let end = try #require(InstantText.read("2026-05-03T10:00:00Z"))
        try await client.store.advance(to: end) { body in
            await seen.add(body)
            return 500
        }
        let contents = try await seen.bodies.map { body in
            try client.verified(JSONValue(try JSONDocument(body).root)["signedPayload"])
        }
        #expect(contents.count == 4)
        #expect(Set(contents.map { $0["notificationUUID"] }).count == 1)
        #expect(Set(contents.map { $0["signedDate"] }).count == 1)
    }

    private actor Bodies {
        var bodies: [[UInt8]] = []

        func add(_ body: [UInt8]) { bodies.append(body) }
    }

    @Test func `a receiver that throws counts as no response`() async throws {
        struct Down: Error {}
        let client = try await StoreClient(environment: .sandbox)
        _ = try await client.buy()
        let end = try #require(InstantText.read("2026-05-03T10:00:00Z"))
        try await client.store.advance(to: end) { _ in throw Down() }
        let letters = await client.store.letters
        #expect(letters.flatMap { $0.attempts.map(\.result) } == [.noResponse])
    }

    @Test func `a history comes in pages of 20, oldest first, each once`() async throws {
        let client = try await StoreClient([.weekly(grace: .off)])
        _ = try await client.buy("cards.pro.weekly")
        try await client.pass(until: "2026-10-20T10:00:00Z")
        let wish = try await wish(client, [:])
        var ids: [JSONValue] = []
        var token: String?
        var counts: [Int] = []
        repeat {
            let target =
                NotificationHistoryTests.path + (token.map { "?paginationToken=\($0)" } ?? "")
            let answer = try await client.answer("POST", target, .object(wish))
            let page = try records(answer)
            counts.append(page.count)
            for record in page {
                ids.append(
                    try #require(try client.verified(record["signedPayload"])["notificationUUID"])
                )
            }
            token = answer["paginationToken"]?.string
            #expect((answer["hasMore"] == true) == (token != nil))
            // Notifications that arrive between the pages come last.
            if token != nil { await client.store.requestTestNotification() }
        } while token != nil
        let sent = await client.store.letters.filter { !$0.attempts.isEmpty }
        #expect(counts == [20, 5])
        #expect(ids == sent.map { .string($0.notification.uuid) })
    }

    @Test func `notifications beyond the history are deleted, and pages continue where they were`()
        async throws
    {
        let client = try await StoreClient([.weekly(grace: .off)])
        _ = try await client.buy("cards.pro.weekly")
        try await client.pass(until: "2026-10-20T10:00:00Z")
        // Without the first two of the 25 that are sent from 1 May to 16 October.
        let start = try #require(InstantText.read("2026-05-10T10:00:00Z"))
        let wish = JSONValue.object(try await wish(client, ["startDate": .integer(start)]))
        let first = try await client.answer("POST", NotificationHistoryTests.path, wish)
        #expect(try records(first).count == 20)
        let token = try #require(first["paginationToken"]?.string)
        try await client.pass(until: "2026-11-05T10:00:00Z")
        let oldest = try #require(await client.store.letters.first?.notification.signedDate)
        #expect(oldest > start - CivilDate.millisecondsPerDay)
        let target = NotificationHistoryTests.path + "?paginationToken=\(token)"
        let second = try await client.answer("POST", target, wish)
        #expect(try records(second).count == 3)
        #expect(second["hasMore"] == false)
    }

    @Test func `a history can be filtered by failures, a type or a customer`() async throws {
        let client = try await StoreClient()
        try await client.store.register(StoreCustomer(name: "ben", appAccountToken: nil))
        let anna = try await client.buy()
        try await client.pass(until: "2026-05-01T11:00:00Z", answering: 500)
        let ben = try await client.buy(as: "ben")
        try await client.pass(until: "2026-05-01T11:00:05Z")
        _ = try await client.store.perform(.cancel(product: nil), by: "ben")
        try await client.pass(until: "2026-05-01T11:00:10Z")

        func kinds(_ more: JSONObject) async throws -> [String] {
            try records(try await history(client, more)).map { record in
                try #require(
                    try client.verified(record["signedPayload"])["notificationType"]?.string
                )
            }
        }
        #expect(
            try await kinds([:]) == ["SUBSCRIBED", "SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS"]
        )
        #expect(try await kinds(["onlyFailures": true]) == [])
        #expect(try await kinds(["transactionId": .string(anna)]) == ["SUBSCRIBED"])
        #expect(try await kinds(["transactionId": .string(ben)]).count == 2)
        #expect(try await kinds(["notificationType": "SUBSCRIBED"]).count == 2)
        let off: JSONObject = [
            "notificationType": "DID_CHANGE_RENEWAL_STATUS",
            "notificationSubtype": "AUTO_RENEW_DISABLED",
        ]
        #expect(try await kinds(off).count == 1)
        #expect(try await kinds(["notificationType": "REFUND"]) == [])
    }

    @Test func `an undelivered notification counts as a failure until it arrives`() async throws {
        let client = try await StoreClient()
        _ = try await client.buy()
        let failures: JSONObject = ["onlyFailures": true]
        try await client.pass(until: "2026-05-01T10:30:00Z", answering: 500)
        #expect(try records(try await history(client, failures)).count == 1)
        try await client.pass(until: "2026-05-01T12:00:00Z")
        #expect(try records(try await history(client, failures)).isEmpty)
        #expect(try records(try await history(client)).count == 1)
    }

    @Test(
        arguments: [
            (["startDate": nil], 4_000_015), (["endDate": "x"], 4_000_016),
            (["startDate": 1_777_629_600_000, "endDate": 1_777_629_600_000], 4_000_013),
            (["startDate": 1_762_077_599_999], 4_000_012),
            (["notificationType": "NEWS"], 4_000_018),
            (["notificationType": "REFUND", "notificationSubtype": "UPGRADE"], 4_000_018),
            (["notificationSubtype": "UPGRADE"], 4_000_018),
            (["transactionId": 7], 4_000_006), (["transactionId": "7"], 4_040_010),
        ] as [(JSONObject, Int)]
    )
    func `an invalid request has its own error`(
        more: JSONObject,
        code: Int
    ) async throws {
        let client = try await StoreClient()
        let wish = try await wish(client, more)
        let error = try await client.error("POST", NotificationHistoryTests.path, .object(wish))
        #expect(error == Int64(code))
    }

    @Test func `a type and a customer exclude each other`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let wish = try await wish(
            client,
            ["transactionId": .string(id), "notificationType": "REFUND"]
        )
        let path = NotificationHistoryTests.path
        #expect(try await client.error("POST", path, .object(wish)) == 4_000_019)
        #expect(try await client.error("POST", path, []) == 4_000_000)
        #expect(try await client.error("POST", path) == 4_000_000)
    }

    @Test func `a token belongs to the request it was made for`() async throws {
        let client = try await StoreClient([.weekly(grace: .off)])
        _ = try await client.buy("cards.pro.weekly")
        try await client.pass(until: "2026-10-20T10:00:00Z")
        let token = try #require(try await history(client)["paginationToken"]?.string)
        let wish = JSONValue.object(try await wish(client, ["onlyFailures": true]))
        for token in [token, "x", "-1_x", "99999_x"] {
            let target = NotificationHistoryTests.path + "?paginationToken=\(token)"
            #expect(try await client.error("POST", target, wish) == 4_000_014)
        }
    }

    @Test(arguments: [(AppStoreEnvironment.production, 180), (.sandbox, 30)])
    func `a history goes back half a year, a sandbox's a month`(
        environment: AppStoreEnvironment,
        days: Int
    ) async throws {
        let client = try await StoreClient(environment: environment)
        let oldest = await client.store.now - Int64(days) * CivilDate.millisecondsPerDay
        let wish = try await wish(client, ["startDate": .integer(oldest)])
        _ = try await client.answer("POST", NotificationHistoryTests.path, .object(wish))
        let older = try await self.wish(client, ["startDate": .integer(oldest - 1)])
        let path = NotificationHistoryTests.path
        #expect(try await client.error("POST", path, .object(older)) == 4_000_012)
    }

    // MARK: - Tests

    @Test func `a test notification is sent, and its status reports the result`() async throws {
        let client = try await StoreClient()
        let path = "/inApps/v1/notifications/test"
        let answer = try await client.answer("POST", path)
        let token = try #require(answer["testNotificationToken"]?.string)
        #expect(try await client.error("GET", "\(path)/\(token)") == 4_040_008)
        try await client.pass(until: "2026-05-01T10:00:10Z")
        let status = try await client.answer("GET", "\(path)/\(token)")
        #expect(status["sendAttempts"]?[0]?["sendAttemptResult"] == "SUCCESS")
        let payload = try client.verified(status["signedPayload"])
        #expect(payload["notificationType"] == "TEST")
        #expect(payload["data"]?["bundleId"] == "com.example.cards")
        #expect(payload["data"]?["signedTransactionInfo"] == nil)
    }

    @Test func `an invalid, unknown or old token has its own error`() async throws {
        let client = try await StoreClient()
        let path = "/inApps/v1/notifications/test"
        #expect(try await client.error("GET", "\(path)/nonsense") == 4_000_020)
        let unknown = "7e3fb20b-4cdb-47cc-936d-99d65f608138_1777629600000"
        #expect(try await client.error("GET", "\(path)/\(unknown)") == 4_040_008)
        let answer = try await client.answer("POST", path)
        let token = try #require(answer["testNotificationToken"]?.string)
        try await client.pass(until: "2026-10-28T10:00:00Z")
        _ = try await client.answer("GET", "\(path)/\(token)")
        try await client.pass(until: "2026-10-28T10:00:01Z")
        #expect(try await client.error("GET", "\(path)/\(token)") == 4_040_008)
    }

    @Test func `a test notification needs a URL`() async throws {
        let client = try await StoreClient()
        await client.store.setHasNotificationURL(false)
        #expect(try await client.error("POST", "/inApps/v1/notifications/test") == 4_040_007)
    }
}
