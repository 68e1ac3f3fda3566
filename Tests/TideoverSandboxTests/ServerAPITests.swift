import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// The simulated Server API's reads. https://developer.apple.com/documentation/appstoreserverapi
@Suite struct ServerAPITests {
    // MARK: - Statuses

    @Test func `statuses are grouped, each with both documents signed`() async throws {
        let other = AppStoreProduct(
            id: "cards.news",
            group: "news",
            period: try #require(StorePeriod(iso: "P1M")),
            price: try #require(StorePrice("1.99 USD"))
        )
        let client = try await StoreClient([.monthly(), other])
        let id = try await client.buy()
        let second = try await client.buy("cards.news")
        _ = try await client.store.perform(.cancel(product: "cards.news"), by: "anna")
        try await client.pass(until: "2026-06-01T10:00:00Z")

        let answer = try await client.answer("GET", "/inApps/v1/subscriptions/\(second)")
        #expect(answer["environment"] == "Production")
        #expect(answer["bundleId"] == "com.example.cards")
        #expect(answer["appAppleId"] == 1_234_567_890)
        let groups = try #require(answer["data"]?.array)
        #expect(groups.count == 2)
        let items = groups.map { $0["lastTransactions"]?[0] ?? nil }
        #expect(items.map { $0["status"] } == [1, 2])
        #expect(items.map { $0["originalTransactionId"] } == [.string(id), .string(second)])

        let transaction = try client.verified(items[0]["signedTransactionInfo"])
        #expect(transaction["transactionReason"] == "RENEWAL")
        #expect(transaction["originalTransactionId"] == .string(id))
        #expect(
            transaction["subscriptionGroupIdentifier"] == groups[0]["subscriptionGroupIdentifier"]
        )
        let renewal = try client.verified(items[1]["signedRenewalInfo"])
        #expect(renewal["autoRenewStatus"] == 0)
        #expect(renewal["expirationIntent"] == 1)
    }

    @Test func `statuses can be filtered by status`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let path = "/inApps/v1/subscriptions/\(id)"
        #expect(try await client.answer("GET", path + "?status=2")["data"] == [])
        let answer = try await client.answer("GET", path + "?status=2&status=1")
        #expect(answer["data"]?.array?.count == 1)
        for wrong in ["0", "6", "x", ""] {
            #expect(try await client.error("GET", path + "?status=\(wrong)") == 4_000_031)
        }
    }

    @Test(arguments: [
        ("/inApps/v1/subscriptions/", 4_000_006), ("/inApps/v2/history/", 4_000_006),
        ("/inApps/v1/history/", 4_000_006),
        ("/inApps/v1/transactions/", 4_000_006), ("/inApps/v2/refund/lookup/", 4_000_006),
        ("/inApps/v1/transactions/appTransactions/", 4_000_006),
    ])
    func `an invalid and an unknown id have their own errors`(
        path: String,
        malformed: Int
    ) async throws {
        let client = try await StoreClient()
        #expect(try await client.error("GET", path + "abc") == Int64(malformed))
        #expect(try await client.error("GET", path + "123456789012345678901") == Int64(malformed))
        #expect(try await client.error("GET", path + "12345") == 4_040_010)
    }

    @Test func `an app transaction id identifies its customer and is not a transaction`()
        async throws
    {
        let client = try await StoreClient()
        let id = try await client.buy()
        let answer = try await client.answer("GET", "/inApps/v1/transactions/\(id)")
        let transaction = try client.verified(answer["signedTransactionInfo"])
        #expect(transaction["transactionId"] == .string(id))
        let app = try #require(transaction["appTransactionId"]?.string)

        let statuses = try await client.answer("GET", "/inApps/v1/subscriptions/\(app)")
        #expect(statuses["data"]?.array?.count == 1)
        #expect(try await client.error("GET", "/inApps/v1/transactions/\(app)") == 4_000_048)

        let copy = try client.verified(
            try await client.answer("GET", "/inApps/v1/transactions/appTransactions/\(id)")[
                "signedAppTransactionInfo"
            ],
            dated: "receiptCreationDate"
        )
        #expect(copy["appTransactionId"] == .string(app))
        #expect(copy["receiptType"] == "Production")
        #expect(copy["bundleId"] == "com.example.cards")
        #expect(copy["appAppleId"] == 1_234_567_890)
    }

    // MARK: - Transaction history

    @Test func `a history comes in pages of 20 and is complete`() async throws {
        let client = try await StoreClient([.weekly(grace: .off)])
        let id = try await client.buy("cards.pro.weekly")
        try await client.pass(until: "2027-02-15T10:00:00Z")
        let all = try await pages(client, "/inApps/v2/history/\(id)")
        #expect(all.map(\.count) == [20, 20, 2])
        let dates = all.joined().compactMap { $0["purchaseDate"]?.int64 }
        #expect(dates.count == 42)
        #expect(zip(dates, dates.dropFirst()).allSatisfy { $0 < $1 })

        let reversed = try await pages(client, "/inApps/v2/history/\(id)?sort=DESCENDING")
        #expect(
            Array(reversed.joined()).compactMap { $0["purchaseDate"]?.int64 } == dates.reversed()
        )
    }

    @Test func `the first version of the history returns the same as the second`() async throws {
        let client = try await StoreClient([.weekly(grace: .off)])
        let id = try await client.buy("cards.pro.weekly")
        try await client.pass(until: "2026-10-15T10:00:00Z")
        for query in ["", "?sort=DESCENDING", "?revoked=true"] {
            let first = try await pages(client, "/inApps/v1/history/\(id)\(query)")
            let second = try await pages(client, "/inApps/v2/history/\(id)\(query)")
            #expect(first.map(ids) == second.map(ids), "\(query)")
        }
        #expect(try await pages(client, "/inApps/v1/history/\(id)").map(\.count) == [20, 4])
        let calls = await client.store.calls.map(\.operation)
        #expect(calls.contains(.transactionHistoryV1))
    }

    private func ids(_ page: [JSONValue]) -> [String?] {
        page.map { $0["transactionId"]?.string }
    }

    private func pages(_ client: StoreClient, _ path: String) async throws -> [[JSONValue]] {
        var pages: [[JSONValue]] = []
        var revision: String?
        while true {
            let mark = revision.map { (path.contains("?") ? "&" : "?") + "revision=\($0)" } ?? ""
            let answer = try await client.answer("GET", path + mark)
            pages.append(try client.verified(all: answer["signedTransactions"]))
            revision = try #require(answer["revision"]?.string)
            guard answer["hasMore"] == true else { return pages }
        }
    }

    @Test func `a revision later returns the changes since`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let path = "/inApps/v2/history/\(id)"
        let first = try await client.answer("GET", path)
        let revision = try #require(first["revision"]?.string)
        #expect(first["hasMore"] == false)
        let none = try await client.answer("GET", path + "?revision=\(revision)")
        #expect(none["signedTransactions"] == [])
        #expect(none["revision"] == .string(revision))

        try await client.pass(until: "2026-05-20T10:00:00Z")
        try await client.store.perform(.refund(product: nil, reason: .appIssue), by: "anna")
        let changed = try await client.answer("GET", path + "?revision=\(revision)")
        let transactions = try client.verified(all: changed["signedTransactions"])
        #expect(transactions.map { $0["transactionId"] } == [.string(id)])
        #expect(transactions.first?["revocationReason"] == 1)
    }

    @Test(arguments: [
        ("productId=cards.pro.monthly", 3), ("productId=x", 0),
        ("productId=x&productId=cards.pro.monthly", 3), ("productType=AUTO_RENEWABLE", 3),
        ("productType=CONSUMABLE", 0), ("inAppOwnershipType=PURCHASED", 3),
        ("inAppOwnershipType=FAMILY_SHARED", 0), ("revoked=true", 1), ("revoked=false", 2),
        ("revoked=True", 1), ("revoked=False", 2),
        ("subscriptionGroupIdentifier=1", 0),
        // 1 June 10:00, the instant of the first renewal: from the start on, before the end.
        ("startDate=1780308000000", 2), ("startDate=1780308000001", 1),
        ("endDate=1780308000000", 1), ("endDate=1780308000001", 2),
        ("startDate=1780308000000&endDate=1780308000001", 1),
    ])
    func `a history can be filtered`(filter: String, count: Int) async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        try await client.pass(until: "2026-07-10T10:00:00Z")
        try await client.store.perform(.refund(product: nil, reason: .other), by: "anna")
        let found = try await pages(client, "/inApps/v2/history/\(id)?\(filter)")
        #expect(found.joined().count == count)
    }

    @Test(arguments: [
        ("sort=UP", 4_000_021), ("productType=AUTO", 4_000_022), ("productId=", 4_000_023),
        ("subscriptionGroupIdentifier=", 4_000_024), ("inAppOwnershipType=MINE", 4_000_026),
        ("revoked=yes", 4_000_030), ("startDate=x", 4_000_015), ("endDate=-1", 4_000_016),
        ("startDate=2&endDate=1", 4_000_013), ("revision=x", 4_000_005),
        ("revision=1_2_3", 4_000_005),
    ])
    func `an invalid filter has its own error`(filter: String, code: Int) async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let error = try await client.error("GET", "/inApps/v2/history/\(id)?\(filter)")
        #expect(error == Int64(code))
    }

    @Test func `a revision is valid only with its filters`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let path = "/inApps/v2/history/\(id)?revoked=false"
        let revision = try #require(try await client.answer("GET", path)["revision"]?.string)
        _ = try await client.answer("GET", path + "&revision=\(revision)")
        let other = "/inApps/v2/history/\(id)?revoked=true&revision=\(revision)"
        #expect(try await client.error("GET", other) == 4_000_005)
    }

    // MARK: - Refunds and orders

    @Test func `refunds are listed in order, and new ones with the old revision`()
        async throws
    {
        let client = try await StoreClient()
        let first = try await client.buy()
        let path = "/inApps/v2/refund/lookup/\(first)"
        let none = try await client.answer("GET", path)
        #expect(none["signedTransactions"] == [])
        try await client.pass(until: "2026-05-20T10:00:00Z")
        try await client.store.perform(.refund(product: nil, reason: .other), by: "anna")
        let one = try await client.answer("GET", path)
        #expect(try client.verified(all: one["signedTransactions"]).count == 1)
        let second = try await client.buy()
        try await client.store.perform(.refund(product: nil, reason: .appIssue), by: "anna")

        let all = try client.verified(
            all: try await client.answer("GET", path)["signedTransactions"]
        )
        #expect(all.map { $0["transactionId"] } == [.string(first), .string(second)])
        let revision = try #require(one["revision"]?.string)
        let since = try client.verified(
            all: try await client.answer("GET", path + "?revision=\(revision)")[
                "signedTransactions"
            ]
        )
        #expect(since.map { $0["transactionId"] } == [.string(second)])

        try await client.store.perform(.reverseRefund(product: nil), by: "anna")
        let left = try await client.answer("GET", path)
        #expect(left["signedTransactions"]?.array?.count == 1)
    }

    @Test func `an invalid order is reported, and a sandbox has no orders`() async throws {
        let client = try await StoreClient()
        _ = try await client.buy()
        let answer = try await client.answer("GET", "/inApps/v1/lookup/MXXXXX")
        #expect(answer["status"] == 1)
        #expect(answer["signedTransactions"] == [])
        let sandbox = try await StoreClient(environment: .sandbox)
        #expect(try await sandbox.call("GET", "/inApps/v1/lookup/MXXXXX").status == 404)
    }

    @Test func `an order id returns its transaction`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let order = try #require(await client.store.order(of: id))
        let answer = try await client.answer("GET", "/inApps/v1/lookup/\(order)")
        #expect(answer["status"] == 0)
        let transactions = try client.verified(all: answer["signedTransactions"])
        #expect(transactions.map { $0["transactionId"] } == [.string(id)])
    }
}
