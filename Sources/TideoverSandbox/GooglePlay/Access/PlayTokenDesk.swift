import TideoverCalendar
import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// Issues access tokens to authenticated service accounts, and stores the issued tokens.
/// https://developers.google.com/identity/protocols/oauth2/service-account
struct PlayTokenDesk: Sendable {
    /// The path of `token_uri`.
    static let path = "/token"
    /// The lifetime of an access token, in seconds.
    private static let life: Int64 = 3599

    /// The access that a token grants.
    fileprivate struct Grant: Codable, Sendable {
        let email: String
        let scopes: [PlayScope]
        /// In milliseconds since 1970.
        let until: Int64
    }

    /// The tokens issued so far, and the random stream of the next ones.
    struct Given: Codable, Sendable {
        fileprivate var grants: [String: Grant] = [:]
        fileprivate var random: SeededRandom
    }

    let accounts: [PlayServiceAccount]
    /// The accepted `aud` of an assertion.
    private let audiences: Set<String>
    var given: Given

    /// The token endpoints of Google that its libraries name as the audience, independently of the
    /// URL to which they post the assertion. Their sources, read in November 2026:
    ///
    /// - Python (google-auth 2.62) signs for the first and posts to `token_uri` of the key file.
    /// - Node (google-auth-library 10.6, gtoken 8) signs for the first and posts to it; gtoken up
    ///   to 7.1 signs for the second and posts to it. They do not read `token_uri`.
    /// - PHP (google/auth 1.52) signs for the first and posts to it. It does not read `token_uri`.
    ///
    /// In each, the scope is the one that the caller requests, joined by spaces.
    private static let googleAudiences = [
        SimulatedGooglePlay.tokenURL, "https://www.googleapis.com/oauth2/v4/token",
    ]

    init(accounts: [PlayServiceAccount], url: String, seed: UInt64) {
        self.accounts = accounts
        audiences = Set(Self.googleAudiences + [url])
        given = Given(random: SeededRandom(seed: seed ^ 0x746F_6B65_6E73))
    }

    /// Revokes every token issued so far.
    mutating func withdrawTokens() { given.grants = [:] }

    // MARK: Issuing

    mutating func answer(_ request: Request, at now: Int64) -> Response {
        guard request.path == Self.path else { return Response(status: 404) }
        guard request.method == "POST" else { return Response(status: 405) }
        let response: Response
        do {
            response = Self.json(200, try grant(request, at: now))
        } catch {
            response = Self.json(
                400,
                ["error": .string(error.word), "error_description": .string(error.words)]
            )
        }
        return response
    }

    private mutating func grant(
        _ request: Request,
        at now: Int64
    ) throws(TokenRefusal) -> JSONObject {
        let form = String(decoding: request.body, as: UTF8.self)
        guard let form = Request(target: "/?\(form)") else { throw .unreadable }
        guard form.queryValue("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            throw .grantType
        }
        guard let assertion = form.queryValue("assertion"), !assertion.isEmpty else {
            throw .unreadable
        }
        let (account, scopes) = try applicant(in: assertion, at: now)
        let token = "ya29.c.\(given.random.drawHex(64))"
        given.grants = given.grants.filter { $0.value.until > now }
        given.grants[token] = Grant(
            email: account.email,
            scopes: scopes,
            until: now + Self.life * 1000
        )
        return [
            "access_token": .string(token), "expires_in": .integer(Self.life),
            "token_type": "Bearer",
        ]
    }

    /// Returns the account and the requested scopes, after its signature was verified.
    private func applicant(
        in text: String,
        at now: Int64
    ) throws(TokenRefusal) -> (PlayServiceAccount, [PlayScope]) {
        let (jws, claims) = try Self.read(text)
        let account = accounts.first { account in
            account.email == claims["iss"]?.string
                && account.keyId == jws.header.root["kid"]?.string ?? account.keyId
        }
        guard let account else { throw .account }
        guard Self.isSigned(jws, by: account) else { throw .signature }
        guard let audience = claims["aud"]?.string, audiences.contains(audience) else {
            throw .audience
        }
        guard Self.isAlive(claims, at: now) else { throw .time }
        let words = claims["scope"]?.string?.split(separator: " ") ?? []
        let scopes = words.compactMap { PlayScope(rawValue: String($0)) }
        guard !scopes.isEmpty, scopes.count == words.count else { throw .scope }
        return (account, scopes)
    }

    private static func read(_ text: String) throws(TokenRefusal) -> (JWS, JSONNode) {
        do {
            let jws = try JWS(Array(text.utf8))
            return (jws, try JSONDocument(jws.payload).root)
        } catch {
            throw .unreadable
        }
    }

    private static func isSigned(_ jws: JWS, by account: PlayServiceAccount) -> Bool {
        do {
            try jws.verify(with: account.publicKey)
            return true
        } catch {
            return false
        }
    }

    /// Google's clock decides.
    private static func isAlive(_ claims: JSONNode, at now: Int64) -> Bool {
        guard let issued = claims["iat"]?.int64, let expires = claims["exp"]?.int64,
            issued >= 0, expires > issued, expires - issued <= longestLife
        else { return false }
        let seconds = now.flooredQuotient(by: 1000)
        return issued <= seconds + clockTolerance && seconds < expires
    }

    /// In seconds: an hour, and the minute by which Google's library for PHP dates `iat` back.
    private static let longestLife: Int64 = 3660
    /// The seconds by which a caller's clock may be ahead.
    private static let clockTolerance: Int64 = 300

    private static func json(_ status: Int, _ content: JSONObject) -> Response {
        Response(
            status: status,
            headers: [
                "Content-Type": "application/json; charset=utf-8",
                "Cache-Control": "no-cache, no-store",
            ],
            body: JSONValue.object(content).encoded()
        )
    }

    // MARK: Verifying

    /// The outcome of checking a request's token.
    enum Entry: Hashable {
        case open(PlayServiceAccount)
        /// There is no valid token.
        case unknown
        /// The token has another scope.
        case wrongScope
    }

    func entry(_ request: Request, to scopes: Set<PlayScope>, at now: Int64) -> Entry {
        let scheme = "Bearer "
        guard request.headers.all("Authorization").count == 1,
            let field = request.headers["Authorization"], field.hasPrefix(scheme),
            let grant = given.grants[String(field.dropFirst(scheme.count))], now < grant.until,
            let account = accounts.first(where: { $0.email == grant.email })
        else { return .unknown }
        return scopes.isDisjoint(with: grant.scopes) ? .wrongScope : .open(account)
    }
}

/// The reason for rejecting a token request, with the error codes of OAuth (RFC 6749, 5.2).
private enum TokenRefusal: Error {
    case unreadable, grantType, account, signature, audience, time, scope

    var word: String {
        switch self {
        case .unreadable: "invalid_request"
        case .grantType: "unsupported_grant_type"
        case .signature, .audience, .time, .account: "invalid_grant"
        case .scope: "invalid_scope"
        }
    }

    var words: String {
        switch self {
        case .unreadable: "The assertion is missing or malformed."
        case .grantType: "Only the grant type of RFC 7523 is supported."
        case .account: "There is no such account, or it has no such key."
        case .signature: "The signature of the assertion is not valid."
        case .audience: "The assertion has another audience."
        case .time: "The assertion must be current and last at most an hour."
        case .scope: "The assertion requests an unknown scope."
        }
    }
}
