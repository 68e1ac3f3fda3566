import Foundation
import TideoverJSON

/// Compares the project's parse of a document with another one.
enum Agreement {
    /// Compares with the plain second parser: every value, to the last scalar and bit.
    static func holds(_ node: JSONNode, _ plain: PlainJSON) -> Bool {
        switch plain {
        case .null: return node.isNull
        case .bool(let flag): return node.bool == flag
        case .number(let written): return holds(node, number: written)
        case .string(let scalars): return node.string.map { same($0, scalars) } ?? false
        case .array(let elements):
            guard node.kind == .array, node.count == elements.count else { return false }
            return zip(node.elements, elements).allSatisfy { holds($0, $1) }
        case .object(let members):
            guard node.kind == .object, node.count == members.count else { return false }
            return zip(node.members, members).allSatisfy { own, other in
                same(own.key, other.key) && holds(own.value, other.value)
                    && node[own.key]?.offset == own.value.offset
            }
        }
    }

    private static func same(_ text: String, _ scalars: [Unicode.Scalar]) -> Bool {
        text.unicodeScalars.elementsEqual(scalars)
    }

    private static func holds(_ node: JSONNode, number written: String) -> Bool {
        let nearest = strtod(written, nil)
        guard let double = node.double, double.bitPattern == nearest.bitPattern else {
            return false
        }
        if !written.contains(where: { ".eE".contains($0) }) { return node.int64 == Int64(written) }
        guard let integer = node.int64 else { return true }
        return Double(integer) == nearest
    }

    /// Compares with Foundation. If this is false, Foundation reads an accepted document
    /// differently.
    static func holds(_ node: JSONNode, foundation other: Any) -> Bool {
        switch node.kind {
        case .null: return other is NSNull
        case .bool: return (other as? NSNumber)?.boolValue == node.bool
        case .number:
            guard let double = node.double, let number = other as? NSNumber else { return false }
            // Foundation converts by way of decimals, which differ in the last bit.
            return abs(number.doubleValue - double) <= abs(double) * 0x1p-48
        case .string:
            guard let own = node.string, let text = other as? String else { return false }
            return withoutMarks(own).elementsEqual(withoutMarks(text))
        case .array:
            guard let array = other as? [Any], array.count == node.count else { return false }
            return zip(node.elements, array).allSatisfy { holds($0, foundation: $1) }
        case .object:
            guard let object = other as? [String: Any] else { return false }
            // Swift's dictionaries treat keys as equal that differ only in normalisation.
            let keys = node.members.map(\.key)
            guard Set(keys).count == node.count,
                !keys.contains(where: { $0.unicodeScalars.contains(mark) })
            else { return true }
            return object.count == node.count
                && node.members.allSatisfy { key, value in
                    object[key].map { holds(value, foundation: $0) } ?? false
                }
        }
    }

    /// Foundation removes byte order marks at the beginning of each piece of a string that it
    /// reads.
    private static let mark: Unicode.Scalar = "\u{FEFF}"

    private static func withoutMarks(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { $0 != mark }
    }

    /// Returns Foundation's parse of a document.
    static func foundation(_ bytes: [UInt8]) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }
}
