import TideoverASN1

/// Signed data of the Cryptographic Message Syntax (RFC 5652, formerly PKCS #7), strictly parsed
/// but not verified. Verify it with ``SignedDataVerifier`` before using any of its content.
///
/// It is parsed here because libcrypto's `CMS_verify` cannot enforce these rules. It decodes any
/// certificate that a sender encloses. It searches them for a path in its own order and at the wall
/// clock's instant. It accepts the first of several signers. libcrypto still decodes the
/// certificates and does every public-key operation.
public struct SignedData: Sendable {
    /// The maximum length of signed data in bytes: a receipt of some 500 purchases.
    public static let maximumByteCount = 1024 * 1024
    /// The maximum number of enclosed certificates. The App Store encloses three.
    static let mostCertificates = 8

    /// The signed content, as bytes.
    public let content: [UInt8]
    /// The enclosed certificates, as encoded there.
    let certificates: [ArraySlice<UInt8>]
    let signer: Signer

    /// The signer and the signature.
    struct Signer: Sendable {
        /// The DER of the issuer's name in the signer's certificate.
        let issuer: ArraySlice<UInt8>
        /// The contents of the serial number of that certificate.
        let serial: ArraySlice<UInt8>
        let digest: RSADigest
        /// Nil if the content itself is signed.
        let attributes: SignedAttributes?
        let signature: [UInt8]
    }

    /// Parses signed data in BER or DER. Throws unless it is plain data with one signer, of at most
    /// `maximumByteCount` bytes.
    public init(_ bytes: [UInt8]) throws(SignatureRefusal) {
        guard bytes.count <= Self.maximumByteCount else { throw .signedDataTooLarge(bytes.count) }
        do {
            var fields = try Self.fields(of: bytes)
            let version = try fields.next(BERValue.integer).integer()
            guard version == 1 else { throw SignatureRefusal.signedDataVersion(version) }
            // The signer information repeats the digest; that one is used.
            _ = try fields.next(BERValue.set)
            content = try Self.content(fields.next(BERValue.sequence))
            certificates = try Self.certificates(fields.next(BERValue.field(0)))
            signer = try Self.signer(fields.next(BERValue.set))
            try fields.end()
        } catch let error as BERError {
            throw .malformedSignedData(error)
        } catch let refusal as SignatureRefusal {
            throw refusal
        } catch {
            preconditionFailure("taking signed data apart fails by a refusal only")
        }
    }
}

extension SignedData {
    private static let signedDataType = "1.2.840.113549.1.7.2"
    fileprivate static let dataType = "1.2.840.113549.1.7.1"

    /// `ContentInfo`, to the last byte.
    private static func fields(of bytes: [UInt8]) throws -> BERReader {
        let container = try BERReader.only(bytes[...])
        guard container.identifier == BERValue.sequence else {
            throw BERError.unexpectedTag(container.identifier)
        }
        var fields = container.elements
        let type = try fields.next(BERValue.objectIdentifier).objectIdentifier()
        guard type == signedDataType else { throw SignatureRefusal.notSignedData(type) }
        var wrapper = try fields.next(BERValue.field(0)).elements
        try fields.end()
        let signedData = try wrapper.next(BERValue.sequence)
        try wrapper.end()
        return signedData.elements
    }

    /// `EncapsulatedContentInfo`
    private static func content(_ value: BERValue) throws -> [UInt8] {
        var fields = value.elements
        let type = try fields.next(BERValue.objectIdentifier).objectIdentifier()
        guard type == dataType else { throw SignatureRefusal.notSignedData(type) }
        guard !fields.isAtEnd else { throw SignatureRefusal.contentMissing }
        var wrapper = try fields.next(BERValue.field(0)).elements
        try fields.end()
        let content = try wrapper.nextOctets()
        try wrapper.end()
        return content
    }

    /// `CertificateSet`
    private static func certificates(_ value: BERValue) throws -> [ArraySlice<UInt8>] {
        var elements = value.elements
        var found: [ArraySlice<UInt8>] = []
        while !elements.isAtEnd {
            found.append(try elements.next(BERValue.sequence).encoding)
            guard found.count <= mostCertificates else {
                throw SignatureRefusal.certificateCount(found.count)
            }
        }
        return found
    }

    /// `SignerInfos`, which must have exactly one element.
    private static func signer(_ value: BERValue) throws -> Signer {
        var elements = value.elements
        guard !elements.isAtEnd else { throw SignatureRefusal.signerCount(0) }
        let signer = try elements.next(BERValue.sequence)
        var count = 1
        while !elements.isAtEnd {
            _ = try elements.next(BERValue.sequence)
            count += 1
        }
        guard count == 1 else { throw SignatureRefusal.signerCount(count) }
        return try Signer(signer)
    }
}

extension SignedData.Signer {
    /// `SignerInfo` without unsigned attributes, which are not verifiable.
    fileprivate init(_ value: BERValue) throws {
        var fields = value.elements
        let version = try fields.next(BERValue.integer).integer()
        guard version == 1 else { throw SignatureRefusal.signedDataVersion(version) }
        var name = try fields.next(BERValue.sequence).elements
        issuer = try name.next(BERValue.sequence).encoding
        serial = try name.next(BERValue.integer).contents
        try name.end()
        let digestType = try Self.algorithm(&fields)
        guard let digest = Self.digests[digestType] else {
            throw SignatureRefusal.digestAlgorithm(digestType)
        }
        self.digest = digest
        attributes = try fields.nextIfPresent(BERValue.field(0)).map(SignedAttributes.init)
        let signatureType = try Self.algorithm(&fields)
        guard signatureType == Self.rsa || signatureType == Self.signatures[digest] else {
            throw SignatureRefusal.signatureAlgorithm(signatureType)
        }
        signature = try fields.nextOctets()
        try fields.end()
    }

    /// `AlgorithmIdentifier` with parameters that are NULL or absent.
    private static func algorithm(_ fields: inout BERReader) throws -> String {
        var parts = try fields.next(BERValue.sequence).elements
        let type = try parts.next(BERValue.objectIdentifier).objectIdentifier()
        if let parameters = try parts.nextIfPresent(0x05), !parameters.contents.isEmpty {
            throw BERError.trailingBytes
        }
        try parts.end()
        return type
    }

    private static let digests: [String: RSADigest] = [
        "1.3.14.3.2.26": .sha1, "2.16.840.1.101.3.4.2.1": .sha256,
    ]
    private static let rsa = "1.2.840.113549.1.1.1"
    private static let signatures: [RSADigest: String] = [
        .sha1: "1.2.840.113549.1.1.5", .sha256: "1.2.840.113549.1.1.11",
    ]
}

/// The signed attributes: the content's digest and other signed values.
struct SignedAttributes: Sendable {
    /// The signed bytes: the attributes as a set in DER (RFC 5652 section 5.4).
    let signingInput: [UInt8]
    let contentDigest: [UInt8]

    fileprivate init(_ value: BERValue) throws {
        // The signature covers the DER form; any other form is not the signed data.
        guard value.hasLength else { throw BERError.length }
        signingInput = [BERValue.set] + value.encoding.dropFirst()
        var values: [String: BERValue] = [:]
        var elements = value.elements
        while !elements.isAtEnd {
            var fields = try elements.next(BERValue.sequence).elements
            let type = try fields.next(BERValue.objectIdentifier).objectIdentifier()
            var content = try fields.next(BERValue.set).elements
            try fields.end()
            let first = try content.next()
            guard content.isAtEnd, values.updateValue(first, forKey: type) == nil else {
                throw SignatureRefusal.signedAttribute(Self.names[type] ?? type)
            }
        }
        guard try values[Self.contentType]?.objectIdentifier() == SignedData.dataType else {
            throw SignatureRefusal.signedAttribute("contentType")
        }
        guard let digest = values[Self.messageDigest], digest.identifier == BERValue.octetString
        else { throw SignatureRefusal.signedAttribute("messageDigest") }
        contentDigest = Array(digest.contents)
    }

    private static let contentType = "1.2.840.113549.1.9.3"
    private static let messageDigest = "1.2.840.113549.1.9.4"
    private static let names = [contentType: "contentType", messageDigest: "messageDigest"]
}
