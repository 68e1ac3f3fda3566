/// Reads a text as ``JSONWriter`` writes it, without a document: values in the order in which they
/// are asked for, without white space, and texts of ASCII without escapes.
///
/// It fails for any other text, which can be valid JSON too. What it reads, a ``JSONDocument`` of the
/// same text has as well.
// Only a type that is usable from inline has members that other modules can inline.
@usableFromInline
package struct WrittenJSON {
    /// The text goes on differently.
    @usableFromInline
    package struct Mismatch: Error {
        package init() {}
    }

    private let text: UnsafeBufferPointer<UInt8>
    private let base: UnsafePointer<UInt8>
    /// The number of bytes read.
    package private(set) var offset: Int
    /// Whether a value was read of the innermost array or object.
    private var isAfterValue: Bool

    /// More digits could exceed an `Int64`.
    private static let mostDigits = 18

    private init?(_ text: UnsafeBufferPointer<UInt8>, from offset: Int) {
        guard let base = text.baseAddress else { return nil }
        self.text = text
        self.base = base
        self.offset = offset
        isAfterValue = offset > 0
    }

    /// Reads a whole text, or the rest of one after a value that ends at `offset`; returns nil if the
    /// text differs from what `body` reads.
    ///
    /// It is inlinable: unspecialized, it would find the type of the result each time.
    @inlinable
    package static func read<Value>(
        _ bytes: [UInt8],
        from offset: Int = 0,
        _ body: (inout WrittenJSON) throws(Mismatch) -> Value
    ) -> Value? {
        var value: Value?
        let isWhole = readWhole(bytes, from: offset) { json throws(Mismatch) in
            value = try body(&json)
        }
        return isWhole ? value : nil
    }

    @usableFromInline
    package static func readWhole(
        _ bytes: [UInt8],
        from offset: Int,
        _ body: (inout WrittenJSON) throws(Mismatch) -> Void
    ) -> Bool {
        bytes.withUnsafeBufferPointer { text in
            guard var reader = WrittenJSON(text, from: offset) else { return false }
            do throws(Mismatch) {
                try body(&reader)
                return reader.offset == text.count
            } catch {
                return false
            }
        }
    }

    // MARK: Objects and arrays

    package mutating func beginObject() throws(Mismatch) { try begin(UInt8(ascii: "{")) }

    package mutating func endObject() throws(Mismatch) {
        guard end(UInt8(ascii: "}")) else { throw Mismatch() }
    }

    /// Whether the object ends here; otherwise its next member follows.
    package mutating func endsObject() -> Bool { end(UInt8(ascii: "}")) }

    package mutating func beginArray() throws(Mismatch) { try begin(UInt8(ascii: "[")) }

    /// Whether the array ends here; otherwise its next element follows.
    package mutating func endsArray() throws(Mismatch) -> Bool {
        if end(UInt8(ascii: "]")) { return true }
        guard isAfterValue else { return false }
        try skip(UInt8(ascii: ","))
        return false
    }

    /// Reads the key of a member if it is the next one; the value follows.
    package mutating func nextKey(is key: String) -> Bool {
        let quote = isAfterValue ? offset + 1 : offset
        let end = quote + key.utf8.count + 1
        // Half of the members asked for are absent. Most of these have another length.
        guard end + 1 < text.count, base[end] == JSONText.quote,
            base[end + 1] == UInt8(ascii: ":"), base[quote] == JSONText.quote,
            !isAfterValue || base[offset] == UInt8(ascii: ","),
            isNext(key, at: quote + 1)
        else { return false }
        offset = end + 2
        return true
    }

    private func isNext(_ expected: String, at start: Int) -> Bool {
        var expected = expected
        return expected.withUTF8 { expected in
            let next = UnsafeBufferPointer(start: base + start, count: expected.count)
            return JSONText.same(next, expected)
        }
    }

    /// Reads the key of the next member; the value follows.
    package mutating func nextKey() throws(Mismatch) -> String {
        if isAfterValue { try skip(UInt8(ascii: ",")) }
        let key = String(decoding: try utf8(), as: UTF8.self)
        try skip(UInt8(ascii: ":"))
        return key
    }

    private mutating func begin(_ bracket: UInt8) throws(Mismatch) {
        try skip(bracket)
        isAfterValue = false
    }

    private mutating func end(_ bracket: UInt8) -> Bool {
        guard offset < text.count, base[offset] == bracket else { return false }
        offset += 1
        isAfterValue = true
        return true
    }

    private mutating func skip(_ byte: UInt8) throws(Mismatch) {
        guard offset < text.count, base[offset] == byte else { throw Mismatch() }
        offset += 1
    }

    // MARK: Values

    /// Reads the content of a string. It is valid only as long as the text.
    package mutating func utf8() throws(Mismatch) -> UnsafeBufferPointer<UInt8> {
        try skip(JSONText.quote)
        let start = offset
        let quotes = JSONText.ones &* UInt64(JSONText.quote)
        while offset + 8 <= text.count {
            let stops = JSONText.stops(in: JSONText.word(base, offset), quotes: quotes)
            if stops != 0 {
                offset += stops.trailingZeroBitCount / 8
                break
            }
            offset += 8
        }
        while offset < text.count, Self.isPlain(base[offset]) { offset += 1 }
        let end = offset
        try skip(JSONText.quote)
        isAfterValue = true
        return UnsafeBufferPointer(rebasing: text[start..<end])
    }

    /// Reads a string of a known length, without a look at its bytes; the caller verifies them.
    /// Returns nil, and reads nothing, if the string has another length.
    package mutating func utf8(count: Int) -> UnsafeBufferPointer<UInt8>? {
        let end = offset + count + 1
        guard end < text.count, base[offset] == JSONText.quote, base[end] == JSONText.quote else {
            return nil
        }
        let content = UnsafeBufferPointer(start: base + offset + 1, count: count)
        offset = end + 1
        isAfterValue = true
        return content
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x80).contains(byte) && byte != JSONText.quote && byte != JSONText.backslash
    }

    package mutating func string() throws(Mismatch) -> String {
        String(decoding: try utf8(), as: UTF8.self)
    }

    package mutating func int64() throws(Mismatch) -> Int64 {
        let isNegative = offset < text.count && base[offset] == UInt8(ascii: "-")
        if isNegative { offset += 1 }
        let start = offset
        var number: Int64 = 0
        while offset < text.count, offset - start < Self.mostDigits {
            let digit = base[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            number = number * 10 + Int64(digit)
            offset += 1
        }
        // A zero begins no other number, and has no sign.
        let hasLeadingZero = number == 0 ? isNegative : base[start] == UInt8(ascii: "0")
        guard offset > start, !hasLeadingZero, number != 0 || offset - start == 1 else {
            throw Mismatch()
        }
        isAfterValue = true
        return isNegative ? -number : number
    }

    package mutating func bool() throws(Mismatch) -> Bool {
        let isTrue = offset < text.count && base[offset] == UInt8(ascii: "t")
        for byte in (isTrue ? "true" : "false").utf8 { try skip(byte) }
        isAfterValue = true
        return isTrue
    }

    /// Reads a string, an integer, a bool or null.
    package mutating func scalar() throws(Mismatch) -> JSONValue {
        switch next {
        case JSONText.quote: .string(try string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool(try bool())
        case UInt8(ascii: "n"): try null()
        default: .integer(try int64())
        }
    }

    private mutating func null() throws(Mismatch) -> JSONValue {
        for byte in "null".utf8 { try skip(byte) }
        isAfterValue = true
        return .null
    }

    private var next: UInt8? { offset < text.count ? base[offset] : nil }

    // MARK: Values that are not asked for

    /// The depth of the values that can be passed over.
    private static let mostDepth = 16

    /// Passes over the next member of an object.
    package mutating func skipMember() throws(Mismatch) { try skipMember(Self.mostDepth) }

    private mutating func skipMember(_ depth: Int) throws(Mismatch) {
        if isAfterValue { try skip(UInt8(ascii: ",")) }
        _ = try utf8()
        try skip(UInt8(ascii: ":"))
        try skipValue(depth)
    }

    private mutating func skipValue(_ depth: Int) throws(Mismatch) {
        guard depth > 0 else { throw Mismatch() }
        switch next {
        case JSONText.quote: _ = try utf8()
        case UInt8(ascii: "{"):
            try beginObject()
            while !endsObject() { try skipMember(depth - 1) }
        case UInt8(ascii: "["):
            try beginArray()
            while try !endsArray() { try skipValue(depth - 1) }
        default: _ = try scalar()
        }
    }
}
