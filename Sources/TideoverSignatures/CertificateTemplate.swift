/// The content of a certificate to create. It is not checked against the chain rules: certificates
/// that break them are needed to test the rules.
public struct CertificateTemplate: Hashable, Sendable {
    /// The subject's common name, 1 to 64 characters.
    public var subject: String
    /// The serial number, positive and unique per authority.
    public var serial: UInt64
    /// When the validity begins, in milliseconds since 1970, cut down to the second.
    public var notBefore: Int64
    /// The last instant of the validity, in milliseconds since 1970, cut down to the second.
    public var notAfter: Int64
    /// Whether the certificate is an authority; nil omits the extension.
    public var basicConstraints: BasicConstraints?
    /// The permitted uses of the key; nil omits the extension.
    public var keyUsage: KeyUsage?
    /// Further extensions, in this order.
    public var extensions: [CertificateExtension]
    /// Whether it is signed with SHA-1, like the App Store's receipt certificates until 2023.
    public var isSignedWithSHA1 = false

    /// Creates a template with exactly this content.
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

    /// A root like those of the stores: an authority without a path length.
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

    /// An intermediate like those of the stores: an authority for leaves only, with a marker.
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

    /// A leaf like those of the stores: it signs documents only, with a marker.
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
    /// Whether a verifier that does not support the extension must reject the certificate.
    public var isCritical: Bool
    /// The DER of the value.
    public var value: [UInt8]

    /// Creates an extension, by default not critical and with the value ASN.1 NULL, like markers.
    public init(_ identifier: String, isCritical: Bool = false, value: [UInt8] = [0x05, 0x00]) {
        self.identifier = identifier
        self.isCritical = isCritical
        self.value = value
    }
}

/// The reason why a certificate cannot be created from its template.
public enum MintingError: Error, Hashable, Sendable {
    /// The subject's common name is empty or longer than 64 characters.
    case subject(String)
    /// X.509 cannot encode this instant, in milliseconds since 1970: its years are 0 to 9999.
    case instant(Int64)
    /// The path length is negative.
    case pathLength(Int)
    /// The text is not a dotted object identifier.
    case objectIdentifier(String)
}
