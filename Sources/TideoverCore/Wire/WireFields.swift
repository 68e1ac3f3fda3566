public import TideoverJSON

/// The members of one JSON object from a store. An absent or null member is nil. A member of the
/// wrong type is rejected by name.
///
/// All members are inlinable: unspecialized, they would take twice as long.
// Only a type that is usable from inline has members that other modules can inline.
@usableFromInline
package struct WireFields<Refusal: WireRefusal>: Sendable {
    @usableFromInline let object: JSONNode
    /// The object's path in its document, with a trailing dot; empty at the top.
    @usableFromInline let path: String
    /// Whether a member of the wrong type counts as absent.
    @usableFromInline var isLenient = false

    @inlinable
    package init(_ object: JSONNode, path: String = "") throws(Refusal) {
        guard object.kind == .object else {
            throw .malformed(field: path.isEmpty ? Refusal.document : path)
        }
        self.object = object
        self.path = path.isEmpty ? "" : path + "."
    }

    /// The same members; one of the wrong type counts as absent. This does not extend to objects
    /// among them.
    @inlinable
    package var lenient: WireFields {
        var fields = self
        fields.isLenient = true
        return fields
    }

    @inlinable
    package func string(_ name: String) throws(Refusal) -> String? {
        try value(name) { $0.string }
    }

    @inlinable
    package func integer(_ name: String) throws(Refusal) -> Int64? {
        try value(name) { Refusal.integer($0) }
    }

    @inlinable
    package func flag(_ name: String) throws(Refusal) -> Bool? {
        try value(name) { $0.bool }
    }

    @inlinable
    package func word<Known>(_ name: String) throws(Refusal) -> OpenEnum<Known>?
    where Known.RawValue == String {
        try value(name) { $0.string.map(OpenEnum.init) }
    }

    @inlinable
    package func word<Known>(_ name: String) throws(Refusal) -> OpenEnum<Known>?
    where Known.RawValue == Int64 {
        try value(name) { Refusal.integer($0).map(OpenEnum.init) }
    }

    @inlinable
    package func strings(_ name: String) throws(Refusal) -> [String]? {
        try value(name) { node in
            guard node.kind == .array else { return nil }
            let strings = node.elements.map(\.string)
            return strings.contains(nil) ? nil : strings.compactMap(\.self)
        }
    }

    /// Returns an object for further parsing.
    @inlinable
    package func fields(_ name: String) throws(Refusal) -> WireFields? {
        guard let node = try value(name, { $0 }) else { return nil }
        return try WireFields(node, path: path + name)
    }

    /// Returns an array of objects for further parsing.
    @inlinable
    package func list(_ name: String) throws(Refusal) -> [WireFields]? {
        guard let nodes = try value(name, { $0.kind == .array ? $0.elements : nil }) else {
            return nil
        }
        var list: [WireFields] = []
        for node in nodes { list.append(try WireFields(node, path: path + name)) }
        return list
    }

    /// Returns an array of parsed objects; empty if absent.
    @inlinable
    package func list<Value>(
        _ name: String,
        _ read: (WireFields) throws(Refusal) -> Value
    ) throws(Refusal) -> [Value] {
        guard let nodes = try value(name, { $0.kind == .array ? $0.elements : nil }) else {
            return []
        }
        var list: [Value] = []
        for node in nodes { list.append(try read(WireFields(node, path: path + name))) }
        return list
    }

    /// The object as it was written.
    @inlinable
    package var source: ArraySlice<UInt8> { object.source }

    /// The names of all members, in the order written.
    @inlinable
    package var names: [String] { object.members.map(\.key) }

    /// Returns a member; one that `read` returns nil for has the wrong type.
    @inlinable
    package func value<Value>(
        _ name: String,
        _ read: (JSONNode) -> Value?
    ) throws(Refusal) -> Value? {
        guard let node = object[name], !node.isNull else { return nil }
        guard let value = read(node) else {
            if isLenient { return nil }
            throw malformed(name)
        }
        return value
    }

    @inlinable
    package func malformed(_ name: String) -> Refusal { .malformed(field: path + name) }

    @inlinable
    package func missing(_ name: String) -> Refusal { .missingMember(path + name) }
}

/// A refusal of a store's JSON, and how the store writes it.
@usableFromInline
package protocol WireRefusal: Error {
    /// The name of a whole document in a refusal.
    static var document: String { get }

    /// Returns an integer; nil for a value of another type.
    static func integer(_ node: JSONNode) -> Int64?

    /// A known field has a value of the wrong type or out of range.
    static func malformed(field: String) -> Self

    /// A required member is absent.
    static func missingMember(_ name: String) -> Self
}

extension WireRefusal {
    @inlinable
    package static var document: String { "body" }

    @inlinable
    package static func integer(_ node: JSONNode) -> Int64? { node.int64 }
}
