import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// Access tokens of the simulated Google, and their scopes.
/// https://developers.google.com/identity/protocols/oauth2/service-account
@Suite struct PlayTokenTests {
    private func word(_ request: Request, _ client: PlayClient) async throws -> String {
        let response = try await client.store.google(request)
        #expect(response.status == 400)
        return try JSONDocument(response.body).root["error"]?.string ?? ""
    }

    @Test func `a signed assertion is exchanged for a token valid for an hour`() async throws {
        let client = try await PlayClient()
        let response = try await client.store.google(try await client.tokenRequest())
        #expect(response.status == 200)
        let answer = try JSONDocument(response.body).root
        #expect(answer["token_type"]?.string == "Bearer")
        #expect(answer["expires_in"]?.int64 == 3599)
        #expect(answer["access_token"]?.string?.isEmpty == false)
    }

    /// How Google's libraries sign, from their sources: the omitted header members, and the claims
    /// that differ from the documented ones.
    private static let libraries: [(String, without: [String], JSONObject)] = [
        ("the documentation", [], ["aud": .string(served)]),
        ("google-auth for Python", [], ["aud": "https://oauth2.googleapis.com/token"]),
        (
            "google-auth-library 10 for Node", ["kid", "typ"],
            ["aud": "https://oauth2.googleapis.com/token"]
        ),
        (
            "gtoken 7 for Node", ["kid", "typ"],
            ["aud": "https://www.googleapis.com/oauth2/v4/token"]
        ),
        (
            "google/auth for PHP", [],
            ["aud": "https://oauth2.googleapis.com/token", "iat": 1_777_629_540]
        ),
    ]
    private static let served = "http://127.0.0.1:9090/token"

    @Test(arguments: libraries)
    func `each Google library gets a token from a served endpoint`(
        library: String,
        without: [String],
        claims: JSONObject
    ) async throws {
        let client = try await PlayClient(tokenURL: Self.served)
        let request = try await client.tokenRequest(without: without, claims: claims)
        let response = try await client.store.google(request)
        #expect(response.status == 200, "\(library)")
    }

    @Test(arguments: [
        "http://127.0.0.1:9091/token", "https://oauth2.googleapis.com",
        "https://oauth2.googleapis.com/token/", "https://oauth2.example/token", "",
    ])
    func `an assertion for another audience is refused by a served endpoint`(
        audience: String
    ) async throws {
        let client = try await PlayClient(tokenURL: Self.served)
        let request = try await client.tokenRequest(claims: ["aud": .string(audience)])
        #expect(try await word(request, client) == "invalid_grant")
    }

    /// Claims with another time, audience, account or scope, and the errors they cause.
    private static let otherClaims: [(JSONObject, String)] = [
        (["aud": "https://oauth2.example/token"], "invalid_grant"),
        (["iss": "other@p.example"], "invalid_grant"),
        (["iat": 1_777_622_400, "exp": 1_777_626_000], "invalid_grant"),
        (["iat": 1_777_630_200], "invalid_grant"),
        (["exp": 1_777_633_261], "invalid_grant"),
        (["scope": "https://www.googleapis.com/auth/nothing"], "invalid_scope"),
        (["scope": ""], "invalid_scope"),
    ]

    @Test(arguments: otherClaims)
    func `an assertion with a wrong claim is refused`(
        claims: JSONObject,
        word: String
    ) async throws {
        let client = try await PlayClient()
        #expect(try await self.word(client.tokenRequest(claims: claims), client) == word)
    }

    @Test func `another key, an unknown key and another grant type are refused`() async throws {
        let client = try await PlayClient()
        let other = try await client.tokenRequest(by: .generate())
        #expect(try await word(other, client) == "invalid_grant")
        let unknown = try await client.tokenRequest(header: ["kid": "robot-key-2"])
        #expect(try await word(unknown, client) == "invalid_grant")
        let grant = try await client.tokenRequest(grantType: "password")
        #expect(try await word(grant, client) == "unsupported_grant_type")
        let empty = Request(method: "POST", path: "/token")
        #expect(try await word(empty, client) == "unsupported_grant_type")
    }

    @Test func `a token gives access to its scope for authorised accounts until it ends`()
        async throws
    {
        let client = try await PlayClient()
        let path = "purchases/subscriptionsv2/tokens/nobodys-token"
        #expect(try await client.error("GET", path) == "404 purchaseTokenNotFound")
        #expect(try await client.error("GET", path, token: "ya29.c.invented") == "401 authError")
        let wrongScope = try await client.error("GET", path, scope: .pubSub)
        #expect(wrongScope == "403 insufficientPermissions")
        let elsewhere = "/androidpublisher/v3/applications/x.y/\(path)"
        #expect(try await client.error("GET", elsewhere) == "404 applicationNotFound")
        let token = try await client.token()
        #expect(try await client.error("GET", path, token: token) == "404 purchaseTokenNotFound")
        await client.store.withdrawTokens()
        #expect(try await client.error("GET", path, token: token) == "401 authError")
        let aged = try await client.token()
        try await client.store.advance(to: PlayClient.start + 3_599_000) { _ in 204 }
        #expect(try await client.error("GET", path, token: aged) == "401 authError")
    }

    @Test func `an account without rights to the app gets an error for that`() async throws {
        let client = try await PlayClient(account: { $0.mayReadApp = false })
        let path = "purchases/subscriptionsv2/tokens/nobodys-token"
        #expect(try await client.error("GET", path) == "403 permissionDenied")
    }

    @Test func `keys are published in both forms`() async throws {
        let client = try await PlayClient()
        await client.store.rotateKeys()
        let set = try await client.store.google(Request(path: "/oauth2/v3/certs"))
        let keys = try JSONDocument(set.body).root["keys"]
        #expect(keys?.count == 2)
        #expect(set.headers["Cache-Control"]?.contains("max-age=") == true)
        let map = try await client.store.google(Request(path: "/oauth2/v1/certs"))
        let certificates = try JSONDocument(map.body).root.members
        #expect(certificates.map(\.key) == keys?.elements.map { $0["kid"]?.string })
    }
}
