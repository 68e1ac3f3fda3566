import TideoverCore
import TideoverJSON

/// The members of one JSON object from the App Store. An absent or null member is nil. A member of
/// the wrong type is rejected by name.
struct WireFields {
    private let object: JSONNode
    /// The object's path in its payload, with a trailing dot; empty at the top.
    private let path: String

    init(_ object: JSONNode, path: String = "") throws(AppStoreRefusal) {
        guard object.kind == .object else {
            throw .malformed(field: path.isEmpty ? "payload" : path)
        }
        self.object = object
        self.path = path.isEmpty ? "" : path + "."
    }

    func string(_ name: String) throws(AppStoreRefusal) -> String? {
        try value(name) { $0.string }
    }

    func integer(_ name: String) throws(AppStoreRefusal) -> Int64? {
        try value(name) { $0.int64 }
    }

    func flag(_ name: String) throws(AppStoreRefusal) -> Bool? {
        try value(name) { $0.bool }
    }

    /// Milliseconds since 1970; Xcode writes fractions of them.
    func date(_ name: String) throws(AppStoreRefusal) -> Instant? {
        try value(name, Instant.init(wire:))
    }

    /// Returns a JWS in compact serialization, not verified.
    func jws(_ name: String) throws(AppStoreRefusal) -> ArraySlice<UInt8>? {
        try value(name) { $0.utf8 }
    }

    func word<Known>(_ name: String) throws(AppStoreRefusal) -> OpenEnum<Known>?
    where Known.RawValue == String {
        try value(name) { $0.string.map(OpenEnum.init) }
    }

    func word<Known>(_ name: String) throws(AppStoreRefusal) -> OpenEnum<Known>?
    where Known.RawValue == Int64 {
        try value(name) { $0.int64.map(OpenEnum.init) }
    }

    func strings(_ name: String) throws(AppStoreRefusal) -> [String]? {
        try value(name) { node in
            guard node.kind == .array else { return nil }
            let strings = node.elements.map(\.string)
            return strings.contains(nil) ? nil : strings.compactMap(\.self)
        }
    }

    /// Returns an object unchanged.
    func object(_ name: String) throws(AppStoreRefusal) -> JSONObject? {
        try value(name) { $0.kind == .object ? JSONValue($0).object : nil }
    }

    /// Returns an object for further parsing.
    func fields(_ name: String) throws(AppStoreRefusal) -> WireFields? {
        guard let node = try value(name, { $0 }) else { return nil }
        return try WireFields(node, path: path + name)
    }

    /// Returns an array of objects for further parsing.
    func list(_ name: String) throws(AppStoreRefusal) -> [WireFields]? {
        guard let nodes = try value(name, { $0.kind == .array ? $0.elements : nil }) else {
            return nil
        }
        var list: [WireFields] = []
        for node in nodes { list.append(try WireFields(node, path: path + name)) }
        return list
    }

    /// Returns an array of JWS in compact serialization, not verified.
    func signed(_ name: String) throws(AppStoreRefusal) -> [ArraySlice<UInt8>]? {
        try value(name) { node in
            guard node.kind == .array else { return nil }
            let texts = node.elements.map(\.utf8)
            return texts.contains(nil) ? nil : texts.compactMap(\.self)
        }
    }

    /// The object as it was written.
    var source: ArraySlice<UInt8> { object.source }

    func value<Value>(
        _ name: String,
        _ read: (JSONNode) -> Value?
    ) throws(AppStoreRefusal) -> Value? {
        guard let node = object[name], !node.isNull else { return nil }
        guard let value = read(node) else { throw malformed(name) }
        return value
    }

    func malformed(_ name: String) -> AppStoreRefusal { .malformed(field: path + name) }
}

extension Instant {
    /// Milliseconds since 1970 as the App Store writes them, rounded down. Nil for a value that is
    /// not a number, and for years outside 0 to 9999.
    init?(wire node: JSONNode) {
        guard let milliseconds = node.int64 ?? node.double.flatMap(Int64.init(flooring:)) else {
            return nil
        }
        self.init(millisecondsSince1970: milliseconds)
        guard Self.writable.contains(self) else { return nil }
    }
}

extension Int64 {
    /// Nil beyond 2^62, where a double has no fraction.
    fileprivate init?(flooring value: Double) {
        guard value.magnitude < 0x1p62 else { return nil }
        let truncated = Int64(value)
        self = Double(truncated) > value ? truncated - 1 : truncated
    }
}
