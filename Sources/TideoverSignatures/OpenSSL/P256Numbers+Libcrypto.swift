import CTideoverOpenSSL

extension P256Numbers {
    /// Returns libcrypto's inverse of a number modulo the order; nil if it has none, or
    /// without memory.
    package static func libcryptoInverse(of number: UInt256) -> UInt256? {
        let numbers = (0..<3).compactMap { _ in BN_new() }
        defer { numbers.forEach(BN_free) }
        guard numbers.count == 3 else { return nil }
        return withCleanErrors {
            guard number.write(to: numbers[0]), order.modulus.write(to: numbers[1]),
                BN_mod_inverse(numbers[2], numbers[0], numbers[1], nil) != nil
            else { return nil }
            return UInt256(numbers[2])
        }
    }
}
