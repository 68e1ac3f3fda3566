import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON

struct PushTokenTests {
    private let now = Instant(millisecondsSince1970: 1_778_061_600_000)
    private let expectation = PushExpectation(audience: "https://a.example", email: "p@p.example")

    /// Claims as Pub/Sub writes them, with changes; null removes a claim.
    private func claims(_ changes: JSONObject = [:]) -> [UInt8] {
        var claims: JSONObject = [
            "aud": "https://a.example", "azp": "113774264463038321964", "email": "p@p.example",
            "email_verified": true, "exp": 1_778_065_200, "iat": 1_778_061_600,
            "iss": "https://accounts.google.com", "sub": "113774264463038321964",
        ]
        for (name, value) in changes { claims[name] = value.isNull ? .none : value }
        return JSONValue.object(claims).encoded()
    }

    private func refusal(_ claims: [UInt8], at now: Instant? = nil) -> PushRefusal? {
        do {
            _ = try expectation.token(claiming: claims, at: now ?? self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a token with the expected claims is accepted`() throws {
        let token = try expectation.token(claiming: claims(), at: now)
        #expect(token.email == "p@p.example")
        #expect(token.issuedAt == now)
        #expect(token.expiresAt == now + .hours(1))
    }

    @Test(
        arguments: [
            (["iss": "accounts.google.com"], nil),
            (["iss": "https://accounts.google.com.example"], .wrongIssuer),
            (["iss": "http://accounts.google.com"], .wrongIssuer), (["iss": nil], .wrongIssuer),
            (["aud": "https://b.example"], .wrongAudience), (["aud": nil], .wrongAudience),
            (["aud": "https://a.example/"], .wrongAudience),
            (["aud": ["https://a.example"]], .wrongAudience),
            (["email": "q@p.example"], .wrongSender), (["email": nil], .wrongSender),
            (["email": "P@p.example"], .wrongSender),
            (["email_verified": false], .unverifiedSender),
            (["email_verified": "true"], .unverifiedSender),
            (["email_verified": nil], .unverifiedSender),
            (["exp": nil], .undated), (["iat": nil], .undated), (["exp": "1778065200"], .undated),
            (["exp": -1], .undated), (["iat": 999_999_999_999_999], .undated),
            (["exp": 1_778_061_541], nil), (["exp": 1_778_061_540], .expired),
            (["iat": 1_778_061_660], nil), (["iat": 1_778_061_661], .fromTheFuture),
        ] as [(JSONObject, PushRefusal?)]
    )
    func `each claim is compared with the expected one`(changes: JSONObject, expected: PushRefusal?)
    {
        #expect(refusal(claims(changes)) == expected)
    }

    @Test func `a payload that is not an object is malformed`() {
        #expect(refusal(Array("[]".utf8)) == .malformed)
        #expect(refusal(Array(#"{"aud":1,"aud":2}"#.utf8)) == .malformed)
        #expect(refusal([]) == .malformed)
    }

    @Test func `each refusal has its own code, and no message contains text of the token`() {
        #expect(Set(PushRefusal.allCases.map(\.code)).count == PushRefusal.allCases.count)
        for refusal in PushRefusal.allCases { #expect(refusal.sentence.hasSuffix(".")) }
    }
}

struct PushKeyTests {
    private static let start = Instant(millisecondsSince1970: 1_778_061_600_000)

    private func answer(_ ids: String..., headers: Headers = [:]) -> Response {
        let keys = ids.map { JSONValue.object(["kid": .string($0), "kty": "RSA"]) }
        let body = JSONValue.object(["keys": .array(keys)]).encoded()
        return Response(headers: headers, body: body)
    }

    private func cache(_ response: Response) throws -> PushKeyCache {
        var cache = PushKeyCache()
        try cache.take(response, at: Self.start)
        return cache
    }

    @Test func `an empty cache fetches the keys`() {
        #expect(PushKeyCache().advice(on: "a", at: Self.start) == .fetch)
    }

    @Test func `a key is used until its answer expires`() throws {
        let cache = try cache(answer("a", headers: ["Cache-Control": "public, max-age=19845"]))
        let end = Self.start + .seconds(19845)
        #expect(cache.advice(on: "a", at: Self.start) == .use(["kid": "a", "kty": "RSA"]))
        #expect(
            cache.advice(on: "a", at: end - Milliseconds(1)) == .use(["kid": "a", "kty": "RSA"])
        )
        #expect(cache.advice(on: "a", at: end) == .fetch)
        #expect(cache.advice(on: "a", at: Self.start - Milliseconds(1)) == .fetch)
    }

    @Test func `an unknown key causes one fetch in five minutes`() throws {
        let cache = try cache(answer("a"))
        #expect(cache.advice(on: "b", at: Self.start) == .unknown)
        #expect(cache.advice(on: "b", at: Self.start + .seconds(299)) == .unknown)
        #expect(cache.advice(on: "b", at: Self.start + .seconds(300)) == .fetch)
    }

    @Test func `after a failure fetching pauses, and known keys stay valid`() throws {
        var cache = try cache(answer("a"))
        let later = Self.start + .minutes(10)
        cache.noteFailure(at: later)
        #expect(cache.advice(on: "b", at: later) == .wait)
        #expect(cache.advice(on: "a", at: later) == .use(["kid": "a", "kty": "RSA"]))
        #expect(cache.advice(on: "b", at: later + .seconds(10)) == .fetch)
    }

    @Test func `new keys replace all others`() throws {
        var cache = try cache(answer("a"))
        try cache.take(answer("b"), at: Self.start + .minutes(5))
        #expect(cache.advice(on: "a", at: Self.start + .minutes(6)) == .unknown)
    }

    @Test(
        arguments: [
            ([:], 3600), (["Cache-Control": "max-age=1800"], 1800),
            (["cache-control": "public, max-age=\"1800\", must-revalidate"], 1800),
            (["Cache-Control": "max-age=1800", "Age": "600"], 1200),
            (["Cache-Control": "max-age=1800", "Age": "9999"], 300),
            (["Cache-Control": "max-age=0"], 300), (["Cache-Control": "no-store"], 300),
            (["Cache-Control": "max-age=99999999"], 86400), (["Cache-Control": "max-age=x"], 3600),
            (["Cache-Control": "max-age=-5"], 3600),
        ] as [(Headers, Int64)]
    )
    func `the lifetime of keys comes from their answer, within bounds`(
        headers: Headers,
        seconds: Int64
    ) {
        #expect(PushKeyCache.age(of: headers) == .seconds(seconds))
    }

    @Test(arguments: ["", "{}", #"{"keys":[]}"#, #"{"keys":{}}"#, #"{"keys":[{"kty":"RSA"}]}"#])
    func `an answer without keys removes none`(body: String) throws {
        var cache = try cache(answer("a"))
        #expect(throws: PlayRefusal.self) {
            try cache.take(Response(body: Array(body.utf8)), at: Self.start)
        }
        #expect(cache.advice(on: "a", at: Self.start) == .use(["kid": "a", "kty": "RSA"]))
    }

    // MARK: Over a handler

    @Test func `keys are fetched when first needed, and not again`() async throws {
        let api = FakeAPI(answer("a", "b"))
        let keys = PushKeys(clock: { Self.start }, handler: api.handler)
        #expect(try await keys.key("a") == ["kid": "a", "kty": "RSA"])
        #expect(try await keys.key("b") == ["kid": "b", "kty": "RSA"])
        for _ in 0..<3 {
            await #expect(throws: PushRefusal.unknownKey) { try await keys.key("c") }
        }
        let requests = await api.requests
        #expect(requests.map(\.path) == ["/oauth2/v3/certs"])
    }

    @Test func `all waiting callers receive the keys of one fetch`() async throws {
        let gate = Gate()
        let api = FakeAPI(answer("a"))
        let keys = PushKeys(clock: { Self.start }) { request in
            await gate.wait()
            return try await api.answer(request)
        }
        try await withThrowingTaskGroup(of: JSONObject.self) { group in
            for _ in 0..<8 { group.addTask { try await keys.key("a") } }
            await gate.open()
            for try await key in group { #expect(key["kid"] == "a") }
        }
        #expect(await api.requests.count == 1)
    }

    @Test func `a failure is reported with its kind and not retried at once`() async throws {
        let api = FakeAPI(Response(status: 503))
        let keys = PushKeys(clock: { Self.start }, handler: api.handler)
        for _ in 0..<2 {
            await #expect(throws: PushKeysFailure.self) { try await keys.key("a") }
        }
        #expect(await api.requests.count == 1)
    }
}

struct PushGuardTests {
    private static let now = Instant(millisecondsSince1970: 1_778_061_600_000)
    private static let claims =
        #"{"aud":"a","email":"e","email_verified":true,"exp":1778065200,"#
        + #""iat":1778061600,"iss":"accounts.google.com"}"#

    /// A guard that accepts a token whose signature is the key's ID.
    private func pushGuard(_ api: FakeAPI) -> PushGuard {
        PushGuard(
            expectation: PushExpectation(audience: "a", email: "e"),
            keys: PushKeys(clock: { Self.now }, handler: api.handler)
        ) { compact, key in
            let parts = compact.split(separator: UInt8(ascii: "."))
            let signature = Base64.decode(parts[2], .urlSafe) ?? []
            guard String(decoding: signature, as: UTF8.self) == key["kid"]?.string else {
                throw PlayRefusal.missingMember("signature")
            }
            return Base64.decode(parts[1], .urlSafe) ?? []
        }
    }

    private func token(_ header: String, signature: String = "k") -> String {
        [header, Self.claims, signature].map { Base64.encodeString(Array($0.utf8), .urlSafe) }
            .joined(separator: ".")
    }

    private func refusal(_ headers: Headers) async -> PushRefusal? {
        let keys = #"{"keys":[{"kid":"k","kty":"RSA"}]}"#
        let api = FakeAPI(Response(body: Array(keys.utf8)))
        let request = Request(method: "POST", path: "/", headers: headers)
        do {
            _ = try await pushGuard(api).admit(request, at: Self.now)
            return nil
        } catch {
            return error as? PushRefusal
        }
    }

    @Test func `a push with a valid token is accepted`() async throws {
        let header = #"{"alg":"RS256","kid":"k","typ":"JWT"}"#
        #expect(await refusal(["Authorization": "Bearer \(token(header))"]) == nil)
        #expect(await refusal(["authorization": "bearer \(token(header))"]) == nil)
    }

    @Test func `each failed check has its own refusal`() async {
        let good = token(#"{"alg":"RS256","kid":"k"}"#)
        let cases: [(Headers, PushRefusal)] = [
            ([:], .noToken), (["Authorization": "Basic x"], .noToken),
            (["Authorization": "Bearer"], .noToken),
            (["Authorization": "Bearer \(good)", "authorization": "Bearer \(good)"], .noToken),
            (["Authorization": "Bearer a.b"], .malformed),
            (["Authorization": "Bearer a.b.c.d"], .malformed),
            (["Authorization": "Bearer \(String(repeating: "a", count: 9000))"], .malformed),
            (["Authorization": "Bearer \(token("[]"))"], .malformed),
            (["Authorization": "Bearer \(token(#"{"alg":"none","kid":"k"}"#))"], .wrongAlgorithm),
            (["Authorization": "Bearer \(token(#"{"alg":"HS256","kid":"k"}"#))"], .wrongAlgorithm),
            (["Authorization": "Bearer \(token(#"{"kid":"k"}"#))"], .wrongAlgorithm),
            (["Authorization": "Bearer \(token(#"{"alg":"RS256"}"#))"], .noKey),
            (["Authorization": "Bearer \(token(#"{"alg":"RS256","kid":"x"}"#))"], .unknownKey),
            (
                [
                    "Authorization":
                        "Bearer \(token(#"{"alg":"RS256","kid":"k"}"#, signature: "x"))"
                ],
                .badSignature
            ),
        ]
        for (headers, expected) in cases { #expect(await refusal(headers) == expected) }
    }
}
