/// A root certificate that was pinned: what it vouches for is decided by whoever pinned it.
public struct TrustAnchor: Hashable, Sendable {
    /// What the anchor is called, such as `apple` or `simulated`.
    public let name: String
    /// The certificate as DER.
    public let der: [UInt8]
    let facts: CertificateFacts
    let keyIdentifier: [UInt8]?

    /// The span in which the certificate may be relied on, both ends included, in milliseconds since
    /// 1970.
    public var validity: ClosedRange<Int64> {
        // A certificate that ends before it begins was never valid.
        let validity = facts.validity
        return validity.notBefore...max(validity.notBefore, validity.notAfter)
    }

    /// Pins a certificate, which must be an authority with a key of this family that allows one
    /// intermediate below it. Being pinned, it needs no signature; whether it is expired is judged
    /// at the instant of each check.
    public init(
        name: String,
        der: [UInt8],
        keys: KeyFamily = .ellipticCurve
    ) throws(TrustAnchorError) {
        guard let certificate = Certificate(der: der), let facts = certificate.facts else {
            throw .malformed
        }
        guard facts.hasAuthorityKey(keys) else { throw .unsupportedKey }
        guard facts.basicConstraints?.isAuthority == true,
            facts.keyUsage?.contains(.certificateSigning) != false
        else { throw .notAnAuthority }
        guard facts.basicConstraints?.pathLength != 0 else { throw .noIntermediateAllowed }
        self.name = name
        self.der = der
        self.facts = facts
        keyIdentifier = certificate.subjectKeyIdentifier
    }
}

extension TrustAnchor {
    /// Of all that makes two anchors different only the name: an anchor is looked up for every signed
    /// document.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Why a certificate cannot be pinned: a mistake in configuration, found before anything is served.
public enum TrustAnchorError: Error, Hashable, Sendable {
    /// The bytes are not exactly one well-formed X.509 certificate in DER.
    case malformed
    /// The key is none of the family asked for.
    case unsupportedKey
    /// The certificate is not marked as an authority that may sign certificates.
    case notAnAuthority
    /// The certificate's path length forbids an intermediate below it.
    case noIntermediateAllowed
}
