/// A pinned root certificate. The code that pins it decides its use.
public struct TrustAnchor: Hashable, Sendable {
    /// The name of the anchor, such as `apple` or `simulated`.
    public let name: String
    /// The certificate as DER.
    public let der: [UInt8]
    let facts: CertificateFacts
    let keyIdentifier: [UInt8]?

    /// The period in which the certificate is valid, both ends included, in milliseconds since
    /// 1970.
    public var validity: ClosedRange<Int64> {
        // A certificate that ends before it begins is never valid.
        let validity = facts.validity
        return validity.notBefore...max(validity.notBefore, validity.notAfter)
    }

    /// Pins a certificate. It must be an authority with a key of this family that allows one
    /// intermediate below it. A pinned certificate needs no signature; its expiry is checked at the
    /// instant of each verification.
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
    /// Hashes only the name, for speed: an anchor is looked up for every signed document.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The reason why a certificate cannot be pinned: a configuration error, found at startup.
public enum TrustAnchorError: Error, Hashable, Sendable {
    /// The bytes are not exactly one well-formed X.509 certificate in DER.
    case malformed
    /// The key is not of the requested family.
    case unsupportedKey
    /// The certificate is not marked as an authority that may sign certificates.
    case notAnAuthority
    /// The certificate's path length forbids an intermediate below it.
    case noIntermediateAllowed
}
