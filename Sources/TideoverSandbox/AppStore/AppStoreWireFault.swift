/// A delivery fault of a notification, set by a test.
public enum AppStoreWireFault: Hashable, Codable, Sendable {
    /// It never arrives, although an intermediary accepts it: the store counts it as delivered.
    case lose
    /// It never arrives, and the store detects this: it retries according to its schedule.
    case noAnswer
    /// It arrives twice, the second time a moment later.
    case duplicate
    /// It arrives this much later, in milliseconds.
    case delay(Int64)
    /// The next message overtakes it.
    case reorder
    /// Only half of it arrives.
    case truncate
    /// One of its characters is replaced.
    case corrupt
    /// The envelope names another environment than its content.
    case wrongEnvironment
    /// Its type is unknown; its content is unchanged.
    case unknownType
    /// The store signs with another key from now on, with a certificate of the same authority.
    case rotateKey
    /// It is signed with a certificate that had expired by then.
    case expiredCertificate

    /// Whether a receiver must reject it.
    public var mustBeRefused: Bool {
        switch self {
        case .truncate, .corrupt, .wrongEnvironment, .expiredCertificate: true
        case .lose, .noAnswer, .duplicate, .delay, .reorder, .unknownType, .rotateKey: false
        }
    }
}

/// The conditions of such a fault: it matches notifications at their first delivery, until it is
/// used up.
public typealias AppStoreWireFaultRule = FaultRule<AppStoreWireFault, Never>

extension AppStoreWireFault: WireFault {
    /// The subject of a rule.
    public static var concerned: String { "Notifications" }

    /// The outcome of a notification.
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
