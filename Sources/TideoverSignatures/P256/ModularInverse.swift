/// Inverses modulo an odd number of 256 bits, by the division steps of Bernstein and Yang ("Fast
/// constant-time gcd computation and modular inversion", 2019), here in a variable time.
///
/// Use it only for public numbers: the time depends on them.
///
/// A step replaces f, which is odd, and g by f and (g + f) / 2 or g / 2, or by g and (g - f) / 2.
/// The greatest common divisor remains, and g becomes 0. Which step follows depends only on the
/// lowest bit of g and on a counter. So 62 steps are computed on the lowest words alone, and then
/// applied to the long numbers at once, as a matrix.
///
/// All arithmetic wraps, so no input traps. The caller must check the result: this type does not.
package struct ModularInverse: Sendable {
    private let modulus: SignedLimbs
    /// The inverse of the modulus modulo 2^62, and some more bits.
    private let inverseOfModulus: Int64

    /// For numbers of 256 bits g is 0 after 741 steps (theorem 11.2 of the paper); these are 744.
    private static let maximumBatchCount = 12

    /// Prepares for an odd modulus.
    package init(modulus: UInt256) {
        self.modulus = SignedLimbs(modulus)
        inverseOfModulus = Int64(
            bitPattern: MontgomeryModulus.inverse(ofOdd: modulus.words[0])
        )
    }

    /// Returns the inverse of a number below the modulus, if it has one; otherwise any number.
    package func inverse(of number: UInt256) -> UInt256 {
        // Always f = d * number and g = e * number, modulo the modulus.
        var (f, g) = (modulus, SignedLimbs(number))
        var (d, e) = (SignedLimbs(UInt256(0)), SignedLimbs(UInt256(1)))
        var delta: Int64 = 1
        for _ in 0..<Self.maximumBatchCount where !g.isZero {
            let matrix = DivisionSteps(delta: &delta, f: f.lowest, g: g.lowest)
            matrix.apply(to: &f, &g)
            matrix.apply(to: &d, &e, modulo: modulus, inverseOfModulus)
        }
        // Now f is 1 or -1.
        return d.reduced(modulo: modulus, negated: f.isNegative)
    }
}

/// The matrix of 62 division steps, times 2^62.
///
/// In each row the absolute values add up to at most 2^62.
private struct DivisionSteps {
    static let count: Int64 = 62

    private var u: Int64 = 1
    private var v: Int64 = 0
    private var q: Int64 = 0
    private var r: Int64 = 1

    /// Computes the steps from the counter and the lowest 62 bits of f and g.
    init(delta: inout Int64, f: Int64, g: Int64) {
        var (f, g, rest) = (f, g, Self.count)
        while true {
            // Steps with an even g only halve it. The bit that is set ends the last of them.
            let halvings = Int64((g | (1 &<< rest)).trailingZeroBitCount)
            g &>>= halvings
            u &<<= halvings
            v &<<= halvings
            delta &+= halvings
            rest &-= halvings
            if rest <= 0 { return }
            if delta > 0 {
                delta = 0 &- delta
                (f, g) = (g, 0 &- f)
                (u, q) = (q, 0 &- u)
                (v, r) = (r, 0 &- v)
            }
            // Until the counter is positive again, all steps add f or nothing, and halve. Together
            // they add the multiple of f that makes g divisible by a power of two. f (f^2 - 2) is
            // the inverse of -f modulo 64.
            let bits = min(min(1 &- delta, rest), 6)
            let factor = g &* f &* (f &* f &- 2) & ((1 &<< bits) &- 1)
            g &+= f &* factor
            q &+= u &* factor
            r &+= v &* factor
        }
    }

    /// Replaces f and g by those after the steps. The division by 2^62 is exact.
    func apply(to f: inout SignedLimbs, _ g: inout SignedLimbs) {
        var (ofF, ofG) = (Int128(0), Int128(0))
        for index in 0..<SignedLimbs.count {
            let (one, other) = (Int128(f.limbs[index]), Int128(g.limbs[index]))
            ofF &+= Int128(u) &* one &+ Int128(v) &* other
            ofG &+= Int128(q) &* one &+ Int128(r) &* other
            f.shiftIn(&ofF, at: index)
            g.shiftIn(&ofG, at: index)
        }
        f.finish(ofF)
        g.finish(ofG)
    }

    /// Does the same with d and e, after adding multiples of the modulus that make the division
    /// exact.
    ///
    /// The multiples are between -2^61 and 2^61, so the largest absolute value of d and e grows by
    /// half of the modulus at most. After 12 batches it is below 8 times the modulus, which the
    /// limbs hold.
    func apply(
        to d: inout SignedLimbs,
        _ e: inout SignedLimbs,
        modulo modulus: SignedLimbs,
        _ inverse: Int64
    ) {
        let forD = SignedLimbs.centred(0 &- (u &* d.lowest &+ v &* e.lowest) &* inverse)
        let forE = SignedLimbs.centred(0 &- (q &* d.lowest &+ r &* e.lowest) &* inverse)
        var (ofD, ofE) = (Int128(0), Int128(0))
        for index in 0..<SignedLimbs.count {
            let (one, other) = (Int128(d.limbs[index]), Int128(e.limbs[index]))
            let limb = Int128(modulus.limbs[index])
            ofD &+= Int128(u) &* one &+ Int128(v) &* other &+ Int128(forD) &* limb
            ofE &+= Int128(q) &* one &+ Int128(r) &* other &+ Int128(forE) &* limb
            d.shiftIn(&ofD, at: index)
            e.shiftIn(&ofE, at: index)
        }
        d.finish(ofD)
        e.finish(ofE)
    }
}

/// A signed number of 310 bits, in limbs of 62 bits: a division by 2^62 moves them by one place.
private struct SignedLimbs {
    static let count = 5
    private static let bits: Int64 = 62
    private static let mask: Int64 = 1 << 62 - 1

    /// Least significant first. The highest limb has the sign, all others are positive.
    var limbs: InlineArray<5, Int64>

    init(_ number: UInt256) {
        let words = number.words
        limbs = [
            Self.low(words[0]),
            Self.low(words[0] >> 62 | words[1] << 2),
            Self.low(words[1] >> 60 | words[2] << 4),
            Self.low(words[2] >> 58 | words[3] << 6),
            Self.low(words[3] >> 56),
        ]
    }

    private static func low(_ word: UInt64) -> Int64 { Int64(bitPattern: word) & mask }

    /// Returns the number in -2^61 ..< 2^61 with the same lowest 62 bits.
    static func centred(_ number: Int64) -> Int64 { (number &<< 2) &>> 2 }

    var lowest: Int64 { limbs[0] }

    var isZero: Bool { limbs[0] | limbs[1] | limbs[2] | limbs[3] | limbs[4] == 0 }

    var isNegative: Bool { limbs[4] < 0 }

    /// Stores the lowest 62 bits of a sum one place below `index`, and shifts them out.
    mutating func shiftIn(_ sum: inout Int128, at index: Int) {
        if index > 0 { limbs[index - 1] = Int64(truncatingIfNeeded: sum) & Self.mask }
        sum &>>= 62
    }

    /// Stores the highest limb.
    mutating func finish(_ sum: Int128) { limbs[4] = Int64(truncatingIfNeeded: sum) }

    /// Returns the number or its opposite modulo `modulus`. Its absolute value must be below 16 times
    /// the modulus; it is mostly below one.
    func reduced(modulo modulus: Self, negated: Bool) -> UInt256 {
        var number = self
        if negated { number = Self(UInt256(0)).adding(number, times: -1) }
        for _ in 0..<16 where number.isNegative { number = number.adding(modulus, times: 1) }
        for _ in 0..<16 {
            let smaller = number.adding(modulus, times: -1)
            if smaller.isNegative { break }
            number = smaller
        }
        return number.magnitude
    }

    private func adding(_ other: Self, times factor: Int64) -> Self {
        var (sum, carry) = (self, Int64(0))
        for index in 0..<Self.count {
            carry &+= limbs[index] &+ factor &* other.limbs[index]
            sum.limbs[index] = index < Self.count - 1 ? carry & Self.mask : carry
            carry &>>= Self.bits
        }
        return sum
    }

    /// The lowest 256 bits.
    private var magnitude: UInt256 {
        UInt256(
            word(3) >> 6 | word(4) << 56,
            word(2) >> 4 | word(3) << 58,
            word(1) >> 2 | word(2) << 60,
            word(0) | word(1) << 62
        )
    }

    private func word(_ index: Int) -> UInt64 { UInt64(bitPattern: limbs[index]) }
}
