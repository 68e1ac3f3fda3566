import CTideoverOpenSSL

/// The digest SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// How many bytes a digest has.
    public static let digestCount = 32

    private static let contexts = Lanes<DigestContext>(count: 16) { DigestContext() }

    /// The 32 bytes of the SHA-256 digest of `bytes`.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        // A slice is read where it is; what is an array underneath is not copied either.
        let slice = bytes as? ArraySlice<UInt8> ?? ArraySlice(bytes)
        return contexts.withOne { $0.hash(slice) }
    }
}

/// A digest algorithm fetched once, since each fetch costs microseconds, and a context to run it.
private struct DigestContext: ~Copyable {
    private let algorithm: OpaquePointer
    private let context: OpaquePointer

    init() {
        guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil), let context = EVP_MD_CTX_new()
        else { preconditionFailure("libcrypto offers no SHA-256") }
        self.algorithm = algorithm
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(algorithm)
    }

    func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.digestCount) { digest, count in
            let isDone = bytes.withUnsafeBufferPointer { bytes in
                EVP_DigestInit_ex2(context, algorithm, nil) == 1
                    && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
                    && EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1
            }
            precondition(isDone, "libcrypto could not compute a SHA-256 digest")
            count = SHA256.digestCount
        }
    }
}
