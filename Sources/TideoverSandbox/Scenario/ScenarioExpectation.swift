public import TideoverJSON

/// The required value of one field of the answer about a customer.
public struct ScenarioExpectation: Hashable, Sendable {
    /// The field, as the scenario writes it: `premium.state`, `prompt.kind`.
    public let label: String
    /// The path from the top of the answer: keys, and positions in arrays.
    public let path: [String]
    /// The requirement for the field.
    public let requirement: Requirement

    /// The kinds of requirements.
    public enum Requirement: Hashable, Sendable {
        case equals(JSONValue)
        case not(JSONValue)
        case oneOf([JSONValue])
        /// Both ends included; numbers or instants.
        case between(JSONValue, JSONValue)
        /// Whether the field has any value, including null.
        case present(Bool)
    }

    /// Creates a requirement for one field.
    public init(label: String, path: [String], requirement: Requirement) {
        self.label = label
        self.path = path
        self.requirement = requirement
    }

    /// Returns the same expectation with its instants on another clock than the store's.
    func dated(by dial: StoreTimeScale) -> ScenarioExpectation {
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

    /// Returns the value of the field; nil if the answer has no such field.
    public func actual(in answer: JSONValue) -> JSONValue? {
        var value: JSONValue? = answer
        for step in path {
            value = value?[step] ?? Int(step).flatMap { value?[$0] }
        }
        return value
    }

    /// Whether a value, nil if the field is absent, meets the requirement.
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

/// Compares as JSON: numbers by value, instants by the moment that they name.
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
    /// The requirement, in a few words.
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
