import TideoverSignatures

/// Evidence as it is stored: what was received, taken apart into plain bytes and signed documents,
/// so that a notification of 19 KB takes about 2 KB and can still be put together exactly.
///
/// A signed document (JWS in compact serialization) is known by its shape alone. Of its three
/// segments the header, which carries the certificates and is the same for months, is kept once
/// elsewhere under its fingerprint; the payload is kept as the bytes it encodes, itself taken apart;
/// the signature as its 64 bytes.
public struct EvidenceForm: Hashable, Sendable {
    /// How many bytes were received.
    public let count: Int
    let parts: [Part]

    enum Part: Hashable, Sendable {
        case plain([UInt8])
        case signed(header: HeaderFingerprint, payload: [Part], signature: [UInt8])
    }

    /// How deep signed documents may stand in one another; a notification has two levels.
    static let maximumDepth = 4

    init(count: Int, parts: [Part]) {
        self.count = count
        self.parts = parts
    }

    /// Takes received bytes apart. Whatever they are, what `received(headers:)` puts together is
    /// equal to them: that is tried here, and where it fails they are kept as they are. The header
    /// texts that the form refers to are added to `headers`.
    public init(of received: [UInt8], headers: inout [HeaderFingerprint: [UInt8]]) {
        var dissection = Dissection()
        let parts = dissection.parts(of: received, depth: 0)
        let form = EvidenceForm(count: received.count, parts: parts)
        if form.isExact(received, dissection.headers) {
            self = form
            headers.merge(dissection.headers) { known, _ in known }
        } else {
            self.init(count: received.count, parts: [.plain(received)])
        }
    }

    /// The headers needed to put the received bytes together.
    public var fingerprints: Set<HeaderFingerprint> {
        var found: Set<HeaderFingerprint> = []
        Self.collect(parts, into: &found)
        return found
    }

    /// The bytes that were received.
    ///
    /// - Throws: `missingHeader`, or `wrongLength` when a header is not the one it was.
    public func received(
        headers: [HeaderFingerprint: [UInt8]]
    ) throws(EvidenceFormError) -> [UInt8] {
        let bytes = try Assembly(headers: headers, limit: count).bytes(of: parts)
        guard bytes.count == count else {
            throw .wrongLength(expected: count, found: bytes.count)
        }
        return bytes
    }

    private func isExact(
        _ received: [UInt8],
        _ headers: [HeaderFingerprint: [UInt8]]
    ) -> Bool {
        guard let rebuilt = try? EvidenceForm(encoded: encoded).received(headers: headers) else {
            return false
        }
        return rebuilt[...].isSame(as: received[...])
    }

    private static func collect(_ parts: [Part], into found: inout Set<HeaderFingerprint>) {
        for case .signed(let header, let payload, _) in parts {
            found.insert(header)
            collect(payload, into: &found)
        }
    }
}

/// Names a header text: its SHA-256 digest.
public struct HeaderFingerprint: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]

    static let count = 32

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The fingerprint of a header as it stands in the document, in base64url.
    public init(of text: some Collection<UInt8>) {
        bytes = SHA256.hash(text)
    }
}

/// Why stored evidence cannot be put together: the stored bytes are not those that were written.
public enum EvidenceFormError: Error, Hashable, Sendable {
    case unknownVersion(UInt8)
    case unknownPart(UInt8)
    /// It ends inside a part.
    case cutShort
    /// A length is not written in the shortest way, or is beyond any that is stored.
    case malformedLength
    case tooDeep
    case missingHeader(HeaderFingerprint)
    case wrongLength(expected: Int, found: Int)
}
