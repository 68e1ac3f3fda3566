/// A second parser of base64, one character at a time, which shares no code with the project's.
enum PlainBase64 {
    private static func sextet(_ byte: UInt8, isURLSafe: Bool) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48 + 52
        case UInt8(ascii: isURLSafe ? "-" : "+"): 62
        case UInt8(ascii: isURLSafe ? "_" : "/"): 63
        default: nil
        }
    }

    /// Decodes a canonical text; returns nil for any other.
    static func decode(_ text: some Collection<UInt8>, isURLSafe: Bool) -> [UInt8]? {
        var characters = Array(text)
        if !isURLSafe {
            guard characters.count % 4 == 0 else { return nil }
            for _ in 0..<2 where characters.last == UInt8(ascii: "=") { characters.removeLast() }
        }
        var bits: UInt32 = 0
        var count = 0
        var bytes: [UInt8] = []
        for character in characters {
            guard let sextet = sextet(character, isURLSafe: isURLSafe) else { return nil }
            bits = bits << 6 | sextet
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> UInt32(count)))
                bits &= (1 << UInt32(count)) - 1
            }
        }
        // The remaining bits are less than a character, and must be zero.
        return count < 6 && bits == 0 ? bytes : nil
    }
}
