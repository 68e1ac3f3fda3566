public import TideoverJSON

/// An RSA public key that verifies RS256 signatures (RFC 7518 section 3.3) from any number of
/// threads.
public struct RSAPublicKey: Hashable, Sendable {
    /// The key as a DER `SubjectPublicKeyInfo`.
    public let spki: [UInt8]
    private let bitCount: Int

    /// Creates a key from modulus and exponent, big-endian without leading zeros as in a JSON Web
    /// Key. Throws `malformed`, or `notRSA` unless the modulus has 2048 to 4096 bits.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) {
        guard let high = modulus.first, high != 0, let low = modulus.last, low & 1 == 1,
            Self.isAccepted(exponent)
        else { throw .malformed }
        bitCount = modulus.count * 8 - high.leadingZeroBitCount
        guard RSASubjectKey.acceptedBitCounts.contains(bitCount) else { throw .notRSA }
        let key = DERWriter.sequence(DERWriter.unsigned(modulus) + DERWriter.unsigned(exponent))
        spki = DERWriter.sequence(Self.algorithm + DERWriter.bitString(key))
    }

    /// Reads a key from a JSON Web Key (RFC 7518 section 6.3). Fails for another kind of key, an
    /// algorithm other than RS256, or a use other than verification.
    public init?(jwk: JSONNode) {
        guard jwk["kty"]?.string == "RSA", jwk["alg"]?.string ?? JWS.rs256 == JWS.rs256,
            jwk["use"]?.string ?? "sig" == "sig", Self.verifies(jwk["key_ops"]),
            let modulus = jwk["n"]?.utf8.flatMap({ Base64.decode($0, .urlSafe) }),
            let exponent = jwk["e"]?.utf8.flatMap({ Base64.decode($0, .urlSafe) }),
            let key = try? RSAPublicKey(modulus: modulus, exponent: exponent)
        else { return nil }
        self = key
    }

    /// Returns whether `signature` is this key's PKCS #1 version 1.5 signature of the SHA-256 of
    /// `bytes`.
    public func verify(signature: [UInt8], of bytes: some Collection<UInt8>) -> Bool {
        guard signature.count == (bitCount + 7) / 8 else { return false }
        return RSASubjectKey(spki: spki, bitCount: bitCount)
            .verify(signature: signature, of: SHA256.hash(bytes), by: .sha256)
    }

    /// Small exponents make forgeries of weak verifiers cheap; large ones are not used in practice.
    private static func isAccepted(_ exponent: [UInt8]) -> Bool {
        guard (3...4).contains(exponent.count), exponent.first != 0 else { return false }
        let value = exponent.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return value >= 65537 && value & 1 == 1
    }

    private static func verifies(_ operations: JSONNode?) -> Bool {
        guard let operations else { return true }
        return operations.elements.contains { $0.string == "verify" }
    }

    /// `AlgorithmIdentifier` of rsaEncryption (RFC 3279 section 2.3.1).
    private static let algorithm: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
}

extension RSAPrivateKey {
    /// The public half as a JSON Web Key for signatures, without an id.
    public var publicJWK: JSONObject {
        let (modulus, exponent) = publicNumbers
        return [
            "kty": "RSA", "alg": .string(JWS.rs256), "use": "sig",
            "n": .string(Base64.encodeString(modulus, .urlSafe)),
            "e": .string(Base64.encodeString(exponent, .urlSafe)),
        ]
    }
}

/// The small subset of DER that encodes a public key.
private enum DERWriter {
    static func sequence(_ content: [UInt8]) -> [UInt8] { value(0x30, content) }

    static func bitString(_ content: [UInt8]) -> [UInt8] { value(0x03, [0] + content) }

    /// An integer that is not negative: its first bit is the sign.
    static func unsigned(_ digits: [UInt8]) -> [UInt8] {
        let needsZero = (digits.first ?? 0x80) >= 0x80
        return value(0x02, (needsZero ? [0] : []) + digits)
    }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        precondition(count < 1 << 16, "a key has fewer than 64 KiB")
        if count < 0x80 { return [tag, UInt8(count)] + content }
        if count < 0x100 { return [tag, 0x81, UInt8(count)] + content }
        return [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + content
    }
}
