import Synchronization
import TideoverLocks

/// Finds the pinned anchor of a leaf through exactly one intermediate.
///
/// The path is checked by direct calls instead of `X509_verify_cert`. Only one shape of chain is
/// allowed, leaf, intermediate and anchor, so no path search is needed. A direct check never uses
/// the system's store or the wall clock, and never accepts a sender's certificate as an anchor. It
/// also controls the order of the public-key operations: the intermediate is checked against the
/// anchor before anything below it is decoded. An invented chain costs only one operation.
///
/// A path that passes is also checked by `X509_verify_cert`, with only the pinned anchor as
/// trusted. The check is strict below an anchor with a key identifier, such as Apple's. Common
/// libraries rely on this check, so a chain that fails it, for example for a missing key
/// identifier, is not the store's.
final class PathVerifier: Sendable {
    private let policy: ChainPolicy
    private let anchors: [TrustAnchor]
    private let intermediates = Locked(RecentlyUsed<TrustAnchor>(capacity: 8))
    private let operations = Atomic<Int>(0)

    init(policy: ChainPolicy, anchors: [TrustAnchor]) {
        self.policy = policy
        self.anchors = anchors
    }

    /// The number of public-key operations spent on verifying signatures of certificates.
    var operationCount: Int { operations.load(ordering: .relaxed) }

    /// Returns the path from an anchor through `intermediate` to the leaf, all valid at an instant,
    /// in milliseconds since 1970.
    ///
    /// No content of a certificate is used before its issuer's signature is verified. The leaf is
    /// decoded only after the intermediate is verified.
    func path(
        through intermediate: consuming Certificate,
        to decodedLeaf: () throws(SignatureRefusal) -> Certificate,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> VerifiedPath {
        let anchor = try anchor(of: intermediate)
        let intermediateFacts = try facts(of: intermediate, .intermediate)
        try policy.check(intermediate: intermediateFacts)
        try anchor.facts.validity.check(.anchor, at: milliseconds)
        try intermediateFacts.validity.check(.intermediate, at: milliseconds)

        let leaf = try decodedLeaf()
        guard leaf.issuer == intermediateFacts.subject, isSigned(leaf, by: intermediate) else {
            throw .leafNotIssued
        }
        let leafFacts = try facts(of: leaf, .leaf)
        try policy.check(leaf: leafFacts)
        try leafFacts.validity.check(.leaf, at: milliseconds)
        guard let root = Certificate(der: anchor.der) else { throw .certificateMalformed(.anchor) }
        try checkWhole(leaf, intermediate, root)
        return VerifiedPath(
            anchor: anchor,
            intermediate: intermediateFacts.validity,
            leaf: leafFacts,
            certificates: [
                IssuedCertificate(
                    leaf,
                    .leaf,
                    until: leafFacts.validity.notAfter,
                    issuer: intermediate,
                    below: anchor
                ),
                IssuedCertificate(
                    intermediate,
                    .intermediate,
                    until: intermediateFacts.validity.notAfter,
                    issuer: root,
                    below: anchor
                ),
            ].compactMap(\.self)
        )
    }

    /// Runs last, because it costs two more operations.
    private func checkWhole(
        _ leaf: borrowing Certificate,
        _ intermediate: borrowing Certificate,
        _ root: borrowing Certificate
    ) throws(SignatureRefusal) {
        let objection = Certificate.objection(
            toLeaf: leaf,
            intermediate: intermediate,
            anchor: root
        )
        if let objection { throw .pathNotStrict(objection) }
    }

    /// Returns the anchor that signed the intermediate. It is cached for the intermediate's exact
    /// bytes, so that an invented leaf under a real intermediate also costs one operation.
    private func anchor(
        of intermediate: borrowing Certificate
    ) throws(SignatureRefusal) -> TrustAnchor {
        let der = intermediate.der[...]
        if let anchor = intermediates.withLock({ $0.value(for: der) }) {
            return anchor
        }
        guard let anchor = candidate(for: intermediate),
            let certificate = Certificate(der: anchor.der),
            isSigned(intermediate, by: certificate)
        else { throw .untrustedRoot }
        intermediates.withLock { $0.remember(anchor, for: der) }
        return anchor
    }

    /// Returns the one anchor that can have signed the intermediate: only one is tried, however
    /// many there are. Names are compared as bytes, since authorities must encode them alike. The
    /// key identifier distinguishes anchors of one name.
    private func candidate(for intermediate: borrowing Certificate) -> TrustAnchor? {
        guard let issuer = intermediate.issuer else { return nil }
        let named = anchors.filter { $0.facts.subject == issuer }
        guard named.count > 1, let identifier = intermediate.authorityKeyIdentifier else {
            return named.first
        }
        return named.first { $0.keyIdentifier == identifier } ?? named.first
    }

    private func isSigned(
        _ certificate: borrowing Certificate,
        by authority: borrowing Certificate
    ) -> Bool {
        operations.wrappingAdd(1, ordering: .relaxed)
        return certificate.isSigned(by: authority)
    }

    private func facts(
        of certificate: borrowing Certificate,
        _ position: ChainPosition
    ) throws(SignatureRefusal) -> CertificateFacts {
        guard let facts = certificate.facts else { throw .certificateMalformed(position) }
        return facts
    }
}

/// A path with valid signatures and content; its validity period depends on the instant.
struct VerifiedPath: Sendable {
    let anchor: TrustAnchor
    let intermediate: Validity
    let leaf: CertificateFacts
    /// The leaf and the intermediate, for questions about revocation.
    let certificates: [IssuedCertificate]

    var signer: VerifiedSigner { VerifiedSigner(anchor: anchor, certificates: certificates) }

    func checkValidity(at milliseconds: Int64) throws(SignatureRefusal) {
        try anchor.facts.validity.check(.anchor, at: milliseconds)
        try intermediate.check(.intermediate, at: milliseconds)
        try leaf.validity.check(.leaf, at: milliseconds)
    }
}

extension Validity {
    fileprivate func check(
        _ position: ChainPosition,
        at milliseconds: Int64
    ) throws(SignatureRefusal) {
        guard contains(milliseconds) else {
            throw .certificateNotValidAt(
                position,
                notBefore: notBefore,
                notAfter: notAfter,
                at: milliseconds
            )
        }
    }
}

/// The signer of a document with a valid signature and chain.
public struct VerifiedSigner: Sendable {
    /// The pinned certificate that vouches for it.
    public let anchor: TrustAnchor
    /// The leaf and the intermediate.
    public let certificates: [IssuedCertificate]
}
