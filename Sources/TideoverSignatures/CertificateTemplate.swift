/// What a certificate that we make shall say. Nothing here is checked against the rules of a chain:
/// certificates that break them are what the rules are tested with.
public struct CertificateTemplate: Hashable, Sendable {
    /// The subject's common name, 1 to 64 characters.
    public var subject: String
    /// The serial number, positive and unique per authority.
    public var serial: UInt64
    /// When the validity begins, in milliseconds since 1970, cut down to the second.
    public var notBefore: Int64
    /// The last instant of the validity, in milliseconds since 1970, cut down to the second.
    public var notAfter: Int64
    /// Whether the certificate is an authority; nil leaves the extension out.
    public var basicConstraints: BasicConstraints?
    /// What the key may be used for; nil leaves the extension out.
    public var keyUsage: KeyUsage?
    /// Further extensions, in this order.
    public var extensions: [CertificateExtension]
    /// Whether it is signed with SHA-1, as the App Store's certificates for receipts were until 2023.
    public var isSignedWithSHA1 = false

    /// A certificate that says exactly this.
    public init(
        subject: String,
        serial: UInt64,
        notBefore: Int64,
        notAfter: Int64,
        basicConstraints: BasicConstraints?,
        keyUsage: KeyUsage?,
        extensions: [CertificateExtension] = []
    ) {
        self.subject = subject
        self.serial = serial
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.basicConstraints = basicConstraints
        self.keyUsage = keyUsage
        self.extensions = extensions
    }

    /// A root as stores have it: an authority without a path length.
    public static func root(
        subject: String,
        serial: UInt64 = 1,
        notBefore: Int64,
        notAfter: Int64
    ) -> CertificateTemplate {
        CertificateTemplate(
            subject: subject,
            serial: serial,
            notBefore: notBefore,
            notAfter: notAfter,
            basicConstraints: BasicConstraints(isAuthority: true),
            keyUsage: [.certificateSigning, .revocationListSigning]
        )
    }

    /// An intermediate as stores have it: an authority for leaves only, with a marker.
    public static func intermediate(
        subject: String,
        serial: UInt64 = 2,
        notBefore: Int64,
        notAfter: Int64,
        marker: String
    ) -> CertificateTemplate {
        CertificateTemplate(
            subject: subject,
            serial: serial,
            notBefore: notBefore,
            notAfter: notAfter,
            basicConstraints: BasicConstraints(isAuthority: true, pathLength: 0),
            keyUsage: [.certificateSigning, .revocationListSigning],
            extensions: [CertificateExtension(marker)]
        )
    }

    /// A leaf as stores have it: it signs documents only, with a marker.
    public static func leaf(
        subject: String,
        serial: UInt64 = 3,
        notBefore: Int64,
        notAfter: Int64,
        marker: String
    ) -> CertificateTemplate {
        CertificateTemplate(
            subject: subject,
            serial: serial,
            notBefore: notBefore,
            notAfter: notAfter,
            basicConstraints: BasicConstraints(isAuthority: false),
            keyUsage: .digitalSignature,
            extensions: [CertificateExtension(marker)]
        )
    }
}

/// An extension of a certificate, such as the marker of a store's signers.
public struct CertificateExtension: Hashable, Sendable {
    /// Dotted object identifier.
    public var identifier: String
    /// Whether those who do not know the extension must refuse the certificate.
    public var isCritical: Bool
    /// The DER of the value.
    public var value: [UInt8]

    /// An extension, by default not critical and with the value ASN.1 NULL, as markers are.
    public init(_ identifier: String, isCritical: Bool = false, value: [UInt8] = [0x05, 0x00]) {
        self.identifier = identifier
        self.isCritical = isCritical
        self.value = value
    }
}

/// Why a certificate cannot be made as its template has it.
public enum MintingError: Error, Hashable, Sendable {
    /// The subject's common name is empty or longer than 64 characters.
    case subject(String)
    /// X.509 cannot write this instant, in milliseconds since 1970: its years are 0 to 9999.
    case instant(Int64)
    /// The path length is negative.
    case pathLength(Int)
    /// The text is not a dotted object identifier.
    case objectIdentifier(String)
}
