import CTideoverOpenSSL

/// Runs `body`, and leaves libcrypto's per-thread queue of errors empty: an expected refusal must
/// not be found there later by other users of the library in this process.
func withCleanErrors<Answer>(_ body: () -> Answer) -> Answer {
    defer { ERR_clear_error() }
    return body()
}

/// What a `d2i_...` function makes of bytes that must be one value to the last byte, else nil.
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

/// What an `i2d_...` function writes: asked once for the length, once for the bytes.
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

    /// How many bytes a coordinate has.
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
