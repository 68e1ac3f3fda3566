/// A name of fixed length for a text, the same on every machine and in every version. For ids, so
/// that they do not carry a store's tokens; it protects no secret.
enum StableDigest {
    /// 32 hexadecimal digits for the lineage and the parts in their order.
    static func text(of lineage: Lineage, _ parts: String...) -> String {
        let whole = [lineage.environment.rawValue, lineage.key] + parts
        let (a, b) = digest(of: whole.joined(separator: "\u{1F}").utf8)
        return hexadecimal(a) + hexadecimal(b)
    }

    /// FNV-1a in two lanes, each mixed at the end as SplitMix64 does.
    private static func digest(of bytes: some Sequence<UInt8>) -> (UInt64, UInt64) {
        var a: UInt64 = 0xCBF2_9CE4_8422_2325
        var b: UInt64 = 0x9E37_79B9_7F4A_7C15
        for byte in bytes {
            a = (a ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            b = mixed(b ^ UInt64(byte))
        }
        return (mixed(a), b)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
