package import TideoverCore
import TideoverJSON

/// The credentials for the App Store Server API: a key of App Store Connect, and the app.
/// https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
package struct AppStoreAPIKey: Hashable, Sendable {
    package let issuerId: String
    package let keyId: String
    package let bundleId: String

    package init(issuerId: String, keyId: String, bundleId: String) {
        self.issuerId = issuerId
        self.keyId = keyId
        self.bundleId = bundleId
    }
}

/// Signs with ES256: returns the 64 bytes r and s over the SHA-256 of `signingInput`. Its errors
/// reach the caller of the request inside ``AppStoreAPIFailure``.
package typealias TokenSigner = @Sendable (_ signingInput: [UInt8]) throws -> [UInt8]

/// A bearer token and its period of use.
package struct AppStoreToken: Hashable, Sendable {
    /// The longest lifetime that the store accepts.
    package static let maximumLife = Milliseconds.minutes(60)
    /// The lifetime of the tokens created here.
    package static let life = Milliseconds.minutes(20)
    /// How long before its expiry a token is no longer used: a request takes time.
    package static let margin = Milliseconds.minutes(1)

    /// The compact form.
    package let text: String
    package let issuedAt: Instant
    package let expiresAt: Instant

    /// Creates a token that is valid from `now`, truncated to whole seconds.
    package init(for key: AppStoreAPIKey, at now: Instant, signer: TokenSigner) throws {
        let seconds = now.millisecondsSince1970 / 1000
        issuedAt = Instant(millisecondsSince1970: seconds * 1000)
        expiresAt = issuedAt + Self.life
        let header: JSONValue = ["alg": "ES256", "kid": .string(key.keyId), "typ": "JWT"]
        let claims: JSONValue = [
            "iss": .string(key.issuerId), "iat": .integer(seconds),
            "exp": .integer(expiresAt.millisecondsSince1970 / 1000),
            "aud": "appstoreconnect-v1", "bid": .string(key.bundleId),
        ]
        var compact = Base64.encode(header.encoded(), .urlSafe)
        compact.append(UInt8(ascii: "."))
        compact += Base64.encode(claims.encoded(), .urlSafe)
        let signature = try signer(compact)
        compact.append(UInt8(ascii: "."))
        compact += Base64.encode(signature, .urlSafe)
        text = String(decoding: compact, as: UTF8.self)
    }

    /// Returns whether the token is usable at an instant. A token from the future is not: the clock
    /// was set back.
    package func isFresh(at now: Instant) -> Bool {
        issuedAt <= now && now < expiresAt - Self.margin
    }
}

/// Creates tokens, and reuses each until shortly before it expires.
package actor AppStoreTokens {
    private let key: AppStoreAPIKey
    private let signer: TokenSigner
    private var current: AppStoreToken?

    package init(key: AppStoreAPIKey, signer: @escaping TokenSigner) {
        self.key = key
        self.signer = signer
    }

    /// Returns the token for an instant. Throws the errors of the signer.
    package func token(at now: Instant) throws -> AppStoreToken {
        if let current, current.isFresh(at: now) { return current }
        let token = try AppStoreToken(for: key, at: now, signer: signer)
        current = token
        return token
    }

    /// Discards a token that the store has rejected.
    func forget(_ token: AppStoreToken) {
        if current == token { current = nil }
    }
}
