/// The period in which a certificate is valid, both ends included.
struct Validity: Hashable, Sendable {
    /// Milliseconds since 1970 UTC.
    let notBefore: Int64
    /// Milliseconds since 1970 UTC.
    let notAfter: Int64

    func contains(_ milliseconds: Int64) -> Bool {
        notBefore <= milliseconds && milliseconds <= notAfter
    }
}

/// The content of a certificate as plain values: everything the chain rules examine.
struct CertificateFacts: Hashable, Sendable {
    /// The DER of the subject's name.
    var subject: [UInt8]
    var validity: Validity
    /// The signature algorithm; nil for any that is never accepted.
    var signature: KeyFamily?
    /// nil if the certificate has no such extension.
    var basicConstraints: BasicConstraints?
    /// nil if the certificate has no such extension.
    var keyUsage: KeyUsage?
    /// All extensions in order, without repeated object identifiers.
    var extensions: [Extension]
    /// nil if the key is not an uncompressed point on a named P-256 or P-384.
    var key: SubjectKey?
    /// nil if the key is not an RSA key.
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

/// The basic constraints of a certificate (RFC 5280 section 4.2.1.9).
public struct BasicConstraints: Hashable, Sendable {
    /// Whether the key may sign certificates.
    public var isAuthority: Bool
    /// The maximum number of authorities below this one; nil for no limit.
    public var pathLength: Int?

    /// Creates the constraints of a certificate.
    public init(isAuthority: Bool, pathLength: Int? = nil) {
        self.isAuthority = isAuthority
        self.pathLength = pathLength
    }
}

/// The permitted uses of a certificate's key (RFC 5280 section 4.2.1.3).
public struct KeyUsage: OptionSet, Hashable, Sendable {
    /// Bit n is bit n of the extension's bit string.
    public let rawValue: UInt16

    /// Creates a set from its bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Signing data that is not a certificate or revocation list.
    public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    /// Signing certificates.
    public static let certificateSigning = KeyUsage(rawValue: 1 << 5)
    /// Signing revocation lists.
    public static let revocationListSigning = KeyUsage(rawValue: 1 << 6)

    /// The number of bits that the extension defines.
    static let bitCount = 9
}

/// The two kinds of keys in the stores' certificates and signatures.
public enum KeyFamily: Hashable, Sendable {
    /// P-256 or P-384, with ECDSA signatures over a SHA-2 digest.
    case ellipticCurve
    /// RSA of 2048 to 4096 bits, with PKCS #1 version 1.5 signatures over a SHA-1 or SHA-2 digest.
    /// Only the App Store's receipts are signed with it.
    case rsa
}
