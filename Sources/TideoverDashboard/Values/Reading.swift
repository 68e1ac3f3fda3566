import TideoverCore
import TideoverJSON

/// An answer of the API lacks a member that a page shows.
package struct UnexpectedAnswer: Error, Hashable, Sendable, CustomStringConvertible {
    package let member: String

    package var description: String { "the answer has no valid `\(member)`" }
}

extension JSONNode {
    func need(_ member: String) throws(UnexpectedAnswer) -> JSONNode {
        guard let node = self[member] else { throw UnexpectedAnswer(member: member) }
        return node
    }

    func needText(_ member: String) throws(UnexpectedAnswer) -> String {
        guard let text = try need(member).string else { throw UnexpectedAnswer(member: member) }
        return text
    }

    func needBool(_ member: String) throws(UnexpectedAnswer) -> Bool {
        guard let value = try need(member).bool else { throw UnexpectedAnswer(member: member) }
        return value
    }

    func needInstant(_ member: String) throws(UnexpectedAnswer) -> Instant {
        guard let instant = instant(member) else { throw UnexpectedAnswer(member: member) }
        return instant
    }

    func figure(_ member: String) throws(UnexpectedAnswer) -> Figure { Figure(try need(member)) }

    func text(_ member: String) -> String? { self[member]?.string }

    func instant(_ member: String) -> Instant? {
        text(member).flatMap(Instant.init(rfc3339:))
    }

    /// The entitlements to which an explanation gives access.
    var accessibleEntitlements: [String] {
        self["entitlements"]?.members.compactMap { name, node in
            node["decision"]?["access"]?.bool == true ? name : nil
        } ?? []
    }

    /// The texts of a list; other elements are left out.
    func texts(_ member: String) -> [String] {
        list(member).compactMap(\.string)
    }

    func list(_ member: String) -> [JSONNode] { self[member]?.elements.map(\.self) ?? [] }
}

/// A number of a report: exactly as the report has it, and as a page shows it.
package struct Figure: Hashable, Sendable {
    /// The number as the report writes it, or `null`.
    package let source: String
    let value: Double?

    init(_ node: JSONNode) {
        source = String(decoding: node.source, as: UTF8.self)
        value = node.double
    }
}
