/// An independent JSON value.
///
/// A number from a document is `integer` if it has no point or exponent and is in range, else
/// `double`. `1` and `1.0` are not equal. Strings are equal if their Unicode scalars are.
public enum JSONValue: Sendable {
    /// Null.
    case null
    /// True or false.
    case bool(Bool)
    /// An integral number.
    case integer(Int64)
    /// Any other number; JSON can represent only finite ones.
    case double(Double)
    /// A text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by key.
    case object(JSONObject)

    /// Creates a value from a node of a document.
    public init(_ node: JSONNode) {
        switch node.kind {
        case .null: self = .null
        case .bool: self = .bool(node.bool ?? false)
        case .number: self = Self.number(node)
        case .string: self = .string(node.string ?? "")
        case .array: self = .array(node.elements.map { JSONValue($0) })
        case .object:
            self = .object(JSONObject(unlike: node.members.map { ($0.key, JSONValue($0.value)) }))
        }
    }

    private static func number(_ node: JSONNode) -> JSONValue {
        if node.token.has(JSONToken.isPlain), let integer = node.int64 { return .integer(integer) }
        return .double(node.double ?? 0)
    }
}

extension JSONValue {
    /// Whether the value is null.
    public var isNull: Bool { self == .null }

    /// The value of a bool; nil for any other kind.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The exact value of an integral number; nil for any other value, or one out of range.
    public var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Self.integral(value)
        default: nil
        }
    }

    private static func integral(_ value: Double) -> Int64? {
        // `Int64(exactly:)` needs the C mathematics library, which this package does not link.
        guard (-0x1p63..<0x1p63).contains(value) else { return nil }
        let integer = Int64(value)
        return Double(integer) == value ? integer : nil
    }

    /// The value of a number, for an integer the nearest double; nil for any other kind.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The value of a string; nil for any other kind.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements of an array; nil for any other kind.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of an object; nil for any other kind.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The value of a member; nil if it is absent or this is not an object.
    public subscript(_ key: String) -> JSONValue? { object?[key] }

    /// The element of an array at a position from 0; nil if there is none or this is not an array.
    public subscript(_ index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Returns the value as UTF-8 text, on one line or indented for people.
    public func encoded(pretty: Bool = false) -> [UInt8] {
        var writer = JSONWriter(pretty: pretty)
        writer.value(self)
        return writer.bytes
    }
}

extension JSONValue: Hashable {
    /// Whether two values are equal, regardless of the order of members.
    public static func == (a: JSONValue, b: JSONValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a.isSame(as: b)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }

    /// Adds the compared content to a hasher.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral
{
    /// Creates null.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a bool.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a double.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension JSONValue: ExpressibleByStringInterpolation {
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object from a literal, which must not repeat a key.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements {
            precondition(object[key] == nil, "an object has each key once")
            object[key] = value
        }
        self = .object(object)
    }
}
