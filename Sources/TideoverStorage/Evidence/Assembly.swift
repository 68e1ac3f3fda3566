import TideoverJSON

/// Reassembles received bytes.
struct Assembly {
    let headers: [HeaderFingerprint: [UInt8]]
    /// The maximum size; more bytes indicate damage and are not produced.
    let limit: Int

    /// Larger than a notification. The limit is read from the stored form, which may be damaged.
    private static let mostReserved = 32_768

    func bytes(of parts: [EvidenceForm.Part]) throws(EvidenceFormError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(limit, Self.mostReserved))
        for part in parts {
            switch part {
            case .plain(let content): bytes += content
            case .signed(let header, let payload, let signature):
                guard let text = headers[header] else { throw .missingHeader(header) }
                bytes += text
                bytes.append(UInt8(ascii: "."))
                bytes += Base64.encode(try self.bytes(of: payload), .urlSafe)
                bytes.append(UInt8(ascii: "."))
                bytes += Base64.encode(signature, .urlSafe)
            }
            guard bytes.count <= limit else {
                throw .wrongLength(expected: limit, found: bytes.count)
            }
        }
        return bytes
    }
}
