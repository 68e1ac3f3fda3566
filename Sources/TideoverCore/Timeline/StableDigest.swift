/// A name of fixed length for a text, the same on every machine and in every version. Keeps store
/// tokens out of IDs; it protects no secret.
///
/// FNV-1a in two lanes, each mixed at the end as in SplitMix64.
package struct StableDigest {
    private var a: UInt64 = 0xCBF2_9CE4_8422_2325
    private var b: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let separator: UInt8 = 0x1F

    private init() {}

    /// Begins the names of a lineage's events.
    init(of lineage: Lineage) {
        add(lineage.environment.rawValue)
        add(Self.separator)
        add(lineage.key)
    }

    /// Returns 32 hexadecimal digits for the lineage and the parts, in order.
    static func text(of lineage: Lineage, _ parts: String...) -> String {
        var digest = StableDigest(of: lineage)
        for part in parts {
            digest.add(Self.separator)
            digest.add(part)
        }
        return digest.text
    }

    /// Returns the same for two parts.
    func text(_ first: String, _ second: String) -> String {
        var digest = self
        digest.add(Self.separator)
        digest.add(first)
        digest.add(Self.separator)
        digest.add(second)
        return digest.text
    }

    /// Returns a number for the parts, in order, with evenly distributed bits.
    static func number(_ parts: String...) -> UInt64 {
        var digest = StableDigest()
        for part in parts {
            digest.add(part)
            digest.add(Self.separator)
        }
        return mixed(digest.a)
    }

    /// Returns a number for a text, to distinguish few of them.
    package static func number(of text: [UInt8]) -> UInt64 {
        var digest = StableDigest()
        for byte in text { digest.add(byte) }
        return mixed(digest.a)
    }

    private mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { for byte in $0 { add(byte) } }
    }

    private mutating func add(_ byte: UInt8) {
        a = (a ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        b = Self.mixed(b ^ UInt64(byte))
    }

    private var text: String {
        String(unsafeUninitializedCapacity: 32) { digits in
            func write(_ half: UInt64, at start: Int) {
                for place in 0..<16 {
                    let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * place)) & 0xF
                    let first = digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10
                    digits[start + place] = first + digit
                }
            }
            write(Self.mixed(a), at: 0)
            write(b, at: 16)
            return 32
        }
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
