import TideoverJSON
import TideoverLocks

/// Verifies documents with a certificate chain from a pinned anchor through exactly one
/// intermediate.
///
/// Valid chains are cached by the exact text of their header; failures are never cached. The
/// validity periods of all three certificates are checked at each requested instant, cached or not.
public final class ChainVerifier: Sendable {
    /// The rules for the certificates.
    public let policy: ChainPolicy
    /// The pinned certificates, in order of preference.
    public let anchors: [TrustAnchor]

    private let chains: Locked<RecentlyUsed<VerifiedChain>>
    private let paths: PathVerifier
    private let uncachedChecks = ObjectPool<Void>(count: 2) { () }

    /// Creates a verifier that caches at most `cacheCapacity` chains.
    public init(policy: ChainPolicy, anchors: [TrustAnchor], cacheCapacity: Int = 32) {
        self.policy = policy
        self.anchors = anchors
        chains = Locked(RecentlyUsed(capacity: cacheCapacity))
        paths = PathVerifier(policy: policy, anchors: anchors)
    }

    /// The number of public-key operations spent on signatures of uncached chains. The strict check
    /// of a chain that passed so far is not included.
    public var publicKeyOperationCount: Int { paths.operationCount }

    /// The number of cached chains.
    public var cachedChainCount: Int { chains.withLock { $0.count } }

    /// Parses a compact form exactly as strictly as `JWS`. A header with the same text as a cached
    /// chain's is not parsed again: it is most of a document.
    public func read(_ compact: ArraySlice<UInt8>) throws(SignatureRefusal) -> JWS {
        try JWS(compact, known: { remembered($0)?.header })
    }

    /// Whether the document's chain was verified before and is still cached.
    public func remembers(_ jws: JWS) -> Bool { remembered(jws.headerText) != nil }

    /// Returns the anchor of the document's signer at an instant, in milliseconds since 1970.
    /// Throws if no anchor is valid, or if the document's ES256 signature is not.
    public func verify(
        _ jws: JWS,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> TrustAnchor {
        try signer(of: jws, at: milliseconds).anchor
    }

    /// Returns the anchor and the certificates of the document's signer, after the same checks as
    /// `verify`.
    public func signer(
        of jws: JWS,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> VerifiedSigner {
        if let chain = remembered(jws.headerText) {
            return try chain.vouch(for: jws, at: milliseconds)
        }
        try jws.checkHeader(forbidding: JWS.parametersThatChangeMeaning)
        try jws.checkSignatureLength()
        let entries = try ChainEntries(header: jws.header)
        // This follows the check of the chain's shape. Xcode's local documents have both a `kid`
        // and a single certificate, and the certificate identifies them.
        try jws.checkHeader(forbidding: ["kid"])
        return try uncachedChecks.withOne { (_) throws(SignatureRefusal) in
            // Another thread may have verified the same chain while this one waited.
            if let chain = remembered(jws.headerText) {
                return try chain.vouch(for: jws, at: milliseconds)
            }
            let (path, leafKey) = try verifiedPath(entries, at: milliseconds)
            let chain = VerifiedChain(of: jws, path, leafKey)
            let signer = try chain.vouch(for: jws, at: milliseconds)
            // Cached only now: a valid chain with an invalid signature must not displace others.
            chains.withLock { $0.remember(chain, for: jws.headerText) }
            return signer
        }
    }

    /// Returns the anchor of a chain without a document, at an instant in milliseconds since 1970.
    /// The chain is leaf, intermediate and a third certificate, as DER. The result is not cached.
    public func verifyChain(
        der certificates: [[UInt8]],
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> TrustAnchor {
        let entries = try ChainEntries(der: certificates)
        return try uncachedChecks.withOne { (_) throws(SignatureRefusal) in
            try verifiedPath(entries, at: milliseconds).path.anchor
        }
    }
}

extension ChainVerifier {
    private func remembered(_ headerText: ArraySlice<UInt8>) -> VerifiedChain? {
        chains.withLock { $0.value(for: headerText) }
    }

    private func verifiedPath(
        _ entries: ChainEntries,
        at milliseconds: Int64
    ) throws(SignatureRefusal) -> (path: VerifiedPath, leafKey: P256PublicKey) {
        let path = try paths.path(
            through: try entries.decodedIntermediate(),
            to: { () throws(SignatureRefusal) in try entries.decodedLeaf() },
            at: milliseconds
        )
        guard let point = path.leaf.key?.point, let key = try? P256PublicKey(x963: point) else {
            throw .leafKeyNotP256
        }
        return (path, key)
    }
}

/// A chain with valid signatures and content; its validity period depends on the instant.
private final class VerifiedChain: Sendable {
    /// The header that contained it.
    let header: JSONDocument
    /// The header's text makes up most of a document, and is the same for all of the chain's.
    private let hashedHeader: SHA256Prefix
    private let path: VerifiedPath
    private let leafKey: P256PublicKey

    init(of jws: JWS, _ path: VerifiedPath, _ leafKey: P256PublicKey) {
        header = jws.header
        hashedHeader = SHA256Prefix(jws.headerText)
        self.path = path
        self.leafKey = leafKey
    }

    /// Verifies a document with the same header's text.
    func vouch(for jws: JWS, at milliseconds: Int64) throws(SignatureRefusal) -> VerifiedSigner {
        try path.checkValidity(at: milliseconds)
        try jws.checkSignature(by: leafKey, hashedHeader)
        return path.signer
    }
}

/// The three entries of a chain, not yet decoded.
private struct ChainEntries {
    private enum Entry {
        case base64(ArraySlice<UInt8>)
        case der([UInt8])

        /// For text that is not canonical base64, and so never decoded, the nearest lower count.
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

    /// The third entry is the sender's anchor. The sender does not choose the anchor, so only the
    /// size of this entry is checked.
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
