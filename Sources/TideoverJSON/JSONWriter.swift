/// Writes one JSON document as UTF-8, members in the order given.
///
/// Writing a value where none is allowed, or a member without its key, is a programming error and
/// stops the process. The caller ensures that no key is repeated.
public struct JSONWriter: Sendable {
    /// The bytes written so far.
    public var bytes: [UInt8] { output.bytes }

    private enum Place { case root, array, object, afterKey }

    private let isPretty: Bool
    private var output = WrittenBytes()
    private var place = Place.root
    /// Whether the innermost array or object is still empty.
    private var isFirst = true
    private var depth = 0

    /// Creates a writer of one line, or of lines indented by two spaces for people.
    public init(pretty: Bool = false) {
        isPretty = pretty
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
        if isPretty { output.append(UInt8(ascii: " ")) }
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
        let quotes = 2
        output.append(atMost: text.count + quotes) { target in
            let copy = UnsafeMutableRawBufferPointer(start: target + 1, count: text.count)
            target[0] = JSONText.quote
            copy.copyMemory(from: text)
            target[text.count + 1] = JSONText.quote
            return text.count + quotes
        }
    }

    /// Writes an integer.
    public mutating func value(_ value: Int64) {
        beginValue()
        output.append(contentsOf: String(value).utf8)
    }

    /// Writes an integer.
    public mutating func value(_ value: Int) { self.value(Int64(value)) }

    /// Writes a finite double with the fewest digits that restore it; any other double stops the
    /// process.
    public mutating func value(_ value: Double) {
        precondition(value.isFinite, "JSON has no infinity and no NaN")
        beginValue()
        output.append(contentsOf: value.description.utf8)
    }

    /// Writes a bool.
    public mutating func value(_ value: Bool) {
        beginValue()
        output.append(contentsOf: (value ? "true" : "false").utf8)
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
        output.append(contentsOf: "null".utf8)
    }

    /// Writes existing JSON text; the caller ensures that it is valid.
    public mutating func raw(_ json: some Sequence<UInt8>) {
        beginValue()
        output.append(contentsOf: json)
    }
}

extension JSONWriter {
    /// Returns the text of the value that `write` writes.
    package static func text<E: Error>(
        _ write: (inout JSONWriter) throws(E) -> Void
    ) throws(E) -> [UInt8] {
        var writer = JSONWriter()
        try write(&writer)
        return writer.bytes
    }

    /// Returns the text of an object; `body` writes its members.
    package static func object<E: Error>(
        _ body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) -> [UInt8] {
        try text { writer throws(E) in try writer.object(body) }
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

    /// Writes a member: an array; `write` writes the element of each item.
    package mutating func field<Item, E: Error>(
        _ key: String,
        each items: some Sequence<Item>,
        _ write: (Item, inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        try field(
            key,
            array: { writer throws(E) in
                for item in items { try write(item, &writer) }
            }
        )
    }

    /// Writes a member: an array of objects; `write` writes the members of each item.
    package mutating func field<Item, E: Error>(
        _ key: String,
        objects items: some Sequence<Item>,
        _ write: (Item, inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        try field(key, each: items) { item, writer throws(E) in
            try writer.object { writer throws(E) in try write(item, &writer) }
        }
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
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        if isPretty { newLine() }
    }

    private mutating func newLine() {
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func begin(_ kind: Place, _ bracket: UInt8) -> Place {
        beginValue()
        defer { place = kind }
        output.append(bracket)
        depth += 1
        isFirst = true
        return place
    }

    private mutating func end(_ kind: Place, _ bracket: UInt8, back outer: Place) {
        precondition(place == kind, "a key is followed by its value")
        depth -= 1
        if isPretty && !isFirst { newLine() }
        output.append(bracket)
        place = outer
        isFirst = false
    }

    /// Writes a text in quotes, and a byte after it.
    private mutating func quoted(_ text: String, then last: UInt8? = nil) {
        var text = text
        text.withUTF8 { text in
            if quotedUnescaped(text, then: last) { return }
            output.append(JSONText.quote)
            escaped(text)
            output.append(JSONText.quote)
            if let last { output.append(last) }
        }
    }

    /// Writes a text that needs no escapes, as most do. Does nothing for any other.
    @inline(__always)
    private mutating func quotedUnescaped(
        _ text: UnsafeBufferPointer<UInt8>,
        then last: UInt8?
    ) -> Bool {
        let quotesAndLast = 3
        let written = output.append(atMost: text.count + quotesAndLast) { target in
            guard JSONText.copyUnescaped(text, to: target + 1) else { return 0 }
            target[0] = JSONText.quote
            target[text.count + 1] = JSONText.quote
            guard let last else { return text.count + 2 }
            target[text.count + 2] = last
            return text.count + quotesAndLast
        }
        return written > 0
    }

    /// Writes text, with escapes only where JSON requires them.
    private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = text[...]
        while let index = JSONText.firstToEscape(in: rest) {
            output.append(contentsOf: UnsafeBufferPointer(rebasing: rest[..<index]))
            escape(rest[index])
            rest = rest[(index + 1)...]
        }
        output.append(contentsOf: UnsafeBufferPointer(rebasing: rest))
    }

    private mutating func escape(_ byte: UInt8) {
        output.append(JSONText.backslash)
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case ..<0x20:
            output.append(contentsOf: "u00".utf8)
            output.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            output.append(Array("0123456789abcdef".utf8)[Int(byte & 0xF)])
        default: output.append(byte)
        }
    }
}
