/// The span in which a certificate may be relied on, both ends included.
struct Validity: Hashable, Sendable {
    /// Milliseconds since 1970 UTC.
    let notBefore: Int64
    /// Milliseconds since 1970 UTC.
    let notAfter: Int64

    func contains(_ milliseconds: Int64) -> Bool {
        notBefore <= milliseconds && milliseconds <= notAfter
    }
}

/// What a certificate says, as plain values: all that the rules of a chain look at.
struct CertificateFacts: Hashable, Sendable {
    /// The DER of the subject's name.
    var subject: [UInt8]
    var validity: Validity
    /// How the certificate is signed; nil for anything that is never accepted.
    var signature: KeyFamily?
    /// nil when the certificate has no such extension.
    var basicConstraints: BasicConstraints?
    /// nil when the certificate has no such extension.
    var keyUsage: KeyUsage?
    /// All extensions in order; no object identifier comes twice.
    var extensions: [Extension]
    /// nil when the key is not an uncompressed point on a named P-256 or P-384.
    var key: SubjectKey?
    /// nil when the key is not one of RSA.
    var rsaKey: RSASubjectKey?

    struct Extension: Hashable, Sendable {
        /// Dotted object identifier.
        var identifier: String
        var isCritical: Bool
    }

    func has(_ identifier: String) -> Bool {
        extensions.contains { $0.identifier == identifier }
    }
}

/// What a certificate says about being an authority (RFC 5280 section 4.2.1.9).
public struct BasicConstraints: Hashable, Sendable {
    /// Whether the key may sign certificates.
    public var isAuthority: Bool
    /// How many authorities may follow below this one; nil when any number may.
    public var pathLength: Int?

    /// The constraints of a certificate that is an authority, or not.
    public init(isAuthority: Bool, pathLength: Int? = nil) {
        self.isAuthority = isAuthority
        self.pathLength = pathLength
    }
}

/// What a certificate's key may be used for (RFC 5280 section 4.2.1.3).
public struct KeyUsage: OptionSet, Hashable, Sendable {
    /// Bit n stands for bit n of the extension's bit string.
    public let rawValue: UInt16

    /// The uses whose bits are set.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Signing data that is not a certificate or revocation list.
    public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    /// Signing certificates.
    public static let certificateSigning = KeyUsage(rawValue: 1 << 5)
    /// Signing revocation lists.
    public static let revocationListSigning = KeyUsage(rawValue: 1 << 6)

    /// How many bits the extension defines.
    static let bitCount = 9
}

/// The two kinds of keys that the stores' certificates and signatures use.
public enum KeyFamily: Hashable, Sendable {
    /// P-256 or P-384; signatures by ECDSA over a digest of the SHA-2 family.
    case ellipticCurve
    /// RSA of 2048 to 4096 bits; signatures as PKCS #1 version 1.5 has them, over SHA-1 or a digest of the
    /// SHA-2 family. Only the App Store's receipts are signed so.
    case rsa
}
