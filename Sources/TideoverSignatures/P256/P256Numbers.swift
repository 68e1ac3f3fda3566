/// The two moduli of P-256 (SP 800-186 section 3.2.1.3), and what the verification of a signature
/// computes with them. All numbers are public.
package enum P256Numbers {
    /// The field's prime p.
    package static let field = MontgomeryModulus(
        UInt256(0xFFFF_FFFF_0000_0001, 0, 0x0000_0000_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF)
    )
    /// The order n of the group, a prime below p.
    package static let order = MontgomeryModulus(
        UInt256(
            0xFFFF_FFFF_0000_0000,
            0xFFFF_FFFF_FFFF_FFFF,
            0xBCE6_FAAD_A717_9E84,
            0xF3B9_CAC2_FC63_2551
        )
    )
    private static let fastInverse = ModularInverse(modulus: order.modulus)
    private static let fieldMinusOrder = field.modulus.subtracting(order.modulus).difference

    /// Whether a number can be r or s of a signature: at least 1, and below the order.
    static func isInRange(_ number: UInt256) -> Bool { !number.isZero && number < order.modulus }

    /// Returns the inverse of a number modulo the order, times R; nil if libcrypto fails.
    ///
    /// The product of the number and its inverse must be 1, otherwise libcrypto computes the inverse.
    /// So an error of the fast method could only cost time. The number must be in the range of s.
    package static func montgomeryInverse(
        of number: UInt256,
        fastInverse: (UInt256) -> UInt256 = { fastInverse.inverse(of: $0) }
    ) -> UInt256? {
        let inverse = order.product(fastInverse(number), order.radixSquared)
        if order.product(number, inverse) == UInt256(1) { return inverse }
        return libcryptoInverse(of: number).map { order.product($0, order.radixSquared) }
    }

    /// Whether these can be coordinates of a point (x / z^2, y / z^3) that is not at infinity.
    static func areCoordinates(x: UInt256, z: UInt256) -> Bool {
        x < field.modulus && z < field.modulus && !z.isZero
    }

    /// Returns whether r is, modulo the order, the first coordinate of the point (x / z^2, y / z^3).
    /// r must be below the order. The result is false for the point at infinity, where z is 0.
    ///
    /// A coordinate is below p, which is below 2 n. So it must be r, or r + n if that is below p. Both
    /// sides are multiplied by z^2, because a division costs more than all the rest.
    package static func matches(_ r: UInt256, x: UInt256, z: UInt256) -> Bool {
        guard !z.isZero, z < field.modulus else { return false }
        let scaled = field.product(z, field.radixSquared)
        let square = field.product(scaled, scaled)
        if field.product(r, square) == x { return true }
        guard r < fieldMinusOrder else { return false }
        return field.product(r.adding(order.modulus).sum, square) == x
    }
}
