import TideoverJSON

/// The parts of a signed document in compact serialization (RFC 7515), unverified.
struct CompactJWS: Hashable, Sendable {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]
    /// The bytes that the signature covers.
    let signingInput: [UInt8]

    struct Malformed: Error, Hashable {}

    init(_ text: some Collection<UInt8>) throws(Malformed) {
        let bytes = Array(text)
        let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        guard dots.count == 2,
            let header = Base64.decode(bytes[..<dots[0]], .urlSafe),
            let payload = Base64.decode(bytes[(dots[0] + 1)..<dots[1]], .urlSafe),
            let signature = Base64.decode(bytes[(dots[1] + 1)...], .urlSafe)
        else { throw Malformed() }
        self.header = header
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<dots[1]])
    }
}
