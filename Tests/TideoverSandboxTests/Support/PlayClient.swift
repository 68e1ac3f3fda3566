import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A simulated Google Play, with a back end's client for its APIs that signs assertions and
/// requests tokens.
struct PlayClient {
    static let packageName = "com.example.cards"
    static let email = "robot@project.iam.gserviceaccount.com"
    static let keyId = "robot-key-1"
    static let start: Int64 = 1_777_629_600_000  // 2026-05-01T10:00:00Z
    static let day: Int64 = 86_400_000
    private static let key = RSAPrivateKey.generate()

    let store: SimulatedGooglePlay

    private static func price(_ text: String) -> GooglePlayPrice {
        guard let price = StorePrice(text) else { preconditionFailure("\(text) is a price") }
        return GooglePlayPrice(price)
    }

    private static func period(_ text: String) -> StorePeriod {
        guard let period = StorePeriod(iso: text) else {
            preconditionFailure("\(text) is a period")
        }
        return period
    }

    static let monthly = GooglePlayApp(
        packageName: packageName,
        subscriptions: [
            GooglePlaySubscriptionProduct(
                id: "cards.pro",
                basePlans: [
                    GooglePlayBasePlan(
                        id: "monthly",
                        period: period("P1M"),
                        price: price("9.99 USD"),
                        graceDays: 7
                    )
                ]
            )
        ],
        products: [
            GooglePlayOneTimeProduct(id: "cards.lifetime", price: price("49.99 USD"))
        ]
    )

    /// Creates a store with one customer, `anna`, who has bought nothing yet.
    init(
        _ app: GooglePlayApp = monthly,
        push: PubSubPush = PubSubPush(
            audience: "https://b.example/push",
            email: "pusher@p.example"
        ),
        habits: PubSubDeliveryFaults = PubSubDeliveryFaults(),
        account: (inout PlayServiceAccount) -> Void = { _ in },
        tokenURL: String = SimulatedGooglePlay.tokenURL,
        dial: StoreTimeScale = .identity,
        wait: @escaping @Sendable (Int64) async throws -> Void = { _ in }
    ) async throws {
        var robot = try Self.robot()
        account(&robot)
        store = SimulatedGooglePlay(
            app,
            seed: 7,
            now: Self.start,
            authority: PlayAuthority(seed: 7),
            push: push,
            habits: habits,
            accounts: [robot],
            tokenURL: tokenURL,
            dial: dial,
            wait: wait
        )
        try await store.register(GooglePlayCustomer(name: "anna", obfuscatedAccountId: "u_anna"))
    }

    /// Creates the back end of another store.
    init(to store: SimulatedGooglePlay) { self.store = store }

    /// Returns the service account with its key.
    static func robot() throws -> PlayServiceAccount {
        PlayServiceAccount(email: email, keyId: keyId, publicKey: try publicKey())
    }

    private static func publicKey() throws -> RSAPublicKey {
        let jwk = try JSONDocument(JSONValue.object(key.publicJWK).encoded()).root
        return try #require(RSAPublicKey(jwk: jwk))
    }

    // MARK: - Tokens

    /// Returns a documented token request with a test's changes; `without` names members of the
    /// header to omit.
    func tokenRequest(
        _ scope: PlayScope = .androidPublisher,
        header changedHeader: JSONObject = [:],
        without: [String] = [],
        claims changedClaims: JSONObject = [:],
        grantType: String = "urn:ietf:params:oauth:grant-type:jwt-bearer",
        by other: RSAPrivateKey? = nil
    ) async throws -> Request {
        let seconds = await store.now / 1000
        var header: JSONObject = ["alg": "RS256", "kid": .string(Self.keyId), "typ": "JWT"]
        var claims: JSONObject = [
            "iss": .string(Self.email), "scope": .string(scope.rawValue),
            "aud": "https://oauth2.googleapis.com/token", "iat": .integer(seconds),
            "exp": .integer(seconds + 3600),
        ]
        for (name, value) in changedHeader { header[name] = value }
        for name in without { header[name] = nil }
        for (name, value) in changedClaims { claims[name] = value }
        let payload = JSONValue.object(claims).encoded()
        let compact = try JWS.sign(header: header, payload: payload, with: other ?? Self.key)
        let assertion = String(decoding: compact, as: UTF8.self)
        let grant = PercentEncoding.encode(grantType)
        return Request(
            method: "POST",
            path: "/token",
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8)
        )
    }

    func token(_ scope: PlayScope = .androidPublisher) async throws -> String {
        let response = try await store.google(try await tokenRequest(scope))
        try #require(response.status == 200)
        return try #require(try JSONDocument(response.body).root["access_token"]?.string)
    }

    // MARK: - Calls

    /// Calls a path below the app's own path, or any path that starts with `/`.
    func call(
        _ method: String = "GET",
        _ path: String,
        _ body: JSONObject? = nil,
        scope: PlayScope = .androidPublisher,
        token: String? = nil
    ) async throws -> Response {
        let bearer: String
        if let token { bearer = token } else { bearer = try await self.token(scope) }
        let app = "/androidpublisher/v3/applications/\(Self.packageName)/"
        let request = Request(
            method: method,
            target: path.hasPrefix("/") ? path : app + path,
            headers: ["Authorization": "Bearer \(bearer)"],
            body: body.map { JSONValue.object($0).encoded() } ?? []
        )
        return try await store.google(try #require(request))
    }

    /// Returns the answer of a call that must succeed.
    func answer(
        _ method: String = "GET",
        _ path: String,
        _ body: JSONObject? = nil,
        scope: PlayScope = .androidPublisher
    ) async throws -> JSONValue {
        let response = try await call(method, path, body, scope: scope)
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return JSONValue(try JSONDocument(response.body).root)
    }

    /// Returns the status and reason of an error response, which must agree with each other.
    func error(
        _ method: String = "GET",
        _ path: String,
        _ body: JSONObject? = nil,
        scope: PlayScope = .androidPublisher,
        token: String? = nil
    ) async throws -> String {
        let response = try await call(method, path, body, scope: scope, token: token)
        let answer = JSONValue(try JSONDocument(response.body).root)
        #expect(answer["error"]?["code"]?.int64 == Int64(response.status))
        let reason = answer["error"]?["errors"]?[0]?["reason"]?.string
        return "\(response.status) \(reason ?? "none")"
    }

    /// Advances the clock; every push is answered with the status.
    func pass(days: Int64, answering status: Int = 204) async throws {
        try await store.advance(to: await store.now + days * Self.day) { _ in status }
    }
}
