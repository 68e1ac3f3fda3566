/// When a fault of a store's API strikes: calls of an operation, or of all, until it is used up.
public struct FaultRule<Fault: Hashable & Sendable, Operation: Hashable & Sendable>: Hashable,
    Sendable
{
    /// What goes wrong.
    public let fault: Fault
    /// The calls concerned; nil for all.
    public let operation: Operation?
    /// How many calls it strikes before it is gone; nil for ever.
    public fileprivate(set) var times: Int?
    /// Of a hundred calls concerned, how many it strikes on average.
    public let percent: Int

    /// A rule, by default for the next call of any operation.
    public init(
        _ fault: Fault,
        on operation: Operation? = nil,
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

extension FaultRule: Codable where Fault: Codable, Operation: Codable {}

/// The rules in force, in the order made: the first that strikes decides.
struct FaultPlan<Fault: Hashable & Sendable, Operation: Hashable & Sendable>: Sendable {
    private var rules: [FaultRule<Fault, Operation>] = []
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func add(_ rule: FaultRule<Fault, Operation>) { rules.append(rule) }

    mutating func clear() { rules = [] }

    /// The fault that strikes this call, nil for none.
    mutating func draw(for operation: Operation) -> Fault? {
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

extension FaultPlan: Codable where Fault: Codable, Operation: Codable {}
