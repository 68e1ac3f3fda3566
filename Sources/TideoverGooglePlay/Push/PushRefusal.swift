/// Describes why a push is not accepted as one from Pub/Sub.
package enum PushRefusal: Error, Hashable, Sendable, CaseIterable {
    /// The request has no token.
    case noToken
    /// The token is not a compact JWT, or its content is not JSON.
    case malformed
    /// The token is signed by another algorithm than RS256, or not signed.
    case wrongAlgorithm
    /// The token has no key ID.
    case noKey
    /// The token's key ID is not among Google's keys.
    case unknownKey
    /// The signature does not match Google's key.
    case badSignature
    /// The issuer is not Google.
    case wrongIssuer
    /// The token has another audience.
    case wrongAudience
    /// The token belongs to another account.
    case wrongSender
    /// The account's address is not verified.
    case unverifiedSender
    /// The token lacks its issue or expiry time.
    case undated
    case expired
    /// The issue time of the token is in the future: one of the clocks is wrong.
    case fromTheFuture
}

/// All texts for a rejection.
extension PushRefusal: CustomStringConvertible {
    /// A stable code for the reason.
    package var code: String {
        switch self {
        case .noToken: "push-token-missing"
        case .malformed: "push-token-malformed"
        case .wrongAlgorithm: "push-token-algorithm"
        case .noKey: "push-token-key-missing"
        case .unknownKey: "push-token-key-unknown"
        case .badSignature: "push-token-signature"
        case .wrongIssuer: "push-token-issuer"
        case .wrongAudience: "push-token-audience"
        case .wrongSender: "push-token-sender"
        case .unverifiedSender: "push-token-sender-unverified"
        case .undated: "push-token-undated"
        case .expired: "push-token-expired"
        case .fromTheFuture: "push-token-future"
        }
    }

    /// A one-sentence description of the reason for logs, without token data.
    package var sentence: String {
        switch self {
        case .noToken:
            "The push has no token: set a service account for the push subscription."
        case .malformed: "The push's token is not a JSON Web Token."
        case .wrongAlgorithm: "The push's token is not signed with RS256."
        case .noKey: "The push's token does not name the key that signed it."
        case .unknownKey: "The push's token was not signed by a key that Google publishes."
        case .badSignature: "The signature of the push's token is not valid."
        case .wrongIssuer: "The push's token is not issued by Google."
        case .wrongAudience:
            "The push's token is for an audience other than googlePlay.push.audience."
        case .wrongSender:
            "The push's token is from a service account other than googlePlay.push.email."
        case .unverifiedSender: "Google has not verified the address in the push's token."
        case .undated: "The push's token has no time of issue or expiry."
        case .expired: "The push's token has expired."
        case .fromTheFuture: "The push's token was issued in the future: check the clock."
        }
    }

    package var description: String { sentence }
}
