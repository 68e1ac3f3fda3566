import CTideoverOpenSSL

/// The digest SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// The number of bytes in a digest.
    public static let digestCount = 32

    private static let contexts = ObjectPool<DigestContext>(count: 16) { DigestContext(.sha256) }

    /// Returns the 32 bytes of the SHA-256 digest of `bytes`.
    public static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        contexts.withOne { $0.hash(bytes) }
    }

    /// Returns the 32 bytes of the SHA-256 digest of `bytes`, which are read in place.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] { hash(bytes[...]) }

    /// Returns the 32 bytes of the SHA-256 digest of `bytes`.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] { hash(Array(bytes)) }
}

/// The digests that RSA signatures use.
public enum RSADigest: Hashable, Sendable, CaseIterable {
    /// SHA-1, which the App Store signed receipts with until 2023.
    case sha1
    case sha256

    private static let sha1Contexts = ObjectPool<DigestContext>(count: 4) { DigestContext(.sha1) }

    /// Returns the digest of `bytes`, 20 or 32 bytes long.
    func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .sha1: Self.sha1Contexts.withOne { $0.hash(bytes) }
        case .sha256: SHA256.hash(bytes)
        }
    }

    /// The name of the digest in libcrypto.
    fileprivate var name: String {
        switch self {
        case .sha1: "SHA1"
        case .sha256: "SHA256"
        }
    }

    fileprivate var digestCount: Int {
        switch self {
        case .sha1: 20
        case .sha256: SHA256.digestCount
        }
    }

    /// libcrypto's description of the digest, which lives as long as the process.
    var algorithm: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        }
    }
}

/// A digest algorithm, fetched once because each fetch costs microseconds, and a context to run it.
private struct DigestContext: ~Copyable {
    private let algorithm: OpaquePointer
    private let context: OpaquePointer
    private let digestCount: Int

    init(_ digest: RSADigest) {
        guard let algorithm = EVP_MD_fetch(nil, digest.name, nil), let context = EVP_MD_CTX_new()
        else { preconditionFailure("libcrypto offers no \(digest.name)") }
        digestCount = digest.digestCount
        self.algorithm = algorithm
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(algorithm)
    }

    func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestCount) { digest, count in
            let isDone = bytes.withUnsafeBufferPointer { bytes in
                EVP_DigestInit_ex2(context, algorithm, nil) == 1
                    && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
                    && EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1
            }
            precondition(isDone, "libcrypto could not compute a digest")
            count = digestCount
        }
    }
}
