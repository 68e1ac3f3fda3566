import CTideoverOpenSSL

/// Message authentication codes with a shared secret: HMAC (RFC 2104) with SHA-256.
public enum HMACSHA256 {
    /// Returns the 32-byte code of `message` under a secret of any length. Compare it in constant
    /// time.
    public static func code(of message: [UInt8], under secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.digestCount)
        // An empty array may have no address, and libcrypto would then reuse the previous secret.
        let secret = secret.isEmpty ? [0] : secret
        let made = HMAC(
            EVP_sha256(),
            secret,
            Int32(secret.count),
            message,
            message.count,
            &code,
            nil
        )
        precondition(made != nil, "libcrypto could not make a code")
        return code
    }
}
