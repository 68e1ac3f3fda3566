import TideoverCore
import TideoverJSON

/// The members of one JSON object from RevenueCat. An absent or null member is nil. A member of the
/// wrong type is rejected by name.
struct RevenueCatFields {
    /// Whether a member of the wrong type counts as absent.
    private var isLenient = false
    private let object: JSONNode
    /// The object's path in its document, with a trailing dot; empty at the top.
    private let path: String

    init(_ object: JSONNode, path: String = "") throws(RevenueCatRefusal) {
        guard object.kind == .object else {
            throw .malformed(field: path.isEmpty ? "body" : path)
        }
        self.object = object
        self.path = path.isEmpty ? "" : path + "."
    }

    /// The same members; one of the wrong type counts as absent.
    var lenient: RevenueCatFields {
        var fields = self
        fields.isLenient = true
        return fields
    }

    func string(_ name: String) throws(RevenueCatRefusal) -> String? {
        try value(name) { $0.string }
    }

    func integer(_ name: String) throws(RevenueCatRefusal) -> Int64? {
        try value(name) { $0.int64 }
    }

    func flag(_ name: String) throws(RevenueCatRefusal) -> Bool? {
        try value(name) { $0.bool }
    }

    /// Milliseconds since 1970, as events write instants.
    func milliseconds(_ name: String) throws(RevenueCatRefusal) -> Instant? {
        try value(name) { node in
            guard let count = node.int64 else { return nil }
            let instant = Instant(millisecondsSince1970: count)
            return Instant.writable.contains(instant) ? instant : nil
        }
    }

    /// A date and time by RFC 3339, as the REST API writes instants.
    func date(_ name: String) throws(RevenueCatRefusal) -> Instant? {
        try value(name) { $0.utf8.flatMap { Instant(rfc3339: $0) } }
    }

    func word<Known>(
        _ name: String
    ) throws(RevenueCatRefusal) -> OpenEnum<Known>? where Known.RawValue == String {
        try value(name) { $0.string.map(OpenEnum.init) }
    }

    /// Returns an enum value that the REST API writes in lower case and events write in upper case.
    func caselessWord<Known>(
        _ name: String
    ) throws(RevenueCatRefusal) -> OpenEnum<Known>? where Known.RawValue == String {
        try value(name) { $0.string.map { OpenEnum($0.uppercased()) } }
    }

    func strings(_ name: String) throws(RevenueCatRefusal) -> [String]? {
        try value(name) { node in
            guard node.kind == .array else { return nil }
            let strings = node.elements.map(\.string)
            return strings.contains(nil) ? nil : strings.compactMap(\.self)
        }
    }

    /// An amount of a currency's unit, to the thousandth.
    func milliunits(_ name: String) throws(RevenueCatRefusal) -> Int64? {
        try value(name) { $0.double.flatMap(Int64.init(thousandthsOf:)) }
    }

    /// Returns an object for further parsing.
    func fields(_ name: String) throws(RevenueCatRefusal) -> RevenueCatFields? {
        guard let node = try value(name, { $0 }) else { return nil }
        return try RevenueCatFields(node, path: path + name)
    }

    /// Returns the members of an object in the order written; empty if it is absent.
    func members(_ name: String) throws(RevenueCatRefusal) -> [(key: String, value: JSONNode)] {
        guard let node = try value(name, { $0.kind == .object ? $0 : nil }) else { return [] }
        return Array(node.members)
    }

    func value<Value>(
        _ name: String,
        _ read: (JSONNode) -> Value?
    ) throws(RevenueCatRefusal) -> Value? {
        guard let node = object[name], !node.isNull else { return nil }
        guard let value = read(node) else {
            if isLenient { return nil }
            throw malformed(name)
        }
        return value
    }

    func malformed(_ name: String) -> RevenueCatRefusal { .malformed(field: path + name) }

    func missing(_ name: String) -> RevenueCatRefusal { .missingMember(path + name) }
}

extension Int64 {
    /// The nearest number of thousandths; nil beyond 2^53, where a double cannot represent each
    /// integer.
    fileprivate init?(thousandthsOf value: Double) {
        let thousandths = value * 1000
        guard thousandths.magnitude < 0x1p53 else { return nil }
        self.init(thousandths < 0 ? thousandths - 0.5 : thousandths + 0.5)
    }
}
