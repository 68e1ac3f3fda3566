/// What can go wrong with a push on its way, when a test asks for it.
public enum PlayWireFault: Hashable, Codable, Sendable {
    /// It never arrives, though somebody in between acknowledges it.
    case lose
    /// It never arrives, and Pub/Sub knows: it pushes again.
    case noAnswer
    /// It arrives, and a moment later once more.
    case duplicate
    /// It arrives this much later, in milliseconds.
    case delay(Int64)
    /// The next one overtakes it.
    case reorder
    /// Only half of its body arrives.
    case truncate
    /// One character of its token's signature is another.
    case corrupt
    /// It tells of a purchase in another app.
    case wrongPackage
    /// Its type is one that nobody knows yet; the purchase it names is as ever.
    case unknownType
    /// Google signs tokens with another key from now on, and publishes it.
    case rotateKey
    /// Its token is signed with a key that Google has not published.
    case unknownKey
    /// Its token was over an hour ago.
    case expiredToken
    /// Its token is for somebody else.
    case wrongAudience
    /// Its token is in the name of another service account.
    case wrongAccount

    /// Whether a receiver must not believe what arrives.
    public var mustBeRefused: Bool {
        switch self {
        case .truncate, .corrupt, .wrongPackage, .unknownKey, .expiredToken, .wrongAudience,
            .wrongAccount:
            true
        case .lose, .noAnswer, .duplicate, .delay, .reorder, .unknownType, .rotateKey: false
        }
    }
}

/// When such a fault strikes: messages as they are first pushed, until it is used up.
public typealias PlayWireFaultRule = FaultRule<PlayWireFault, Never>

extension PlayWireFault: WireFault {
    /// What a rule is about.
    public static var concerned: String { "Pushes" }

    /// What becomes of a push.
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
        case .wrongAudience: "with a token for somebody else"
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
