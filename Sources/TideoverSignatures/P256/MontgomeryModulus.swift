/// An odd modulus N of at most 256 bits, with Montgomery's multiplication ("Modular multiplication
/// without trial division", 1985).
///
/// The product of a and b is a b / R modulo N, where R is 2^256. A division by R only moves words.
///
/// All arithmetic wraps, so no input traps. The comments give the bounds by which nothing is lost.
/// The time depends on the numbers: use it only for public ones.
package struct MontgomeryModulus: Sendable {
    /// The modulus N.
    package let modulus: UInt256
    /// The inverse of -N modulo 2^64.
    private let negativeInverse: UInt64
    /// R^2 modulo N. The product of a number with it is the number times R.
    package let radixSquared: UInt256

    /// Creates the constants for an odd modulus above 1; products modulo any other are wrong.
    package init(_ modulus: UInt256) {
        self.modulus = modulus
        negativeInverse = 0 &- Self.inverse(ofOdd: modulus.words[0])
        radixSquared = (0..<512).reduce(UInt256(1)) { power, _ in
            let (sum, hasCarry) = power.adding(power)
            return Self.reduced(sum, hasCarry, by: modulus)
        }
    }

    /// Returns a b / R modulo N. One of the two must be below N; the other can be any number.
    package func product(_ a: UInt256, _ b: UInt256) -> UInt256 {
        var (sum, top) = (UInt256(0), UInt64(0))
        for index in 0..<UInt256.wordCount {
            // The sum stays below N + b: a round adds at most 2^64 - 1 times N + b, and divides by
            // 2^64. So `top`, which is above the 256 bits, is 0 or 1.
            (sum, top) = Self.round(sum, top, a.words[index], b, modulus, negativeInverse)
        }
        // The sum is below 2 N: it is (a b + q N) / R, where q is below R and a b below R N.
        return Self.reduced(sum, top != 0, by: modulus)
    }

    /// Returns (sum + digit * b + q N) / 2^64, with the q that makes it divisible.
    private static func round(
        _ sum: UInt256,
        _ top: UInt64,
        _ digit: UInt64,
        _ b: UInt256,
        _ modulus: UInt256,
        _ negativeInverse: UInt64
    ) -> (UInt256, UInt64) {
        var (sum, carry, reduction) = (sum, UInt128(0), UInt128(0))
        let lowest = sum.words[0] &+ digit &* b.words[0]
        let q = lowest &* negativeInverse
        for index in 0..<UInt256.wordCount {
            // A product of two words plus two more words fits in 128 bits.
            carry = UInt128(digit) &* UInt128(b.words[index]) &+ UInt128(sum.words[index]) &+ carry
            reduction =
                UInt128(q) &* UInt128(modulus.words[index])
                &+ UInt128(UInt64(truncatingIfNeeded: carry)) &+ reduction
            // Divided by 2^64: the lowest word, which is 0, is dropped.
            if index > 0 { sum.words[index - 1] = UInt64(truncatingIfNeeded: reduction) }
            carry &>>= 64
            reduction &>>= 64
        }
        let last = carry &+ reduction &+ UInt128(top)
        sum.words[3] = UInt64(truncatingIfNeeded: last)
        return (sum, UInt64(truncatingIfNeeded: last &>> 64))
    }

    /// Returns a number modulo N. It must be below 2 N, and `hasCarry` is its bit 256.
    private static func reduced(
        _ number: UInt256,
        _ hasCarry: Bool,
        by modulus: UInt256
    ) -> UInt256 {
        let (difference, hasBorrow) = number.subtracting(modulus)
        return hasCarry || !hasBorrow ? difference : number
    }

    /// Returns the inverse of an odd number modulo 2^64. An odd number is its own inverse modulo 8,
    /// and each of Newton's steps doubles the number of correct bits.
    static func inverse(ofOdd number: UInt64) -> UInt64 {
        (0..<5).reduce(number) { inverse, _ in inverse &* (2 &- number &* inverse) }
    }
}
