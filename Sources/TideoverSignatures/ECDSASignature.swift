/// The two forms of an ECDSA P-256 signature: JWS concatenates r and s, libcrypto uses DER.
package enum ECDSASignature {
    /// The number of bytes of r and s together, 32 each (RFC 7518 section 3.4).
    package static let rawCount = 64

    /// Returns `SEQUENCE { INTEGER r, INTEGER s }` for 64 bytes of r and s.
    package static func der(raw: some RandomAccessCollection<UInt8>) -> [UInt8] {
        precondition(raw.count == rawCount, "a P-256 signature has 64 bytes")
        var body: [UInt8] = []
        body.reserveCapacity(72)
        body.append(contentsOf: [0x30, 0])
        appendInteger(raw.prefix(32), to: &body)
        appendInteger(raw.suffix(32), to: &body)
        body[1] = UInt8(body.count - 2)
        return body
    }

    /// A DER integer has the shortest form, and its first bit is the sign.
    private static func appendInteger(
        _ bigEndian: some Collection<UInt8>,
        to body: inout [UInt8]
    ) {
        let digits = bigEndian.drop { $0 == 0 }
        let needsZero = (digits.first ?? 0x80) >= 0x80
        body.append(0x02)
        body.append(UInt8(digits.count + (needsZero ? 1 : 0)))
        if needsZero {
            body.append(0)
        }
        body.append(contentsOf: digits)
    }

    /// Returns the 64 bytes of r and s of a DER signature; nil if it is not a P-256 signature.
    package static func raw(der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der.dropFirst(2)
        guard let r = takeInteger(&rest), let s = takeInteger(&rest), rest.isEmpty else {
            return nil
        }
        return r + s
    }

    private static func takeInteger(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let count = rest.popFirst(), count <= rest.count else {
            return nil
        }
        let digits = rest.prefix(Int(count)).drop { $0 == 0 }
        rest = rest.dropFirst(Int(count))
        guard digits.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
