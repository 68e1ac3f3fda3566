import Glibc
import TideoverJSON
import TideoverLocks

/// Splits received bytes into parts, in time linear in their length.
struct Dissection {
    private let decoded: [DecodedDocument]
    private(set) var headers: [HeaderFingerprint: [UInt8]] = [:]
    /// The latest header: the documents of one notification share theirs, and most notifications
    /// have that of the one before.
    private var latest = Self.latestOfAll.withLock(\.self)

    private struct Header {
        let text: [UInt8]
        let fingerprint: HeaderFingerprint
    }

    private static let latestOfAll = Locked<Header?>(nil)

    /// Uses the payloads of `decoded` for these documents.
    init(decoded: [DecodedDocument]) {
        self.decoded = decoded
    }

    mutating func parts(of bytes: [UInt8], depth: Int) -> [EvidenceForm.Part] {
        var parts: [EvidenceForm.Part] = []
        var plainStart = 0
        var position = depth < EvidenceForm.maximumDepth ? 0 : bytes.count
        while let document = nextDocument(in: bytes, from: &position) {
            guard let part = part(document, in: bytes, depth) else { continue }
            if plainStart < document.start {
                parts.append(.plain(Array(bytes[plainStart..<document.start])))
            }
            parts.append(part)
            plainStart = document.end
            position = document.end
        }
        if plainStart < bytes.count { parts.append(.plain(Array(bytes[plainStart...]))) }
        return parts
    }

    private func nextDocument(
        in bytes: [UInt8],
        from position: inout Int
    ) -> CompactDocument? {
        bytes.withUnsafeBufferPointer { text in
            while let start = text.documentBeginning(from: position) {
                position = start + CompactDocument.beginning.count
                let document = CompactDocument(in: text, at: start, likelyHeader: latest?.text)
                if let document { return document }
            }
            return nil
        }
    }

    /// Returns nil if the bytes have the shape of a signed document but do not decode as one.
    private mutating func part(
        _ document: CompactDocument,
        in bytes: [UInt8],
        _ depth: Int
    ) -> EvidenceForm.Part? {
        guard let signature = Base64.decode(bytes[document.signature], .urlSafe),
            let payload = payload(of: document, in: bytes)
        else { return nil }
        return .signed(
            header: fingerprint(of: bytes[document.header]),
            payload: parts(of: payload, depth: depth + 1),
            signature: signature
        )
    }

    private func payload(of document: CompactDocument, in bytes: [UInt8]) -> [UInt8]? {
        let text = bytes[document.start..<document.end]
        if let known = decoded.first(where: { $0.text.isSame(as: text) }) { return known.payload }
        return Base64.decode(bytes[document.payload], .urlSafe)
    }

    /// Comparing is cheaper than hashing.
    private mutating func fingerprint(of text: ArraySlice<UInt8>) -> HeaderFingerprint {
        if let latest, latest.text[...].isSame(as: text) {
            headers[latest.fingerprint] = latest.text
            return latest.fingerprint
        }
        let header = Header(text: Array(text), fingerprint: HeaderFingerprint(of: text))
        headers[header.fingerprint] = header.text
        latest = header
        Self.latestOfAll.withLock { $0 = header }
        return header.fingerprint
    }
}

/// The position of a document shaped like a signed one. It has three segments separated by dots.
/// The first consists of base64url characters that begin like a JSON object; the last is as long as
/// 64 bytes.
struct CompactDocument {
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    var start: Int { header.lowerBound }
    var end: Int { signature.upperBound }

    /// The base64url form of `{"` and the first bits of a letter.
    static let beginning = Array("eyJ".utf8)
    private static let signatureLength = 86

    /// Fails if there is no document at `start`. A header equal to the likely one is not scanned.
    init?(in text: UnsafeBufferPointer<UInt8>, at start: Int, likelyHeader: [UInt8]?) {
        let headerEnd =
            likelyHeader.flatMap { text.end(of: $0, at: start) } ?? text.endOfRun(from: start)
        guard text.hasDot(at: headerEnd), let payloadEnd = text.nextDot(from: headerEnd + 1) else {
            return nil
        }
        let end = payloadEnd + 1 + Self.signatureLength
        // With a fourth segment, or a longer third one, it is not a signed document.
        guard end <= text.count, !text.hasDot(at: end), text.endOfRun(from: end) == end else {
            return nil
        }
        header = start..<headerEnd
        payload = headerEnd + 1..<payloadEnd
        signature = payloadEnd + 1..<end
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate static var dot: UInt8 { UInt8(ascii: ".") }

    /// Returns the next position where a segment can begin like a header.
    fileprivate func documentBeginning(from position: Int) -> Int? {
        var position = position
        // The rarest of the three letters in the JSON around a document.
        while let last = next(UInt8(ascii: "J"), from: position + 2) {
            position = last - 2
            if self[position] == UInt8(ascii: "e"), self[position + 1] == UInt8(ascii: "y"),
                isBoundary(before: position)
            {
                return position
            }
            position += 1
        }
        return nil
    }

    private func isBoundary(before position: Int) -> Bool {
        position == 0
            || !Self.isBase64URL(self[position - 1]) && self[position - 1] != Self.dot
    }

    /// Returns the position after `segment`, if the whole segment is at `start`.
    fileprivate func end(of segment: [UInt8], at start: Int) -> Int? {
        let end = start + segment.count
        guard hasDot(at: end), let base = baseAddress,
            memcmp(base + start, segment, segment.count) == 0
        else { return nil }
        return end
    }

    fileprivate func hasDot(at position: Int) -> Bool {
        position < count && self[position] == Self.dot
    }

    fileprivate func nextDot(from start: Int) -> Int? { next(Self.dot, from: start) }

    private func next(_ byte: UInt8, from start: Int) -> Int? {
        guard start < count, let base = baseAddress else { return nil }
        guard let found = memchr(base + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    fileprivate func endOfRun(from start: Int) -> Int {
        var end = start
        while end < count, Self.isBase64URL(self[end]) { end += 1 }
        return end
    }

    /// A bit for each character from 0 to 63, and from 64 to 127.
    private static var base64URLCharacters: (UInt64, UInt64) {
        (0x03FF_2000_0000_0000, 0x07FF_FFFE_87FF_FFFE)
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        let characters = byte < 0x40 ? base64URLCharacters.0 : base64URLCharacters.1
        return byte < 0x80 && characters >> UInt64(byte & 0x3F) & 1 == 1
    }
}

extension ArraySlice<UInt8> {
    func isSame(as other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in
            other.withUnsafeBytes { others in
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else {
                    return true
                }
                return memcmp(start, otherStart, bytes.count) == 0
            }
        }
    }
}
