/// What can go wrong with a notification on its way, when a test asks for it.
public enum AppStoreWireFault: Hashable, Codable, Sendable {
    /// It never arrives, though somebody in between takes it: the store holds it for delivered.
    case lose
    /// It never arrives, and the store knows: it tries again as its schedule has it.
    case noAnswer
    /// It arrives, and a moment later once more.
    case duplicate
    /// It arrives this much later, in milliseconds.
    case delay(Int64)
    /// The next one overtakes it.
    case reorder
    /// Only half of it arrives.
    case truncate
    /// One character of it is another.
    case corrupt
    /// The envelope names another environment than what is in it.
    case wrongEnvironment
    /// Its type is one that nobody knows yet; what it carries is as ever.
    case unknownType
    /// The store signs with another key from now on, in the name of the same authority.
    case rotateKey
    /// It is signed with a certificate that was over by then.
    case expiredCertificate

    /// Whether a receiver must not believe what arrives.
    public var mustBeRefused: Bool {
        switch self {
        case .truncate, .corrupt, .wrongEnvironment, .expiredCertificate: true
        case .lose, .noAnswer, .duplicate, .delay, .reorder, .unknownType, .rotateKey: false
        }
    }
}

/// When such a fault strikes: notifications as they are first sent, until it is used up.
public typealias AppStoreWireFaultRule = FaultRule<AppStoreWireFault, Never>

extension AppStoreWireFault: WireFault {
    /// What a rule is about.
    public static var concerned: String { "Notifications" }

    /// What becomes of a notification.
    public var words: String {
        switch self {
        case .lose: "lost"
        case .noAnswer: "not delivered"
        case .duplicate: "sent twice"
        case .delay(let length): "late by \(length) ms"
        case .reorder: "overtaken by the next"
        case .truncate: "cut in half"
        case .corrupt: "corrupted"
        case .wrongEnvironment: "of another environment"
        case .unknownType: "of an unknown type"
        case .rotateKey: "signed with a new key"
        case .expiredCertificate: "signed with an expired certificate"
        }
    }

    var journey: DisturbedJourney? {
        switch self {
        case .lose: .lost
        case .noAnswer: .unanswered
        case .duplicate: .twice
        case .delay(let length): .late(length)
        case .reorder: .overtaken
        case .truncate, .corrupt, .wrongEnvironment, .unknownType, .rotateKey, .expiredCertificate:
            nil
        }
    }
}
