import CTideoverOpenSSL

/// Precomputed multiples of one public key's point, which reduce the time to verify its signatures to
/// a third. This is a second path beside libcrypto's own, for a key that verifies many signatures.
///
/// ECDSA accepts a signature if the point `u1 G + u2 Q` has the right x. libcrypto multiplies the
/// curve's generator G with precomputed multiples, and any other point by doubling and adding 256
/// times. A group with the generator Q has such multiples of Q, so both products use tables.
/// libcrypto still does the point arithmetic. This file and `P256Numbers` contain only the equation
/// around it (FIPS 186-5 section 6.4.2), with these rules:
///
/// - r and s must be at least 1 and below the order n before anything is computed. The sum must not
///   be the point at infinity. x is compared modulo n, in full.
/// - The ordinary path has checked that Q is on the curve. The curve has prime order and cofactor
///   1, so Q generates all of it, like G. The precomputed product is complete for Q for the same
///   reason. It is complete only for factors below n, which u1 and u2 are.
/// - The inverse of s is not libcrypto's, but its product with s must be 1. x is compared as a
///   fraction. These two replace inversions that took half of the time.
/// - The sum uses libcrypto's general addition, which distinguishes equal and opposite points.
/// - If libcrypto fails, there is no verdict, and the ordinary path decides.
/// - A table is used only after it gave the ordinary path's verdicts on a valid and on invalid
///   signatures.
///
/// Key, signature and digest are all public, so the time may depend on them.
///
/// A table costs 150 KB and some 30 ms.
// Unchecked: the group is written only before `init` returns, and then as `const` by libcrypto.
package final class FixedKeyTable: @unchecked Sendable {
    private let group: OpaquePointer

    private static let curve = P256Curve()
    private static let numbers = ObjectPool<VerificationNumbers?>(count: 16) { nil }

    /// nil if libcrypto cannot create one.
    package init?(_ key: P256PublicKey) {
        guard let group = withCleanErrors({ Self.curve?.group(generatedBy: key.x963) }) else {
            return nil
        }
        self.group = group
    }

    deinit {
        EC_GROUP_free(group)
    }

    /// Returns whether `signature`, r and s of 32 bytes each, is the key's signature of a 32-byte
    /// digest; nil if libcrypto could not compute it.
    package func verify(signature: [UInt8], digest: [UInt8]) -> Bool? {
        guard signature.count == ECDSASignature.rawCount, digest.count == SHA256.digestCount else {
            return nil
        }
        guard let r = UInt256(bigEndian: signature.span.bytes, at: 0),
            let s = UInt256(bigEndian: signature.span.bytes, at: 32),
            let digest = UInt256(bigEndian: digest.span.bytes, at: 0)
        else { return nil }
        guard P256Numbers.isInRange(r), P256Numbers.isInRange(s) else { return false }
        return Self.numbers.withOne { numbers in
            if numbers == nil {
                numbers = Self.curve.flatMap { VerificationNumbers($0) }
            }
            return numbers?.isValid(r: r, s: s, digest: digest, multiplesOfKey: group)
        }
    }

    /// Whether the table agrees with the ordinary path. The tests are a valid signature, the same one
    /// with another digest, and the same one with a damaged r or s.
    func agrees(on signature: [UInt8], digest: [UInt8]) -> Bool {
        var (otherDigest, otherR, otherS) = (digest, signature, signature)
        otherDigest[0] ^= 1
        otherR[31] ^= 1
        otherS[63] ^= 1
        return verify(signature: signature, digest: digest) == true
            && verify(signature: signature, digest: otherDigest) == false
            && verify(signature: otherR, digest: digest) == false
            && verify(signature: otherS, digest: digest) == false
    }
}

/// P-256 in libcrypto, with its built-in multiples of the generator.
// Unchecked: the group is never written, and lives as long as the process.
private struct P256Curve: @unchecked Sendable {
    let group: OpaquePointer
    /// The order n of the curve, which is prime.
    let order: OpaquePointer

    init?() {
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1),
            let order = EC_GROUP_get0_order(group),
            UInt256(order) == P256Numbers.order.modulus,
            EC_GROUP_get0_field(group).flatMap(UInt256.init) == P256Numbers.field.modulus
        else { return nil }
        self.group = group
        self.order = order
    }

    /// Returns the same curve with this point as its generator, and its multiples; the caller frees
    /// it.
    func group(generatedBy x963: [UInt8]) -> OpaquePointer? {
        guard let context = BN_CTX_new() else { return nil }
        defer { BN_CTX_free(context) }
        guard let point = EC_POINT_new(group) else { return nil }
        defer { EC_POINT_free(point) }
        // This also checks again that the point is on the curve.
        guard EC_POINT_oct2point(group, point, x963, x963.count, context) == 1,
            let copy = EC_GROUP_dup(group)
        else { return nil }
        guard EC_GROUP_set_generator(copy, point, order, BN_value_one()) == 1,
            tideover_group_precompute(copy, context) == 1
        else {
            EC_GROUP_free(copy)
            return nil
        }
        return copy
    }
}

/// The objects of one verification, reused for the next: allocating them costs more than some of
/// the steps.
private struct VerificationNumbers: ~Copyable {
    private let curve: P256Curve
    private let context: OpaquePointer
    private let u1, u2: OpaquePointer
    private let ofGenerator, ofKey: OpaquePointer

    init?(_ curve: P256Curve) {
        let numbers = (0..<2).compactMap { _ in BN_new() }
        let points = (0..<2).compactMap { _ in EC_POINT_new(curve.group) }
        guard numbers.count == 2, points.count == 2, let context = BN_CTX_new() else {
            numbers.forEach(BN_free)
            points.forEach(EC_POINT_free)
            return nil
        }
        self.curve = curve
        self.context = context
        (u1, u2) = (numbers[0], numbers[1])
        (ofGenerator, ofKey) = (points[0], points[1])
    }

    deinit {
        for number in [u1, u2] { BN_free(number) }
        EC_POINT_free(ofGenerator)
        EC_POINT_free(ofKey)
        BN_CTX_free(context)
    }

    /// nil if libcrypto could not compute it. r and s must be in their range.
    func isValid(
        r: UInt256,
        s: UInt256,
        digest: UInt256,
        multiplesOfKey key: OpaquePointer
    ) -> Bool? {
        withCleanErrors {
            // A digest as long as the order is used in full.
            guard let inverse = P256Numbers.montgomeryInverse(of: s),
                P256Numbers.order.product(digest, inverse).write(to: u1),
                P256Numbers.order.product(r, inverse).write(to: u2),
                EC_POINT_mul(curve.group, ofGenerator, u1, nil, nil, context) == 1,
                EC_POINT_mul(key, ofKey, u2, nil, nil, context) == 1,
                EC_POINT_add(curve.group, ofKey, ofKey, ofGenerator, context) == 1
            else { return nil }
            if EC_POINT_is_at_infinity(curve.group, ofKey) == 1 { return false }
            // u1 and u2 are no longer needed, and take the coordinates.
            guard tideover_point_get_projective(curve.group, ofKey, u1, u2, context) == 1,
                let x = UInt256(u1), let z = UInt256(u2),
                P256Numbers.areCoordinates(x: x, z: z)
            else { return nil }
            return P256Numbers.matches(r, x: x, z: z)
        }
    }
}
