public import TideoverSignatures

/// The simulated store's certificates and signing key for receipts. The key is RSA, unlike its
/// other signing keys. Only receivers that are configured with its root trust it.
public struct ReceiptAuthority: Sendable {
    /// The name in the root certificate, different from the name of any real store's root.
    public static let rootName = "Tideover Simulated Receipt Root"

    private static let issuerName = "Tideover Simulated Receipt Authority"

    /// The root certificate as DER, which a receiver must trust for simulated receipts.
    public let root: [UInt8]
    private let intermediate: [UInt8]
    private let leaf: [UInt8]
    private let key: RSAPrivateKey
    private let digest: RSADigest

    /// Creates new keys, which takes some tenths of a second, and certificates valid between two
    /// instants, in milliseconds since 1970. By default, they are valid from 2000 to the end of
    /// 2099. Signatures use SHA-256, as the App Store does, or SHA-1, as it did until 2023.
    ///
    /// - Throws: `instant` if a certificate cannot contain one of them.
    public init(
        digest: RSADigest = .sha256,
        notBefore: Int64 = 946_684_800_000,
        notAfter: Int64 = 4_102_444_799_000
    ) throws(MintingError) {
        func dated(_ template: CertificateTemplate) -> CertificateTemplate {
            var template = template
            template.isSignedWithSHA1 = digest == .sha1
            return template
        }
        let root = try CertificateAuthority.selfSigned(
            dated(
                .root(
                    subject: ReceiptAuthority.rootName,
                    notBefore: notBefore,
                    notAfter: notAfter
                )
            ),
            key: CertificateKey(RSAPrivateKey.generate())
        )
        let intermediate = try root.authority(
            dated(
                .intermediate(
                    subject: ReceiptAuthority.issuerName,
                    notBefore: notBefore,
                    notAfter: notAfter,
                    marker: SandboxAuthority.intermediateMarker
                )
            ),
            key: CertificateKey(RSAPrivateKey.generate())
        )
        let key = RSAPrivateKey.generate()
        leaf = try intermediate.certificate(
            dated(
                .leaf(
                    subject: "Tideover Simulated Receipt Signing",
                    notBefore: notBefore,
                    notAfter: notAfter,
                    marker: SandboxAuthority.leafMarker
                )
            ),
            for: CertificateKey(key)
        )
        self.root = root.certificate
        self.intermediate = intermediate.certificate
        self.key = key
        self.digest = digest
    }

    /// Creates the container of a receipt: the signed content, the signer and the signature (RFC
    /// 5652).
    public func signed(_ content: [UInt8], _ form: ReceiptForm = .der) -> [UInt8] {
        let writer = ASN1Writer(form: form)
        let signer = writer.sequence(
            ASN1Writer.integer(1),
            // The issuer and serial number that identify the leaf: those of its template.
            writer.sequence(Self.issuer, ASN1Writer.integer(3)),
            algorithm(digest.identifier, writer),
            algorithm([1, 2, 840, 113549, 1, 1, 1], writer),
            ASN1Writer.plain(0x04, key.sign(content, digest))
        )
        let signedData = writer.sequence(
            ASN1Writer.integer(1),
            writer.set([algorithm(digest.identifier, writer)]),
            writer.sequence(
                ASN1Writer.objectIdentifier([1, 2, 840, 113549, 1, 7, 1]),
                writer.field(0, writer.octets(content))
            ),
            writer.field(0, leaf, intermediate, root),
            writer.set([signer])
        )
        return writer.sequence(
            ASN1Writer.objectIdentifier([1, 2, 840, 113549, 1, 7, 2]),
            writer.field(0, signedData)
        )
    }

    private func algorithm(_ identifier: [UInt64], _ writer: ASN1Writer) -> [UInt8] {
        writer.sequence(ASN1Writer.objectIdentifier(identifier), ASN1Writer.null)
    }

    /// The issuer's name, in the encoding of our certificates: a common name in UTF-8.
    private static let issuer: [UInt8] = {
        let writer = ASN1Writer(form: .der)
        let name = writer.sequence(
            ASN1Writer.objectIdentifier([2, 5, 4, 3]),
            ASN1Writer.utf8(issuerName)
        )
        return writer.sequence(writer.set([name]))
    }()
}

extension RSADigest {
    fileprivate var identifier: [UInt64] {
        switch self {
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        }
    }
}
