import CTideoverOpenSSL
import TideoverLocks

/// The RSA key in a certificate, as encoded there.
struct RSASubjectKey: Hashable, Sendable {
    /// DER `SubjectPublicKeyInfo`.
    let spki: [UInt8]
    let bitCount: Int

    /// Shorter keys can be broken; longer ones cost more than any store requires.
    static let acceptedBitCounts = 2048...4096

    var isLongEnough: Bool { Self.acceptedBitCounts.contains(bitCount) }

    init(spki: [UInt8], bitCount: Int) {
        self.spki = spki
        self.bitCount = bitCount
    }

    /// Reads the key from libcrypto's `X509_PUBKEY`, which the caller keeps; nil if it is not an
    /// RSA key.
    init?(_ info: OpaquePointer?) {
        var algorithm: OpaquePointer?
        guard X509_PUBKEY_get0_param(&algorithm, nil, nil, nil, info) == 1,
            OBJ_obj2nid(algorithm) == NID_rsaEncryption, let key = X509_PUBKEY_get0(info),
            let spki = encode({ i2d_X509_PUBKEY(info, $0) })
        else { return nil }
        self.spki = spki
        bitCount = Int(EVP_PKEY_get_bits(key))
    }

    /// Returns whether `signature` is this key's PKCS #1 version 1.5 signature of a digest.
    func verify(signature: [UInt8], of digest: [UInt8], by algorithm: RSADigest) -> Bool {
        withCleanErrors {
            let key = decodeExactly(spki, free: EVP_PKEY_free) { d2i_PUBKEY(nil, &$0, $1) }
            guard let key else { return false }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return EVP_PKEY_verify_init(context) == 1
                && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, algorithm.algorithm) == 1
                && EVP_PKEY_verify(
                    context,
                    signature,
                    signature.count,
                    digest,
                    digest.count
                ) == 1
        }
    }
}

/// An RSA private key of a service account, or of a simulated store that signs receipts and
/// certificates like the App Store. Its bytes stay inside libcrypto until requested.
public struct RSAPrivateKey: Sendable {
    private let storage: Locked<Handle>

    /// Reads a key from a PEM text labelled `PRIVATE KEY` (PKCS #8), the form of Google's key
    /// files; throws `notPEM`, `malformed` or `notRSA`.
    public init(pem: String) throws(KeyError) {
        guard let der = PEM.decode(pem, label: Self.pemLabel) else { throw .notPEM }
        guard let key = withCleanErrors({ PrivateKeyStorage.decode(der) }) else { throw .malformed }
        let handle = Handle(key)
        guard handle.isLongEnough else { throw .notRSA }
        guard handle.isConsistent else { throw .malformed }
        storage = Locked(handle)
    }

    private init(_ handle: consuming sending Handle) {
        storage = Locked(handle)
    }

    /// The key as PKCS #8 in PEM. This is the secret: store it in a file, never in a log.
    public var pem: String {
        let der = storage.withLock { PrivateKeyStorage.encoded($0.key) }
        guard let der else { preconditionFailure("libcrypto could not write a private key") }
        return PEM.encode(der, label: Self.pemLabel)
    }

    private static let pemLabel = "PRIVATE KEY"

    /// Generates a random key of 2048 bits or more, which takes at least a tenth of a second.
    public static func generate(bitCount: Int = 2048) -> RSAPrivateKey {
        precondition(bitCount >= 2048, "a shorter key is not accepted anywhere")
        guard let key = generated(bitCount) else {
            preconditionFailure("libcrypto could not generate a key")
        }
        return RSAPrivateKey(Handle(key))
    }

    /// Returns the PKCS #1 version 1.5 signature of `bytes`.
    public func sign(_ bytes: some Collection<UInt8>, _ digest: RSADigest) -> [UInt8] {
        let hash = digest.hash(ArraySlice(bytes))
        return storage.withLock { $0.sign(hash, digest) }
    }

    /// The modulus and exponent of the public half, big-endian without leading zeros.
    var publicNumbers: (modulus: [UInt8], exponent: [UInt8]) {
        storage.withLock { handle in
            guard let modulus = Self.number(OSSL_PKEY_PARAM_RSA_N, of: handle.key),
                let exponent = Self.number(OSSL_PKEY_PARAM_RSA_E, of: handle.key)
            else { preconditionFailure("libcrypto could not export the numbers of an RSA key") }
            return (modulus, exponent)
        }
    }

    private static func number(_ name: String, of key: OpaquePointer) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else { return nil }
        defer { BN_free(number) }
        var digits = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
        guard BN_bn2bin(number, &digits) == digits.count else { return nil }
        return digits
    }

    /// The DER of the public half.
    var spki: [UInt8] {
        storage.withLock { handle in
            guard let der = encode({ i2d_PUBKEY(handle.key, $0) }) else {
                preconditionFailure("libcrypto could not write a public key")
            }
            return der
        }
    }

    /// Runs `body` with exclusive access to libcrypto's `EVP_PKEY`; `body` must not retain it.
    func withKey<Answer: Sendable>(_ body: (OpaquePointer) -> Answer) -> Answer {
        storage.withLock { body($0.key) }
    }

    private static func generated(_ bitCount: Int) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bitCount)) == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { return nil }
        return key
    }

    /// A key in libcrypto, used by one thread at a time.
    private struct Handle: ~Copyable {
        let key: OpaquePointer

        init(_ key: OpaquePointer) { self.key = key }

        deinit { EVP_PKEY_free(key) }

        /// Whether it is an RSA key of an accepted length.
        var isLongEnough: Bool {
            EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA
                && RSASubjectKey.acceptedBitCounts.contains(Int(EVP_PKEY_get_bits(key)))
        }

        /// Whether the public half matches the private one.
        var isConsistent: Bool {
            withCleanErrors {
                guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
                defer { EVP_PKEY_CTX_free(context) }
                return EVP_PKEY_pairwise_check(context) == 1
            }
        }

        func sign(_ hash: [UInt8], _ digest: RSADigest) -> [UInt8] {
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
                preconditionFailure("libcrypto has no memory left")
            }
            defer { EVP_PKEY_CTX_free(context) }
            var count = Int(EVP_PKEY_get_size(key))
            return [UInt8](unsafeUninitializedCapacity: count) { signature, written in
                let isSigned =
                    EVP_PKEY_sign_init(context) == 1
                    && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                    && EVP_PKEY_CTX_set_signature_md(context, digest.algorithm) == 1
                    && EVP_PKEY_sign(context, signature.baseAddress, &count, hash, hash.count) == 1
                precondition(isSigned, "libcrypto could not sign")
                written = count
            }
        }
    }
}
