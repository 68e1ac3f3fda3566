import Synchronization
import TideoverLocks

/// Finds out which pinned anchor vouches for a leaf through exactly one intermediate.
///
/// The path is checked by direct calls instead of `X509_verify_cert`. Only one shape of chain is
/// allowed, leaf, intermediate and anchor, so there is no path to search for; and a direct check
/// cannot look at the system's store or the wall clock, cannot take a certificate of the sender's
/// for an anchor, and does its public-key operations in an order that we choose: the intermediate
/// is checked against the anchor before anything below it is even decoded. Whoever makes up a chain
/// costs us one operation.
///
/// What has passed all that is put before `X509_verify_cert` too, with nothing but the pinned anchor to
/// trust, and strictly below an anchor that has a key identifier, as Apple's does: the field's
/// libraries go by it, and a chain that it objects to, for a key identifier that is missing, say, is not
/// one of the store's.
final class PathVerifier: Sendable {
    private let policy: ChainPolicy
    private let anchors: [TrustAnchor]
    private let intermediates = Locked(RecentlyUsed<TrustAnchor>(capacity: 8))
    private let operations = Atomic<Int>(0)

    init(policy: ChainPolicy, anchors: [TrustAnchor]) {
        self.policy = policy
        self.anchors = anchors
    }

    /// How many public-key operations were spent on finding out who signed what.
    var operationCount: Int { operations.load(ordering: .relaxed) }

    /// The path from an anchor through `intermediate` to the leaf, all valid at an instant, in
    /// milliseconds since 1970.
    ///
    /// No statement of a certificate is relied on before its issuer's signature holds, and the leaf is
    /// not decoded before the intermediate is believed.
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
        try checkWhole(leaf, intermediate, anchor)
        return VerifiedPath(
            anchor: anchor,
            intermediate: intermediateFacts.validity,
            leaf: leafFacts
        )
    }

    /// Last, because it costs two operations more.
    private func checkWhole(
        _ leaf: borrowing Certificate,
        _ intermediate: borrowing Certificate,
        _ anchor: TrustAnchor
    ) throws(SignatureRefusal) {
        guard let root = Certificate(der: anchor.der) else { throw .certificateMalformed(.anchor) }
        let objection = Certificate.objection(
            toLeaf: leaf,
            intermediate: intermediate,
            anchor: root
        )
        if let objection { throw .pathNotStrict(objection) }
    }

    /// The anchor that signed the intermediate. It is remembered for the intermediate's exact
    /// bytes, so that also a made-up leaf under a true intermediate soon costs one operation.
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

    /// The one anchor that can have signed the intermediate: only one is tried, whatever the
    /// number of anchors. Names are compared as bytes, since authorities must encode them alike;
    /// anchors of one name are told apart by the key identifier.
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

/// A path whose signatures and statements hold; its validity is still a question of the instant.
struct VerifiedPath: Sendable {
    let anchor: TrustAnchor
    let intermediate: Validity
    let leaf: CertificateFacts

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
