package import TideoverCore
package import TideoverHTTP
import TideoverJSON

/// A bearer token of Google's and its period of use.
package struct PlayAccessToken: Hashable, Sendable {
    /// A secret.
    package let text: String
    package let askedAt: Instant
    package let expiresAt: Instant

    /// How long before its expiry a token is no longer used: a request takes time, and clocks
    /// differ.
    static let margin = Milliseconds.minutes(2)

    /// Returns whether the token is usable at an instant. A token from the future is not: the clock
    /// was set back.
    func isFresh(at now: Instant) -> Bool {
        askedAt <= now && now < expiresAt - Self.margin
    }
}

/// Requests access tokens from Google for a service account, and reuses each until shortly before
/// it expires.
/// https://developers.google.com/identity/protocols/oauth2/service-account
package actor PlayAccess {
    package nonisolated let account: ServiceAccount
    private let scope: String
    private let signer: PlayTokenSigner
    private let handler: Handler
    private let clock: @Sendable () -> Instant
    private var current: PlayAccessToken?
    /// The request in progress; all waiting callers share it.
    private var underWay: Task<Result<PlayAccessToken, PlayAccessFailure>, Never>?

    /// The lifetime of an assertion: the longest that Google accepts.
    static let assertionLife = Milliseconds.hours(1)

    /// Creates a token source. `scope` is the OAuth scope of the tokens. `handler` adds
    /// ``ServiceAccount/tokenOrigin`` to each request.
    package init(
        account: ServiceAccount,
        scope: String = ServiceAccount.scope,
        signer: @escaping PlayTokenSigner,
        clock: @escaping @Sendable () -> Instant,
        handler: @escaping Handler
    ) {
        self.account = account
        self.scope = scope
        self.signer = signer
        self.clock = clock
        self.handler = handler
    }

    /// Returns the current token. Throws ``PlayAccessFailure``.
    package func token() async throws -> PlayAccessToken {
        if let current, current.isFresh(at: clock()) { return current }
        let question = underWay ?? Task { await self.ask() }
        underWay = question
        return try await question.value.get()
    }

    /// Discards a token that the store has rejected.
    func forget(_ token: PlayAccessToken) {
        if current == token { current = nil }
    }

    private func ask() async -> Result<PlayAccessToken, PlayAccessFailure> {
        let result = await answer()
        if case .success(let token) = result { current = token }
        underWay = nil
        return result
    }

    private func answer() async -> Result<PlayAccessToken, PlayAccessFailure> {
        let now = clock()
        let request: Request
        do {
            request = try self.request(at: now)
        } catch {
            return .failure(.unsigned(error))
        }
        let response: Response
        do {
            response = try await handler(request)
        } catch {
            return .failure(.unreachable(error))
        }
        guard response.status == 200 else { return .failure(PlayAccessFailure(response)) }
        do {
            return .success(try PlayAccessToken(response.body, askedAt: now))
        } catch {
            return .failure(.malformed(error))
        }
    }

    private func request(at now: Instant) throws -> Request {
        let assertion = try assertion(at: now)
        let grant = PercentEncoding.encode("urn:ietf:params:oauth:grant-type:jwt-bearer")
        return Request(
            method: "POST",
            path: account.tokenPath ?? "/token",
            headers: [
                "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
            ],
            body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8)
        )
    }

    /// Returns a compact JWT with the account and the requested scope. Google's token server names
    /// one audience, also behind another address such as that of a proxy.
    private func assertion(at now: Instant) throws -> String {
        let seconds = now.millisecondsSince1970 / 1000
        var header: JSONObject = ["alg": "RS256", "typ": "JWT"]
        header["kid"] = account.privateKeyId.map { .string($0) }
        let claims: JSONValue = [
            "iss": .string(account.clientEmail), "scope": .string(scope),
            "aud": .string(ServiceAccount.googleTokenURL), "iat": .integer(seconds),
            "exp": .integer(seconds + Self.assertionLife.count / 1000),
        ]
        var compact = Base64.encode(JSONValue.object(header).encoded(), .urlSafe)
        compact.append(UInt8(ascii: "."))
        compact += Base64.encode(claims.encoded(), .urlSafe)
        let signature = try signer(compact)
        compact.append(UInt8(ascii: "."))
        compact += Base64.encode(signature, .urlSafe)
        return String(decoding: compact, as: UTF8.self)
    }
}

extension PlayAccessToken {
    fileprivate init(_ body: [UInt8], askedAt: Instant) throws(PlayRefusal) {
        let fields = try WireFields(JSONDocument(google: body).root)
        guard let text = try fields.text("access_token") else {
            throw fields.missing("access_token")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw fields.malformed("access_token")
        }
        guard try fields.text("token_type")?.lowercased() ?? "bearer" == "bearer" else {
            throw fields.malformed("token_type")
        }
        guard let life = try fields.integer("expires_in"), (1...86_400).contains(life) else {
            throw fields.malformed("expires_in")
        }
        self.text = text
        self.askedAt = askedAt
        expiresAt = askedAt + .seconds(life)
    }
}

/// Describes why Google issued no token.
package enum PlayAccessFailure: Error, Sendable {
    /// Nothing was sent: signing the request failed.
    case unsigned(any Error)
    case unreachable(any Error)
    /// Google rejects the request with an error code. For example, `invalid_grant` means a deleted
    /// account, a revoked key or a wrong clock.
    case refused(String, status: Int)
    case status(Int)
    case malformed(PlayRefusal)

    fileprivate init(_ response: Response) {
        let word = (try? JSONDocument(response.body))?.root["error"]?.string
        let isWord = word?.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F } ?? false
        guard let word, isWord, word.utf8.count <= 64, (400..<500).contains(response.status),
            response.status != 429
        else {
            self = .status(response.status)
            return
        }
        self = .refused(word, status: response.status)
    }

    /// Whether a later retry may return a token.
    package var isRetryable: Bool {
        switch self {
        case .unsigned, .refused: false
        case .unreachable, .malformed: true
        case .status(let status): status == 408 || status == 429 || status >= 500
        }
    }
}

extension PlayAccessFailure: CustomStringConvertible {
    /// A one-sentence description of the reason for logs, without ids or key data.
    package var sentence: String {
        switch self {
        case .unsigned: "No request for a token could be signed with the service account's key."
        case .unreachable: "Google's token server could not be reached."
        case .refused("invalid_grant", let status):
            "Google returns no token (\(status), invalid_grant): check the clock, and whether the "
                + "service account and its key still exist."
        case .refused(let word, let status): "Google returns no token (\(status), \(word))."
        case .status(let status): "Google answered \(status) when asked for a token."
        case .malformed(let refusal): "Google's token was not understood. \(refusal)"
        }
    }

    package var description: String { sentence }
}
