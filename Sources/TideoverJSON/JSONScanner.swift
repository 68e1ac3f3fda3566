/// Scans a text in one pass and writes its tape; throws a fault for an invalid document.
struct JSONScanner {
    private let text: UnsafeBufferPointer<UInt8>
    private let base: UnsafePointer<UInt8>
    private let isRelaxed: Bool
    private let maxDepth: Int
    private var offset = 0
    private(set) var tape: [JSONToken] = []
    /// The innermost open array or object.
    private var open = outermost
    private var depth = 0

    private static let outermost = UInt32.max
    /// The initial capacity of the tape in entries; it grows on demand.
    private static let firstEntries = 256
    /// The least number of bytes that a key or value usually takes.
    private static let bytesOfEntry = 8

    /// Creates a scanner for a text that is not empty and within the size limit.
    init(_ text: UnsafeBufferPointer<UInt8>, base: UnsafePointer<UInt8>, relaxed: Bool, depth: Int)
    {
        self.text = text
        self.base = base
        isRelaxed = relaxed
        maxDepth = depth
        tape.reserveCapacity(min(text.count / Self.bytesOfEntry + 4, Self.firstEntries))
    }

    /// Scans the whole text as one document.
    mutating func document() throws(JSONFault) {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { throw fault(.byteOrderMark) }
        try skipSpace()
        if offset == text.count { throw fault(.empty, at: 0) }
        try value()
        while open != Self.outermost {
            if tape[Int(open)].kind == JSONToken.object { try member() } else { try element() }
        }
        try skipSpace()
        if offset < text.count { throw unexpected(.trailingContent) }
    }

    // MARK: arrays and objects

    private mutating func element() throws(JSONFault) {
        let isFirst = tape[Int(open)].count == 0
        try skipSpace()
        if next == UInt8(ascii: "]") { return close() }
        if !isFirst {
            guard next == UInt8(ascii: ",") else { throw unexpected(.expectedCommaOrBracket) }
            if try endsAfterComma(UInt8(ascii: "]")) { return close() }
        }
        tape[Int(open)].meta += JSONToken.oneMore
        try value()
    }

    private mutating func member() throws(JSONFault) {
        let isFirst = tape[Int(open)].count == 0
        try skipSpace()
        if next == UInt8(ascii: "}") { return try closeObject() }
        if !isFirst {
            guard next == UInt8(ascii: ",") else { throw unexpected(.expectedCommaOrBrace) }
            if try endsAfterComma(UInt8(ascii: "}")) { return try closeObject() }
        }
        tape[Int(open)].meta += JSONToken.oneMore
        try key()
        try skipSpace()
        guard next == UInt8(ascii: ":") else { throw unexpected(.expectedColon) }
        offset += 1
        try skipSpace()
        try value()
    }

    /// Skips a comma. Returns whether the array or object ends after it, which only relaxed syntax
    /// allows.
    private mutating func endsAfterComma(_ closing: UInt8) throws(JSONFault) -> Bool {
        let comma = offset
        offset += 1
        try skipSpace()
        guard next == closing else { return false }
        guard isRelaxed else { throw fault(.trailingComma, at: comma) }
        return true
    }

    private mutating func begin(_ kind: UInt32) throws(JSONFault) {
        if depth == maxDepth { throw fault(.tooDeep(limit: maxDepth)) }
        depth += 1
        let index = UInt32(tape.count)
        append(start: offset, end: offset, link: open, meta: kind)
        open = index
        offset += 1
    }

    private mutating func close() {
        let index = Int(open)
        offset += 1
        depth -= 1
        open = tape[index].link
        tape[index].end = UInt32(offset)
        tape[index].link = UInt32(tape.count)
    }

    private mutating func closeObject() throws(JSONFault) {
        if mayRepeatKeys { try refuseDuplicates() }
        close()
    }

    /// Whether two keys of the innermost object may be equal. Few objects have keys that share ten
    /// bits of their hashes.
    private var mayRepeatKeys: Bool {
        tape.withUnsafeBufferPointer { tape in
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 16) { seen in
                seen.initialize(repeating: 0)
                var index = Int(open) + 1
                while index < tape.count {
                    let hash = tape[index].link
                    let bit = UInt64(1) << UInt64(hash & 63)
                    let word = Int(hash >> 6 & 15)
                    guard seen[word] & bit == 0 else { return true }
                    seen[word] |= bit
                    index = Int(tape[index + 1].link)
                }
                return false
            }
        }
    }

    private func refuseDuplicates() throws(JSONFault) {
        var keys: [UInt64] = []
        keys.reserveCapacity(tape[Int(open)].count)
        var index = Int(open) + 1
        while index < tape.count {
            keys.append(UInt64(tape[index].link) << 32 | UInt64(index))
            index = Int(tape[index + 1].link)
        }
        var search = DuplicateKeys()
        let found = search.first(
            in: &keys,
            text: { tape[Int($0)].content(in: text) },
            same: { tape[Int($0)].says(tape[Int($1)], in: text) }
        )
        if let found { throw duplicate(found.second, of: found.first) }
    }

    private func duplicate(_ second: UInt32, of first: UInt32) -> JSONFault {
        let (line, _) = position(of: Int(tape[Int(first)].start), in: text)
        let token = tape[Int(second)]
        let key = String(decoding: token.content(in: text), as: UTF8.self)
        return fault(
            .duplicateKey(JSONFault.shortened(key), firstLine: line),
            at: Int(token.start) - (token.has(JSONToken.isBare) ? 0 : 1)
        )
    }

    // MARK: values

    private mutating func value() throws(JSONFault) {
        switch next {
        case UInt8(ascii: "\""): try string(closedBy: UInt8(ascii: "\""), flags: 0)
        case UInt8(ascii: "{"): try begin(JSONToken.object)
        case UInt8(ascii: "["): try begin(JSONToken.array)
        case UInt8(ascii: "'") where isRelaxed: try string(closedBy: UInt8(ascii: "'"), flags: 0)
        case UInt8(ascii: "-"): try number()
        case .some(let byte) where Self.isDigit(byte): try number()
        case .some(let byte) where Self.startsWord(byte): try word()
        default: throw unexpected(.expectedValue)
        }
    }

    private mutating func word() throws(JSONFault) {
        let start = offset
        passWord()
        let meta: UInt32
        switch text[start..<offset] {
        case let word where word.elementsEqual("true".utf8):
            meta = JSONToken.bool | JSONToken.isTrue
        case let word where word.elementsEqual("false".utf8): meta = JSONToken.bool
        case let word where word.elementsEqual("null".utf8): meta = JSONToken.null
        case let word:
            let word = String(decoding: word.prefix(JSONFault.wordLength + 1), as: UTF8.self)
            throw fault(.unknownWord(JSONFault.shortened(word)), at: start)
        }
        append(start: start, end: offset, link: UInt32(tape.count) + 1, meta: meta)
    }

    private mutating func passWord() {
        while let byte = next, Self.startsWord(byte) || Self.isDigit(byte) { offset += 1 }
    }

    private mutating func number() throws(JSONFault) {
        let start = offset
        var flags = JSONToken.isPlain
        if next == UInt8(ascii: "-") { offset += 1 }
        if next == UInt8(ascii: "0") {
            offset += 1
            if let byte = next, Self.isDigit(byte) { throw fault(.leadingZero, at: start) }
        } else {
            try digits()
        }
        if next == UInt8(ascii: ".") {
            offset += 1
            flags = 0
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            offset += 1
            flags = 0
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        try refuseOutOfRange(start..<offset, isPlain: flags != 0)
        append(
            start: start,
            end: offset,
            link: UInt32(tape.count) + 1,
            meta: JSONToken.number | flags
        )
    }

    private mutating func digits() throws(JSONFault) {
        guard let byte = next, Self.isDigit(byte) else { throw unexpected(.missingDigit) }
        repeat { offset += 1 } while offset < text.count && Self.isDigit(base[offset])
    }

    private func refuseOutOfRange(_ range: Range<Int>, isPlain: Bool) throws(JSONFault) {
        if isPlain && range.count < 300 { return }
        let number = UnsafeBufferPointer(rebasing: text[range])
        guard JSONNumber(number).isFinite else {
            throw fault(.numberOutOfRange, at: range.lowerBound)
        }
    }

    // MARK: strings

    private mutating func key() throws(JSONFault) {
        switch next {
        case UInt8(ascii: "\""):
            try string(closedBy: UInt8(ascii: "\""), flags: JSONToken.isKey)
        case UInt8(ascii: "'") where isRelaxed:
            try string(closedBy: UInt8(ascii: "'"), flags: JSONToken.isKey)
        case .some(let byte) where isRelaxed && Self.startsWord(byte): bareKey()
        default: throw unexpected(.expectedKey)
        }
    }

    private mutating func bareKey() {
        let start = offset
        passWord()
        let key = UnsafeBufferPointer(rebasing: text[start..<offset])
        append(
            start: start,
            end: offset,
            link: JSONText.hash(key),
            meta: JSONToken.string | JSONToken.isKey | JSONToken.isBare
        )
    }

    private mutating func string(closedBy quote: UInt8, flags: UInt32) throws(JSONFault) {
        let start = offset + 1
        var flags = flags
        var isASCII = true
        offset = start
        while true {
            passPlainText(closedBy: quote)
            guard let byte = next else { throw fault(.unterminatedString, at: start - 1) }
            if byte == quote { break }
            if byte == JSONText.backslash {
                flags |= JSONToken.isEscaped
                let before = offset
                try escape()
                // Only the escapes by number are so long.
                if offset - before > 2 { isASCII = false }
            } else if byte >= 0x80 {
                isASCII = false
                try scalars()
            } else {
                throw fault(.controlCharacter(byte))
            }
        }
        let end = offset
        if !isASCII && !isStreamSafe(start..<end, flags) {
            throw fault(.tooManyMarks, at: start - 1)
        }
        offset += 1
        append(string: start..<end, flags: flags)
    }

    private func isStreamSafe(_ range: Range<Int>, _ flags: UInt32) -> Bool {
        // A mark takes at least two bytes.
        guard range.count > 2 * String.mostMarks else { return true }
        let content = UnsafeBufferPointer(rebasing: text[range])
        return flags & JSONToken.isEscaped == 0
            ? String(decoding: content, as: UTF8.self).isStreamSafe
            : String(decoding: JSONText.unescaped(content), as: UTF8.self).isStreamSafe
    }

    private mutating func append(string range: Range<Int>, flags: UInt32) {
        var link = UInt32(tape.count) + 1
        if flags & JSONToken.isKey != 0 {
            let key = UnsafeBufferPointer(rebasing: text[range])
            link =
                flags & JSONToken.isEscaped == 0
                ? JSONText.hash(key)
                : JSONText.unescaped(key).withUnsafeBufferPointer { JSONText.hash($0) }
        }
        append(
            start: range.lowerBound,
            end: range.upperBound,
            link: link,
            meta: JSONToken.string | flags
        )
    }

    /// Skips ASCII up to a quote, a backslash, a control character or the end.
    private mutating func passPlainText(closedBy quote: UInt8) {
        let quotes = JSONText.ones &* UInt64(quote)
        // Most strings are short.
        if passPlainWord(quotes) || passPlainWord(quotes) { return }
        offset += JSONText.plainBlocks(base + offset, text.count - offset, quote)
        if passPlainWord(quotes) || passPlainWord(quotes) { return }
        while offset < text.count, base[offset] != quote, base[offset] != JSONText.backslash,
            (0x20..<0x80).contains(base[offset])
        {
            offset += 1
        }
    }

    /// Skips eight bytes of such text, or its end within them. Returns whether it ended there.
    @inline(__always)
    private mutating func passPlainWord(_ quotes: UInt64) -> Bool {
        guard offset + 8 <= text.count else { return false }
        let stops = JSONText.stops(in: JSONText.word(base, offset), quotes: quotes)
        guard stops == 0 else {
            offset += stops.trailingZeroBitCount / 8
            return true
        }
        offset += 8
        return false
    }

    /// Skips an escape. A backslash at the end of the text is skipped alone, so that the end is
    /// reported.
    private mutating func escape() throws(JSONFault) {
        guard offset + 1 < text.count else { return offset += 1 }
        switch base[offset + 1] {
        case UInt8(ascii: "\""), JSONText.backslash, UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 2
        case UInt8(ascii: "'") where isRelaxed: offset += 2
        case UInt8(ascii: "u"): try unicodeEscape()
        default: throw fault(.invalidEscape)
        }
    }

    private mutating func unicodeEscape() throws(JSONFault) {
        guard let unit = JSONText.hexadecimal(text, at: offset + 2) else {
            throw fault(.invalidEscape)
        }
        guard (0xD800..<0xE000).contains(unit) else { return offset += 6 }
        guard unit < 0xDC00, offset + 8 <= text.count, base[offset + 6] == JSONText.backslash,
            base[offset + 7] == UInt8(ascii: "u"),
            let second = JSONText.hexadecimal(text, at: offset + 8),
            (0xDC00..<0xE000).contains(second)
        else { throw fault(.loneSurrogate) }
        offset += 12
    }

    /// Skips one or more scalars that are not ASCII.
    private mutating func scalars() throws(JSONFault) {
        repeat {
            guard let length = JSONText.sequenceLength(text, at: offset) else {
                throw fault(.invalidUTF8)
            }
            offset += length
        } while offset < text.count && base[offset] >= 0x80
    }

    // MARK: white space and comments

    @inline(__always)
    private mutating func skipSpace() throws(JSONFault) {
        while offset < text.count {
            let byte = base[offset]
            if byte > 0x20 {
                guard isRelaxed && byte == UInt8(ascii: "/") else { return }
                try comment()
            } else if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                offset += 1
            } else {
                return
            }
        }
    }

    private mutating func comment() throws(JSONFault) {
        let start = offset
        offset += 1
        switch next {
        case UInt8(ascii: "/"):
            while let byte = next, byte != 0x0A, byte != 0x0D { try commentScalar(byte) }
        case UInt8(ascii: "*"):
            offset += 1
            while !endsComment {
                guard let byte = next else { throw fault(.unterminatedComment, at: start) }
                try commentScalar(byte)
            }
            offset += 2
        default: throw fault(.expectedValue, at: start)
        }
    }

    private var endsComment: Bool {
        offset + 1 < text.count && base[offset] == UInt8(ascii: "*")
            && base[offset + 1] == UInt8(ascii: "/")
    }

    private mutating func commentScalar(_ byte: UInt8) throws(JSONFault) {
        if byte < 0x80 { offset += 1 } else { try scalars() }
    }

    // MARK: basics

    @inline(__always)
    private var next: UInt8? { offset < text.count ? base[offset] : nil }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    private static func startsWord(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "$")
    }

    @inline(__always)
    private mutating func append(start: Int, end: Int, link: UInt32, meta: UInt32) {
        tape.append(
            JSONToken(
                start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: end),
                link: link,
                meta: meta
            )
        )
    }

    private func fault(_ reason: JSONError.Reason, at place: Int? = nil) -> JSONFault {
        JSONFault(reason: reason, offset: place ?? offset)
    }

    /// Returns the fault at the current position: the end or invalid bytes if present, otherwise
    /// `reason`.
    private func unexpected(_ reason: JSONError.Reason) -> JSONFault {
        guard let byte = next else { return fault(.unexpectedEnd) }
        if byte >= 0x80 && JSONText.sequenceLength(text, at: offset) == nil {
            return fault(.invalidUTF8)
        }
        return fault(reason)
    }
}
