package import TideoverCore
import TideoverJSON

/// The claims of a push token that passed verification for this server.
/// https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
package struct PushToken: Hashable, Sendable {
    /// The service account of Pub/Sub's pushes.
    package let email: String
    package let audience: String
    package let issuedAt: Instant
    package let expiresAt: Instant
}

/// The claims of a token signed by Google, verified or not.
package struct PushClaims: Hashable, Sendable {
    /// At most 300 characters of each.
    package let audience: String?
    package let email: String?

    /// Nil if Google is not the issuer.
    init?(_ payload: [UInt8]) {
        guard let claims = try? JSONDocument(payload).root,
            let issuer = claims["iss"]?.string, PushExpectation.issuers.contains(issuer)
        else { return nil }
        audience = claims["aud"]?.string.map { String($0.prefix(300)) }
        email = claims["email"]?.string.map { String($0.prefix(300)) }
    }
}

/// The expected claims of a push token.
package struct PushExpectation: Hashable, Sendable {
    /// The token audience that is configured in the push subscription.
    package let audience: String
    /// The service account that is configured in the push subscription.
    package let email: String
    /// The tolerated difference between two clocks.
    package let leeway: Milliseconds

    package init(audience: String, email: String, leeway: Milliseconds = .minutes(1)) {
        self.audience = audience
        self.email = email
        self.leeway = leeway
    }

    /// Google uses both forms of its name.
    static let issuers: Set<String> = ["https://accounts.google.com", "accounts.google.com"]

    /// Returns the token with these claims if they match the expectation at an instant. A signature
    /// by Google does not authenticate the sender: anyone can obtain a token from Google.
    package func token(
        claiming payload: [UInt8],
        at now: Instant
    ) throws(PushRefusal) -> PushToken {
        guard let claims = try? JSONDocument(payload).root, claims.kind == .object else {
            throw .malformed
        }
        guard let issuer = claims["iss"]?.string, Self.issuers.contains(issuer) else {
            throw .wrongIssuer
        }
        guard claims["aud"]?.string == audience else { throw .wrongAudience }
        guard claims["email"]?.string == email else { throw .wrongSender }
        guard claims["email_verified"]?.bool == true else { throw .unverifiedSender }
        guard let expiresAt = Instant(claim: claims["exp"]),
            let issuedAt = Instant(claim: claims["iat"])
        else { throw .undated }
        guard now < expiresAt + leeway else { throw .expired }
        guard issuedAt <= now + leeway else { throw .fromTheFuture }
        return PushToken(
            email: email,
            audience: audience,
            issuedAt: issuedAt,
            expiresAt: expiresAt
        )
    }
}

extension Instant {
    /// Seconds since 1970, as in a JWT claim (RFC 7519); nil unless it is a whole number.
    fileprivate init?(claim: JSONNode?) {
        guard let seconds = claim?.int64, (0...253_402_300_799).contains(seconds) else {
            return nil
        }
        self.init(millisecondsSince1970: seconds * 1000)
    }
}

/// A compact JWT with a parsed header, used to select a key. Its content is not trusted.
struct UnverifiedToken {
    let keyId: String

    init(_ compact: [UInt8]) throws(PushRefusal) {
        guard compact.count <= Self.maximumByteCount else { throw .malformed }
        let parts = compact.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decode(parts[0], .urlSafe),
            let document = try? JSONDocument(header), document.root.kind == .object
        else { throw .malformed }
        guard document.root["alg"]?.string == "RS256" else { throw .wrongAlgorithm }
        guard let id = document.root["kid"]?.string, !id.isEmpty, id.utf8.count <= 128 else {
            throw .noKey
        }
        keyId = id
    }

    /// Google's tokens have about a thousand bytes.
    private static let maximumByteCount = 8 * 1024
}
