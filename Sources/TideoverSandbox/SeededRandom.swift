/// A random number generator with a sequence that depends only on its seed (SplitMix64). It is the
/// same on every machine and in every process.
public struct SeededRandom: RandomNumberGenerator, Hashable, Codable, Sendable {
    private var state: UInt64

    /// Creates a generator at the start of a seed's sequence.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 bits of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from the range, each equally likely. It does not use the standard library,
    /// which does not guarantee the same mapping from a generator to a range across releases.
    package mutating func number(in range: ClosedRange<Int64>) -> Int64 {
        let span = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        guard span < .max else { return Int64(bitPattern: next()) }
        let count = span + 1
        let limit = UInt64.max - (UInt64.max % count + 1) % count
        var drawn = next()
        while drawn > limit { drawn = next() }
        return Int64(bitPattern: UInt64(bitPattern: range.lowerBound) &+ drawn % count)
    }

    /// Returns a UUID of version 4 in lower case, as Apple writes them.
    package mutating func uuid() -> String {
        let high = next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = hexadecimal(high) + hexadecimal(low)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
