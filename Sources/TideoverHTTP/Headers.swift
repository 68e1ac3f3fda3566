/// Header fields in the order sent; names compare without regard to case (RFC 9110, 5.1).
public struct Headers: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Sendable, Hashable {
        /// The name as sent.
        public var name: String
        /// The value without the white space around it.
        public var value: String

        /// Creates a line from its name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All lines in the order sent.
    public private(set) var fields: [Field] = []

    /// Creates an empty list.
    public init() {}

    /// Creates a list of these lines in this order.
    public init(_ fields: [Field]) {
        self.fields = fields
    }

    /// Creates a list from a literal, in its order; a name may be repeated.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// The first value of a field. Setting replaces every line of that name; nil removes them.
    public subscript(_ name: String) -> String? {
        get { fields.first { Self.same($0.name, name) }?.value }
        set {
            fields.removeAll { Self.same($0.name, name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Returns the values of all lines of a name, in the order sent.
    public func all(_ name: String) -> [String] {
        fields.lazy.filter { Self.same($0.name, name) }.map(\.value)
    }

    /// Adds a line after the existing ones.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether two ASCII texts are equal except for case, like field names and many tokens.
    package static func same(_ a: String, _ b: String) -> Bool {
        guard a.utf8.count == b.utf8.count else { return false }
        // Most are written alike.
        return a == b || zip(a.utf8, b.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
