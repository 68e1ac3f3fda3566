/// Operations on the bytes of a string, for the scanner and the nodes.
enum JSONText {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")

    /// 0x01 in each of eight bytes.
    static let ones: UInt64 = 0x0101_0101_0101_0101
    /// 0x80 in each of eight bytes.
    static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Returns eight bytes as an integer, the first one lowest.
    @inline(__always)
    static func word(_ base: UnsafePointer<UInt8>, _ offset: Int) -> UInt64 {
        UInt64(
            littleEndian: UnsafeRawPointer(base)
                .loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        )
    }

    /// Returns a mask with its lowest set bit in the first special byte. A byte is special if it is
    /// not ASCII, a control character, a backslash, or `quote`, which is repeated in each byte.
    /// Higher bits are undefined.
    @inline(__always)
    static func stops(in word: UInt64, quotes: UInt64) -> UInt64 {
        let control = word &- ones &* 0x20
        let quote = (word ^ quotes) &- ones
        let escape = (word ^ (ones &* 0x5C)) &- ones
        return (word | control | quote | escape) & highs
    }

    /// Returns the number of leading ASCII bytes without `quote`, backslash and control characters,
    /// in whole blocks of 16. A signed document is one string of many kilobytes.
    @inline(__always)
    static func plainBlocks(
        _ base: UnsafePointer<UInt8>,
        _ count: Int,
        _ quote: UInt8
    ) -> Int {
        let quotes = Block(repeating: Int8(bitPattern: quote))
        var at = 0
        // One branch for four blocks is enough until near the end.
        while at &+ 64 <= count {
            let first = stops(base, at, quotes) .| stops(base, at &+ 16, quotes)
            let second = stops(base, at &+ 32, quotes) .| stops(base, at &+ 48, quotes)
            guard isEmpty(first .| second) else { break }
            at &+= 64
        }
        while at &+ 16 <= count, isEmpty(stops(base, at, quotes)) { at &+= 16 }
        return at
    }

    private typealias Block = SIMD16<Int8>

    /// Marks the special bytes of a block.
    @inline(__always)
    private static func stops(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        _ quotes: Block
    ) -> SIMDMask<Block> {
        let block = UnsafeRawPointer(base).loadUnaligned(fromByteOffset: at, as: Block.self)
        // As signed numbers, bytes that are not ASCII are less than the control characters.
        let firstPlain = Block(repeating: 0x20)
        let backslashes = Block(repeating: Int8(bitPattern: backslash))
        return (block .== quotes) .| (block .== backslashes) .| (block .< firstPlain)
    }

    @inline(__always)
    private static func isEmpty(_ mask: SIMDMask<Block>) -> Bool {
        let halves = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        return halves[0] | halves[1] == 0
    }

    /// Returns the first byte that JSON requires to be escaped; nil if there is none.
    static func firstToEscape(in text: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard let base = text.base.baseAddress else { return nil }
        var at = text.startIndex
        while at + 8 <= text.endIndex {
            let stops = escapes(in: word(base, at))
            guard stops == 0 else { return at + stops.trailingZeroBitCount / 8 }
            at += 8
        }
        if text.count >= 8 {
            // The last bytes again, together with some of those before.
            let last = text.endIndex - 8
            let stops = escapes(in: word(base, last))
            return stops == 0 ? nil : last + stops.trailingZeroBitCount / 8
        }
        while at < text.endIndex {
            if base[at] < 0x20 || base[at] == quote || base[at] == backslash { return at }
            at += 1
        }
        return nil
    }

    /// Returns a mask with its lowest set bit in the first byte that must be escaped: a control
    /// character, a quote or a backslash. Higher bits are undefined.
    @inline(__always)
    private static func escapes(in word: UInt64) -> UInt64 {
        let control = word &- ones &* 0x20
        let quotes = (word ^ ones &* UInt64(quote)) &- ones
        let backslashes = (word ^ ones &* UInt64(backslash)) &- ones
        return (control | quotes | backslashes) & ~word & highs
    }

    /// Copies a text that JSON need not escape. Returns false for any other text.
    @inline(__always)
    static func copyUnescaped(
        _ text: UnsafeBufferPointer<UInt8>,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard let base = text.baseAddress else { return true }
        switch text.count {
        case ..<4:
            for (index, byte) in text.enumerated() {
                if byte < 0x20 || byte == quote || byte == backslash { return false }
                target[index] = byte
            }
            return true
        case ..<8:
            let (first, last) = copyEnds(base, text.count, to: target, as: UInt32.self)
            return escapes(in: UInt64(first) << 32 | UInt64(last)) == 0
        case ..<16:
            let (first, last) = copyEnds(base, text.count, to: target, as: UInt64.self)
            return escapes(in: first) | escapes(in: last) == 0
        default: return copyUnescapedBlocks(base, text.count, to: target)
        }
    }

    /// Copies the first and the last word of a text of at most two. They may overlap.
    @inline(__always)
    private static func copyEnds<Word: FixedWidthInteger>(
        _ base: UnsafePointer<UInt8>,
        _ count: Int,
        to target: UnsafeMutablePointer<UInt8>,
        as _: Word.Type
    ) -> (Word, Word) {
        let last = count &- MemoryLayout<Word>.size
        let text = UnsafeRawPointer(base)
        let copy = UnsafeMutableRawPointer(target)
        let words = (
            text.loadUnaligned(as: Word.self),
            text.loadUnaligned(fromByteOffset: last, as: Word.self)
        )
        copy.storeBytes(of: words.0, as: Word.self)
        copy.storeBytes(of: words.1, toByteOffset: last, as: Word.self)
        return words
    }

    /// Copies a text of at least one block. The last block may overlap the one before.
    @inline(__always)
    private static func copyUnescapedBlocks(
        _ base: UnsafePointer<UInt8>,
        _ count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        let last = count &- MemoryLayout<Block>.size
        var found = copyBlock(base, last, to: target)
        var at = 0
        while at < last {
            found = found .| copyBlock(base, at, to: target)
            at &+= MemoryLayout<Block>.size
        }
        return isEmpty(found)
    }

    /// Copies a block, and marks the bytes that must be escaped.
    @inline(__always)
    private static func copyBlock(
        _ base: UnsafePointer<UInt8>,
        _ at: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) -> SIMDMask<Block> {
        let block = UnsafeRawPointer(base).loadUnaligned(fromByteOffset: at, as: Block.self)
        UnsafeMutableRawPointer(target).storeBytes(of: block, toByteOffset: at, as: Block.self)
        let isControl = (block .>= Block()) .& (block .< Block(repeating: 0x20))
        let isQuote = block .== Block(repeating: Int8(bitPattern: quote))
        return isControl .| isQuote .| (block .== Block(repeating: Int8(bitPattern: backslash)))
    }

    /// Returns a hash of a key. It is the same in each process, so collisions can be constructed.
    static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let state = UInt64(bytes.count) &* 0x9E37_79B9_7F4A_7C15
        guard let base = bytes.baseAddress else { return UInt32(truncatingIfNeeded: state >> 32) }
        let last = bytes.count < 8 ? shortWord(bytes) : word(base, bytes.count &- 8)
        return UInt32(truncatingIfNeeded: mixed(words(of: base, bytes.count, state), last) >> 32)
    }

    /// Mixes all words but the last eight bytes, which may overlap them.
    @inline(__always)
    private static func words(
        of base: UnsafePointer<UInt8>,
        _ count: Int,
        _ state: UInt64
    ) -> UInt64 {
        var state = state
        var offset = 0
        while offset &+ 8 < count {
            state = mixed(state, word(base, offset))
            offset &+= 8
        }
        return state
    }

    /// Returns fewer than eight bytes as an integer.
    @inline(__always)
    private static func shortWord(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    @inline(__always)
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0xD6E8_FEB8_6659_FD93
        return product ^ (product >> 29)
    }

    /// Whether two texts have the same bytes.
    @inline(__always)
    static func same(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        guard a.count == b.count, let left = a.baseAddress, let right = b.baseAddress else {
            return a.count == b.count
        }
        var offset = 0
        while offset + 8 <= a.count {
            guard word(left, offset) == word(right, offset) else { return false }
            offset += 8
        }
        // The last bytes again, together with some of those before.
        if a.count >= 8 { return word(left, a.count - 8) == word(right, a.count - 8) }
        while offset < a.count {
            guard left[offset] == right[offset] else { return false }
            offset += 1
        }
        return true
    }

    /// Writes the unescaped form of a validated text; returns the number of bytes, at most the
    /// text's.
    static func unescape(
        _ text: UnsafeBufferPointer<UInt8>,
        into target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var read = 0
        var written = 0
        while read < text.count {
            if text[read] != backslash {
                target[written] = text[read]
                read += 1
                written += 1
            } else if text[read + 1] == UInt8(ascii: "u") {
                let (scalar, length) = escapedScalar(text, at: read)
                written += encode(scalar, into: target + written)
                read += length
            } else {
                target[written] = meaning(ofEscape: text[read + 1])
                read += 2
                written += 1
            }
        }
        return written
    }

    /// Returns the unescaped form of a validated text.
    static func unescaped(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: text.count) { target, count in
            count = target.baseAddress.map { unescape(text, into: $0) } ?? 0
        }
    }

    private static func meaning(ofEscape letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    private static func escapedScalar(
        _ text: UnsafeBufferPointer<UInt8>,
        at offset: Int
    ) -> (scalar: UInt32, length: Int) {
        let first = hexadecimal(text, at: offset + 2) ?? 0
        guard (0xD800..<0xDC00).contains(first) else { return (first, 6) }
        let second = hexadecimal(text, at: offset + 8) ?? 0
        return (0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), 12)
    }

    /// Returns the value of four hexadecimal digits; nil if they are missing.
    static func hexadecimal(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt32? {
        guard offset + 4 <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[offset..<offset + 4] {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private static func encode(_ scalar: UInt32, into target: UnsafeMutablePointer<UInt8>) -> Int {
        func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(scalar >> shift & 0x3F) }
        switch scalar {
        case ..<0x80:
            target[0] = UInt8(scalar)
            return 1
        case ..<0x800:
            target[0] = 0xC0 | UInt8(scalar >> 6)
            target[1] = tail(0)
            return 2
        case ..<0x10000:
            target[0] = 0xE0 | UInt8(scalar >> 12)
            target[1] = tail(6)
            target[2] = tail(0)
            return 3
        default:
            target[0] = 0xF0 | UInt8(scalar >> 18)
            target[1] = tail(12)
            target[2] = tail(6)
            target[3] = tail(0)
            return 4
        }
    }

    /// Returns the length of the UTF-8 sequence at a byte above 0x7F; nil if it is invalid.
    static func sequenceLength(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> Int? {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch text[offset] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard offset + length <= text.count, second.contains(text[offset + 1]) else { return nil }
        if length > 2 && text[offset + 2] & 0xC0 != 0x80 { return nil }
        if length > 3 && text[offset + 3] & 0xC0 != 0x80 { return nil }
        return length
    }
}
