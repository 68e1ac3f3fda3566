public import TideoverCore
import TideoverJSON

/// What the token of a push says, once its signature holds and it is meant for us.
/// https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
public struct PushToken: Hashable, Sendable {
    /// The service account that Pub/Sub pushes as.
    public let email: String
    public let audience: String
    public let issuedAt: Instant
    public let expiresAt: Instant
}

/// What a token of Google's says of itself, believed or not.
public struct PushClaims: Hashable, Sendable {
    /// At most 300 characters of each.
    public let audience: String?
    public let email: String?

    /// Nil for what Google did not issue.
    init?(_ payload: [UInt8]) {
        guard let claims = try? JSONDocument(payload).root,
            let issuer = claims["iss"]?.string, PushExpectation.issuers.contains(issuer)
        else { return nil }
        audience = claims["aud"]?.string.map { String($0.prefix(300)) }
        email = claims["email"]?.string.map { String($0.prefix(300)) }
    }
}

/// What the token of a push must say.
public struct PushExpectation: Hashable, Sendable {
    /// What the push subscription is configured to address its tokens to.
    public let audience: String
    /// The service account that the push subscription is configured to act as.
    public let email: String
    /// How far two clocks may be apart.
    public let leeway: Milliseconds

    public init(audience: String, email: String, leeway: Milliseconds = .minutes(1)) {
        self.audience = audience
        self.email = email
        self.leeway = leeway
    }

    /// Google writes its name in both ways.
    static let issuers: Set<String> = ["https://accounts.google.com", "accounts.google.com"]

    /// The token whose claims these are, if they are what is expected at an instant. A token of
    /// Google's alone proves nothing about its sender: everybody can have one made.
    public func token(
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
    /// Seconds since 1970, as a claim has them (RFC 7519); nil for what is no whole number of them.
    fileprivate init?(claim: JSONNode?) {
        guard let seconds = claim?.int64, (0...253_402_300_799).contains(seconds) else {
            return nil
        }
        self.init(millisecondsSince1970: seconds * 1000)
    }
}

/// A compact JWT whose header has been read, to choose a key by. Nothing in it is believed.
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

    /// Google's have about a thousand bytes.
    private static let maximumByteCount = 8 * 1024
}
