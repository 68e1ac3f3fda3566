/// One entry of a document's tape. An array or object is followed by the entries of its contents, a
/// key by its value.
struct JSONToken {
    /// The first byte of the text; of a quoted string, the first after the quote.
    var start: UInt32
    /// Past the last byte of the text; of a quoted string, its closing quote.
    var end: UInt32
    /// The hash of a key; the enclosing entry of an open array or object; otherwise the entry after
    /// this value and its contents.
    var link: UInt32
    /// The kind in three bits; above them flags, or the number of elements or members.
    var meta: UInt32

    static let kindBits: UInt32 = 3
    static let kindMask: UInt32 = 7

    static let null: UInt32 = 0
    static let bool: UInt32 = 1
    static let number: UInt32 = 2
    static let string: UInt32 = 3
    static let array: UInt32 = 4
    static let object: UInt32 = 5

    /// Of a bool: it is `true`.
    static let isTrue: UInt32 = 8
    /// Of a number: it has neither point nor exponent.
    static let isPlain: UInt32 = 8
    /// Of a string: it has escapes.
    static let isEscaped: UInt32 = 8
    /// Of a string: it is written without quotes.
    static let isBare: UInt32 = 16
    /// Of a string: it is a key.
    static let isKey: UInt32 = 32
    /// Of an array or object: the increment for one more element.
    static let oneMore: UInt32 = 8

    var kind: UInt32 { meta & Self.kindMask }
    var count: Int { Int(meta >> Self.kindBits) }
    var text: Range<Int> { Int(start)..<Int(end) }

    func has(_ flag: UInt32) -> Bool { meta & flag != 0 }
}

extension JSONToken {
    /// Returns the unescaped content of a string of `text`.
    func content(in text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let raw = UnsafeBufferPointer(rebasing: text[self.text])
        return has(Self.isEscaped) ? JSONText.unescaped(raw) : Array(raw)
    }

    /// Whether two strings of `text` have equal content.
    func says(_ other: JSONToken, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        if has(Self.isEscaped) || other.has(Self.isEscaped) {
            return content(in: text) == other.content(in: text)
        }
        return JSONText.same(
            UnsafeBufferPointer(rebasing: text[self.text]),
            UnsafeBufferPointer(rebasing: text[other.text])
        )
    }
}
