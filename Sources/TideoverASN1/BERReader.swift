/// Which encoding of ASN.1 a reader accepts (X.690).
public enum BERRules: Hashable, Sendable {
    /// Every form that BER allows.
    case basic
    /// DER: every length is stated, in as few bytes as possible.
    case distinguished
}

/// Reads values of ASN.1 one after the other, in BER and so also in DER (X.690).
///
/// It takes what BER allows: lengths left open and ended by a mark, strings in pieces, lengths
/// written longer than need be up to four bytes. Under ``BERRules/distinguished`` it refuses these
/// lengths. Whatever else deviates is refused. Nothing is read by recursion, and nothing is copied.
public struct BERReader: Sendable {
    /// How deep values may be nested.
    public static let maximumDepth = 16

    private var rest: ArraySlice<UInt8>
    private let rules: BERRules
    private let depth: Int

    /// A reader of the values that these bytes are.
    public init(_ bytes: ArraySlice<UInt8>, rules: BERRules = .basic) {
        self.init(bytes, rules: rules, depth: 0)
    }

    init(_ bytes: ArraySlice<UInt8>, rules: BERRules, depth: Int) {
        rest = bytes
        self.rules = rules
        self.depth = depth
    }

    /// The one value that these bytes are, to the last of them.
    public static func only(
        _ bytes: ArraySlice<UInt8>,
        rules: BERRules = .basic
    ) throws(BERError) -> BERValue {
        var reader = BERReader(bytes, rules: rules)
        let value = try reader.next()
        try reader.end()
        return value
    }

    /// Whether no value is left.
    public var isAtEnd: Bool { rest.isEmpty }

    /// The identifier of the next value, not yet taken; nil at the end.
    public var nextTag: UInt8? { rest.first }

    /// Takes the next value, whatever it is.
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

    /// Takes the next value, which must have this identifier.
    public mutating func next(_ identifier: UInt8) throws(BERError) -> BERValue {
        guard rest.first == identifier else { throw .unexpectedTag(rest.first) }
        return try next()
    }

    /// Takes the next value if it has this identifier.
    public mutating func nextIfPresent(_ identifier: UInt8) throws(BERError) -> BERValue? {
        rest.first == identifier ? try next() : nil
    }

    /// Takes the next string, in one piece or in several.
    public mutating func nextOctets() throws(BERError) -> [UInt8] {
        let value = try next()
        guard value.identifier | BERValue.constructed == BERValue.octetString | BERValue.constructed
        else { throw .unexpectedTag(value.identifier) }
        return try value.octets()
    }

    /// Throws unless no value is left.
    public func end() throws(BERError) {
        guard isAtEnd else { throw .trailingBytes }
    }

    /// Where the mark stands that ends what begins at `start`. What has a length is stepped over.
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

/// The identifier and length in front of a value.
private struct BERHeader {
    static let endOfContentsCount = 2

    let identifier: UInt8
    /// Nil where the value ends with a mark.
    let length: Int?
    /// Where the contents begin.
    let contents: Int
    /// Whether the length is stated in as few bytes as possible (X.690 section 10.1).
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
        // The reserved identifier 0 says only that something ends, and then it is two bytes.
        if identifier == 0, length != 0 || contents != start + 2 { throw .strayEndOfContents }
        let lengthByteCount = contents - start - 1
        hasShortestLength =
            length.map { Self.shortestByteCount(of: $0) == lengthByteCount } ?? false
    }

    var isEndOfContents: Bool { identifier == 0 }

    /// In how few bytes a length is stated.
    private static func shortestByteCount(of length: Int) -> Int {
        length < 0x80 ? 1 : 1 + (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
    }
}
