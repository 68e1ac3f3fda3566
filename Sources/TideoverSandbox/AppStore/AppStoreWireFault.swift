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
public struct AppStoreWireFaultRule: Hashable, Codable, Sendable {
    /// What goes wrong.
    public let fault: AppStoreWireFault
    /// How many notifications it strikes before it is gone; nil for ever.
    public fileprivate(set) var times: Int?
    /// Of a hundred notifications, how many it strikes on average.
    public let percent: Int

    /// A rule, by default for the next notification.
    public init(_ fault: AppStoreWireFault, times: Int? = 1, percent: Int = 100) {
        precondition((0...100).contains(percent), "a share is from 0 to 100 percent")
        self.fault = fault
        self.times = times
        self.percent = percent
    }
}

/// The rules in force, in the order made: the first that strikes decides.
struct AppStoreWireFaultPlan: Hashable, Codable, Sendable {
    private var rules: [AppStoreWireFaultRule] = []
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x7769_7265)
    }

    mutating func add(_ rule: AppStoreWireFaultRule) { rules.append(rule) }

    mutating func clear() { rules = [] }

    /// The fault that strikes this notification, nil for none.
    mutating func draw() -> AppStoreWireFault? {
        for index in rules.indices {
            let rule = rules[index]
            guard rule.times != 0, random.number(in: 1...100) <= Int64(rule.percent) else {
                continue
            }
            rules[index].times = rule.times.map { $0 - 1 }
            rules.removeAll { $0.times == 0 }
            return rule.fault
        }
        return nil
    }

    /// A place to spoil a text of this length, never the first or the last.
    mutating func place(in length: Int) -> Int {
        Int(random.number(in: 1...Int64(max(1, length - 2))))
    }
}
