/// Why a push is not taken for Pub/Sub's: whoever sent it is not who may.
public enum PushRefusal: Error, Hashable, Sendable, CaseIterable {
    /// The request bears no token.
    case noToken
    /// What it bears is no token in compact form, or says what is no JSON.
    case malformed
    /// The token is signed by another algorithm than RS256, or by none.
    case wrongAlgorithm
    /// The token names no key.
    case noKey
    /// The token names a key that is not among Google's.
    case unknownKey
    /// Google's key did not sign the token.
    case badSignature
    /// The token is not issued by Google.
    case wrongIssuer
    /// The token is addressed to somebody else.
    case wrongAudience
    /// The token is another account's.
    case wrongSender
    /// The account's address is not verified.
    case unverifiedSender
    /// The token does not say from when to when it is good.
    case undated
    case expired
    /// The token was issued in the future: one of the clocks is wrong.
    case fromTheFuture
}

/// The words for a refusal, all in one place.
extension PushRefusal: CustomStringConvertible {
    /// The reason in one word; it never changes.
    public var code: String {
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

    /// The reason in one sentence, fit for a log: nothing of the token is in it.
    public var sentence: String {
        switch self {
        case .noToken:
            "The push bears no token: let the push subscription authenticate with a service account."
        case .malformed: "The push's token is no JSON Web Token."
        case .wrongAlgorithm: "The push's token is not signed with RS256."
        case .noKey: "The push's token does not say which key signed it."
        case .unknownKey: "The push's token was signed by a key that is none of Google's."
        case .badSignature: "The signature of the push's token does not hold."
        case .wrongIssuer: "The push's token is not issued by Google."
        case .wrongAudience:
            "The push's token is addressed to another audience than googlePlay.push.audience."
        case .wrongSender:
            "The push's token is of another service account than googlePlay.push.email."
        case .unverifiedSender: "Google has not verified the address in the push's token."
        case .undated: "The push's token does not say how long it is good."
        case .expired: "The push's token has expired."
        case .fromTheFuture: "The push's token is from the future: look at the clock."
        }
    }

    public var description: String { sentence }
}
