import TideoverCore
import TideoverJSON

/// The members of one JSON object from Google. An absent or null member is nil. A member of the
/// wrong type is rejected by name. Numbers of 64 bits may be written as strings, as in the JSON
/// form of protocol buffers.
struct WireFields {
    private let object: JSONNode
    /// The object's path, with a trailing dot; empty at the top.
    private let path: String

    init(_ object: JSONNode, path: String = "") throws(PlayRefusal) {
        guard object.kind == .object else {
            throw .malformed(field: path.isEmpty ? "body" : path)
        }
        self.object = object
        self.path = path.isEmpty ? "" : path + "."
    }

    func string(_ name: String) throws(PlayRefusal) -> String? {
        try value(name) { $0.string }
    }

    /// Returns a string that is not empty. Protocol buffers treat an empty string as an absent one.
    func text(_ name: String) throws(PlayRefusal) -> String? {
        try string(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    func integer(_ name: String) throws(PlayRefusal) -> Int64? {
        try value(name) { $0.int64 ?? $0.string.flatMap(Int64.init(decimal:)) }
    }

    /// Returns false if absent: protocol buffers omit false values.
    func flag(_ name: String) throws(PlayRefusal) -> Bool {
        try value(name) { $0.bool } ?? false
    }

    /// A time in RFC 3339 with any number of fractional digits up to nine.
    func date(_ name: String) throws(PlayRefusal) -> Instant? {
        try value(name) { $0.utf8.flatMap { Instant(rfc3339: $0) } }
    }

    /// Milliseconds since 1970.
    func milliseconds(_ name: String) throws(PlayRefusal) -> Instant? {
        guard let count = try integer(name) else { return nil }
        let instant = Instant(millisecondsSince1970: count)
        guard Instant.writable.contains(instant) else { throw malformed(name) }
        return instant
    }

    func word<Known>(_ name: String) throws(PlayRefusal) -> OpenEnum<Known>?
    where Known.RawValue == String {
        try value(name) { $0.string.map(OpenEnum.init) }
    }

    func word<Known>(_ name: String) throws(PlayRefusal) -> OpenEnum<Known>?
    where Known.RawValue == Int64 {
        try integer(name).map(OpenEnum.init)
    }

    func strings(_ name: String) throws(PlayRefusal) -> [String] {
        try value(name) { node in
            guard node.kind == .array else { return nil }
            let strings = node.elements.map(\.string)
            return strings.contains(nil) ? nil : strings.compactMap(\.self)
        } ?? []
    }

    /// Returns whether an object is present; its presence is its meaning.
    func has(_ name: String) throws(PlayRefusal) -> Bool {
        try fields(name) != nil
    }

    /// Returns an object for further parsing.
    func fields(_ name: String) throws(PlayRefusal) -> WireFields? {
        guard let node = try value(name, { $0 }) else { return nil }
        return try WireFields(node, path: path + name)
    }

    /// An object, read.
    func object<Value>(
        _ name: String,
        _ read: (WireFields) throws(PlayRefusal) -> Value
    ) throws(PlayRefusal) -> Value? {
        guard let fields = try fields(name) else { return nil }
        return try read(fields)
    }

    /// Returns an array of parsed objects; empty if absent.
    func list<Value>(
        _ name: String,
        _ read: (WireFields) throws(PlayRefusal) -> Value
    ) throws(PlayRefusal) -> [Value] {
        guard let nodes = try value(name, { $0.kind == .array ? $0.elements : nil }) else {
            return []
        }
        var list: [Value] = []
        for node in nodes { list.append(try read(WireFields(node, path: path + name))) }
        return list
    }

    /// The object as it was written.
    var source: ArraySlice<UInt8> { object.source }

    /// The names of all members, in the order written.
    var names: [String] { object.members.map(\.key) }

    func value<Value>(
        _ name: String,
        _ read: (JSONNode) -> Value?
    ) throws(PlayRefusal) -> Value? {
        guard let node = object[name], !node.isNull else { return nil }
        guard let value = read(node) else { throw malformed(name) }
        return value
    }

    func malformed(_ name: String) -> PlayRefusal { .malformed(field: path + name) }

    func missing(_ name: String) -> PlayRefusal { .missingMember(path + name) }
}

extension Int64 {
    /// Parses a plain decimal number, without a plus sign or leading zeros.
    fileprivate init?(decimal text: String) {
        guard let number = Int64(text), "\(number)" == text else { return nil }
        self = number
    }
}
