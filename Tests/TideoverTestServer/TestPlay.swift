import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer
import TideoverSignatures

/// A simulated Google for tests: keys that sign pushes, a store with configured responses, and the
/// requests to both.
final class TestPlay: Sendable {
    static let audience = "https://billing.example.com/push"
    static let email = "pusher@project.iam.gserviceaccount.com"
    static let test: JSONObject = ["testNotification": ["version": "1.0"]]
    private static let key = RSAPrivateKey.generate()

    private let answers = Locked<[String: @Sendable () async throws -> Response]>([:])
    private let asked = Locked<[String]>([])
    private let keysAsked = Locked(0)
    private let tokenAnswer = Locked<Response?>(nil)
    private let clock: TestClock

    init(clock: TestClock = TestClock()) {
        self.clock = clock
    }

    /// The requests to the store, in order, without its root.
    var questions: [String] { asked.withLock { $0 } }

    /// How often Google's keys were fetched.
    var keyFetches: Int { keysAsked.withLock { $0 } }

    func set(_ instant: Instant) { clock.now = instant }

    /// Sets the store's response about a purchase token; other tokens are unknown.
    func answer(_ token: String, _ object: JSONObject) {
        let body = JSONValue.object(object).encoded()
        answer(token) { Response(body: body) }
    }

    func answer(_ token: String, status: Int) {
        answer(token) { Response(status: status) }
    }

    func answer(_ token: String, _ answer: @escaping @Sendable () async throws -> Response) {
        answers.withLock { $0[token] = answer }
    }

    /// Sets the response about a one-time purchase. Its token is also queried as a subscription.
    func answerProduct(_ token: String, _ object: JSONObject) {
        let body = JSONValue.object(object).encoded()
        answer("productsv2/tokens/\(token)") { Response(body: body) }
    }

    /// Sets Google's response to requests for an access token; nil for a valid one.
    func answerAccess(_ response: Response?) { tokenAnswer.withLock { $0 = response } }

    func trust(
        asksStore: Bool = true,
        environments: Set<Environment> = [.sandbox, .simulated],
        pubSub: Handler? = nil
    ) -> PlayTrust {
        let clock = clock
        let now: @Sendable () -> Instant = { clock.now }
        let access = PlayAccess(
            account: ServiceAccount(clientEmail: "robot@p.example", privateKeyId: "1"),
            signer: { Self.key.sign($0, .sha256) },
            clock: now,
            handler: { _ in
                let token = #"{"access_token":"a","expires_in":3600,"token_type":"Bearer"}"#
                return self.tokenAnswer.withLock { $0 } ?? Response(body: Array(token.utf8))
            }
        )
        let api = PlayAPI(
            packageName: "com.example.cards",
            access: access,
            clock: now,
            handler: { try await self.respond(to: $0) }
        )
        return PlayTrust(
            identity: PlayIdentity(
                packageName: "com.example.cards",
                environments: environments,
                isSimulated: !asksStore
            ),
            expectation: PushExpectation(audience: Self.audience, email: Self.email),
            keys: PushKeys(clock: now) { _ in
                self.keysAsked.withLock { $0 += 1 }
                return try Self.publishedKeys()
            },
            api: asksStore ? api : nil,
            pubSub: pubSub.flatMap { handler in
                PubSubSubscription("projects/p/subscriptions/s").map {
                    PubSubAPI(subscription: $0, access: access, handler: handler)
                }
            }
        )
    }

    private func respond(to request: Request) async throws -> Response {
        let parts = request.path.split(separator: "/").suffix(3)
        asked.withLock { $0.append(parts.joined(separator: "/")) }
        let names = [parts.joined(separator: "/"), parts.last.map(String.init) ?? ""]
        let known = answers.withLock { $0 }
        let answer = names.lazy.compactMap { known[$0] }.first
        return try await answer?() ?? Response(status: 404)
    }

    static func publishedKeys() throws -> Response {
        var jwk = key.publicJWK
        jwk["kid"] = "google-1"
        let set = JSONValue.object(["keys": [.object(jwk)]])
        return Response(headers: ["Cache-Control": "max-age=3600"], body: set.encoded())
    }

    // MARK: Pushes

    /// Returns a push of Pub/Sub, with changes to the claims of its token.
    static func push(
        _ content: JSONObject,
        messageId: String,
        at now: Instant,
        claims: JSONObject = [:],
        keyId: String = "google-1"
    ) throws -> Request {
        var notification: JSONObject = [
            "version": "1.0", "packageName": "com.example.cards",
            "eventTimeMillis": .string("\(now.millisecondsSince1970)"),
        ]
        for (name, value) in content { notification[name] = value }
        let data = Base64.encodeString(JSONValue.object(notification).encoded(), .standard)
        let body: JSONValue = [
            "message": ["data": .string(data), "messageId": .string(messageId)],
            "subscription": "projects/p/subscriptions/s",
        ]
        return Request(
            method: "POST",
            path: "/v1/apps/cards/notifications/google-play",
            headers: ["Authorization": "Bearer \(try token(at: now, claims, keyId))"],
            body: body.encoded()
        )
    }

    private static func token(
        at now: Instant,
        _ changes: JSONObject,
        _ keyId: String
    ) throws -> String {
        let seconds = now.millisecondsSince1970 / 1000
        var claims: JSONObject = [
            "iss": "https://accounts.google.com", "aud": .string(audience),
            "email": .string(email), "email_verified": true, "iat": .integer(seconds),
            "exp": .integer(seconds + 3600),
        ]
        for (name, value) in changes { claims[name] = value }
        let compact = try JWS.sign(
            header: ["alg": "RS256", "kid": .string(keyId), "typ": "JWT"],
            payload: JSONValue.object(claims).encoded(),
            with: key
        )
        return String(decoding: compact, as: UTF8.self)
    }

    static func notice(_ type: Int64, _ token: String = "token-1") -> JSONObject {
        [
            "subscriptionNotification": [
                "version": "1.0", "notificationType": .integer(type),
                "purchaseToken": .string(token),
            ]
        ]
    }

    /// A monthly subscription of a licence tester, with changes.
    static func subscription(
        _ state: String,
        until end: String,
        _ changes: JSONObject = [:]
    ) -> JSONObject {
        var purchase: JSONObject = [
            "startTime": "2026-05-01T10:00:00Z", "testPurchase": [:], "regionCode": "DE",
            "subscriptionState": .string("SUBSCRIPTION_STATE_\(state)"),
            "externalAccountIdentifiers": [
                "obfuscatedExternalAccountId": .string(TestServer.anna)
            ],
            "lineItems": [
                [
                    "productId": "cards.pro.monthly", "expiryTime": .string(end),
                    "latestSuccessfulOrderId": "GPA.1",
                    "autoRenewingPlan": ["autoRenewEnabled": true],
                ]
            ],
        ]
        for (name, value) in changes { purchase[name] = value }
        return purchase
    }

    /// A one-time purchase of a licence tester.
    static let lifetime: JSONObject = [
        "purchaseStateContext": ["purchaseState": "PURCHASED"],
        "purchaseCompletionTime": "2026-05-01T10:00:00Z", "orderId": "GPA.2",
        "testPurchaseContext": ["fopType": "TEST"], "regionCode": "DE",
        "obfuscatedExternalAccountId": .string(TestServer.anna),
        "productLineItem": [["productId": "cards.lifetime"]],
    ]

    static let catalogue = Catalogue(
        products: TestServer.catalogue.products.merging([
            "cards.lifetime": Product(entitlements: ["forever"], kind: .nonConsumable)
        ]) { first, _ in first }
    )
}
