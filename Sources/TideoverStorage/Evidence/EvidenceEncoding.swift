// The bytes of a form: version 1, the count of received bytes, then parts up to the end.
//
//     plain   0, length, that many bytes
//     signed  1, fingerprint of the header (32), length, that many bytes of parts, signature (64)
//
// Lengths are unsigned, seven bits a byte, lowest first, the top bit set on all but the last byte.

extension EvidenceForm {
    private static let version: UInt8 = 1
    private static let plain: UInt8 = 0
    private static let signed: UInt8 = 1
    private static let signatureCount = 64

    /// The form as bytes.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        // Enough for a notification: of the received bytes, headers and base64 are left out.
        bytes.reserveCapacity(min(count, 4_096))
        bytes.append(Self.version)
        Self.append(length: count, to: &bytes)
        Self.append(parts, to: &bytes)
        return bytes
    }

    private static func append(_ parts: [Part], to bytes: inout [UInt8]) {
        for part in parts {
            switch part {
            case .plain(let content):
                bytes.append(plain)
                append(length: content.count, to: &bytes)
                bytes += content
            case .signed(let header, let payload, let signature):
                bytes.append(signed)
                bytes += header.bytes
                var nested: [UInt8] = []
                append(payload, to: &nested)
                append(length: nested.count, to: &bytes)
                bytes += nested
                bytes += signature
            }
        }
    }

    private static func append(length: Int, to bytes: inout [UInt8]) {
        var rest = length
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

extension EvidenceForm {
    /// Reads the bytes that `encoded` produces.
    package init(encoded bytes: [UInt8]) throws(EvidenceFormError) {
        var reader = PartReader(bytes[...])
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let count = try reader.length()
        self.init(count: count, parts: try Self.parts(from: &reader, depth: 0))
    }

    private static func parts(
        from reader: inout PartReader,
        depth: Int
    ) throws(EvidenceFormError) -> [Part] {
        guard depth <= maximumDepth else { throw .tooDeep }
        var parts: [Part] = []
        while !reader.isAtEnd {
            parts.append(try part(from: &reader, depth: depth))
        }
        return parts
    }

    private static func part(
        from reader: inout PartReader,
        depth: Int
    ) throws(EvidenceFormError) -> Part {
        switch try reader.byte() {
        case plain: return .plain(Array(try reader.bytes(reader.length())))
        case signed:
            let header = HeaderFingerprint(bytes: Array(try reader.bytes(HeaderFingerprint.count)))
            var nested = PartReader(try reader.bytes(reader.length()))
            return .signed(
                header: header,
                payload: try parts(from: &nested, depth: depth + 1),
                signature: Array(try reader.bytes(signatureCount))
            )
        case let other: throw .unknownPart(other)
        }
    }
}

/// Reads a form from beginning to end, never beyond it.
private struct PartReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() throws(EvidenceFormError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .cutShort }
        return byte
    }

    mutating func bytes(_ count: Int) throws(EvidenceFormError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .cutShort }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// At most 35 bits: evidence is bounded far below.
    mutating func length() throws(EvidenceFormError) -> Int {
        var length = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            let next = try byte()
            length |= Int(next & 0x7F) << shift
            if next & 0x80 == 0 {
                guard next != 0 || shift == 0 else { throw .malformedLength }
                return length
            }
        }
        throw .malformedLength
    }
}
