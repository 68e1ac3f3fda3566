import TideoverSignatures

/// A root, an intermediate and a leaf with RSA keys, created once because key generation is slow.
struct TestRSAChain {
    static let keys = (root: RSAPrivateKey.generate(), other: RSAPrivateKey.generate())

    let root: [UInt8]
    let intermediate: [UInt8]
    let leaf: [UInt8]
    let signingKey: RSAPrivateKey

    /// The chain to create; a test changes only the part it examines. One key serves all three: the
    /// certificates distinguish the signers.
    struct Plan {
        var root = CertificateTemplate.root(
            subject: "Test Receipt Root",
            notBefore: TestChain.start,
            notAfter: TestChain.end
        )
        var intermediate = CertificateTemplate.intermediate(
            subject: "Test Receipt Intermediate",
            notBefore: TestChain.start,
            notAfter: TestChain.end,
            marker: TestChain.policy.intermediateMarker
        )
        var leaf = CertificateTemplate.leaf(
            subject: "Test Receipt Leaf",
            notBefore: TestChain.start,
            notAfter: TestChain.end,
            marker: TestChain.policy.leafMarker
        )
        var rootKey = CertificateKey(keys.root)
        var intermediateKey = CertificateKey(keys.other)
        var leafKey = CertificateKey(keys.root)
        var leafIssuer: CertificateAuthority?
    }

    static let standard = Result { try TestRSAChain { _ in } }

    init(_ change: (inout Plan) throws -> Void) throws {
        var plan = Plan()
        try change(&plan)
        let root = try CertificateAuthority.selfSigned(plan.root, key: plan.rootKey)
        let intermediate = try root.authority(plan.intermediate, key: plan.intermediateKey)
        leaf = try (plan.leafIssuer ?? intermediate).certificate(plan.leaf, for: plan.leafKey)
        (self.root, self.intermediate) = (root.certificate, intermediate.certificate)
        signingKey = Self.keys.root
    }
}

/// Signed data in the form of RFC 5652; a test can change any part.
struct TestSignedData {
    var content = Array("what is signed".utf8)
    var form = Form.der
    var digest = RSADigest.sha256
    var containerType = Identifier.signedData
    var contentType = Identifier.data
    var version: Int64 = 1
    var signerVersion: Int64 = 1
    var digestType: [UInt8]?
    var signatureType = Identifier.rsa
    var certificates: [[UInt8]]
    var signerName = "Test Receipt Intermediate"
    var signerSerial: Int64 = 3
    /// Nil if the content itself is signed.
    var attributes: [Attribute]?
    var signerCount = 1
    var hasContent = true
    /// The signed bytes, if they differ from the content.
    var signedContent: [UInt8]?
    /// The signature, if not the correct one.
    var signature: [UInt8]?
    var tail: [UInt8] = []
    let key: RSAPrivateKey

    enum Form: CaseIterable { case der, ber }

    typealias Attribute = (type: [UInt8], values: [[UInt8]])

    init(_ chain: TestRSAChain) {
        certificates = [chain.leaf, chain.intermediate, chain.root]
        key = chain.signingKey
    }

    /// Object identifiers in DER, from RFC 5652, RFC 3370 and RFC 5754.
    enum Identifier {
        static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        static let envelopedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x03]
        static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
        static let sha1WithRSA: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05]
        static let sha256WithRSA: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]
        static let rsaPSS: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]
        static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
        static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
        static let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
        static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
        static let md5: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05]
    }

    /// Returns the required signed attributes for the given content.
    static func attributes(about content: [UInt8]) -> [Attribute] {
        [
            (Identifier.contentType, [value(0x06, Identifier.data)]),
            (Identifier.messageDigest, [value(0x04, SHA256.hash(content))]),
        ]
    }

    // MARK: Writing

    var bytes: [UInt8] {
        let digestType = digestType ?? (digest == .sha1 ? Identifier.sha1 : Identifier.sha256)
        let wrapped = hasContent ? compound(0xA0, octets(content)) : []
        let signedData = compound(
            0x30,
            Self.integer(version),
            compound(0x31, algorithm(digestType)),
            compound(0x30, Self.value(0x06, contentType), wrapped),
            compound(0xA0, certificates.flatMap(\.self)),
            compound(0x31, (0..<signerCount).flatMap { _ in signer(digestType) })
        )
        return compound(0x30, Self.value(0x06, containerType), compound(0xA0, signedData)) + tail
    }

    private func signer(_ digestType: [UInt8]) -> [UInt8] {
        let name = Self.value(0x0C, Array(signerName.utf8))
        let issuer = Self.value(
            0x30,
            Self.value(0x31, Self.value(0x30, Self.value(0x06, [0x55, 0x04, 0x03]) + name))
        )
        // Always in DER, because the signature covers them.
        let attributes = attributes?.flatMap { attribute in
            Self.value(
                0x30,
                Self.value(0x06, attribute.type)
                    + Self.value(0x31, attribute.values.flatMap(\.self))
            )
        }
        let signed = attributes.map { Self.value(0x31, $0) } ?? signedContent ?? content
        return compound(
            0x30,
            Self.integer(signerVersion),
            compound(0x30, issuer, Self.integer(signerSerial)),
            algorithm(digestType),
            attributes.map { Self.value(0xA0, $0) } ?? [],
            algorithm(signatureType),
            Self.value(0x04, signature ?? key.sign(signed, digest))
        )
    }

    private func algorithm(_ type: [UInt8]) -> [UInt8] {
        compound(0x30, Self.value(0x06, type), [0x05, 0x00])
    }

    private func octets(_ bytes: [UInt8]) -> [UInt8] {
        guard form == .ber else { return Self.value(0x04, bytes) }
        let (first, second) = (bytes.prefix(5), bytes.dropFirst(5))
        return compound(0x24, Self.value(0x04, Array(first)), Self.value(0x04, Array(second)))
    }

    private func compound(_ identifier: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let contents = parts.reduce(into: []) { $0 += $1 }
        switch form {
        case .der: return Self.value(identifier, contents)
        case .ber: return [identifier, 0x80] + contents + [0, 0]
        }
    }

    private static func integer(_ number: Int64) -> [UInt8] { value(0x02, [UInt8(number)]) }

    static func value(_ identifier: UInt8, _ contents: [UInt8]) -> [UInt8] {
        let count = contents.count
        let length: [UInt8] =
            switch count {
            case 0..<128: [UInt8(count)]
            case 128..<256: [0x81, UInt8(count)]
            case 256..<65536: [0x82, UInt8(count >> 8), UInt8(count & 255)]
            default: [0x83, UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)]
            }
        return [identifier] + length + contents
    }
}
