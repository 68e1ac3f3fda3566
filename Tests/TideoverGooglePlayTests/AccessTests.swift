import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON

struct AccessTests {
    @Test func `a token is requested with an assertion of the service account`() async throws {
        let fake = FakePlay(.json("{}"))
        let token = try await fake.access().token()
        #expect(token.text == "ya29.x")
        #expect(token.expiresAt == FakePlay.now + .seconds(3599))
        let request = try #require(await fake.google.requests.first)
        #expect(request.method == "POST")
        #expect(request.path == "/token")
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
        #expect(form.first == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        let assertion = try #require(form.last).dropFirst("assertion=".count)
        let parts = assertion.split(separator: ".").map { Base64.decode($0.utf8, .urlSafe) ?? [] }
        #expect(try JSONDocument(parts[0]).root["alg"]?.string == "RS256")
        #expect(try JSONDocument(parts[0]).root["kid"]?.string == "key-1")
        let claims = try JSONDocument(parts[1]).root
        #expect(claims["iss"]?.string == "robot@p.example")
        #expect(claims["scope"]?.string == "https://www.googleapis.com/auth/androidpublisher")
        #expect(claims["aud"]?.string == "https://oauth2.googleapis.com/token")
        #expect(claims["iat"]?.int64 == 1_778_061_600)
        #expect(claims["exp"]?.int64 == 1_778_065_200)
        #expect(parts[2] == Array("signed".utf8))
    }

    /// A key file may lead to a proxy, or to an address of Google's in a private network.
    @Test func `the audience is Google's own, wherever the request is sent`() async throws {
        let google = FakeAPI(FakePlay.token)
        let access = PlayAccess(
            account: ServiceAccount(
                clientEmail: "e",
                privateKeyId: nil,
                tokenURL: "https://oauth2-cards.p.googleapis.com/token"
            ),
            signer: { _ in [] },
            clock: { FakePlay.now },
            handler: google.handler
        )
        _ = try await access.token()
        let body = String(decoding: try #require(await google.requests.first).body, as: UTF8.self)
        let parts = try #require(body.split(separator: "&").last).dropFirst("assertion=".count)
            .split(separator: ".")
        let claims = try #require(Base64.decode(parts[1].utf8, .urlSafe))
        #expect(try JSONDocument(claims).root["aud"]?.string == ServiceAccount.googleTokenURL)
    }

    @Test func `a token is used until shortly before it ends`() async throws {
        let fake = FakePlay(.json("{}"))
        let clock = Hand(FakePlay.now)
        let access = fake.access(at: { clock.now })
        _ = try await access.token()
        clock.now = FakePlay.now + .seconds(3599) - .minutes(2) - Milliseconds(1)
        _ = try await access.token()
        #expect(await fake.google.requests.count == 1)
        clock.now = FakePlay.now + .seconds(3599) - .minutes(2)
        _ = try await access.token()
        #expect(await fake.google.requests.count == 2)
        clock.now = FakePlay.now
        _ = try await access.token()
        #expect(await fake.google.requests.count == 3)
    }

    @Test func `a rejected token is not used again`() async throws {
        let fake = FakePlay(.json("{}", status: 401), .json("{}"))
        let api = fake.api()
        let found = await failure { _ = try await api.subscription("t") }
        #expect(found?.code == "unauthorised")
        _ = try await api.subscription("t")
        #expect(await fake.google.requests.count == 2)
    }

    @Test func `all waiting callers receive the same token`() async throws {
        let gate = Gate()
        let google = FakeAPI(FakePlay.token)
        let access = PlayAccess(
            account: ServiceAccount(clientEmail: "e", privateKeyId: nil),
            signer: { _ in [] },
            clock: { FakePlay.now }
        ) { request in
            await gate.wait()
            return try await google.answer(request)
        }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try await access.token().text } }
            await gate.open()
            for try await text in group { #expect(text == "ya29.x") }
        }
        #expect(await google.requests.count == 1)
    }

    @Test(arguments: [
        (Response.json(#"{"error":"invalid_grant"}"#, status: 400), false, "invalid_grant"),
        (.json(#"{"error":"unauthorized_client"}"#, status: 401), false, "unauthorized_client"),
        (.json(#"{"error":"Not a word"}"#, status: 400), false, "400"),
        (.json(#"{"error":"rate"}"#, status: 429), true, "429"),
        (.json("", status: 503), true, "503"), (.json("{"), true, "not understood"),
        (.json(#"{"expires_in":5}"#), true, "access_token"),
        (.json(#"{"access_token":"a b","expires_in":5}"#), true, "access_token"),
        (.json(#"{"access_token":"a","expires_in":0}"#), true, "expires_in"),
        (.json(#"{"access_token":"a","expires_in":5,"token_type":"MAC"}"#), true, "token_type"),
    ])
    func `a missing token is reported with its reason`(
        response: Response,
        isRetryable: Bool,
        words: String
    ) async throws {
        let fake = FakePlay(.json("{}"), token: response)
        let found = try #require(await failure { _ = try await fake.api().subscription("t") })
        #expect(found.code == "no-token")
        #expect(found.isRetryable == isRetryable)
        #expect(found.outcome == (isRetryable ? .unreachable : .refused))
        #expect(found.sentence.contains(words))
        #expect(await fake.store.requests.isEmpty)
    }
}

struct ServiceAccountTests {
    private func refusal(_ text: String) -> PlayRefusal? {
        do {
            _ = try ServiceAccount.read(keyFile: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func `a key file is read`() throws {
        let (account, key) = try ServiceAccount.read(
            keyFile: Array(
                #"""
                {"type":"service_account","project_id":"p","private_key_id":"k",
                 "private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                 "client_email":"robot@p.example","token_uri":"https://oauth2.example/v2/token"}
                """#.utf8
            )
        )
        #expect(account.clientEmail == "robot@p.example")
        #expect(account.privateKeyId == "k")
        #expect(account.tokenOrigin == "https://oauth2.example")
        #expect(key.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    }

    @Test(
        arguments: [
            (#"{"type":"authorized_user"}"#, .malformed(field: "type")),
            (#"{"type":"service_account"}"#, .missingMember("client_email")),
            (#"{"type":"service_account","client_email":"e"}"#, .missingMember("private_key")),
            (
                #"{"type":"service_account","client_email":"e","private_key":"k","token_uri":"x"}"#,
                .malformed(field: "token_uri")
            ),
        ] as [(String, PlayRefusal)]
    )
    func `an invalid service account key is refused with the field's name`(
        text: String,
        expected: PlayRefusal
    ) {
        #expect(refusal(text) == expected)
    }
}
