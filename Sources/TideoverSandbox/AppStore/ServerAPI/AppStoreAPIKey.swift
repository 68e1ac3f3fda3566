import TideoverCalendar
import TideoverHTTP
import TideoverJSON
public import TideoverSignatures

/// The store's record of a Server API key: its ids and its public half.
/// https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
public struct AppStoreAPIKey: Hashable, Sendable {
    /// The id of the team's issuer, a UUID.
    public let issuerId: String
    /// The id of the key, such as `2X9R4HXF34`.
    public let keyId: String
    /// The key that verifies its tokens.
    public let publicKey: P256PublicKey

    /// Creates a key from its ids and its public half.
    public init(issuerId: String, keyId: String, publicKey: P256PublicKey) {
        self.issuerId = issuerId
        self.keyId = keyId
        self.publicKey = publicKey
    }
}

/// The bearer token of a request, parsed and not yet verified.
struct AppStoreBearer {
    private static let audience = "appstoreconnect-v1"
    /// The maximum number of seconds from `iat` to `exp`, or from now without `iat`: Apple's own
    /// library for Python writes none.
    private static let longestLife: Int64 = 3600

    private let token: JWS
    private let claims: JSONDocument

    /// Returns nil unless the request has one token in a readable form.
    init?(_ request: Request) {
        let scheme = "Bearer "
        guard request.headers.all("Authorization").count == 1,
            let field = request.headers["Authorization"], field.hasPrefix(scheme)
        else { return nil }
        do {
            token = try JWS(Array(field.dropFirst(scheme.count).utf8))
            claims = try JSONDocument(token.payload)
        } catch {
            return nil
        }
    }

    /// Whether one of the keys signed the token for this app, and the instant is within its
    /// lifetime.
    func isValid(for bundleId: String, _ keys: [AppStoreAPIKey], at instant: Int64) -> Bool {
        let type = token.header.root["typ"]
        guard type == nil || type?.string == "JWT",
            let key = keys.first(where: { $0.keyId == token.header.root["kid"]?.string }),
            isSigned(by: key.publicKey)
        else { return false }
        let claims = claims.root
        return claims["iss"]?.string == key.issuerId && claims["bid"]?.string == bundleId
            && claims["aud"]?.string == AppStoreBearer.audience && isAlive(at: instant)
    }

    private func isSigned(by key: P256PublicKey) -> Bool {
        do {
            try token.verify(with: key)
            return true
        } catch {
            return false
        }
    }

    /// The token's instants are in seconds since 1970.
    private func isAlive(at instant: Int64) -> Bool {
        let seconds = instant.flooredQuotient(by: 1000)
        let stated = claims.root["iat"]
        guard let issued = stated == nil ? seconds : stated?.int64,
            let expires = claims.root["exp"]?.int64,
            issued >= 0, expires > issued, expires - issued <= AppStoreBearer.longestLife
        else { return false }
        return issued <= seconds && seconds < expires
    }
}
