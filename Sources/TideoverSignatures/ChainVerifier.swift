import TideoverJSON
import TideoverLocks

/// Believes documents whose signer a pinned anchor vouches for through exactly one intermediate.
///
/// Chains that held are remembered by the exact text of the header that carried them, refusals
/// never are. The validity of all three certificates is checked at each instant asked about,
/// remembered or not.
public final class ChainVerifier: Sendable {
    /// What the certificates must say.
    public let policy: ChainPolicy
    /// The pinned certificates, in order of preference.
    public let anchors: [TrustAnchor]

    private let chains: Locked<RecentlyUsed<VerifiedChain>>
    private let paths: PathVerifier
    private let uncachedChecks = Lanes<Void>(count: 2) { () }

    /// A verifier that remembers at most `cacheCapacity` chains.
    public init(policy: ChainPolicy, anchors: [TrustAnchor], cacheCapacity: Int = 32) {
        self.policy = policy
        self.anchors = anchors
        chains = Locked(RecentlyUsed(capacity: cacheCapacity))
        paths = PathVerifier(policy: policy, anchors: anchors)
    }

    /// How many public-key operations were spent on finding out who signed chains that were not
    /// remembered. The strict check of a chain that has held so far comes on top.
    public var publicKeyOperationCount: Int { paths.operationCount }

    /// How many chains are remembered.
    public var cachedChainCount: Int { chains.withLock { $0.count } }

    /// Takes a compact form apart as `JWS` does, and as strictly. A header that is the very text of
    /// one that a remembered chain came in is not read a second time: it is most of a document.
    public func read(_ compact: some Collection<UInt8>) throws(SignatureRefusal) -> JWS {
        try JWS(compact, known: { remembered($0)?.header })
    }

    /// Whether a document under the same chain was verified before and the chain is still remembered.
    public func remembers(_ jws: JWS) -> Bool { remembered(jws.headerText) != nil }

    /// Returns the anchor that vouches for the document's signer at an instant, in milliseconds
    /// since 1970; throws when none does, or when the document is not signed by it with ES256.
    public func verify(
        _ jws: JWS,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> TrustAnchor {
        if let chain = remembered(jws.headerText) {
            return try chain.vouch(for: jws, at: milliseconds)
        }
        try jws.checkHeader(forbidding: JWS.parametersThatChangeMeaning)
        try jws.checkSignatureLength()
        let entries = try ChainEntries(header: jws.header)
        // After the chain's shape: of Xcode's local documents, which have both a `kid` and a single
        // certificate, the certificate is what tells what they are.
        try jws.checkHeader(forbidding: ["kid"])
        return try uncachedChecks.withOne { (_) throws(SignatureRefusal) in
            // Another thread may have verified the same chain while this one waited for its turn.
            if let chain = remembered(jws.headerText) {
                return try chain.vouch(for: jws, at: milliseconds)
            }
            let chain = try verifiedChain(entries, of: jws.header, at: milliseconds)
            let anchor = try chain.vouch(for: jws, at: milliseconds)
            // Only now: a true chain in front of a false signature must not displace others.
            chains.withLock { $0.remember(chain, for: jws.headerText) }
            return anchor
        }
    }

    /// Returns the anchor that vouches for a chain at an instant, in milliseconds since 1970,
    /// without a document: leaf, intermediate and a third certificate as DER. Not remembered.
    public func verifyChain(
        der certificates: [[UInt8]],
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> TrustAnchor {
        let entries = try ChainEntries(der: certificates)
        return try uncachedChecks.withOne { (_) throws(SignatureRefusal) in
            try verifiedChain(entries, of: nil, at: milliseconds).path.anchor
        }
    }
}

extension ChainVerifier {
    private func remembered(_ headerText: ArraySlice<UInt8>) -> VerifiedChain? {
        chains.withLock { $0.value(for: headerText) }
    }

    private func verifiedChain(
        _ entries: ChainEntries,
        of header: JSONDocument?,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> VerifiedChain {
        let path = try paths.path(
            through: try entries.decodedIntermediate(),
            to: { () throws(SignatureRefusal) in try entries.decodedLeaf() },
            at: milliseconds
        )
        guard let point = path.leaf.key?.point, let key = try? P256PublicKey(x963: point) else {
            throw .leafKeyNotP256
        }
        return VerifiedChain(header: header, path: path, leafKey: key)
    }
}

/// A chain whose signatures and statements hold; its validity is still a question of the instant.
private struct VerifiedChain: Sendable {
    /// The header that carried it, if a header did.
    let header: JSONDocument?
    let path: VerifiedPath
    let leafKey: P256PublicKey

    func vouch(for jws: JWS, at milliseconds: Int64) throws(SignatureRefusal) -> TrustAnchor {
        try path.checkValidity(at: milliseconds)
        try jws.checkSignature(by: leafKey)
        return path.anchor
    }
}

/// The three entries of a chain, not yet decoded.
private struct ChainEntries {
    private enum Entry {
        case base64(ArraySlice<UInt8>)
        case der([UInt8])

        /// For text that is not canonical base64, and so never decoded, the nearest lower figure.
        var byteCount: Int {
            switch self {
            case .base64(let text):
                text.count / 4 * 3 - text.suffix(2).count { $0 == UInt8(ascii: "=") }
            case .der(let bytes): bytes.count
            }
        }
    }

    private let leaf: Entry
    private let intermediate: Entry

    init(header: JSONDocument) throws(SignatureRefusal) {
        guard let chain = header.root["x5c"] else { throw .missingChain }
        guard chain.kind == .array else { throw .malformedChain }
        guard chain.count == 3 else { throw .chainLength(chain.count) }
        let texts = chain.elements.compactMap(\.utf8)
        guard texts.count == 3 else { throw .malformedChain }
        try self.init(texts.map { .base64($0) })
    }

    init(der certificates: [[UInt8]]) throws(SignatureRefusal) {
        try self.init(certificates.map { .der($0) })
    }

    /// The third is what the sender takes for the anchor. Which anchor holds is not the sender's to
    /// say, so beyond its size it is never looked at.
    private init(_ entries: [Entry]) throws(SignatureRefusal) {
        guard entries.count == 3 else { throw .chainLength(entries.count) }
        (leaf, intermediate) = (entries[0], entries[1])
        for (entry, position) in zip(entries, [ChainPosition.leaf, .intermediate, .anchor]) {
            guard entry.byteCount <= Certificate.maximumByteCount else {
                throw .certificateTooLarge(position, entry.byteCount)
            }
        }
    }

    func decodedLeaf() throws(SignatureRefusal) -> Certificate { try Self.decoded(leaf, .leaf) }

    func decodedIntermediate() throws(SignatureRefusal) -> Certificate {
        try Self.decoded(intermediate, .intermediate)
    }

    private static func decoded(
        _ entry: Entry,
        _ position: ChainPosition
    ) throws(SignatureRefusal) -> Certificate {
        try .received(bytes(entry, position), position)
    }

    private static func bytes(
        _ entry: Entry,
        _ position: ChainPosition
    ) throws(SignatureRefusal) -> [UInt8] {
        switch entry {
        case .der(let bytes): return bytes
        case .base64(let text):
            guard let bytes = Base64.decode(text, .standard) else {
                throw .certificateNotBase64(position)
            }
            return bytes
        }
    }
}
