import TideoverASN1
import TideoverLocks

/// Believes signed data whose signer a pinned anchor vouches for through exactly one enclosed
/// intermediate, by RSA.
///
/// Paths that held are remembered by the exact bytes of leaf and intermediate, refusals never are. The
/// validity of all three certificates is checked at each instant asked about, remembered or not.
public final class SignedDataVerifier: Sendable {
    /// The pinned certificates, in order of preference.
    public let anchors: [TrustAnchor]

    private let paths: PathVerifier
    private let remembered = Locked(RecentlyUsed<VerifiedPath>(capacity: 8))
    private let uncachedChecks = Lanes<Void>(count: 2) { () }

    /// A verifier of what is signed under these anchors by certificates that bear these markers.
    public init(leafMarker: String, intermediateMarker: String, anchors: [TrustAnchor]) {
        self.anchors = anchors
        let policy = ChainPolicy(
            leafMarker: leafMarker,
            intermediateMarker: intermediateMarker,
            keys: .rsa
        )
        paths = PathVerifier(policy: policy, anchors: anchors)
    }

    /// How many public-key operations were spent on finding out who signed certificates that were not
    /// remembered. The strict check of a path that has held so far comes on top.
    public var publicKeyOperationCount: Int { paths.operationCount }

    /// Returns the anchor that vouches for the signer at an instant, in milliseconds since 1970;
    /// throws when none does, or when the content is not signed by it.
    public func verify(
        _ signed: SignedData,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> TrustAnchor {
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
            let anchor = try path.vouch(for: signed, at: milliseconds)
            // Only now: a true chain beside a false signature must not displace others.
            remembered.withLock { $0.remember(path, for: key[...]) }
            return anchor
        }
    }
}

extension VerifiedPath {
    fileprivate func vouch(
        for signed: SignedData,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> TrustAnchor {
        try checkValidity(at: milliseconds)
        guard let key = leaf.rsaKey else { throw .leafKeyNotRSA }
        try signed.checkSignature(by: key)
        return anchor
    }
}

extension SignedData {
    /// Leaf and intermediate, found by the names that the signer gives: nothing in them is believed.
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

/// What a certificate calls itself and whoever issued it, by which it is found among others.
private struct CertificateNames {
    /// The contents of the serial number.
    let serial: ArraySlice<UInt8>
    /// The DER of the names.
    let issuer: ArraySlice<UInt8>
    let subject: ArraySlice<UInt8>

    /// Nil for what is no certificate (RFC 5280 section 4.1).
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
