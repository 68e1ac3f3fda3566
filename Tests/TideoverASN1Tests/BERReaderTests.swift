import Testing
import TideoverASN1

struct BERReaderTests {
    /// Invalid values and the reasons, from X.690 section 8.
    static let refused: [(name: String, bytes: [UInt8], error: BERError)] = [
        ("nothing", [], .truncated),
        ("an identifier alone", [0x04], .truncated),
        ("a length beyond the end", [0x04, 0x02, 0x00], .truncated),
        ("a long length beyond the end", [0x04, 0x82, 0x01], .truncated),
        ("a length of 2^32 - 1", [0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
        ("a length in five bytes", [0x04, 0x85, 0, 0, 0, 0, 1, 0], .length),
        ("a length of minus one in 126 bytes", [0x04, 0xFE, 0xFF], .length),
        ("the reserved length", [0x04, 0xFF, 0x00], .length),
        ("a plain string without a length", [0x04, 0x80, 0x00, 0x00], .indefinitePrimitive),
        ("an end of nothing", [0x00, 0x00], .strayEndOfContents),
        ("an end that has contents", [0x00, 0x01, 0x00], .strayEndOfContents),
        ("an end with a long length", [0x30, 0x80, 0x00, 0x81, 0x00], .strayEndOfContents),
        ("a tag in several bytes", [0x1F, 0x81, 0x01, 0x00], .largeTag),
        ("no end", [0x30, 0x80, 0x04, 0x01, 0x61], .truncated),
        ("half an end", [0x30, 0x80, 0x00], .truncated),
        ("a value that reaches beyond the end", [0x30, 0x80, 0x04, 0x03, 0x00, 0x00], .truncated),
        ("a second value", [0x05, 0x00, 0x05, 0x00], .trailingBytes),
        ("a byte behind the end", [0x30, 0x80, 0x00, 0x00, 0x00], .trailingBytes),
    ]

    @Test(arguments: refused.indices)
    func `the reader refuses malformed input with its reason`(index: Int) {
        let (name, bytes, error) = Self.refused[index]
        #expect(throws: error, "\(name)") { try BERReader.only(bytes[...]) }
    }

    @Test(
        arguments: [
            [0x30, 0x03, 0x02, 0x01, 0x05], [0x30, 0x81, 0x03, 0x02, 0x01, 0x05],
            [0x30, 0x84, 0x00, 0x00, 0x00, 0x03, 0x02, 0x01, 0x05],
            [0x30, 0x80, 0x02, 0x01, 0x05, 0x00, 0x00],
        ] as [[UInt8]]
    )
    func `the same value in every form has the same contents`(bytes: [UInt8]) throws {
        let value = try BERReader.only(bytes[...])
        #expect(value.identifier == BERValue.sequence)
        #expect(value.encoding == bytes[...])
        #expect(value.hasLength == (bytes[1] != 0x80))
        var elements = value.elements
        #expect(try elements.next(BERValue.integer).integer() == 5)
        try elements.end()
    }

    /// Values, and whether DER allows their lengths, from X.690 section 10.1.
    static let lengths: [(name: String, bytes: [UInt8], isDER: Bool)] = [
        ("a short length", [0x04, 0x01, 0x61], true),
        ("nothing in it", [0x30, 0x00], true),
        ("a short length in two bytes", [0x04, 0x81, 0x01, 0x61], false),
        ("a length of 128", [0x04, 0x81, 0x80] + zeros(128), true),
        ("a length of 128 in three bytes", [0x04, 0x82, 0, 0x80] + zeros(128), false),
        ("a length of 256", [0x04, 0x82, 1, 0] + zeros(256), true),
        ("a length of 256 in four bytes", [0x04, 0x83, 0, 1, 0] + zeros(256), false),
        ("an open length", [0x30, 0x80, 0x00, 0x00], false),
    ]

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    @Test(arguments: lengths.indices)
    func `the rules of DER allow the shortest length only`(index: Int) throws {
        let (name, bytes, isDER) = Self.lengths[index]
        #expect(throws: Never.self, "\(name)") { try BERReader.only(bytes[...]) }
        if isDER {
            #expect(try BERReader.only(bytes[...], rules: .distinguished).encoding == bytes[...])
        } else {
            #expect(throws: BERError.length, "\(name)") {
                try BERReader.only(bytes[...], rules: .distinguished)
            }
        }
        // The rules apply to nested values as well.
        let count = bytes.count
        let length: [UInt8] =
            switch count {
            case ..<0x80: [UInt8(count)]
            case ..<0x100: [0x81, UInt8(count)]
            default: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
            }
        let whole = [0x30] + length + bytes
        var elements = try BERReader.only(whole[...], rules: .distinguished).elements
        #expect(((try? elements.next()) != nil) == isDER, "\(name)")
    }

    static let booleans: [([UInt8], Bool?)] = [
        ([0x00], false), ([0xFF], true), ([0x01], nil), ([], nil), ([0xFF, 0xFF], nil),
    ]

    @Test(arguments: booleans.indices)
    func `a boolean is one byte, 0 or 255`(index: Int) throws {
        let (contents, expected) = Self.booleans[index]
        let value = try BERReader.only(([0x01, UInt8(contents.count)] + contents)[...])
        #expect((try? value.boolean()) == expected)
    }

    /// Contents, and the number of unused bits, from X.690 sections 8.6 and 11.2.
    static let bitStrings: [([UInt8], Int?)] = [
        ([0x00], 0), ([0x00, 0xFF], 0), ([0x07, 0x80], 7), ([0x01, 0x06], 1),
        ([], nil), ([0x01], nil), ([0x08, 0x00], nil), ([0x07, 0xC0], nil), ([0x01, 0x07], nil),
    ]

    @Test(arguments: bitStrings.indices)
    func `a bit string has padding of zeros`(index: Int) throws {
        let (contents, expected) = Self.bitStrings[index]
        let value = try BERReader.only(([0x03, UInt8(contents.count)] + contents)[...])
        #expect((try? value.bits())?.unusedCount == expected)
    }

    static let integers: [([UInt8], Int64?)] = [
        ([0x00], 0), ([0x7F], 127), ([0x00, 0x80], 128), ([0x80], -128), ([0xFF], -1),
        ([0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .max),
        ([0x80, 0, 0, 0, 0, 0, 0, 0], .min),
        ([], nil), ([0x00, 0x7F], nil), ([0xFF, 0x80], nil),
        ([0x01, 0, 0, 0, 0, 0, 0, 0, 0], nil),
    ]

    @Test(arguments: integers.indices)
    func `an integer is read if its encoding is minimal and it fits`(index: Int) throws {
        let (contents, expected) = Self.integers[index]
        let value = try BERReader.only(([0x02, UInt8(contents.count)] + contents)[...])
        #expect((try? value.integer()) == expected)
    }

    /// From RFC 5652 section 4, RFC 4055 section 6 and X.690 section 8.19.
    static let objectIdentifiers: [([UInt8], String?)] = [
        ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02], "1.2.840.113549.1.7.2"),
        ([0x2B, 0x0E, 0x03, 0x02, 0x1A], "1.3.14.3.2.26"),
        ([0x88, 0x37, 0x03], "2.999.3"), ([0x00], "0.0"), ([0x27], "0.39"), ([0x50], "2.0"),
        ([], nil), ([0x2A, 0x86], nil), ([0x2A, 0x80, 0x01], nil),
        ([UInt8](repeating: 0x2A, count: 65), nil),
        ([0x2A] + [UInt8](repeating: 0xFF, count: 12) + [0x01], nil),
    ]

    @Test(arguments: objectIdentifiers.indices)
    func `object identifiers are read in dotted form`(index: Int) throws {
        let (contents, expected) = Self.objectIdentifiers[index]
        let value = try BERReader.only(([0x06, UInt8(contents.count)] + contents)[...])
        #expect((try? value.objectIdentifier()) == expected)
    }

    static let texts: [([UInt8], String?)] = [
        ([0x0C, 0x03, 0x61, 0xC3, 0xA9], "a\u{E9}"), ([0x0C, 0x00], ""),
        ([0x16, 0x01, 0x7F], "\u{7F}"),
        ([0x0C, 0x01, 0xE9], nil), ([0x0C, 0x03, 0xED, 0xA0, 0x80], nil),
        ([0x16, 0x02, 0xC3, 0xA9], nil),
        ([0x13, 0x01, 0x61], nil),
    ]

    @Test(arguments: texts.indices)
    func `a text contains only the characters of its type`(index: Int) throws {
        let (bytes, expected) = Self.texts[index]
        #expect((try? BERReader.only(bytes[...]).text()) == expected)
    }

    @Test(
        arguments: [
            [0x04, 0x03, 0x61, 0x62, 0x63],
            [0x24, 0x80, 0x04, 0x01, 0x61, 0x04, 0x02, 0x62, 0x63, 0, 0],
            [0x24, 0x07, 0x04, 0x02, 0x61, 0x62, 0x04, 0x01, 0x63],
            [
                0x24, 0x80, 0x24, 0x80, 0x04, 0x01, 0x61, 0, 0, 0x04, 0x00, 0x04, 0x02, 0x62, 0x63,
                0, 0,
            ],
        ] as [[UInt8]]
    )
    func `a constructed string is joined from its pieces`(bytes: [UInt8]) throws {
        var reader = BERReader(bytes[...])
        #expect(try reader.nextOctets() == Array("abc".utf8))
        #expect(reader.isAtEnd)
    }

    @Test func `a constructed string contains only strings`() {
        let bytes: [UInt8] = [0x24, 0x03, 0x02, 0x01, 0x61]
        var reader = BERReader(bytes[...])
        #expect(throws: BERError.string) { try reader.nextOctets() }
        var other = BERReader([0x0C, 0x01, 0x61])
        #expect(throws: BERError.unexpectedTag(0x0C)) { try other.nextOctets() }
    }

    /// Returns a string within `depth` sequences, or in nested constructed strings, of indefinite
    /// length.
    private func nested(_ identifier: UInt8, _ depth: Int) -> [UInt8] {
        let begun = [[UInt8]](repeating: [identifier, 0x80], count: depth).joined()
        return begun + [0x04, 0x00] + [UInt8](repeating: 0, count: 2 * depth)
    }

    @Test(arguments: [0x30, 0x24] as [UInt8])
    func `nesting at the limit is accepted, one level more is refused`(identifier: UInt8) throws {
        let deepest = nested(identifier, BERReader.maximumDepth)
        #expect(try BERReader.only(deepest[...]).encoding == deepest[...])
        let deeper = nested(identifier, BERReader.maximumDepth + 1)
        #expect(throws: BERError.tooDeep) { try BERReader.only(deeper[...]) }
        #expect(throws: BERError.tooDeep) { try BERReader.only(nested(identifier, 100_000)[...]) }
    }

    @Test func `nesting is bounded for values of definite length too`() throws {
        var bytes: [UInt8] = [0x04, 0x00]
        for _ in 0..<BERReader.maximumDepth { bytes = [0x24, UInt8(bytes.count)] + bytes }
        let value = try BERReader.only(bytes[...])
        #expect(throws: BERError.tooDeep) { try value.octets() }
    }

    @Test func `a truncated value is refused wherever it is cut`() {
        let bytes = nested(0x30, 4)
        for count in bytes.indices {
            #expect(throws: BERError.truncated) { try BERReader.only(bytes.prefix(count)) }
        }
    }
}
