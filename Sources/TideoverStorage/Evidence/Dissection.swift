import TideoverJSON

/// Takes received bytes apart, in time linear in their length.
struct Dissection {
    private(set) var headers: [HeaderFingerprint: [UInt8]] = [:]
    private var latest: (text: [UInt8], fingerprint: HeaderFingerprint)?

    mutating func parts(of bytes: [UInt8], depth: Int) -> [EvidenceForm.Part] {
        var parts: [EvidenceForm.Part] = []
        var plainStart = 0
        var position = 0
        while let document = CompactDocument.next(in: bytes, from: &position) {
            guard depth < EvidenceForm.maximumDepth, let part = part(document, in: bytes, depth)
            else { continue }
            if plainStart < document.start {
                parts.append(.plain(Array(bytes[plainStart..<document.start])))
            }
            parts.append(part)
            plainStart = document.end
        }
        if plainStart < bytes.count { parts.append(.plain(Array(bytes[plainStart...]))) }
        return parts
    }

    private mutating func part(
        _ document: CompactDocument,
        in bytes: [UInt8],
        _ depth: Int
    ) -> EvidenceForm.Part? {
        guard let payload = Base64.decode(bytes[document.payload], .urlSafe),
            let signature = Base64.decode(bytes[document.signature], .urlSafe)
        else { return nil }
        return .signed(
            header: fingerprint(of: bytes[document.header]),
            payload: parts(of: payload, depth: depth + 1),
            signature: signature
        )
    }

    /// The documents of one notification share their header: comparing is cheaper than hashing.
    private mutating func fingerprint(of text: ArraySlice<UInt8>) -> HeaderFingerprint {
        if let latest, latest.text.elementsEqual(text) { return latest.fingerprint }
        let fingerprint = HeaderFingerprint(of: text)
        let text = Array(text)
        headers[fingerprint] = text
        latest = (text, fingerprint)
        return fingerprint
    }
}

/// Where something shaped like a signed document stands: three runs of base64url characters with
/// dots between them, the first of which begins like a JSON object, the last with 64 bytes in it.
struct CompactDocument {
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    var start: Int { header.lowerBound }
    var end: Int { signature.upperBound }

    /// What base64url makes of `{"`, and the first bits of a letter.
    private static let beginning = Array("eyJ".utf8)
    private static let signatureLength = 86

    /// The next one at or behind `position`, which is moved behind what was looked at.
    static func next(in bytes: [UInt8], from position: inout Int) -> CompactDocument? {
        bytes.withUnsafeBufferPointer { text in
            while position < text.count {
                let first = run(in: text, from: position)
                // A dot joins runs; whatever else ends one is no part of a document.
                guard !first.isEmpty else {
                    position += 1
                    continue
                }
                var runs = [first]
                while let end = runs.last?.upperBound, end < text.count, text[end] == dot {
                    runs.append(run(in: text, from: end + 1))
                }
                position = runs.last?.upperBound ?? text.count
                if let found = CompactDocument(runs, in: text) { return found }
            }
            return nil
        }
    }

    private init?(_ runs: [Range<Int>], in text: UnsafeBufferPointer<UInt8>) {
        guard runs.count == 3, runs[2].count == Self.signatureLength,
            text[runs[0]].starts(with: Self.beginning)
        else { return nil }
        header = runs[0]
        payload = runs[1]
        signature = runs[2]
    }

    private static func run(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Range<Int> {
        var end = start
        while end < text.count, isBase64URL(text[end]) { end += 1 }
        return start..<end
    }

    private static let dot = UInt8(ascii: ".")

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
