import TideoverASN1
import TideoverLocks

/// Verifies signed data with an RSA certificate chain from a pinned anchor through exactly one
/// enclosed intermediate.
///
/// Valid paths are cached by the exact bytes of leaf and intermediate; failures are never cached.
/// The validity periods of all three certificates are checked at each requested instant, cached or
/// not.
public final class SignedDataVerifier: Sendable {
    /// The pinned certificates, in order of preference.
    public let anchors: [TrustAnchor]

    private let paths: PathVerifier
    private let remembered = Locked(RecentlyUsed<VerifiedPath>(capacity: 8))
    private let uncachedChecks = ObjectPool<Void>(count: 2) { () }

    /// Creates a verifier for these anchors and certificate markers.
    public init(leafMarker: String, intermediateMarker: String, anchors: [TrustAnchor]) {
        self.anchors = anchors
        let policy = ChainPolicy(
            leafMarker: leafMarker,
            intermediateMarker: intermediateMarker,
            keys: .rsa
        )
        paths = PathVerifier(policy: policy, anchors: anchors)
    }

    /// The number of public-key operations spent on signatures of uncached certificates. The strict
    /// check of a path that passed so far is not included.
    public var publicKeyOperationCount: Int { paths.operationCount }

    /// Returns the anchor of the signer at an instant, in milliseconds since 1970. Throws if no
    /// anchor is valid, or if the content's signature is not.
    public func verify(
        _ signed: SignedData,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> TrustAnchor {
        try signer(of: signed, at: milliseconds).anchor
    }

    /// Returns the anchor and the certificates of the signer, after the same checks as `verify`.
    public func signer(
        of signed: SignedData,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> VerifiedSigner {
        let chain = try signed.chain()
        let key = chain.leaf + chain.intermediate
        if let path = remembered.withLock({ $0.value(for: key[...]) }) {
            return try path.vouch(for: signed, at: milliseconds)
        }
        return try uncachedChecks.withOne { (_) throws(SignatureRefusal) in
            let path = try paths.path(
                through: try .received(chain.intermediate, .intermediate),
                to: { () throws(SignatureRefusal) in try .received(chain.leaf, .leaf) },
                at: milliseconds
            )
            let signer = try path.vouch(for: signed, at: milliseconds)
            // Cached only now: a valid chain with an invalid signature must not displace others.
            remembered.withLock { $0.remember(path, for: key[...]) }
            return signer
        }
    }
}

extension VerifiedPath {
    fileprivate func vouch(
        for signed: SignedData,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> VerifiedSigner {
        try checkValidity(at: milliseconds)
        guard let key = leaf.rsaKey else { throw .leafKeyNotRSA }
        try signed.checkSignature(by: key)
        return self.signer
    }
}

extension SignedData {
    /// Returns the leaf and the intermediate, found by the names in the signer information; both
    /// are untrusted.
    fileprivate func chain() throws(SignatureRefusal) -> (leaf: [UInt8], intermediate: [UInt8]) {
        let named = certificates.compactMap { certificate in
            CertificateNames(certificate).map { (names: $0, der: certificate) }
        }
        let leaf = named.first {
            $0.names.issuer == signer.issuer && $0.names.serial == signer.serial
        }
        guard let leaf else { throw .certificateMissing(.leaf) }
        let intermediate = named.first {
            $0.names.subject == signer.issuer && $0.names.issuer != $0.names.subject
        }
        guard let intermediate else { throw .certificateMissing(.intermediate) }
        for (der, position) in [(leaf.der, ChainPosition.leaf), (intermediate.der, .intermediate)]
        where der.count > Certificate.maximumByteCount {
            throw .certificateTooLarge(position, der.count)
        }
        return (Array(leaf.der), Array(intermediate.der))
    }

    fileprivate func checkSignature(by key: RSASubjectKey) throws(SignatureRefusal) {
        let contentDigest = signer.digest.hash(content[...])
        var digest = contentDigest
        if let attributes = signer.attributes {
            guard attributes.contentDigest == contentDigest else { throw .contentDigest }
            digest = signer.digest.hash(attributes.signingInput[...])
        }
        guard key.verify(signature: signer.signature, of: digest, by: signer.digest) else {
            throw .badSignature
        }
    }
}

/// The names in a certificate, by which it is found among others.
private struct CertificateNames {
    /// The contents of the serial number.
    let serial: ArraySlice<UInt8>
    /// The DER of the names.
    let issuer: ArraySlice<UInt8>
    let subject: ArraySlice<UInt8>

    /// Fails if the bytes are not a certificate (RFC 5280 section 4.1).
    init?(_ der: ArraySlice<UInt8>) {
        do {
            var whole = try BERReader.only(der).elements
            var fields = try whole.next(BERValue.sequence).elements
            _ = try fields.nextIfPresent(BERValue.field(0))
            serial = try fields.next(BERValue.integer).contents
            _ = try fields.next(BERValue.sequence)
            issuer = try fields.next(BERValue.sequence).encoding
            _ = try fields.next(BERValue.sequence)
            subject = try fields.next(BERValue.sequence).encoding
        } catch {
            return nil
        }
    }
}
