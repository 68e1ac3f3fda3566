public import TideoverJSON

/// What is wrong with a conformance table, and where: the table's own mistake, not the program's.
public struct ConformanceFault: Error, Hashable, Sendable {
    /// Counted from 1.
    public let line: Int
    /// In Unicode scalars, counted from 1.
    public let column: Int
    public let reason: Reason

    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// The file is not JSON.
        case notJSON(JSONError.Reason)
        /// The format is another than the one that is read here.
        case otherFormat(String)
        /// A member that must be there is not.
        case missing(String)
        /// A member, or what stands at this place, is not of the kind it should be.
        case notA(String, member: String)
        /// A member that means nothing here, with the closest one that does.
        case unknownMember(String, closest: String?)
        /// A word that is none of those a member takes.
        case unknownWord(String, member: String)
        /// A set of facts that the table does not give.
        case unknownSet(String, closest: String?)
        /// An entitlement that the catalogue does not name.
        case unknownEntitlement(String, closest: String?)
        /// Two cases of one name.
        case repeatedName(String)
        /// A list without an element where one is needed.
        case empty(String)
        /// Nothing is expected of an answer.
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
    /// The fault in one sentence, without its place.
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
