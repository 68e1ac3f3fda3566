import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// Extensions of all subscribers at once.
/// https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers
@Suite struct MassExtensionTests {
    private static let path = "/inApps/v1/subscriptions/extend/mass"
    private static let product = "cards.pro.monthly"
    private static let id = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"

    private func wish(_ changes: JSONObject = [:]) -> JSONValue {
        var wish: JSONObject = [
            "extendByDays": 10, "extendReasonCode": 3, "requestIdentifier": .string(Self.id),
            "productId": .string(Self.product),
        ]
        for (name, value) in changes { wish[name] = value }
        return .object(wish)
    }

    private func status(_ client: StoreClient) async throws -> JSONValue {
        try await client.answer("GET", "\(Self.path)/\(Self.product)/\(Self.id)")
    }

    private func types(_ client: StoreClient) async -> [String] {
        await client.store.letters.map { letter in
            let event = letter.notification.event
            return [event.notificationType, event.subtype].compactMap(\.self).joined(separator: " ")
        }
    }

    /// Anna pays, Ben is in his trial, Cleo cannot pay, Dora has expired and Emil pays in Germany.
    private func customers() async throws -> StoreClient {
        let client = try await StoreClient([.monthly(trial: "P1W", grace: .threeDays)])
        let germany = try #require(Storefront.known.first { $0.country == "DEU" })
        for name in ["ben", "cleo", "dora"] {
            try await client.store.register(StoreCustomer(name: name, appAccountToken: nil))
        }
        try await client.store.register(
            StoreCustomer(name: "emil", appAccountToken: nil, storefront: germany)
        )
        for name in ["cleo", "dora"] { _ = try await client.buy(as: name) }
        try await client.store.perform(.failPayments, by: "cleo")
        try await client.store.perform(.cancel(product: nil), by: "dora")
        try await client.pass(until: "2026-06-02T10:00:00Z")
        for name in ["anna", "emil"] { _ = try await client.buy(as: name) }
        try await client.store.perform(
            .subscribe(product: Self.product, trial: .required),
            by: "ben"
        )
        return client
    }

    @Test func `every active subscriber is extended, and the store reports who and how many`()
        async throws
    {
        let client = try await customers()
        try await client.pass(until: "2026-06-02T10:00:10Z")
        let before = await types(client).count
        let answer = try await client.answer("POST", Self.path, wish())
        #expect(answer == ["requestIdentifier": .string(Self.id)])
        #expect(
            try await status(client) == ["requestIdentifier": .string(Self.id), "complete": false]
        )
        #expect(await types(client).count == before)

        try await client.pass(until: "2026-06-02T11:00:00Z")
        let done = try await status(client)
        #expect(done["complete"] == true)
        #expect(done["succeededCount"] == 2)
        #expect(done["failedCount"] == 1)
        let completed = try #require(done["completeDate"]?.int64)
        #expect((1_780_394_410_000...1_780_398_000_000).contains(completed))
        let letters = await client.store.letters.dropFirst(before).map(\.notification)
        #expect(
            await types(client).dropFirst(before) == [
                "RENEWAL_EXTENDED", "RENEWAL_EXTENSION FAILURE", "RENEWAL_EXTENDED",
                "RENEWAL_EXTENSION SUMMARY",
            ]
        )
        #expect(letters.map(\.customer) == ["anna", "ben", "emil", nil])
        // 12 July, ten days after the end of a month from 2 June.
        #expect(letters[0].transaction?["expiresDate"] == 1_783_850_400_000)
        #expect(letters[1].data["bundleId"]?.string == StoreClient.bundleId)
    }

    @Test func `the summary replaces the data and covers the whole request`()
        async throws
    {
        let client = try await customers()
        _ = try await client.answer(
            "POST",
            Self.path,
            wish(["storefrontCountryCodes": ["DEU", "MEX"]])
        )
        try await client.pass(until: "2026-06-02T11:00:00Z")
        let last = try #require(await client.store.letters.last?.notification)
        let payload = JSONValue(try JSONDocument(last.unsigned).root)
        #expect(payload["data"] == nil)
        #expect(
            payload["summary"] == [
                "requestIdentifier": .string(Self.id), "environment": "Production",
                "bundleId": "com.example.cards", "productId": .string(Self.product),
                "succeededCount": 1, "failedCount": 0, "appAppleId": 1_234_567_890,
                "storefrontCountryCodes": ["DEU", "MEX"],
            ]
        )
        let target = "/inApps/v1/notifications/history"
        let asked: JSONValue = [
            "startDate": 1_780_394_400_000, "endDate": 1_780_398_000_000,
            "notificationType": "RENEWAL_EXTENSION",
        ]
        let history = try await client.answer("POST", target, asked)
        #expect(history["notificationHistory"]?.array?.count == 1)
    }

    @Test func `a repeated request is the same one`() async throws {
        let client = try await StoreClient()
        _ = try await client.buy()
        for _ in 0..<2 { _ = try await client.answer("POST", Self.path, wish()) }
        try await client.pass(until: "2026-05-01T12:00:00Z")
        #expect(await types(client).filter { $0 == "RENEWAL_EXTENDED" }.count == 1)
    }

    @Test(
        arguments: [
            ("extendByDays", 0, 4_000_009), ("extendByDays", 91, 4_000_009),
            ("extendReasonCode", 4, 4_000_010), ("requestIdentifier", "", 4_000_011),
            ("productId", nil, 4_000_023), ("productId", "other", 4_000_023),
            ("storefrontCountryCodes", [], 4_000_027),
            ("storefrontCountryCodes", ["US"], 4_000_028),
            ("storefrontCountryCodes", "USA", 4_000_028),
        ] as [(String, JSONValue, Int)]
    )
    func `a conflicting request has its own error`(
        name: String,
        value: JSONValue,
        code: Int
    ) async throws {
        let client = try await StoreClient()
        var body = try #require(wish().object)
        body[name] = value.isNull ? .none : value
        #expect(try await client.error("POST", Self.path, .object(body)) == Int64(code))
    }

    @Test func `an unknown request is not found`() async throws {
        let client = try await StoreClient()
        _ = try await client.answer("POST", Self.path, wish())
        try await client.pass(until: "2026-05-01T10:00:02Z")
        for path in ["\(Self.path)/\(Self.product)/other", "\(Self.path)/other/\(Self.id)"] {
            #expect(try await client.error("GET", path) == 4_040_009)
        }
    }
}
