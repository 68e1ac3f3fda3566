/// An unsigned number of 256 bits.
///
/// It has only what the verification of signatures needs. No operation traps. The time of some
/// depends on the numbers: use it only for public ones.
package struct UInt256: Equatable, Sendable {
    /// The number of bytes.
    package static let byteCount = 32
    /// The number of words of 64 bits.
    static let wordCount = 4

    /// The words, least significant first.
    var words: InlineArray<4, UInt64>

    /// Creates a number from its words, most significant first, as numbers are written.
    package init(_ w3: UInt64, _ w2: UInt64, _ w1: UInt64, _ w0: UInt64) {
        words = [w0, w1, w2, w3]
    }

    /// Creates a small number.
    package init(_ number: UInt64) {
        words = [number, 0, 0, 0]
    }

    /// Reads 32 bytes, most significant first; nil if there are fewer or more.
    package init?(bigEndian bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        words = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() {
            words[3 - index / 8] |= UInt64(byte) << UInt64(56 - index % 8 * 8)
        }
    }

    /// Reads 32 bytes from an offset, most significant first; nil if there are fewer.
    init?(bigEndian bytes: borrowing RawSpan, at offset: Int) {
        guard offset >= 0, offset <= bytes.byteCount - Self.byteCount else { return nil }
        words = [0, 0, 0, 0]
        for index in 0..<Self.wordCount {
            let word = bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset + 8 * index,
                as: UInt64.self
            )
            words[3 - index] = UInt64(bigEndian: word)
        }
    }

    /// The number as 32 bytes, most significant first.
    package var bigEndian: [UInt8] {
        (0..<Self.byteCount).map { index in
            UInt8(truncatingIfNeeded: words[3 - index / 8] >> UInt64(56 - index % 8 * 8))
        }
    }

    /// Whether the number is 0.
    package var isZero: Bool { words[0] | words[1] | words[2] | words[3] == 0 }

    /// Whether both are the same number.
    package static func == (one: Self, other: Self) -> Bool {
        (one.words[0] ^ other.words[0]) | (one.words[1] ^ other.words[1])
            | (one.words[2] ^ other.words[2]) | (one.words[3] ^ other.words[3]) == 0
    }

    /// Whether the first number is the smaller one.
    package static func < (one: Self, other: Self) -> Bool { one.subtracting(other).hasBorrow }

    /// Returns the sum modulo 2^256, and whether that is not the whole sum.
    func adding(_ other: Self) -> (sum: Self, hasCarry: Bool) {
        var (sum, carry) = (self, UInt128(0))
        for index in 0..<Self.wordCount {
            // The sum of two words and a carry of 1 fits in 65 bits.
            carry &+= UInt128(words[index]) &+ UInt128(other.words[index])
            sum.words[index] = UInt64(truncatingIfNeeded: carry)
            carry &>>= 64
        }
        return (sum, carry != 0)
    }

    /// Returns the difference modulo 2^256, and whether it is negative.
    func subtracting(_ other: Self) -> (difference: Self, hasBorrow: Bool) {
        var (difference, borrow) = (self, Int128(0))
        for index in 0..<Self.wordCount {
            // The shift is arithmetic, so the borrow is 0 or -1.
            borrow &+= Int128(words[index]) &- Int128(other.words[index])
            difference.words[index] = UInt64(truncatingIfNeeded: borrow)
            borrow &>>= 64
        }
        return (difference, borrow != 0)
    }
}
