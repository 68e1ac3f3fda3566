/// A delivery fault of a push, set by a test.
public enum PlayWireFault: Hashable, Codable, Sendable {
    /// It never arrives, although an intermediary acknowledges it.
    case lose
    /// It never arrives, and Pub/Sub detects this: it pushes again.
    case noAnswer
    /// It arrives twice, the second time a moment later.
    case duplicate
    /// It arrives this much later, in milliseconds.
    case delay(Int64)
    /// The next message overtakes it.
    case reorder
    /// Only half of its body arrives.
    case truncate
    /// One character of its token's signature is replaced.
    case corrupt
    /// It reports a purchase in another app.
    case wrongPackage
    /// Its type is unknown; the purchase it names is unchanged.
    case unknownType
    /// Google signs tokens with another key from now on, and publishes it.
    case rotateKey
    /// Its token is signed with a key that Google has not published.
    case unknownKey
    /// Its token expired an hour ago.
    case expiredToken
    /// Its token has another audience.
    case wrongAudience
    /// Its token names another service account.
    case wrongAccount

    /// Whether a receiver must reject it.
    public var mustBeRefused: Bool {
        switch self {
        case .truncate, .corrupt, .wrongPackage, .unknownKey, .expiredToken, .wrongAudience,
            .wrongAccount:
            true
        case .lose, .noAnswer, .duplicate, .delay, .reorder, .unknownType, .rotateKey: false
        }
    }
}

/// The conditions of such a fault: it matches messages at their first push, until it is used up.
public typealias PlayWireFaultRule = FaultRule<PlayWireFault, Never>

extension PlayWireFault: WireFault {
    /// The subject of a rule.
    public static var concerned: String { "Pushes" }

    /// The outcome of a push.
    public var words: String {
        switch self {
        case .lose: "lost"
        case .noAnswer: "not delivered"
        case .duplicate: "sent twice"
        case .delay(let length): "late by \(length) ms"
        case .reorder: "overtaken by the next"
        case .truncate: "cut in half"
        case .corrupt: "with a corrupted signature"
        case .wrongPackage: "of another app"
        case .unknownType: "of an unknown type"
        case .rotateKey: "signed with a new key"
        case .unknownKey: "signed with a key that is not Google's"
        case .expiredToken: "with an expired token"
        case .wrongAudience: "with a token for another audience"
        case .wrongAccount: "with a token of another account"
        }
    }

    var journey: DisturbedJourney? {
        switch self {
        case .lose: .lost
        case .noAnswer: .unanswered
        case .duplicate: .twice
        case .delay(let length): .late(length)
        case .reorder: .overtaken
        case .truncate, .corrupt, .wrongPackage, .unknownType, .rotateKey, .unknownKey,
            .expiredToken, .wrongAudience, .wrongAccount:
            nil
        }
    }
}
