import Testing
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// The tokens of pushes, and the published keys.
@Suite struct PlayAuthorityTests {
    private static let now: Int64 = 1_780_000_000_500

    private func keys(_ authority: PlayAuthority) throws -> RSAKeySet {
        RSAKeySet(jwkSet: try JSONDocument(JSONValue.object(authority.keySet).encoded()).root)
    }

    private func token(_ authority: PlayAuthority) throws -> JWS {
        let token = try authority.pushToken(
            to: "https://billing.example.com/push",
            as: "pusher@p.example",
            at: Self.now
        )
        return try JWS(Array(token.utf8))
    }

    @Test func `a token contains audience and sender for an hour, and its key is published`() throws
    {
        let authority = PlayAuthority(seed: 1)
        let token = try token(authority)
        try token.verify(with: keys(authority))
        let claims = try JSONDocument(token.payload).root
        #expect(claims["iss"]?.string == "https://accounts.google.com")
        #expect(claims["aud"]?.string == "https://billing.example.com/push")
        #expect(claims["email"]?.string == "pusher@p.example")
        #expect(claims["email_verified"]?.bool == true)
        #expect(claims["iat"]?.int64 == 1_780_000_000)
        #expect(claims["exp"]?.int64 == 1_780_003_600)
        #expect(claims["sub"]?.string?.utf8.count == 21)
        #expect(token.header.root["alg"]?.string == "RS256")
    }

    @Test func `key ids follow from the seed`() {
        let (first, second) = (PlayAuthority(seed: 7), PlayAuthority(seed: 7))
        #expect(first.keyIds == second.keyIds)
        #expect(first.keyIds != PlayAuthority(seed: 8).keyIds)
        #expect(first.keyIds.first?.utf8.count == 40)
    }

    @Test func `after a rotation old tokens are valid until the old key is withdrawn`() throws {
        var authority = PlayAuthority(seed: 1)
        let old = try token(authority)
        authority.rotate()
        #expect(authority.keyIds.count == 2)
        try old.verify(with: keys(authority))
        let new = try token(authority)
        #expect(new.header.root["kid"]?.string != old.header.root["kid"]?.string)
        try new.verify(with: keys(authority))
        authority.withdrawOldKeys()
        try new.verify(with: keys(authority))
        #expect(throws: SignatureRefusal.self) { try old.verify(with: keys(authority)) }
    }

    @Test func `both forms publish the same ids`() {
        var authority = PlayAuthority(seed: 1)
        authority.rotate()
        let certificates = authority.certificates
        #expect(certificates.map(\.key) == authority.keyIds)
        for (_, text) in certificates {
            #expect(text.string?.hasPrefix("-----BEGIN CERTIFICATE-----\n") == true)
        }
    }

    @Test func `an authority is restored from its own file only`() throws {
        let made = PlayAuthority(seed: 1)
        var kept = try PlayAuthority(file: made.file.encoded())
        #expect(kept.file == made.file)
        try token(made).verify(with: keys(kept))
        try token(kept).verify(with: keys(made))
        kept.rotate()
        #expect(kept.keyIds.first == made.keyIds.last)
        #expect(Set(kept.keyIds).count == 2)
        let broken: [(String, PlayKeyFileError)] = [
            ("x", .notJSON), ("{}", .missing("keyId")),
            (#"{"keyId": "1", "privateKey": "x", "subject": "2"}"#, .noKey("privateKey")),
        ]
        for (text, error) in broken {
            #expect(throws: error) { try PlayAuthority(file: Array(text.utf8)) }
        }
    }

    @Test func `a service account key file is read like Google's and survives writing`() throws {
        let made = PlayServiceAccountFile(tokenURL: "http://127.0.0.1:9090/token")
        let (account, pem) = try ServiceAccount.read(keyFile: made.json.encoded())
        #expect(account.tokenURL == "http://127.0.0.1:9090/token")
        #expect(account.clientEmail == made.account.email)
        #expect(account.privateKeyId == made.account.keyId)
        #expect(try RSAPrivateKey(pem: pem).pem == pem)
        let kept = try PlayServiceAccountFile(file: made.json.encoded())
        #expect(kept.account == made.account)
        #expect(kept.json == made.json)
        #expect(throws: PlayKeyFileError.missing("token_uri")) {
            try PlayServiceAccountFile(file: Array("{}".utf8))
        }
    }
}
