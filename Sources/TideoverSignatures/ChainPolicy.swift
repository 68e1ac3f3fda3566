/// The rules for certificates of a chain, apart from their signatures, as pure functions.
public struct ChainPolicy: Hashable, Sendable {
    /// Dotted identifier of the extension that every leaf must have.
    public let leafMarker: String
    /// Dotted identifier of the extension that every intermediate must have.
    public let intermediateMarker: String
    /// The required kind of every certificate's key and signature.
    public let keys: KeyFamily

    /// Creates a policy that requires these two markers.
    public init(
        leafMarker: String,
        intermediateMarker: String,
        keys: KeyFamily = .ellipticCurve
    ) {
        self.leafMarker = leafMarker
        self.intermediateMarker = intermediateMarker
        self.keys = keys
    }
}

extension ChainPolicy {
    /// Throws unless the certificate may be the intermediate between an anchor and a leaf.
    ///
    /// Any path length is accepted: no further authority follows below it.
    func check(intermediate facts: CertificateFacts) throws(SignatureRefusal) {
        try checkForm(facts, .intermediate)
        guard facts.basicConstraints?.isAuthority == true else { throw .notAnAuthority }
        guard facts.keyUsage?.contains(.certificateSigning) != false else {
            throw .keyUsage(.intermediate)
        }
        guard facts.hasAuthorityKey(keys) else { throw .authorityKeyUnsupported }
        guard facts.has(intermediateMarker) else { throw .markerMissing(.intermediate) }
    }

    /// Throws unless the certificate may sign documents.
    ///
    /// The same root, and even the same intermediates, also issue certificates to developers. Only
    /// the marker distinguishes the store's signer from them. A leaf that is an authority could
    /// issue signers, so it is rejected.
    func check(leaf facts: CertificateFacts) throws(SignatureRefusal) {
        try checkForm(facts, .leaf)
        guard facts.basicConstraints?.isAuthority != true else { throw .leafIsAnAuthority }
        guard facts.keyUsage?.contains(.digitalSignature) != false else { throw .keyUsage(.leaf) }
        guard facts.has(leafMarker) else { throw .markerMissing(.leaf) }
        switch keys {
        case .ellipticCurve: guard facts.key?.curve == .p256 else { throw .leafKeyNotP256 }
        case .rsa: guard facts.hasAuthorityKey(.rsa) else { throw .leafKeyNotRSA }
        }
    }

    private func checkForm(
        _ facts: CertificateFacts,
        _ position: ChainPosition
    ) throws(SignatureRefusal) {
        guard facts.signature == keys else { throw .certificateAlgorithm(position) }
        for found in facts.extensions where found.isCritical && !isHandled(found.identifier) {
            throw .unhandledCriticalExtension(position, found.identifier)
        }
    }

    private func isHandled(_ identifier: String) -> Bool {
        let handled = [Self.basicConstraints, Self.keyUsage, leafMarker, intermediateMarker]
        return handled.contains(identifier)
    }

    private static let keyUsage = "2.5.29.15"
    private static let basicConstraints = "2.5.29.19"
}

extension CertificateFacts {
    /// Whether the key may sign certificates.
    func hasAuthorityKey(_ family: KeyFamily) -> Bool {
        switch family {
        case .ellipticCurve: key != nil
        case .rsa: rsaKey?.isLongEnough == true
        }
    }
}
