/// The reason why a key cannot be read.
public enum KeyError: Error, Hashable, Sendable {
    /// The text is not one PEM block with the requested label.
    case notPEM
    /// The bytes are not a key in the requested format, or its parts do not match.
    case malformed
    /// The key is not an elliptic curve P-256 key.
    case notP256
    /// The key is not an Ed25519 key.
    case notEd25519
    /// The key is not an RSA key of 2048 to 4096 bits.
    case notRSA
}

/// One of the two elliptic curves that certificates and signatures use here.
public enum EllipticCurve: Hashable, Sendable {
    /// NIST P-256, also named prime256v1 and secp256r1.
    case p256
    /// NIST P-384, also named secp384r1.
    case p384
}
