import CTideoverOpenSSL
import TideoverJSON
import TideoverLocks

/// Returns whether `signature` is the Ed25519 signature of `message` by the public key of these 32
/// bytes.
func isSignature(_ signature: [UInt8], of message: [UInt8], by key: [UInt8]) -> Bool {
    withCleanErrors {
        guard let key = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, key, key.count) else {
            return false
        }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

extension Ed25519PublicKey {
    /// The key's id: the thumbprint of RFC 7638, 43 characters.
    public var thumbprint: String {
        Base64.encodeString(SHA256.hash(JSONValue.object(jwk).encoded()), .urlSafe)
    }
}

/// An Ed25519 private key; its bytes stay inside libcrypto until requested.
public struct Ed25519PrivateKey: Sendable {
    /// The public half.
    public let publicKey: Ed25519PublicKey
    private let key: Locked<Handle>

    /// Generates a random key.
    public static func generate() -> Ed25519PrivateKey {
        guard let key = generated(), let made = try? Ed25519PrivateKey(key) else {
            preconditionFailure("libcrypto could not generate an Ed25519 key")
        }
        return made
    }

    /// Reads a key from a PEM text labelled `PRIVATE KEY` (RFC 8410), the output of `openssl
    /// genpkey -algorithm ed25519`. Throws `notPEM`, `malformed` or `notEd25519`.
    public init(pem: String) throws(KeyError) {
        guard let der = PEM.decode(pem, label: Self.pemLabel) else { throw .notPEM }
        guard let key = withCleanErrors({ PrivateKeyStorage.decode(der) }) else { throw .malformed }
        try self.init(key)
    }

    /// Derives a key from the 32-byte seed of RFC 8032; throws `malformed` for any other length.
    public init(seed: [UInt8]) throws(KeyError) {
        let key = withCleanErrors {
            EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count)
        }
        guard let key else { throw .malformed }
        try self.init(key)
    }

    /// Takes ownership of libcrypto's key, even when it fails.
    private init(_ key: sending OpaquePointer) throws(KeyError) {
        guard EVP_PKEY_is_a(key, "ED25519") == 1 else {
            EVP_PKEY_free(key)
            throw .notEd25519
        }
        publicKey = try Ed25519PublicKey(bytes: Self.publicBytes(of: key))
        self.key = Locked(Handle(key: key))
    }

    /// The key as PKCS #8 in PEM. This is the secret: store it in a file, never in a log.
    public var pem: String { PEM.encode(key.withLock { $0.pkcs8 }, label: Self.pemLabel) }

    /// Returns the 64 bytes of the signature of `message`, the same each time.
    public func sign(_ message: [UInt8]) -> [UInt8] { key.withLock { $0.sign(message) } }

    private static let pemLabel = "PRIVATE KEY"
}

extension Ed25519PrivateKey {
    private static func generated() -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "ED25519", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_generate(context, &key) == 1 else {
            return nil
        }
        return key
    }

    private static func publicBytes(of key: OpaquePointer) -> [UInt8] {
        var count = Ed25519PublicKey.byteCount
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
            let isRead = EVP_PKEY_get_raw_public_key(key, bytes.baseAddress, &count) == 1
            precondition(isRead, "an Ed25519 key has a public half")
            written = count
        }
    }

    private struct Handle: ~Copyable {
        let key: OpaquePointer

        deinit { EVP_PKEY_free(key) }

        var pkcs8: [UInt8] {
            guard let der = PrivateKeyStorage.encoded(key) else {
                preconditionFailure("libcrypto could not write a private key")
            }
            return der
        }

        func sign(_ message: [UInt8]) -> [UInt8] {
            guard let context = EVP_MD_CTX_new() else {
                preconditionFailure("libcrypto could not sign")
            }
            defer { EVP_MD_CTX_free(context) }
            var count = JWS.signatureByteCount
            return [UInt8](unsafeUninitializedCapacity: count) { signature, written in
                let isSigned =
                    EVP_DigestSignInit_ex(context, nil, nil, nil, nil, key, nil) == 1
                    && EVP_DigestSign(
                        context,
                        signature.baseAddress,
                        &count,
                        message,
                        message.count
                    ) == 1
                precondition(isSigned, "libcrypto could not sign")
                written = count
            }
        }
    }
}
