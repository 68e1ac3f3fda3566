/// A fault in a store's traffic, set by a test.
public protocol StoreFault: Hashable, Codable, Sendable {
    /// The subject of a rule that names no operation, in the plural: "Notifications".
    static var concerned: String { get }
    /// The outcome: "cut in half".
    var words: String { get }
}

/// The conditions of a fault: it matches calls of an operation, or of all, until it is used up. In
/// traffic without operations, the operation is `Never`.
public struct FaultRule<
    Fault: StoreFault,
    Operation: Hashable & Codable & Sendable
>: Hashable, Codable, Sendable {
    /// The fault.
    public let fault: Fault
    /// The affected calls; nil for all.
    public let operation: Operation?
    /// How often it applies before it is removed; nil for no limit.
    public fileprivate(set) var times: Int?
    /// The percentage of matches in which it applies, on average.
    public let percent: Int

    /// Creates a rule, by default for the next time and any operation.
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

extension FaultRule: CustomStringConvertible {
    /// The fault and its frequency: a sentence without its full stop.
    public var description: String {
        "\(operation.map { "Calls of \($0)" } ?? Fault.concerned), \(often): \(fault.words)"
    }

    private var often: String {
        let share = percent == 100 ? "" : "\(percent) of a hundred "
        return switch times {
        case nil: share + "from now on"
        case 1: share + "once"
        case let times?: share + "\(times) times"
        }
    }
}

/// The active rules, in the order made. The first that matches decides.
struct FaultPlan<
    Fault: StoreFault,
    Operation: Hashable & Codable & Sendable
>: Hashable, Codable, Sendable {
    private var rules: [FaultRule<Fault, Operation>] = []
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func add(_ rule: FaultRule<Fault, Operation>) { rules.append(rule) }

    mutating func clear() { rules = [] }

    /// Returns the fault of this call, nil for none. Without an operation, only rules for all calls
    /// match.
    mutating func draw(for operation: Operation? = nil) -> Fault? {
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

    /// Draws a position for damage in a text of this length, never the first or the last.
    mutating func place(in length: Int) -> Int {
        Int(random.number(in: 1...Int64(max(1, length - 2))))
    }
}
