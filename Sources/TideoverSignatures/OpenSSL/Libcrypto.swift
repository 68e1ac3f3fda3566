import CTideoverOpenSSL

/// Runs `body`, and empties libcrypto's per-thread error queue. Other users of the library in this
/// process must not find an expected failure there later.
func withCleanErrors<Answer>(_ body: () -> Answer) -> Answer {
    defer { ERR_clear_error() }
    return body()
}

/// Returns the result of a `d2i_...` function; nil unless the bytes are exactly one value.
func decodeExactly(
    _ der: [UInt8],
    free: (OpaquePointer?) -> Void,
    _ decode: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
) -> OpaquePointer? {
    der.withUnsafeBufferPointer { bytes in
        var position = bytes.baseAddress
        guard let value = decode(&position, bytes.count) else { return nil }
        guard position == bytes.baseAddress?.advanced(by: bytes.count) else {
            free(value)
            return nil
        }
        return value
    }
}

/// Returns the output of an `i2d_...` function, which is called once for the length and once for
/// the bytes.
func encode(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let count = Int(write(nil))
    guard count > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
        var position = bytes.baseAddress
        written = max(0, Int(write(&position)))
    }
}

extension EllipticCurve {
    init?(nid: Int32) {
        switch nid {
        case NID_X9_62_prime256v1: self = .p256
        case NID_secp384r1: self = .p384
        default: return nil
        }
    }

    /// The number of bytes in a coordinate.
    var coordinateCount: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        }
    }

    var groupName: String {
        switch self {
        case .p256: SN_X9_62_prime256v1
        case .p384: SN_secp384r1
        }
    }
}

extension UInt256 {
    /// Reads libcrypto's number; nil if it is larger.
    init?(_ number: OpaquePointer) {
        var bytes = InlineArray<32, UInt8>(repeating: 0)
        var span = bytes.mutableSpan
        let count = span.withUnsafeMutableBufferPointer {
            BN_bn2binpad(number, $0.baseAddress, Int32($0.count))
        }
        guard count == Self.byteCount else { return nil }
        self.init(bigEndian: bytes.span.bytes, at: 0)
    }

    /// Returns false if libcrypto has no memory for it.
    func write(to number: OpaquePointer) -> Bool {
        var words = words
        for index in words.indices { words[index] = words[index].littleEndian }
        return words.span.withUnsafeBytes { bytes in
            BN_lebin2bn(bytes.baseAddress, Int32(bytes.count), number) != nil
        }
    }
}
