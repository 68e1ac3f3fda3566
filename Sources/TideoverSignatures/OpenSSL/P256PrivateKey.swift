import CTideoverOpenSSL
import TideoverLocks

/// A P-256 private key that signs with ES256; its bytes stay inside libcrypto until requested.
public struct P256PrivateKey: Sendable {
    /// The public half.
    public let publicKey: P256PublicKey
    let storage: PrivateKeyStorage

    /// Generates a random key.
    public static func generate() -> P256PrivateKey {
        do {
            return try P256PrivateKey(PrivateKeyStorage(generating: .p256))
        } catch {
            preconditionFailure("libcrypto made a P-256 key that it does not read")
        }
    }

    /// Reads a key from a PEM text labelled `PRIVATE KEY`, the form of App Store Connect's `.p8`
    /// files; throws `notPEM`, `malformed` or `notP256`.
    public init(pem: String) throws(KeyError) {
        guard let der = PEM.decode(pem, label: Self.pemLabel) else { throw .notPEM }
        try self.init(pkcs8: der)
    }

    /// Reads a key from an unencrypted DER `PrivateKeyInfo` (PKCS #8); throws `malformed` or
    /// `notP256`.
    public init(pkcs8: [UInt8]) throws(KeyError) {
        try self.init(PrivateKeyStorage(pkcs8: pkcs8))
    }

    private init(_ storage: PrivateKeyStorage) throws(KeyError) {
        guard storage.curve == .p256 else { throw .notP256 }
        publicKey = try P256PublicKey(x963: storage.point)
        self.storage = storage
    }

    /// The key as PKCS #8 in PEM. This is the secret: store it in a file, never in a log.
    public var pem: String {
        PEM.encode(storage.pkcs8, label: Self.pemLabel)
    }

    /// Returns the 64 bytes r and s over the SHA-256 of `bytes`; they differ each time, since ECDSA
    /// is randomized.
    public func sign(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let der = storage.sign(digest: SHA256.hash(bytes))
        guard let raw = ECDSASignature.raw(der: der) else {
            preconditionFailure("libcrypto wrote an ECDSA signature that is not DER")
        }
        return raw
    }

    private static let pemLabel = "PRIVATE KEY"
}

/// A private key in libcrypto, used by one thread at a time.
final class PrivateKeyStorage: Sendable {
    let curve: EllipticCurve
    /// The uncompressed point of the public half.
    let point: [UInt8]
    private let key: Locked<Handle>

    init(generating curve: EllipticCurve) {
        guard let key = Self.generate(curve), let handle = Handle(key),
            let point = Self.point(of: key, on: curve)
        else { preconditionFailure("libcrypto could not generate a key") }
        self.curve = curve
        self.point = point
        self.key = Locked(handle)
    }

    init(pkcs8: [UInt8]) throws(KeyError) {
        guard let key = withCleanErrors({ Self.decode(pkcs8) }) else { throw .malformed }
        guard let curve = Self.curve(of: key) else {
            EVP_PKEY_free(key)
            throw .notP256
        }
        guard let handle = Handle(key), handle.isConsistent,
            let point = Self.point(of: key, on: curve)
        else { throw .malformed }
        self.curve = curve
        self.point = point
        self.key = Locked(handle)
    }

    /// Returns the DER of the ECDSA signature over a digest.
    func sign(digest: [UInt8]) -> [UInt8] {
        key.withLock { $0.sign(digest: digest) }
    }

    /// The key as DER `PrivateKeyInfo`.
    var pkcs8: [UInt8] {
        key.withLock { handle in
            guard let der = Self.encoded(handle.key) else {
                preconditionFailure("libcrypto could not write a private key")
            }
            return der
        }
    }

    /// Runs `body` with exclusive access to libcrypto's `EVP_PKEY`; `body` must not retain it.
    func withKey<Answer: Sendable>(_ body: (OpaquePointer) -> Answer) -> Answer {
        key.withLock { body($0.key) }
    }
}

extension PrivateKeyStorage {
    /// The key and its signing context.
    private struct Handle: ~Copyable {
        let key: OpaquePointer
        private let context: OpaquePointer

        /// Takes ownership of `key`, even when it fails.
        init?(_ key: OpaquePointer) {
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
                EVP_PKEY_free(key)
                return nil
            }
            self.key = key
            self.context = context
        }

        deinit {
            EVP_PKEY_CTX_free(context)
            EVP_PKEY_free(key)
        }

        /// Whether the public half matches the private one.
        var isConsistent: Bool {
            withCleanErrors { EVP_PKEY_pairwise_check(context) == 1 }
        }

        func sign(digest: [UInt8]) -> [UInt8] {
            var count = Int(EVP_PKEY_get_size(key))
            return [UInt8](unsafeUninitializedCapacity: count) { signature, written in
                let isSigned =
                    EVP_PKEY_sign_init(context) == 1
                    && EVP_PKEY_sign(
                        context,
                        signature.baseAddress,
                        &count,
                        digest,
                        digest.count
                    ) == 1
                precondition(isSigned, "libcrypto could not sign")
                written = count
            }
        }
    }

    private static func generate(_ curve: EllipticCurve) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, curve.groupName) == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { return nil }
        return key
    }

    /// Returns a key of any kind as DER `PrivateKeyInfo`.
    static func encoded(_ key: OpaquePointer) -> [UInt8]? {
        guard let info = EVP_PKEY2PKCS8(key) else { return nil }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return encode { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    }

    /// Reads a key of any kind from a DER `PrivateKeyInfo`.
    static func decode(_ pkcs8: [UInt8]) -> OpaquePointer? {
        let info = decodeExactly(pkcs8, free: PKCS8_PRIV_KEY_INFO_free) {
            d2i_PKCS8_PRIV_KEY_INFO(nil, &$0, $1)
        }
        guard let info else { return nil }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return EVP_PKCS82PKEY(info)
    }

    private static func curve(of key: OpaquePointer) -> EllipticCurve? {
        var name = [CChar](repeating: 0, count: 64)
        let isNamed = withCleanErrors {
            EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1
        }
        guard isNamed else { return nil }
        return EllipticCurve(nid: OBJ_sn2nid(name))
    }

    private static func point(of key: OpaquePointer, on curve: EllipticCurve) -> [UInt8]? {
        guard let x = coordinate(OSSL_PKEY_PARAM_EC_PUB_X, of: key, on: curve),
            let y = coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, of: key, on: curve)
        else { return nil }
        return [0x04] + x + y
    }

    private static func coordinate(
        _ name: String,
        of key: OpaquePointer,
        on curve: EllipticCurve
    ) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else { return nil }
        defer { BN_free(number) }
        var digits = [UInt8](repeating: 0, count: curve.coordinateCount)
        guard BN_bn2binpad(number, &digits, Int32(digits.count)) == digits.count else { return nil }
        return digits
    }
}
