import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

@Suite struct APITokenTests {
    struct Unwilling: Error {}

    static let now = FakeAPI.now

    func parts(_ token: AppStoreToken) throws -> [[UInt8]] {
        try token.text.utf8.split(separator: UInt8(ascii: ".")).map {
            try #require(Base64.decode($0, .urlSafe))
        }
    }

    @Test func `a token names issuer and app and is signed whole`() throws {
        let now = Self.now + Milliseconds(999)
        let token = try AppStoreToken(for: FakeAPI.key, at: now) { input in
            // The fake signature is the length of its input, padded with zeros.
            [UInt8(input.count & 0xFF)] + Array(repeating: 0, count: 63)
        }
        let parts = try parts(token)
        try #require(parts.count == 3)
        let seconds = now.millisecondsSince1970 / 1000
        #expect(
            JSONValue(try JSONDocument(parts[0]).root)
                == ["alg": "ES256", "kid": "2X9R4HXF34", "typ": "JWT"]
        )
        #expect(
            JSONValue(try JSONDocument(parts[1]).root) == [
                "iss": "57246542-96fe-1a63-e053-0824d011072a", "iat": .integer(seconds),
                "exp": .integer(seconds + 20 * 60), "aud": "appstoreconnect-v1",
                "bid": .string(FakeStore.bundleId),
            ]
        )
        let signed = token.text.utf8.count - Base64.encode(parts[2], .urlSafe).count - 1
        #expect(parts[2].first == UInt8(signed & 0xFF))
        #expect(parts[2].count == 64)
        #expect(token.expiresAt - token.issuedAt <= AppStoreToken.maximumLife)
    }

    @Test(
        arguments: [
            (0, true), (60_000, true), (19 * 60_000 - 1, true), (19 * 60_000, false),
            (60 * 60_000, false), (-1, false), (-86_400_000, false),
        ] as [(Int64, Bool)]
    )
    func `a token is used from its start until a minute before its end`(
        later: Int64,
        isUsed: Bool
    ) async throws {
        let tokens = AppStoreTokens(key: FakeAPI.key) { _ in [1] }
        let began = Instant(millisecondsSince1970: Self.now.millisecondsSince1970 / 1000 * 1000)
        let first = try await tokens.token(at: began)
        let second = try await tokens.token(at: began + Milliseconds(later))
        #expect((first == second) == isUsed)
    }

    @Test func `a signing failure is not reported as an answer of the store`() async throws {
        let store = FakeAPI(.answer([:]))
        let api = AppStoreAPI(
            app: store.api().app,
            environment: .production,
            tokens: AppStoreTokens(key: FakeAPI.key) { _ in throw Unwilling() },
            clock: { Self.now },
            handler: { _ in .answer([:]) }
        )
        let failed = try #require(
            await failure { _ = try await api.requestTestNotification() }
        )
        guard case .unsigned(let error) = failed.reason, error is Unwilling else {
            Issue.record("\(failed.reason)")
            return
        }
        #expect(!failed.isRetryable)
        #expect(failed.outcome == nil)
    }

    @Test func `a rejected token is not used again`() async throws {
        let store = FakeAPI(
            .text("Unauthenticated", status: 401),
            .answer(["testNotificationToken": "t"])
        )
        let minted = Counter()
        let api = AppStoreAPI(
            app: store.api().app,
            environment: .production,
            tokens: AppStoreTokens(key: FakeAPI.key) { _ in [minted.next()] },
            clock: { Self.now },
            handler: { try await store.answer($0) }
        )
        #expect(await failure { _ = try await api.requestTestNotification() } != nil)
        _ = try await api.requestTestNotification()
        _ = try await api.requestTestNotification()
        let tokens = await store.requests.map { $0.headers["Authorization"] }
        #expect(tokens.count == 3)
        #expect(tokens[0] != tokens[1])
        #expect(tokens[1] == tokens[2])
    }
}
