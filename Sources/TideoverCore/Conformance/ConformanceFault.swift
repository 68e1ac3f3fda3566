public import TideoverJSON

/// A fault of a conformance table and its position. It is an error in the table, not in the
/// program.
public struct ConformanceFault: Error, Hashable, Sendable {
    /// Counted from 1.
    public let line: Int
    /// In Unicode scalars, counted from 1.
    public let column: Int
    public let reason: Reason

    /// The kind of fault.
    public enum Reason: Hashable, Sendable {
        /// The file is not JSON.
        case notJSON(JSONError.Reason)
        /// The format differs from the supported one.
        case otherFormat(String)
        /// A required member is missing.
        case missing(String)
        /// A member, or the value at this position, has the wrong kind.
        case notA(String, member: String)
        /// An unknown member, with the closest known one.
        case unknownMember(String, closest: String?)
        /// A value that is not among the permitted ones.
        case unknownWord(String, member: String)
        /// A set of facts that the table does not define.
        case unknownSet(String, closest: String?)
        /// An entitlement that the catalogue lacks.
        case unknownEntitlement(String, closest: String?)
        /// Two cases with one name.
        case repeatedName(String)
        /// An empty list that requires an element.
        case empty(String)
        /// An expectation that expects nothing of an answer.
        case expectsNothing
    }

    init(_ reason: Reason, at node: JSONNode) {
        (line, column) = node.position
        self.reason = reason
    }

    init(_ error: JSONError) {
        line = error.line
        column = error.column
        reason = .notJSON(error.reason)
    }

    init(_ error: FormError, at node: JSONNode) {
        let reason: Reason =
            switch error {
            case .missing(let field): .missing(field)
            case .wrongType(let field): .notA("value of the right type", member: field)
            case .unknownWord(let field, let value): .unknownWord(value, member: field)
            }
        self.init(reason, at: node)
    }
}

extension ConformanceFault: CustomStringConvertible {
    /// The fault in one sentence, without its position.
    public var description: String {
        switch reason {
        case .notJSON(let reason): "this is not JSON: \(reason)"
        case .otherFormat(let found):
            "the format is `\(found)`; what is read here is `\(ConformanceTable.format)`"
        case .missing(let member): "`\(member)` is missing"
        case .notA(let kind, let member): "`\(member)` is no \(kind)"
        case .unknownMember(let name, let closest): "`\(name)` means nothing here" + hint(closest)
        case .unknownWord(let word, let member): "`\(member)` does not take `\(word)`"
        case .unknownSet(let name, let closest):
            "no facts are given under the name `\(name)`" + hint(closest)
        case .unknownEntitlement(let name, let closest):
            "no product unlocks `\(name)`" + hint(closest)
        case .repeatedName(let name): "a case before this one is called `\(name)` too"
        case .empty(let member): "`\(member)` has no element"
        case .expectsNothing: "nothing is expected of the answer"
        }
    }

    private func hint(_ closest: String?) -> String {
        closest.map { "; did you mean `\($0)`?" } ?? ""
    }
}
