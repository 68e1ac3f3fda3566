/// The ASN.1 encoding that a reader accepts (X.690).
public enum BERRules: Hashable, Sendable {
    /// Every form that BER allows.
    case basic
    /// DER: every length is stated, in as few bytes as possible.
    case distinguished
}

/// Reads consecutive ASN.1 values in BER, and so also in DER (X.690).
///
/// It accepts the forms that BER allows: indefinite lengths, constructed strings, and lengths in up
/// to four bytes, not only the shortest. Under ``BERRules/distinguished`` it rejects these lengths.
/// All other deviations are rejected. It neither recurses nor copies.
public struct BERReader: Sendable {
    /// The maximum nesting depth of values.
    public static let maximumDepth = 16

    private var rest: ArraySlice<UInt8>
    private let rules: BERRules
    private let depth: Int

    /// Creates a reader of the values in these bytes.
    public init(_ bytes: ArraySlice<UInt8>, rules: BERRules = .basic) {
        self.init(bytes, rules: rules, depth: 0)
    }

    init(_ bytes: ArraySlice<UInt8>, rules: BERRules, depth: Int) {
        rest = bytes
        self.rules = rules
        self.depth = depth
    }

    /// Returns the single value that these bytes encode, without trailing bytes.
    public static func only(
        _ bytes: ArraySlice<UInt8>,
        rules: BERRules = .basic
    ) throws(BERError) -> BERValue {
        var reader = BERReader(bytes, rules: rules)
        let value = try reader.next()
        try reader.end()
        return value
    }

    /// Whether all values were read.
    public var isAtEnd: Bool { rest.isEmpty }

    /// Reads the next value of any type.
    public mutating func next() throws(BERError) -> BERValue {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        let header = try BERHeader(rest, at: rest.startIndex)
        guard !header.isEndOfContents else { throw .strayEndOfContents }
        guard rules == .basic || header.hasShortestLength else { throw .length }
        let end: (contents: Int, value: Int)
        if let length = header.length {
            guard length <= rest.endIndex - header.contents else { throw .truncated }
            end = (header.contents + length, header.contents + length)
        } else {
            let mark = try endOfContents(from: header.contents)
            end = (mark, mark + BERHeader.endOfContentsCount)
        }
        let value = BERValue(
            identifier: header.identifier,
            encoding: rest[rest.startIndex..<end.value],
            contents: rest[header.contents..<end.contents],
            hasLength: header.length != nil,
            rules: rules,
            depth: depth + 1
        )
        rest = rest[end.value...]
        return value
    }

    /// Reads the next value, which must have this identifier.
    public mutating func next(_ identifier: UInt8) throws(BERError) -> BERValue {
        guard rest.first == identifier else { throw .unexpectedTag(rest.first) }
        return try next()
    }

    /// Reads the next value if it has this identifier.
    public mutating func nextIfPresent(_ identifier: UInt8) throws(BERError) -> BERValue? {
        rest.first == identifier ? try next() : nil
    }

    /// Reads the next octet string, primitive or constructed.
    public mutating func nextOctets() throws(BERError) -> [UInt8] {
        let value = try next()
        guard value.identifier | BERValue.constructed == BERValue.octetString | BERValue.constructed
        else { throw .unexpectedTag(value.identifier) }
        return try value.octets()
    }

    /// Throws unless all values were read.
    public func end() throws(BERError) {
        guard isAtEnd else { throw .trailingBytes }
    }

    /// Returns the position of the end-of-contents mark for a value that begins at `start`. Values
    /// with a definite length are skipped.
    private func endOfContents(from start: Int) throws(BERError) -> Int {
        var open = 1
        var position = start
        while true {
            let header = try BERHeader(rest, at: position)
            if header.isEndOfContents {
                open -= 1
                if open == 0 { return position }
                position = header.contents
            } else if let length = header.length {
                guard length <= rest.endIndex - header.contents else { throw .truncated }
                position = header.contents + length
            } else {
                open += 1
                guard depth + open <= Self.maximumDepth else { throw .tooDeep }
                position = header.contents
            }
        }
    }
}

/// The identifier and length before a value.
private struct BERHeader {
    static let endOfContentsCount = 2

    let identifier: UInt8
    /// Nil for a value of indefinite length.
    let length: Int?
    /// The start of the contents.
    let contents: Int
    /// Whether the length has the shortest form (X.690 section 10.1).
    let hasShortestLength: Bool

    init(_ bytes: ArraySlice<UInt8>, at start: Int) throws(BERError) {
        guard bytes.endIndex - start >= 2 else { throw .truncated }
        let identifier = bytes[start]
        guard identifier & 0x1F != 0x1F else { throw .largeTag }
        let first = bytes[start + 1]
        self.identifier = identifier
        switch first {
        case 0..<0x80:
            length = Int(first)
            contents = start + 2
        case 0x80:
            guard identifier & BERValue.constructed != 0 else { throw .indefinitePrimitive }
            length = nil
            contents = start + 2
        case 0x81...0x84:
            let count = Int(first & 0x7F)
            guard bytes.endIndex - start - 2 >= count else { throw .truncated }
            contents = start + 2 + count
            length = bytes[(start + 2)..<contents].reduce(0) { $0 << 8 | Int($1) }
        default: throw .length
        }
        // The reserved identifier 0 only marks an end of contents, which is two bytes.
        if identifier == 0, length != 0 || contents != start + 2 { throw .strayEndOfContents }
        let lengthByteCount = contents - start - 1
        hasShortestLength =
            length.map { Self.shortestByteCount(of: $0) == lengthByteCount } ?? false
    }

    var isEndOfContents: Bool { identifier == 0 }

    /// Returns the minimum number of bytes of a length.
    private static func shortestByteCount(of length: Int) -> Int {
        length < 0x80 ? 1 : 1 + (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
    }
}
