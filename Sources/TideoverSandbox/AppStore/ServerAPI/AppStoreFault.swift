/// What can go wrong with a call of the Server API, when a test asks for it. Lengths of time are in
/// milliseconds.
public enum AppStoreFault: Hashable, Codable, Sendable {
    /// Status 429 with `Retry-After`, as an instant in milliseconds since 1970: this long from now.
    case rateLimited(for: Int64)
    /// Status 401, as if the token were not valid.
    case unauthorized
    /// Any of the documented error answers.
    case refused(AppStoreAPIError)
    /// This status with a body that is no JSON, as a machine in front of the API answers.
    case unavailable(status: Int)
    /// The right answer, this much later.
    case slow(Int64)
    /// No answer, after this long.
    case noAnswer(after: Int64)
    /// The right answer's first bytes, half of them.
    case truncated
    /// A right answer of this long ago, at most a day, signed now. It concerns what is read of customers;
    /// what changes something, and the history of notifications, is never stale.
    case stale(by: Int64)
}

/// When a fault strikes: calls of an operation, or of all, until it is used up.
public struct AppStoreFaultRule: Hashable, Codable, Sendable {
    /// What goes wrong.
    public let fault: AppStoreFault
    /// The calls concerned; nil for all.
    public let operation: AppStoreOperation?
    /// How many calls it strikes before it is gone; nil for ever.
    public fileprivate(set) var times: Int?
    /// Of a hundred calls concerned, how many it strikes on average.
    public let percent: Int

    /// A rule, by default for the next call of any operation.
    public init(
        _ fault: AppStoreFault,
        on operation: AppStoreOperation? = nil,
        times: Int? = 1,
        percent: Int = 100
    ) {
        precondition((0...100).contains(percent), "a share is from 0 to 100 percent")
        if case .stale(let lag) = fault {
            precondition(
                (0...AppStoreMachine.longestLag).contains(lag),
                "the store remembers what it would have said for a day"
            )
        }
        self.fault = fault
        self.operation = operation
        self.times = times
        self.percent = percent
    }
}

/// The rules in force, in the order made: the first that strikes decides.
struct AppStoreFaultPlan: Codable, Sendable {
    private var rules: [AppStoreFaultRule] = []
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x6661_756C_7473)
    }

    mutating func add(_ rule: AppStoreFaultRule) { rules.append(rule) }

    mutating func clear() { rules = [] }

    /// The fault that strikes this call, nil for none.
    mutating func draw(for operation: AppStoreOperation) -> AppStoreFault? {
        for index in rules.indices {
            let rule = rules[index]
            guard rule.operation == nil || rule.operation == operation, rule.times != 0,
                random.number(in: 1...100) <= Int64(rule.percent)
            else { continue }
            rules[index].times = rule.times.map { $0 - 1 }
            rules.removeAll { $0.times == 0 }
            return rule.fault
        }
        return nil
    }
}

/// What a caller meets whose call is never answered.
public struct AppStoreNoAnswer: Error, Hashable, Sendable {}
