import TideoverSignatures

/// Evidence as it is stored: the received bytes, split into plain bytes and signed documents. A
/// notification of 19 KB takes about 2 KB and can still be reassembled exactly.
///
/// A signed document (JWS in compact serialization) is recognized by its shape alone. The header,
/// which carries the certificates and is the same for months, is stored once elsewhere under its
/// fingerprint. The payload is stored as the bytes it encodes, which are split in turn. The
/// signature is stored as its 64 bytes.
package struct EvidenceForm: Hashable, Sendable {
    /// The number of received bytes.
    package let count: Int
    let parts: [Part]

    enum Part: Hashable, Sendable {
        case plain([UInt8])
        case signed(header: HeaderFingerprint, payload: [Part], signature: [UInt8])
    }

    /// The maximum nesting depth of signed documents; a notification has two levels.
    static let maximumDepth = 4

    init(count: Int, parts: [Part]) {
        self.count = count
        self.parts = parts
    }

    /// Splits received bytes into parts, and encodes them. `received(headers:)` returns exactly
    /// these bytes: a segment is decoded only if it is the one text that encodes the result. Whether
    /// the encoded parts can be read again is verified here; bytes that fail the check are stored
    /// unsplit. The header texts that the form refers to are added to `headers`. The documents of
    /// `decoded` are not decoded again.
    package static func encode(
        _ received: [UInt8],
        _ decoded: [DecodedDocument] = [],
        headers: inout [HeaderFingerprint: [UInt8]]
    ) -> [UInt8] {
        var dissection = Dissection(decoded: decoded)
        let form = EvidenceForm(
            count: received.count,
            parts: dissection.parts(of: received, depth: 0)
        )
        let encoded = form.encoded
        assert(form.isExact(received, dissection.headers), "canonical base64 has one text")
        guard (try? EvidenceForm(encoded: encoded)) == form else {
            return EvidenceForm(count: received.count, parts: [.plain(received)]).encoded
        }
        headers.merge(dissection.headers) { known, _ in known }
        return encoded
    }

    /// The headers needed to reassemble the received bytes.
    package var fingerprints: Set<HeaderFingerprint> {
        var found: Set<HeaderFingerprint> = []
        Self.collect(parts, into: &found)
        return found
    }

    /// Returns the bytes that were received.
    ///
    /// - Throws: `missingHeader`, or `wrongLength` if a header is not the original one.
    package func received(
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
        guard let rebuilt = try? self.received(headers: headers) else { return false }
        return rebuilt[...].isSame(as: received[...])
    }

    private static func collect(_ parts: [Part], into found: inout Set<HeaderFingerprint>) {
        for case .signed(let header, let payload, _) in parts {
            found.insert(header)
            collect(payload, into: &found)
        }
    }
}

extension EvidenceForm.Part {
    /// Compares the bytes in memory: each form is compared once before it is stored.
    static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.plain(let a), .plain(let b)): a[...].isSame(as: b[...])
        case (.signed(let a, let inA, let byA), .signed(let b, let inB, let byB)):
            a == b && byA == byB && inA == inB
        case (.plain, .signed), (.signed, .plain): false
        }
    }
}

/// Names a header text: its SHA-256 digest.
package struct HeaderFingerprint: Hashable, Sendable {
    /// 32 bytes.
    package let bytes: [UInt8]

    static let count = 32

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Computes the fingerprint of a header in its base64url form, as the document contains it.
    package init(of text: ArraySlice<UInt8>) {
        bytes = SHA256.hash(text)
    }

    /// Hashes the bytes together; an array hashes each by itself.
    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// The reason why stored evidence cannot be reassembled: the stored bytes are damaged.
package enum EvidenceFormError: Error, Hashable, Sendable {
    case unknownVersion(UInt8)
    case unknownPart(UInt8)
    /// The form ends inside a part.
    case cutShort
    /// A length is not in its shortest form, or exceeds every stored length.
    case malformedLength
    case tooDeep
    case missingHeader(HeaderFingerprint)
    case wrongLength(expected: Int, found: Int)
}
