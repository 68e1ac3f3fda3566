public import TideoverJSON

/// What one place of the answer about a customer must say.
public struct ScenarioExpectation: Hashable, Sendable {
    /// The place, as the scenario writes it: `premium.state`, `prompt.kind`.
    public let label: String
    /// The way from the top of the answer: keys, and positions in arrays.
    public let path: [String]
    /// What must stand at the place.
    public let requirement: Requirement

    /// What a place can be required to hold.
    public enum Requirement: Hashable, Sendable {
        case equals(JSONValue)
        case not(JSONValue)
        case oneOf([JSONValue])
        /// Both ends included; numbers or instants.
        case between(JSONValue, JSONValue)
        /// Whether anything, be it null, stands there.
        case present(Bool)
    }

    /// A requirement for one place.
    public init(label: String, path: [String], requirement: Requirement) {
        self.label = label
        self.path = path
        self.requirement = requirement
    }

    /// The same with the instants of another clock than the store's.
    func dated(by dial: StoreDial) -> ScenarioExpectation {
        let dated: Requirement =
            switch requirement {
            case .equals(let value): .equals(dial.dated(value))
            case .not(let value): .not(dial.dated(value))
            case .oneOf(let values): .oneOf(values.map { dial.dated($0) })
            case .between(let low, let high): .between(dial.dated(low), dial.dated(high))
            case .present: requirement
            }
        return ScenarioExpectation(label: label, path: path, requirement: dated)
    }

    /// The value at the place; nil if the answer has no such place.
    public func actual(in answer: JSONValue) -> JSONValue? {
        var value: JSONValue? = answer
        for step in path {
            value = value?[step] ?? Int(step).flatMap { value?[$0] }
        }
        return value
    }

    /// Whether a value, nil if the place is absent, is what is required.
    public func holds(for actual: JSONValue?) -> Bool {
        switch (requirement, actual) {
        case (.present(let expected), _): expected == (actual != nil)
        case (_, nil): false
        case (.equals(let expected), let actual?): same(expected, actual)
        case (.not(let expected), let actual?): !same(expected, actual)
        case (.oneOf(let expected), let actual?): expected.contains { same($0, actual) }
        case (.between(let low, let high), let actual?):
            isOrdered(low, actual) && isOrdered(actual, high)
        }
    }
}

/// Equal as JSON, where numbers are equal by value and instants by the moment they name.
private func same(_ a: JSONValue, _ b: JSONValue) -> Bool {
    if a == b { return true }
    if let a = instant(a), let b = instant(b) { return a == b }
    if let a = a.double, let b = b.double { return a == b }
    guard let a = a.array, let b = b.array, a.count == b.count else { return false }
    return zip(a, b).allSatisfy(same)
}

private func isOrdered(_ a: JSONValue, _ b: JSONValue) -> Bool {
    if let a = instant(a), let b = instant(b) { return a <= b }
    if let a = a.double, let b = b.double { return a <= b }
    return false
}

private func instant(_ value: JSONValue) -> Int64? {
    value.string.flatMap(InstantText.read)
}

extension ScenarioExpectation.Requirement: CustomStringConvertible {
    /// What is required, in a few words.
    public var description: String {
        switch self {
        case .equals(let value): text(value)
        case .not(let value): "not \(text(value))"
        case .oneOf(let values): "one of " + values.map(text).joined(separator: ", ")
        case .between(let low, let high): "\(text(low)) to \(text(high))"
        case .present(true): "present"
        case .present(false): "absent"
        }
    }

    private func text(_ value: JSONValue) -> String {
        value.string ?? String(decoding: value.encoded(), as: UTF8.self)
    }
}
