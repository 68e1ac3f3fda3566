import CTideoverOpenSSL

/// A P-256 public key that verifies ES256 signatures from any number of threads.
public struct P256PublicKey: Sendable {
    /// The uncompressed point in X9.63 form: 0x04, then x and y of 32 bytes each.
    public let x963: [UInt8]
    private let contexts: ObjectPool<VerificationContext?>
    private let hotKeys = HotKeyCache()

    /// Creates a key from its uncompressed point of 65 bytes; throws `malformed` if it is not on
    /// P-256.
    public init(x963: [UInt8]) throws(KeyError) {
        guard x963.count == 65, x963.first == 0x04 else { throw .malformed }
        let contexts = ObjectPool<VerificationContext?>(count: 16) { nil }
        try contexts.withOne { context throws(KeyError) in
            context = try VerificationContext(x963: x963)
        }
        self.x963 = x963
        self.contexts = contexts
    }

    /// Reads a key from a DER `SubjectPublicKeyInfo` (RFC 5480), with a named curve and an
    /// uncompressed point; throws `malformed` or `notP256`.
    public init(spki: [UInt8]) throws(KeyError) {
        guard let key = SubjectKey(spki: spki) else { throw .malformed }
        guard key.curve == .p256 else { throw .notP256 }
        try self.init(x963: key.point)
    }

    /// The key as a DER `SubjectPublicKeyInfo`.
    public var spki: [UInt8] { Self.spkiPrefix + x963 }

    /// Returns whether `signature`, r and s of 32 bytes each, is this key's signature of the
    /// SHA-256 of `bytes`.
    ///
    /// A signature of any other length is invalid. If (r, s) is valid, so is (r, n - s), as in all
    /// ECDSA. So the text of a signature does not identify a document.
    public func verify(signature: [UInt8], of bytes: some Collection<UInt8>) -> Bool {
        guard signature.count == ECDSASignature.rawCount else { return false }
        return verify(signature: signature, digest: SHA256.hash(bytes))
    }

    /// Verifies a 32-byte digest in the same way.
    func verify(signature: [UInt8], digest: [UInt8]) -> Bool {
        if let verdict = hotKeys.table(of: self)?.verify(signature: signature, digest: digest) {
            return verdict
        }
        let isValid = verifyOrdinarily(signature: signature, digest: digest)
        if isValid {
            hotKeys.count(self, signature: signature, digest: digest)
        }
        return isValid
    }

    /// Verifies a 32-byte digest, always by libcrypto's own verification instead of
    /// a table.
    package func verifyOrdinarily(signature: [UInt8], digest: [UInt8]) -> Bool {
        guard signature.count == ECDSASignature.rawCount else { return false }
        let der = ECDSASignature.der(raw: signature)
        return contexts.withOne { context in
            if context == nil {
                context = try? VerificationContext(x963: x963)
            }
            return context?.verify(der: der, digest: digest) ?? false
        }
    }

    /// Whether the next verification uses a lookup table.
    package var hasTable: Bool { hotKeys.table(of: self) != nil }

    /// The bytes of a P-256 `SubjectPublicKeyInfo` before the point.
    fileprivate static let spkiPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
}

extension P256PublicKey: Hashable {
    public static func == (one: Self, other: Self) -> Bool { one.x963 == other.x963 }

    public func hash(into hasher: inout Hasher) { hasher.combine(x963) }
}

/// A reusable libcrypto context that verifies with one key: creating one decodes the point and
/// looks up the algorithm again.
private struct VerificationContext: ~Copyable {
    private let context: OpaquePointer

    init(x963: [UInt8]) throws(KeyError) {
        guard let context = withCleanErrors({ Self.make(spki: P256PublicKey.spkiPrefix + x963) })
        else { throw .malformed }
        self.context = context
    }

    deinit {
        EVP_PKEY_CTX_free(context)
    }

    private static func make(spki: [UInt8]) -> OpaquePointer? {
        let key = decodeExactly(spki, free: EVP_PKEY_free) { d2i_PUBKEY(nil, &$0, $1) }
        guard let key else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
        guard EVP_PKEY_verify_init(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            return nil
        }
        return context
    }

    func verify(der: [UInt8], digest: [UInt8]) -> Bool {
        let verdict = EVP_PKEY_verify(context, der, der.count, digest, digest.count)
        if verdict != 1 {
            ERR_clear_error()
        }
        return verdict == 1
    }
}
