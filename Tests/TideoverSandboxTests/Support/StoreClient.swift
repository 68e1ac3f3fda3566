import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A simulated store, with a back end's client for its Server API that creates tokens and verifies
/// answers.
struct StoreClient {
    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    static let keyId = "2X9R4HXF34"
    static let bundleId = "com.example.cards"

    let store: SimulatedAppStore
    private let verifier: ChainVerifier
    private let key: P256PrivateKey

    /// Creates a store at an instant with one customer, `anna`, who has bought nothing yet.
    init(
        _ products: [AppStoreProduct]? = nil,
        at start: String = "2026-05-01T10:00:00Z",
        environment: AppStoreEnvironment = .production,
        seed: UInt64 = 7,
        limits: AppStoreRateLimits = .byTheHour,
        wait: @escaping @Sendable (Int64) async throws -> Void = { _ in }
    ) async throws {
        let authority = try SandboxAuthority()
        let anchor = try TrustAnchor(name: "simulated", der: authority.root)
        verifier = ChainVerifier(policy: .appStore, anchors: [anchor])
        key = .generate()
        store = SimulatedAppStore(
            AppStoreApp(
                bundleId: StoreClient.bundleId,
                environment: environment,
                products: try products ?? [.monthly()]
            ),
            seed: seed,
            now: try #require(InstantText.read(start)),
            authority: authority,
            keys: [
                AppStoreAPIKey(
                    issuerId: StoreClient.issuer,
                    keyId: StoreClient.keyId,
                    publicKey: key.publicKey
                )
            ],
            limits: limits,
            wait: wait
        )
        try await store.register(.anna)
    }

    // MARK: - The store

    /// Buys the app's first product, and returns the id of the transaction.
    func buy(
        _ product: String = "cards.pro.monthly",
        as customer: String = "anna"
    ) async throws -> String {
        let said = try await store.perform(
            .subscribe(product: product, trial: .declined),
            by: customer
        )
        return try #require(said.first?.transaction?["transactionId"]?.string)
    }

    /// Advances the clock; every notification is answered with the status.
    func pass(until instant: String, answering status: Int = 200) async throws {
        let instant = try #require(InstantText.read(instant))
        try await store.advance(to: instant) { _ in status }
    }

    // MARK: - The Server API

    /// Returns a documented token with a test's changes.
    func token(
        header changedHeader: JSONObject = [:],
        claims changedClaims: JSONObject = [:],
        without claim: String? = nil,
        by other: P256PrivateKey? = nil
    ) async throws -> String {
        try StoreClient.token(
            at: await store.now,
            header: changedHeader,
            claims: changedClaims,
            without: claim,
            by: other ?? key
        )
    }

    static func token(
        at now: Int64,
        header changedHeader: JSONObject = [:],
        claims changedClaims: JSONObject = [:],
        without claim: String? = nil,
        by key: P256PrivateKey
    ) throws -> String {
        let seconds = now / 1000
        var header: JSONObject = ["alg": "ES256", "kid": .string(keyId), "typ": "JWT"]
        var claims: JSONObject = [
            "iss": .string(issuer), "iat": .integer(seconds), "exp": .integer(seconds + 300),
            "aud": "appstoreconnect-v1", "bid": .string(bundleId),
        ]
        for (name, value) in changedHeader { header[name] = value }
        for (name, value) in changedClaims { claims[name] = value }
        if let claim { claims[claim] = nil }
        let payload = JSONValue.object(claims).encoded()
        let compact = try JWS.sign(header: header, payload: payload, with: key)
        return String(decoding: compact, as: UTF8.self)
    }

    func call(
        _ method: String = "GET",
        _ target: String,
        _ body: JSONValue? = nil,
        bearer: String? = nil
    ) async throws -> Response {
        var headers: Headers = ["Authorization": "Bearer \(try await token())"]
        if let bearer { headers["Authorization"] = bearer }
        let request = Request(
            method: method,
            target: target,
            headers: headers,
            body: body?.encoded() ?? []
        )
        return try await store.serverAPI(try #require(request))
    }

    /// Returns the answer of a call that must succeed.
    func answer(
        _ method: String = "GET",
        _ target: String,
        _ body: JSONValue? = nil
    ) async throws -> JSONValue {
        let response = try await call(method, target, body)
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return JSONValue(try JSONDocument(response.body).root)
    }

    /// Returns the `errorCode` of a call's error, which must agree with the status.
    func error(
        _ method: String = "GET",
        _ target: String,
        _ body: JSONValue? = nil
    ) async throws -> Int64 {
        let response = try await call(method, target, body)
        let answer = JSONValue(try JSONDocument(response.body).root)
        let code = try #require(answer["errorCode"]?.int64)
        #expect(answer["errorMessage"]?.string?.isEmpty == false)
        #expect(Int64(response.status) == code / 10_000)
        return code
    }

    /// Returns a signed document of the store, verified against its root.
    func verified(_ compact: JSONValue?, dated: String = "signedDate") throws -> JSONValue {
        let jws = try JWS(Array(try #require(compact?.string).utf8))
        let content = JSONValue(try JSONDocument(jws.payload).root)
        let date = try #require(content[dated]?.int64)
        #expect(try verifier.verify(jws, at: date).name == "simulated")
        return content
    }

    func verified(all documents: JSONValue?) throws -> [JSONValue] {
        try #require(documents?.array).map { try verified($0) }
    }
}
