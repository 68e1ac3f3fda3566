/// Header fields in the order sent; names compare without regard to case (RFC 9110, 5.1).
public struct Headers: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Sendable, Hashable {
        /// The name as sent.
        public var name: String
        /// The value without the white space around it.
        public var value: String

        /// A line of this name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All lines in the order sent.
    public private(set) var fields: [Field] = []

    /// No lines.
    public init() {}

    /// These lines in this order.
    public init(_ fields: [Field]) {
        self.fields = fields
    }

    /// The lines of a literal, in its order; a name may come twice.
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

    /// The values of all lines of a name, in the order sent.
    public func all(_ name: String) -> [String] {
        fields.lazy.filter { Self.same($0.name, name) }.map(\.value)
    }

    /// Adds a line beside those already there.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether two texts of ASCII are the same but for case, as names of fields and many tokens are.
    package static func same(_ a: String, _ b: String) -> Bool {
        guard a.utf8.count == b.utf8.count else { return false }
        return zip(a.utf8, b.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
