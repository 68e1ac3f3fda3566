/// What can go wrong with a call of Google's APIs, when a test asks for it. Lengths of time are in
/// milliseconds.
public enum PlayFault: Hashable, Sendable {
    /// Any of the documented error answers.
    case refused(PlayAPIError)
    /// Status 429 with `Retry-After` in seconds.
    case rateLimited(seconds: Int64)
    /// This status with a body that is no JSON, as a machine in front of the API answers.
    case unavailable(status: Int)
    /// The right answer, this much later.
    case slow(Int64)
    /// The right answer's first bytes, half of them.
    case truncated
    /// A right answer of this long ago, dated now. It concerns what is read of purchases and orders.
    case stale(by: Int64)
}

/// When a fault strikes: calls of an operation, or of all, until it is used up.
public struct PlayFaultRule: Hashable, Sendable {
    /// What goes wrong.
    public let fault: PlayFault
    /// The calls concerned; nil for all.
    public let operation: PlayOperation?
    /// How many calls it strikes before it is gone; nil for ever.
    public fileprivate(set) var times: Int?
    /// Of a hundred calls concerned, how many it strikes on average.
    public let percent: Int

    /// A rule, by default for the next call of any operation.
    public init(
        _ fault: PlayFault,
        on operation: PlayOperation? = nil,
        times: Int? = 1,
        percent: Int = 100
    ) {
        precondition((0...100).contains(percent), "a share is from 0 to 100 percent")
        self.fault = fault
        self.operation = operation
        self.times = times
        self.percent = percent
    }
}

/// The rules in force, in the order made: the first that strikes decides.
struct PlayFaultPlan: Sendable {
    private var rules: [PlayFaultRule] = []
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x706C_6179)
    }

    mutating func add(_ rule: PlayFaultRule) { rules.append(rule) }

    mutating func clear() { rules = [] }

    /// The fault that strikes this call, nil for none.
    mutating func draw(for operation: PlayOperation) -> PlayFault? {
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
