import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// The rate limits of the Server API.
/// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
@Suite struct RateLimitTests {
    private static let start: Int64 = 1_777_629_600_000  // 1 May 2026, 10:00, a full hour

    private func status(_ client: StoreClient, _ path: String, _ body: JSONValue? = nil)
        async throws
        -> Int
    {
        try await client.call(body == nil ? "GET" : "POST", path, body).status
    }

    @Test(
        arguments: [
            (.production, "/inApps/v1/transactions/%", 50),
            (.production, "/inApps/v2/history/%", 50),
            (.production, "/inApps/v1/subscriptions/%", 50),
            (.production, "/inApps/v2/refund/lookup/%", 10),
            (.production, "/inApps/v1/lookup/%", 10),
            (.production, "/inApps/v1/notifications/test/%", 1),
            (.production, "/inApps/v1/subscriptions/extend/mass/a/%", 1),
            (.sandbox, "/inApps/v1/transactions/%", 5), (.sandbox, "/inApps/v2/refund/lookup/%", 1),
        ] as [(AppStoreEnvironment, String, Int)]
    )
    func `each operation has its own limit, a tenth of it in the sandbox`(
        environment: AppStoreEnvironment,
        path: String,
        calls: Int
    ) async throws {
        let client = try await StoreClient(environment: environment, limits: .byTheSecond)
        let id = try await client.buy()
        let target = path.replacing("%", with: id)
        for _ in 0..<calls { #expect(try await status(client, target) != 429) }
        #expect(try await status(client, target) == 429)
        // Other operations are not affected.
        let other = path.contains("history") ? "/inApps/v1/transactions/" : "/inApps/v2/history/"
        #expect(try await status(client, other + id) == 200)
    }

    @Test
    func `a limited caller gets the instant of the next allowed call in milliseconds`()
        async throws
    {
        let client = try await StoreClient(limits: .byTheSecond)
        let path = "/inApps/v1/notifications/test"
        #expect(try await status(client, path, [:]) == 200)
        let refused = try await client.call("POST", path)
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == String(Self.start + 1_000))
        let error = JSONValue(try JSONDocument(refused.body).root)
        #expect(error["errorCode"] == 4_290_000)
        try await client.pass(until: "2026-05-01T10:00:01Z")
        #expect(try await status(client, path, [:]) == 200)
    }

    @Test func `the limit counts by the hour by default, like Apple's`() async throws {
        let client = try await StoreClient(environment: .sandbox)
        let path = "/inApps/v1/notifications/test"
        for _ in 0..<360 { #expect(try await status(client, path, [:]) == 200) }
        let refused = try await client.call("POST", path)
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == String(Self.start + 3_600_000))
        try await client.pass(until: "2026-05-01T10:59:59Z")
        #expect(try await status(client, path, [:]) == 429)
        try await client.pass(until: "2026-05-01T11:00:00Z")
        #expect(try await status(client, path, [:]) == 200)
    }

    @Test func `a call without a valid token does not count`() async throws {
        let client = try await StoreClient(limits: .byTheSecond)
        let path = "/inApps/v1/notifications/test"
        for _ in 0..<3 {
            #expect(try await client.call("POST", path, bearer: "Bearer x").status == 401)
        }
        #expect(try await status(client, path, [:]) == 200)
    }
}
