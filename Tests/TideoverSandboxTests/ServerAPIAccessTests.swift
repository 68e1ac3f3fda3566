import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// Access to the Server API, and its answers with faults.
@Suite struct ServerAPIAccessTests {
    @Test func `a token with the documented claims is accepted`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        #expect(try await client.call("GET", "/inApps/v1/transactions/\(id)").status == 200)
    }

    @Test(
        arguments: [
            ("kid", "OTHER"), ("alg", "HS256"), ("alg", "none"), ("typ", "JOSE"),
            ("jku", "https://example.com"),
        ] as [(String, JSONValue)]
    )
    func `a header with any other value is refused`(
        name: String,
        value: JSONValue
    ) async throws {
        let client = try await StoreClient()
        let token = try await client.token(header: [name: value])
        try await expectRefusal(of: token, client)
    }

    @Test(
        arguments: [
            ("iss", "another issuer"), ("aud", "appstoreconnect-v2"), ("bid", "com.example.other"),
            ("bid", nil), ("iat", nil), ("exp", nil), ("iss", nil), ("aud", nil),
            // The clock is at 1777629600 s.
            ("iat", 1_777_629_601), ("exp", 1_777_629_600), ("exp", 1_777_633_201),
            ("iat", 1_777_626_299), ("exp", "1777629900"),
        ] as [(String, JSONValue)]
    )
    func `a claim with any other value is refused`(
        name: String,
        value: JSONValue
    ) async throws {
        let client = try await StoreClient()
        let token = try await client.token(claims: [name: value])
        try await expectRefusal(of: token, client)
    }

    @Test(arguments: [("exp", 1_777_633_200), ("iat", 1_777_626_300)] as [(String, JSONValue)])
    func `a token is valid for at most an hour, to the second`(
        name: String,
        value: JSONValue
    ) async throws {
        let client = try await StoreClient()
        let token = try await client.token(claims: [name: value])
        #expect(try await response(to: token, client).status == 200)
    }

    /// As Apple's own library for Python writes them. The clock is at 1777629600 s.
    @Test(arguments: [(1_777_629_600, 401), (1_777_633_200, 200), (1_777_633_201, 401)])
    func `a token without an issue date ends within an hour`(
        expires: Int64,
        status: Int
    ) async throws {
        let client = try await StoreClient()
        let token = try await client.token(claims: ["exp": .integer(expires)], without: "iat")
        #expect(try await response(to: token, client).status == status)
    }

    @Test func `a token by another key, or an absent one, is refused`() async throws {
        let client = try await StoreClient()
        try await expectRefusal(of: client.token(by: .generate()), client)
        for bearer in ["", "Bearer", "Bearer x.y.z", "Basic abc"] {
            let response = try await client.call("GET", "/inApps/v1/x", bearer: bearer)
            #expect(response.status == 401)
        }
    }

    /// Returns the response to a request with this token about a purchase.
    private func response(to token: String, _ client: StoreClient) async throws -> Response {
        let id = try await client.buy()
        let path = "/inApps/v1/transactions/\(id)"
        return try await client.call("GET", path, bearer: "Bearer \(token)")
    }

    private func expectRefusal(of token: String, _ client: StoreClient) async throws {
        let response = try await response(to: token, client)
        #expect(response.status == 401)
        #expect(response.headers["Content-Type"] == "text/plain")
    }

    @Test(arguments: [
        "/", "/inApps/v1", "/inApps/v1/history/1", "/inApps/v3/subscriptions/1", "/inApps//v1/x",
    ])
    func `an unknown path is not found`(path: String) async throws {
        let client = try await StoreClient()
        #expect(try await client.call("GET", path).status == 404)
    }

    // MARK: - Faults

    @Test func `a rate-limited response contains the next instant in milliseconds`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        await client.store.add(
            AppStoreFaultRule(.rateLimited(for: 90_000), on: .transactionInfo, times: 2)
        )
        for _ in 1...2 {
            let response = try await client.call("GET", "/inApps/v1/transactions/\(id)")
            #expect(response.status == 429)
            #expect(response.headers["Retry-After"] == "1777629690000")
            let answer = JSONValue(try JSONDocument(response.body).root)
            #expect(answer["errorCode"] == 4_290_000)
        }
        #expect(try await client.call("GET", "/inApps/v1/transactions/\(id)").status == 200)
    }

    @Test func `a fault rule affects only its operation`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        await client.store.add(AppStoreFaultRule(.unauthorized, on: .refundHistory, times: nil))
        #expect(try await client.call("GET", "/inApps/v1/transactions/\(id)").status == 200)
        for _ in 1...3 {
            let response = try await client.call("GET", "/inApps/v2/refund/lookup/\(id)")
            #expect(response.status == 401)
        }
        await client.store.clearFaults()
        #expect(try await client.call("GET", "/inApps/v2/refund/lookup/\(id)").status == 200)
    }

    @Test func `any documented error can be requested`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        for error in AppStoreAPIError.allCases {
            await client.store.add(AppStoreFaultRule(.refused(error)))
            let code = try await client.error("GET", "/inApps/v1/transactions/\(id)")
            #expect(code == error.rawValue)
        }
        await client.store.add(AppStoreFaultRule(.unavailable(status: 503)))
        let response = try await client.call("GET", "/inApps/v1/transactions/\(id)")
        #expect(response.status == 503)
        #expect(response.body.isEmpty)
    }

    @Test func `a truncated response is not JSON`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        await client.store.add(AppStoreFaultRule(.truncated))
        let response = try await client.call("GET", "/inApps/v1/subscriptions/\(id)")
        #expect(response.status == 200)
        #expect(throws: JSONError.self) { _ = try JSONDocument(response.body) }
    }

    @Test func `a slow response waits as long as requested`() async throws {
        let waited = Waited()
        let client = try await StoreClient { await waited.wait($0) }
        let id = try await client.buy()
        await client.store.add(AppStoreFaultRule(.slow(45_000)))
        #expect(try await client.call("GET", "/inApps/v1/transactions/\(id)").status == 200)
        #expect(try await client.call("GET", "/inApps/v1/transactions/\(id)").status == 200)
        #expect(await waited.lengths == [45_000])
    }

    private actor Waited {
        var lengths: [Int64] = []

        func wait(_ milliseconds: Int64) { lengths.append(milliseconds) }
    }

    @Test func `a stale read is past content, signed now`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        try await client.pass(until: "2026-05-10T10:00:00Z")
        try await client.store.perform(.refund(product: nil, reason: .other), by: "anna")
        let path = "/inApps/v1/transactions/\(id)"
        let stale = AppStoreFaultRule(.stale(by: 1000), on: .transactionInfo)

        let fresh = try client.verified(
            try await client.answer("GET", path)["signedTransactionInfo"]
        )
        #expect(fresh["revocationDate"] == 1_778_407_200_000)
        await client.store.add(stale)
        let old = try client.verified(try await client.answer("GET", path)["signedTransactionInfo"])
        #expect(old["revocationDate"] == nil)
        #expect(try #require(old["signedDate"]?.int64) > #require(fresh["signedDate"]?.int64))

        try await client.pass(until: "2026-05-10T10:00:01Z")
        await client.store.add(stale)
        let caughtUp = try client.verified(
            try await client.answer("GET", path)["signedTransactionInfo"]
        )
        #expect(caughtUp["revocationDate"] == 1_778_407_200_000)
    }

    @Test func `a stale read omits later purchases`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        await client.store.add(AppStoreFaultRule(.stale(by: 1), times: 2))
        #expect(try await client.error("GET", "/inApps/v1/subscriptions/\(id)") == 4_040_010)
        #expect(try await client.error("GET", "/inApps/v1/transactions/\(id)") == 4_040_010)
    }

    @Test func `the same share of calls fails for the same seed`() async throws {
        func statuses(_ seed: UInt64) async throws -> [Int] {
            let client = try await StoreClient(seed: seed)
            let id = try await client.buy()
            await client.store.add(
                AppStoreFaultRule(.refused(.internalErrorRetryable), times: nil, percent: 30)
            )
            var statuses: [Int] = []
            for _ in 1...100 {
                statuses.append(
                    try await client.call("GET", "/inApps/v1/transactions/\(id)").status
                )
            }
            return statuses
        }
        let first = try await statuses(1)
        #expect(try await statuses(1) == first)
        #expect(try await statuses(2) != first)
        #expect((15...45).contains(first.count { $0 == 500 }))
    }

    @Test func `the store keeps a record of calls`() async throws {
        let client = try await StoreClient()
        let id = try await client.buy()
        _ = try await client.call("GET", "/inApps/v1/transactions/\(id)")
        _ = try await client.call("GET", "/inApps/v1/transactions/1")
        let calls = await client.store.calls
        #expect(calls.map(\.operation) == [.transactionInfo, .transactionInfo])
        #expect(calls.map(\.status) == [200, 404])
        #expect(calls.map(\.id) == [id, "1"])
    }
}
