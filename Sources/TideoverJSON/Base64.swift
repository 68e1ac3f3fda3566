/// Base64 of RFC 4648, in its two alphabets.
public enum Base64 {
    /// The last two characters, and whether the text is padded.
    public enum Alphabet: Hashable, Sendable {
        /// With `+` and `/`, padded with `=`.
        case standard
        /// With `-` and `_`, without padding, as in JWS.
        case urlSafe
    }

    /// Returns the text of bytes.
    public static func encode(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8] {
        bytes.withContiguousStorageIfAvailable { encode($0, alphabet) }
            ?? Array(bytes).withUnsafeBufferPointer { encode($0, alphabet) }
    }

    /// Returns the text of bytes as a string.
    public static func encodeString(
        _ bytes: some Collection<UInt8>,
        _ alphabet: Alphabet
    ) -> String {
        String(decoding: encode(bytes, alphabet), as: UTF8.self)
    }

    /// Decodes a text in canonical form. Returns nil for white space, characters of the other
    /// alphabet, wrong padding, and unused bits that are not zero.
    public static func decode(_ text: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        if let bytes = text.withContiguousStorageIfAvailable({ decode($0, alphabet) }) {
            return bytes
        }
        return Array(text).withUnsafeBufferPointer { decode($0, alphabet) }
    }
}

extension Base64 {
    private static let standardCharacters = characters("+/")
    private static let urlSafeCharacters = characters("-_")
    private static let standardPairs = pairs(standardCharacters)
    private static let urlSafePairs = pairs(urlSafeCharacters)
    private static let standardSextets = sextets(standardCharacters)
    private static let urlSafeSextets = sextets(urlSafeCharacters)

    private static func characters(_ last: String) -> [UInt8] {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return letters + letters.map { $0 | 0x20 } + (UInt8(ascii: "0")...UInt8(ascii: "9"))
            + last.utf8
    }

    /// Returns the two characters of each 12-bit value, the first one lowest.
    private static func pairs(_ characters: [UInt8]) -> [UInt16] {
        characters.flatMap { first in
            characters.map { UInt16($0) << 8 | UInt16(first) }
        }
    }

    /// Marks a byte that is not a character of the alphabet.
    private static let invalid: UInt32 = 1 << 31

    /// Returns a table of 256 entries for each of the four positions in a group. An entry has the
    /// bits that a character there contributes to the group's 24 bits, the first byte lowest.
    private static func sextets(_ characters: [UInt8]) -> [UInt32] {
        var table = [UInt32](repeating: invalid, count: 4 * 256)
        for (value, character) in characters.enumerated() {
            for place in 0..<4 {
                let bits = UInt32(value) << (18 - 6 * UInt32(place))
                table[place * 256 + Int(character)] = bits.byteSwapped >> 8
            }
        }
        return table
    }

    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ alphabet: Alphabet
    ) -> [UInt8] {
        let isStandard = alphabet == .standard
        let groups = bytes.count / 3
        return (isStandard ? standardPairs : urlSafePairs).withUnsafeBufferPointer { pairs in
            [UInt8](unsafeUninitializedCapacity: (groups + 1) * 4) { target, count in
                let raw = UnsafeMutableRawBufferPointer(target)
                for group in 0..<groups {
                    let (a, b, c) = (bytes[group * 3], bytes[group * 3 + 1], bytes[group * 3 + 2])
                    let first = pairs[Int(a) << 4 | Int(b >> 4)]
                    let second = pairs[Int(b & 15) << 8 | Int(c)]
                    let characters = UInt32(second) << 16 | UInt32(first)
                    raw.storeBytes(
                        of: characters.littleEndian,
                        toByteOffset: group * 4,
                        as: UInt32.self
                    )
                }
                count = groups * 4
                for character in lastGroup(bytes[(groups * 3)...], isPadded: isStandard) {
                    target[count] = character
                    count += 1
                }
            }
        }
    }

    /// Returns the characters for one or two bytes; an empty array for none.
    private static func lastGroup(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>,
        isPadded: Bool
    ) -> [UInt8] {
        guard let a = bytes.first else { return [] }
        let table = isPadded ? standardCharacters : urlSafeCharacters
        let padding = UInt8(ascii: "=")
        let first = table[Int(a >> 2)]
        guard let b = bytes.dropFirst().first else {
            let characters = [first, table[Int((a & 3) << 4)]]
            return isPadded ? characters + [padding, padding] : characters
        }
        let characters = [first, table[Int((a & 3) << 4 | b >> 4)], table[Int((b & 15) << 2)]]
        return isPadded ? characters + [padding] : characters
    }

    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>,
        _ alphabet: Alphabet
    ) -> [UInt8]? {
        guard alphabet == .standard else { return decodeUnpadded(text, urlSafeSextets) }
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let characters = UnsafeBufferPointer(rebasing: text.dropLast(padding))
        return decodeUnpadded(characters, standardSextets)
    }

    private static func decodeUnpadded(
        _ text: UnsafeBufferPointer<UInt8>,
        _ table: [UInt32]
    ) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        var seen: UInt32 = 0
        let groups = text.count / 4
        // Each group is written as four bytes; the next group overwrites the last one.
        let capacity = groups * 3 + 4
        let bytes = table.withUnsafeBufferPointer { table in
            [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
                let target = UnsafeMutableRawBufferPointer(target)
                // Two groups a step: the loop itself is then a fifth of the work, not a third.
                var group = 0
                while group &+ 2 <= groups {
                    seen |= decode(group, of: text, into: target, table)
                    seen |= decode(group &+ 1, of: text, into: target, table)
                    group &+= 2
                }
                if group < groups { seen |= decode(group, of: text, into: target, table) }
                count = groups * 3
                guard rest > 0 else { return }
                let bits = sum(text, text.count - rest, rest, table)
                target.storeBytes(of: bits.littleEndian, toByteOffset: count, as: UInt32.self)
                count += rest - 1
                // The bits past the last byte are unused; canonical text requires zeros.
                seen |= bits >> (8 * UInt32(rest - 1)) == 0 ? 0 : invalid
            }
        }
        return seen & invalid == 0 ? bytes : nil
    }

    /// Writes the bytes of a group. Returns its bits.
    @inline(__always)
    private static func decode(
        _ group: Int,
        of text: UnsafeBufferPointer<UInt8>,
        into target: UnsafeMutableRawBufferPointer,
        _ table: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        let bits = sum(text, group &* 4, 4, table)
        target.storeBytes(of: bits.littleEndian, toByteOffset: group &* 3, as: UInt32.self)
        return bits
    }

    @inline(__always)
    private static func sum(
        _ text: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ count: Int,
        _ table: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        var bits: UInt32 = 0
        for place in 0..<count { bits |= table[place << 8 | Int(text[start &+ place])] }
        return bits
    }
}
