/// Writes one JSON document as UTF-8, members in the order given.
///
/// Writing a value where none is allowed, or a member without its key, is a programming error and
/// stops the process. The caller ensures that no key is repeated.
public struct JSONWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    private enum Place { case root, array, object, afterKey }

    private let isPretty: Bool
    private var place = Place.root
    /// Whether the innermost array or object is still empty.
    private var isFirst = true
    private var depth = 0

    /// Creates a writer of one line, or of lines indented by two spaces for people.
    public init(pretty: Bool = false) {
        isPretty = pretty
        bytes.reserveCapacity(256)
    }

    /// Writes an object; `body` writes its members.
    public mutating func object<E: Error>(
        _ body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        let outer = begin(.object, UInt8(ascii: "{"))
        try body(&self)
        end(.object, UInt8(ascii: "}"), back: outer)
    }

    /// Writes an array; `body` writes its elements.
    public mutating func array<E: Error>(
        _ body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        let outer = begin(.array, UInt8(ascii: "["))
        try body(&self)
        end(.array, UInt8(ascii: "]"), back: outer)
    }

    /// Writes the key of a member; write its value next.
    public mutating func key(_ key: String) {
        precondition(place == .object, "a key belongs in an object, after a complete member")
        separate()
        quoted(key, then: UInt8(ascii: ":"))
        if isPretty { bytes.append(UInt8(ascii: " ")) }
        place = .afterKey
    }

    /// Writes a string.
    public mutating func value(_ value: String) {
        beginValue()
        quoted(value)
    }

    /// Writes a string of ASCII that needs no escapes; the caller ensures both.
    package mutating func value(unescaped text: UnsafeRawBufferPointer) {
        beginValue()
        bytes.append(JSONText.quote)
        bytes.append(contentsOf: text)
        bytes.append(JSONText.quote)
    }

    /// Writes an integer.
    public mutating func value(_ value: Int64) {
        beginValue()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Writes an integer.
    public mutating func value(_ value: Int) { self.value(Int64(value)) }

    /// Writes a finite double with the fewest digits that restore it; any other double stops the
    /// process.
    public mutating func value(_ value: Double) {
        precondition(value.isFinite, "JSON has no infinity and no NaN")
        beginValue()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes a bool.
    public mutating func value(_ value: Bool) {
        beginValue()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes a value with its contents.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): self.value(value)
        case .integer(let value): self.value(value)
        case .double(let value): self.value(value)
        case .string(let value): self.value(value)
        case .array(let values): array { writer in for each in values { writer.value(each) } }
        case .object(let object):
            self.object { writer in
                for member in object { writer.field(member.key, member.value) }
            }
        }
    }

    /// Writes null.
    public mutating func null() {
        beginValue()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes existing JSON text; the caller ensures that it is valid.
    public mutating func raw(_ json: some Sequence<UInt8>) {
        beginValue()
        bytes.append(contentsOf: json)
    }
}

extension JSONWriter {
    /// Writes a member: a string, or null for nil.
    public mutating func field(_ key: String, _ value: String?) {
        self.key(key)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member: an integer, or null for nil.
    public mutating func field(_ key: String, _ value: Int64?) {
        self.key(key)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member: an integer, or null for nil.
    public mutating func field(_ key: String, _ value: Int?) {
        field(key, value.map { Int64($0) })
    }

    /// Writes a member: a finite double, or null for nil.
    public mutating func field(_ key: String, _ value: Double?) {
        self.key(key)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member: a bool, or null for nil.
    public mutating func field(_ key: String, _ value: Bool?) {
        self.key(key)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member: a value with its contents.
    public mutating func field(_ key: String, _ value: JSONValue) {
        self.key(key)
        self.value(value)
    }

    /// Writes a member: an object; `body` writes its members.
    public mutating func field<E: Error>(
        _ key: String,
        object body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        self.key(key)
        try object(body)
    }

    /// Writes a member: an array; `body` writes its elements.
    public mutating func field<E: Error>(
        _ key: String,
        array body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        self.key(key)
        try array(body)
    }
}

extension JSONWriter {
    private mutating func beginValue() {
        switch place {
        case .root: precondition(isFirst, "a document is one value")
        case .array: separate()
        case .object: preconditionFailure("a member starts with its key")
        case .afterKey: place = .object
        }
        isFirst = false
    }

    private mutating func separate() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        if isPretty { newLine() }
    }

    private mutating func newLine() {
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func begin(_ kind: Place, _ bracket: UInt8) -> Place {
        beginValue()
        defer { place = kind }
        bytes.append(bracket)
        depth += 1
        isFirst = true
        return place
    }

    private mutating func end(_ kind: Place, _ bracket: UInt8, back outer: Place) {
        precondition(place == kind, "a key is followed by its value")
        depth -= 1
        if isPretty && !isFirst { newLine() }
        bytes.append(bracket)
        place = outer
        isFirst = false
    }

    /// Writes a text in quotes, and a byte after it.
    private mutating func quoted(_ text: String, then last: UInt8? = nil) {
        var text = text
        text.withUTF8 { text in
            if appendShort(text, then: last) { return }
            bytes.append(JSONText.quote)
            escaped(text)
            bytes.append(JSONText.quote)
            if let last { bytes.append(last) }
        }
    }

    /// The length of most keys and values in bytes, and of their quotes and colon.
    private static let shortText = 61
    private static let shortTextInQuotes = 64

    /// Appends a short text with its quotes and the byte after it at once. Each append costs more
    /// than copying some words. Does nothing for a long text, and for one with escapes.
    private mutating func appendShort(
        _ text: UnsafeBufferPointer<UInt8>,
        then last: UInt8?
    ) -> Bool {
        guard text.count <= Self.shortText else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.shortTextInQuotes) {
            room in
            guard let start = room.baseAddress else { return false }
            start[0] = JSONText.quote
            guard JSONText.copyUnescaped(text, to: start + 1) else { return false }
            var end = text.count + 1
            start[end] = JSONText.quote
            if let last {
                end += 1
                start[end] = last
            }
            bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: end + 1))
            return true
        }
    }

    /// Writes text, with escapes only where JSON requires them.
    private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = text[...]
        while let index = JSONText.firstToEscape(in: rest) {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: rest[..<index]))
            escape(rest[index])
            rest = rest[(index + 1)...]
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: rest))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(JSONText.backslash)
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case ..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            bytes.append(Array("0123456789abcdef".utf8)[Int(byte & 0xF)])
        default: bytes.append(byte)
        }
    }
}
