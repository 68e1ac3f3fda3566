import CTideoverOpenSSL

/// Codes by which two who share a secret know each other's messages: HMAC (RFC 2104) with SHA-256.
public enum HMACSHA256 {
    /// The 32 bytes of the code of `message` under a secret of any length. Whoever compares it must take a
    /// time that does not depend on where it differs.
    public static func code(of message: [UInt8], under secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.digestCount)
        // An empty array may have no address, which libcrypto takes for a secret to be kept from before.
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
