import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// The simulated Server API's writes. https://developer.apple.com/documentation/appstoreserverapi
@Suite struct ServerAPIWriteTests {
    // MARK: - Tokens and finishing

    @Test func `a token set through the API is in everything signed afterwards`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let token = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
        let path = "/inApps/v1/transactions/\(id)/appAccountToken"
        let response = try await client.call("PUT", path, ["appAccountToken": .string(token)])
        #expect(response.status == 200)

        let answer = try await client.answer("GET", "/inApps/v1/transactions/\(id)")
        let transaction = try client.verified(answer["signedTransactionInfo"])
        #expect(transaction["appAccountToken"] == .string(token))
        try await client.pass(until: "2026-06-01T10:00:10Z")
        let renewal = try #require(await client.store.letters.last?.notification)
        #expect(renewal.event.notificationType == "DID_RENEW")
        #expect(renewal.transaction?["appAccountToken"] == .string(token))
        #expect(renewal.renewal?["appAccountToken"] == .string(token))
    }

    @Test func `a token is a UUID, and is set at the first transaction`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        try await client.pass(until: "2026-06-01T10:00:10Z")
        let last = await client.store.letters.last?.notification.transaction
        let renewal = try #require(last?["transactionId"]?.string)
        func error(_ id: String, _ body: JSONValue) async throws -> Int64 {
            try await client.error("PUT", "/inApps/v1/transactions/\(id)/appAccountToken", body)
        }
        let good: JSONValue = ["appAccountToken": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"]
        #expect(try await error(id, ["appAccountToken": "me"]) == 4_000_183)
        #expect(try await error(id, [:]) == 4_000_183)
        #expect(try await error(renewal, good) == 4_000_187)
        #expect(try await error("12345", good) == 4_040_010)
    }

    @Test func `a finished transaction stays finished`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        #expect(await !client.store.isFinished(id))
        let path = "/inApps/v1/transactions/\(id)/finish"
        for _ in 1...2 { #expect(try await client.call("POST", path).status == 200) }
        #expect(await client.store.isFinished(id))
        #expect(try await client.error("POST", "/inApps/v1/transactions/7/finish") == 4_040_010)
    }

    // MARK: - Extending

    private func wish(days: Int64 = 10) -> JSONValue {
        [
            "extendByDays": .integer(days), "extendReasonCode": 1,
            "requestIdentifier": "9c2ab1c0-6d3a-4c57-8d3f-0b1b4c2a9a55",
        ]
    }

    @Test func `an extension moves the renewal date, and the store reports it`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let path = "/inApps/v1/subscriptions/extend/\(id)"
        let answer = try await client.answer("PUT", path, wish())
        #expect(answer["success"] == true)
        #expect(answer["originalTransactionId"] == .string(id))
        // 11 June 10:00, ten days after the end.
        #expect(answer["effectiveDate"] == 1_781_172_000_000)

        try await client.pass(until: "2026-07-11T10:00:10Z")
        let letters = await client.store.letters
        #expect(
            letters.map(\.notification.event.notificationType) == [
                "SUBSCRIBED", "RENEWAL_EXTENDED", "DID_RENEW", "DID_RENEW",
            ]
        )
        let extended = letters[1].notification
        #expect(extended.transaction?["transactionId"] == .string(id))
        #expect(extended.transaction?["expiresDate"] == 1_781_172_000_000)
        #expect(extended.renewal?["renewalDate"] == 1_781_172_000_000)
        let ends = letters[2...].map { $0.notification.transaction?["expiresDate"]?.int64 ?? 0 }
        #expect(
            ends.map(InstantText.writeForPeople) == ["2026-07-11 10:00:00", "2026-08-11 10:00:00"]
        )
    }

    @Test func `a subscription has at most two extensions a year`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        let path = "/inApps/v1/subscriptions/extend/\(id)"
        _ = try await client.answer("PUT", path, wish(days: 90))
        try await client.pass(until: "2026-06-01T10:00:00Z")
        _ = try await client.answer("PUT", path, wish(days: 1))
        #expect(try await client.error("PUT", path, wish()) == 4_030_005)
        try await client.pass(until: "2027-05-01T09:59:59Z")
        #expect(try await client.error("PUT", path, wish()) == 4_030_005)
        try await client.pass(until: "2027-05-01T10:00:00Z")
        _ = try await client.answer("PUT", path, wish())
    }

    @Test func `a free, failing or ended subscription is not extended`() async throws {
        let client = try await StoreClient([.monthly(trial: "P3D", grace: .threeDays)])
        try await client.store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .required),
            by: "anna"
        )
        let said = await client.store.letters.first?.notification.transaction
        let id = try #require(said?["transactionId"]?.string)
        let path = "/inApps/v1/subscriptions/extend/\(id)"
        let ineligible: Int64 = 4_030_004
        #expect(try await client.error("PUT", path, wish()) == ineligible)
        try await client.pass(until: "2026-05-04T10:00:00Z")
        try await client.store.perform(.failPayments, by: "anna")
        for instant in ["2026-06-05T10:00:00Z", "2026-06-10T10:00:00Z", "2026-09-01T10:00:00Z"] {
            try await client.pass(until: instant)
            #expect(try await client.error("PUT", path, wish()) == ineligible)
        }
        try await client.store.perform(.fixPayments, by: "anna")
        _ = try await client.buy()
        try await client.store.perform(.refund(product: nil, reason: .other), by: "anna")
        #expect(try await client.error("PUT", path, wish()) == ineligible)
    }

    @Test(
        arguments: [
            ("extendByDays", 0, 4_000_009), ("extendByDays", 91, 4_000_009),
            ("extendByDays", "9", 4_000_009), ("extendReasonCode", 4, 4_000_010),
            ("extendReasonCode", nil, 4_000_010), ("requestIdentifier", "", 4_000_011),
            ("requestIdentifier", nil, 4_000_011),
        ] as [(String, JSONValue, Int)]
    )
    func `an invalid extension request has its own error`(
        name: String,
        value: JSONValue,
        code: Int
    ) async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        var body = try #require(wish().object)
        body[name] = value
        let path = "/inApps/v1/subscriptions/extend/"
        #expect(try await client.error("PUT", path + id, .object(body)) == Int64(code))
        #expect(try await client.error("PUT", path + "x", wish()) == 4_000_008)
        #expect(try await client.error("PUT", path + "123", wish()) == 4_040_005)
    }

    // MARK: - Consumption

    private static let second: JSONObject = [
        "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED",
        "consumptionPercentage": 50_000, "refundPreference": "GRANT_PRORATED",
    ]
    private static let first: JSONObject = [
        "customerConsented": true, "consumptionStatus": 1, "platform": 1,
        "sampleContentProvided": false, "deliveryStatus": 0, "appAccountToken": "",
        "accountTenure": 1, "playTime": 1, "lifetimeDollarsRefunded": 1,
        "lifetimeDollarsPurchased": 1, "userStatus": 1, "refundPreference": 2,
    ]

    @Test func `consumption data is accepted and stored as sent`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        for (version, body) in [("v2", Self.second), ("v1", Self.first)] {
            let path = "/inApps/\(version)/transactions/consumption/\(id)"
            #expect(try await client.call("PUT", path, .object(body)).status == 202)
        }
        let kept = await client.store.consumptions
        #expect(kept.map(\.body) == [Self.second, Self.first])
        #expect(kept.map(\.transactionId) == [id, id])
        #expect(kept.map(\.at) == [1_777_629_600_000, 1_777_629_600_000])
    }

    @Test(
        arguments: [
            ("v2", "customerConsented", false, 4_000_035),
            ("v2", "customerConsented", nil, 4_000_035),
            ("v2", "sampleContentProvided", nil, 4_000_041), ("v2", "deliveryStatus", 0, 4_000_036),
            ("v2", "consumptionPercentage", 100_001, 4_000_000),
            ("v2", "refundPreference", "GRANT", 4_000_000),
            ("v1", "customerConsented", 1, 4_000_035), ("v1", "consumptionStatus", 4, 4_000_034),
            ("v1", "platform", 3, 4_000_039), ("v1", "deliveryStatus", "DELIVERED", 4_000_036),
            ("v1", "accountTenure", -1, 4_000_032), ("v1", "playTime", 8, 4_000_040),
            ("v1", "lifetimeDollarsRefunded", nil, 4_000_038),
            ("v1", "lifetimeDollarsPurchased", 8, 4_000_037), ("v1", "userStatus", 5, 4_000_042),
            ("v1", "appAccountToken", "me", 4_000_033),
        ] as [(String, String, JSONValue, Int)]
    )
    func `invalid consumption data has its own error`(
        version: String,
        name: String,
        value: JSONValue,
        code: Int
    ) async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        var body = version == "v1" ? Self.first : Self.second
        body[name] = value
        let path = "/inApps/\(version)/transactions/consumption/\(id)"
        #expect(try await client.error("PUT", path, .object(body)) == Int64(code))
        #expect(await client.store.consumptions.isEmpty)
    }
}
