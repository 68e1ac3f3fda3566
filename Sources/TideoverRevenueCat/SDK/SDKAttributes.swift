package import TideoverCore
package import TideoverJSON

/// Attributes of a customer, as a member of a body: `{"$email": {"value": "...",
/// "updated_at_ms": 1780000000000}}`. Names that begin with `$` are RevenueCat's.
package struct SDKAttributes: Hashable, Sendable {
    package private(set) var values: [String: Value] = [:]
    /// Why the others cannot be stored, by name.
    package private(set) var faults: [String: String] = [:]

    package struct Value: Hashable, Sendable {
        /// Nil deletes the attribute.
        package let text: String?
        package let updatedAt: Instant

        package init(text: String?, updatedAt: Instant) {
            self.text = text
            self.updatedAt = updatedAt
        }
    }

    package init(_ values: [String: Value]) {
        self.values = values
    }

    /// RevenueCat's limits, in characters.
    private static let longestName = 40
    private static let longestValue = 500
    /// The bytes of one such character at most. A letter with its marks is one character, however
    /// many marks it has.
    private static let bytesOfCharacter = 4
    /// The number of names in one body.
    private static let most = 200

    /// Reads the body of `POST /v1/subscribers/{id}/attributes`.
    package init(_ body: [UInt8]) throws(SDKError) {
        guard let attributes = try Self(inside: JSONNode.sdkObject(body)) else {
            throw .noAttributes
        }
        self = attributes
    }

    /// Reads the attributes in a member of an object, such as a receipt; nil if there are none.
    init?(inside root: JSONNode, as member: String = "attributes") {
        guard let attributes = root[member], attributes.kind == .object else { return nil }
        for (index, (name, node)) in attributes.members.enumerated() {
            if let fault = index < Self.most ? Self.fault(of: name, node) : "Too many attributes." {
                faults[name] = fault
                continue
            }
            values[name] = Value(
                text: node["value"]?.string.flatMap { $0.isEmpty ? nil : $0 },
                updatedAt: Instant(
                    millisecondsSince1970: node["updated_at_ms"]?.int64 ?? 0
                )
            )
        }
    }

    private static func bytes(_ characters: Int) -> String {
        "in at most \(characters * bytesOfCharacter) bytes"
    }

    private static func isLonger(_ text: String, than characters: Int) -> Bool {
        text.utf8.count > characters * bytesOfCharacter || text.count > characters
    }

    private static func fault(of name: String, _ node: JSONNode) -> String? {
        let value = node["value"]?.string ?? ""
        if name.isEmpty || isLonger(name, than: longestName) {
            return "A name has 1 to \(longestName) characters, \(bytes(longestName))."
        }
        if isLonger(value, than: longestValue) {
            return "A value has up to \(longestValue) characters, \(bytes(longestValue))."
        }
        if let value = node["value"], value.string == nil, !value.isNull {
            return "A value is a text."
        }
        guard let updatedAt = node["updated_at_ms"]?.int64, updatedAt >= 0 else {
            return "`updated_at_ms` must be an integer, and not negative."
        }
        if name == "$email", !value.isEmpty, !value.contains("@") {
            return "Not an email address."
        }
        return nil
    }
}

extension SDKAttributes {
    /// Writes the values as members, in the order of their names.
    package func writeMembers(to writer: inout JSONWriter) {
        for (name, value) in values.inKeyOrder {
            writer.field(
                name,
                object: { writer in
                    writer.field("value", value.text)
                    writer.field("updated_at_ms", value.updatedAt.millisecondsSince1970)
                }
            )
        }
    }
}
