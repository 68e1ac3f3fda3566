/// An ASN.1 value inside its document, with undecoded contents.
public struct BERValue: Sendable {
    /// The first byte: class, constructed bit, and number of the tag.
    public let identifier: UInt8
    /// The whole value as encoded.
    public let encoding: ArraySlice<UInt8>
    /// The contents, without the end-of-contents mark.
    public let contents: ArraySlice<UInt8>
    /// Whether it has a definite length, as DER requires.
    public let hasLength: Bool
    private let rules: BERRules
    private let depth: Int

    init(
        identifier: UInt8,
        encoding: ArraySlice<UInt8>,
        contents: ArraySlice<UInt8>,
        hasLength: Bool,
        rules: BERRules,
        depth: Int
    ) {
        self.identifier = identifier
        self.encoding = encoding
        self.contents = contents
        self.hasLength = hasLength
        self.rules = rules
        self.depth = depth
    }

    public static let boolean: UInt8 = 0x01
    public static let integer: UInt8 = 0x02
    public static let bitString: UInt8 = 0x03
    public static let octetString: UInt8 = 0x04
    public static let null: UInt8 = 0x05
    public static let objectIdentifier: UInt8 = 0x06
    public static let utf8String: UInt8 = 0x0C
    public static let printableString: UInt8 = 0x13
    public static let ia5String: UInt8 = 0x16
    public static let utcTime: UInt8 = 0x17
    public static let generalizedTime: UInt8 = 0x18
    public static let visibleString: UInt8 = 0x1A
    public static let sequence: UInt8 = 0x30
    public static let set: UInt8 = 0x31
    /// The identifier bit of a constructed value.
    static let constructed: UInt8 = 0x20

    /// Returns the identifier of a constructed context-specific field, such as `[0]`.
    public static func field(_ number: UInt8) -> UInt8 { 0xA0 | number }

    /// Returns the identifier of a primitive context-specific field.
    public static func plainField(_ number: UInt8) -> UInt8 { 0x80 | number }

    /// The values it contains.
    public var elements: BERReader { BERReader(contents, rules: rules, depth: depth) }

    /// Whether it is a constructed value.
    private var isConstructed: Bool { identifier & Self.constructed != 0 }
}

// MARK: - Primitive values

extension BERValue {
    /// Decodes a DER boolean: 0 or 255 in one byte (X.690 section 11.1).
    public func boolean() throws(BERError) -> Bool {
        try require(Self.boolean)
        guard contents.count == 1, let byte = contents.first, byte == 0 || byte == 0xFF else {
            throw .boolean
        }
        return byte == 0xFF
    }

    /// Decodes a primitive bit string. Returns its bytes and the number of unused bits in the last
    /// one, which must be zero, as in DER (X.690 section 11.2.1).
    public func bits() throws(BERError) -> (bytes: ArraySlice<UInt8>, unusedCount: Int) {
        try require(Self.bitString)
        guard let unusedCount = contents.first, unusedCount < 8 else { throw .bitString }
        let bytes = contents.dropFirst()
        let last = bytes.last ?? 0
        guard unusedCount == 0 || !bytes.isEmpty, last & (1 << unusedCount - 1) == 0 else {
            throw .bitString
        }
        return (bytes, Int(unusedCount))
    }

    /// Decodes an integer of any size as big-endian bytes, with the sign in the first bit.
    public func integerBytes() throws(BERError) -> ArraySlice<UInt8> {
        try require(Self.integer)
        guard !contents.isEmpty, isShortest else { throw .integer }
        return contents
    }

    /// Decodes an integer of at most 64 bits.
    public func integer() throws(BERError) -> Int64 {
        let bytes = try integerBytes()
        guard let first = bytes.first, bytes.count <= 8 else { throw .integer }
        let start: Int64 = first & 0x80 == 0 ? 0 : -1
        return bytes.reduce(start) { $0 << 8 | Int64($1) }
    }

    /// An integer never begins with nine equal bits (X.690 section 8.3.2).
    private var isShortest: Bool {
        guard contents.count > 1 else { return true }
        let (first, second) = (contents[contents.startIndex], contents[contents.startIndex + 1])
        return !(first == 0 && second & 0x80 == 0) && !(first == 0xFF && second & 0x80 != 0)
    }

    /// Decodes an object identifier into its dotted form.
    public func objectIdentifier() throws(BERError) -> String {
        try require(Self.objectIdentifier)
        guard (1...Self.longestObjectIdentifier).contains(contents.count),
            contents.last.map({ $0 & 0x80 == 0 }) == true
        else { throw .objectIdentifier }
        var parts: [UInt64] = []
        var part: UInt64 = 0
        var isFirstOfPart = true
        for byte in contents {
            // A part has the shortest form, and fits in 56 bits in all supported structures.
            guard !(isFirstOfPart && byte == 0x80), part < 1 << 56 else { throw .objectIdentifier }
            part = part << 7 | UInt64(byte & 0x7F)
            isFirstOfPart = byte & 0x80 == 0
            if isFirstOfPart {
                parts.append(part)
                part = 0
            }
        }
        let root = min(parts[0] / 40, 2)
        parts.replaceSubrange(0..<1, with: [root, parts[0] - root * 40])
        return parts.map(String.init).joined(separator: ".")
    }

    private static let longestObjectIdentifier = 64

    /// Decodes a text in UTF-8 or ASCII, depending on its type.
    public func text() throws(BERError) -> String {
        switch identifier {
        case Self.utf8String: break
        case Self.ia5String: guard contents.allSatisfy({ $0 < 0x80 }) else { throw .text }
        default: throw .unexpectedTag(identifier)
        }
        // Invalid UTF-8 would be repaired, and so differ from the encoded text.
        let text = String(decoding: contents, as: UTF8.self)
        guard text.utf8.elementsEqual(contents) else { throw .text }
        return text
    }

    /// Returns the bytes of a string with any tag: its own, or those of the strings it contains.
    public func octets() throws(BERError) -> [UInt8] {
        guard isConstructed else { return Array(contents) }
        var octets: [UInt8] = []
        octets.reserveCapacity(contents.count)
        // The stack of readers, each inside the previous one.
        var readers = [elements]
        while var reader = readers.popLast() {
            guard !reader.isAtEnd else { continue }
            let piece = try reader.next()
            readers.append(reader)
            switch piece.identifier {
            case Self.octetString: octets += piece.contents
            case Self.octetString | Self.constructed: readers.append(piece.elements)
            default: throw .string
            }
        }
        return octets
    }

    private func require(_ expected: UInt8) throws(BERError) {
        guard identifier == expected else { throw .unexpectedTag(identifier) }
    }
}
