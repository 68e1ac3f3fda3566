/// Why bytes offered as a key are none that we use.
public enum KeyError: Error, Hashable, Sendable {
    /// The text is not one PEM block with the label asked for.
    case notPEM
    /// The bytes are not a key in the format asked for, or its parts do not belong together.
    case malformed
    /// The bytes are a key, but of another kind than elliptic curve P-256.
    case notP256
    /// The bytes are a key, but of another kind than Ed25519.
    case notEd25519
    /// The bytes are a key, but of another kind than RSA of 2048 to 4096 bits.
    case notRSA
}

/// An elliptic curve of the two that certificates and signatures here use.
public enum EllipticCurve: Hashable, Sendable {
    /// NIST P-256, also named prime256v1 and secp256r1.
    case p256
    /// NIST P-384, also named secp384r1.
    case p384
}
