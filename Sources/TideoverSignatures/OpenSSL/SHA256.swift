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
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        // From a text's UTF-8, an array would be made byte by byte.
        hash(bytes.withContiguousStorageIfAvailable { Array($0) } ?? Array(bytes))
    }

    /// Returns the digest of the prefix and these bytes.
    package static func hash(
        _ prefix: SHA256Prefix,
        followedBy bytes: ArraySlice<UInt8>
    ) -> [UInt8] {
        contexts.withOne { $0.hash(prefix.state, followedBy: bytes) }
    }
}

/// The state of SHA-256 after the bytes that many messages begin with, so that they are hashed only
/// once.
// Unchecked: libcrypto writes the state only before `init` returns, and then copies it as `const`.
package final class SHA256Prefix: @unchecked Sendable {
    fileprivate let state = DigestContext(.sha256)
    /// The length of the prefix.
    let byteCount: Int

    /// Hashes the prefix.
    package init(_ bytes: ArraySlice<UInt8>) {
        byteCount = bytes.count
        state.begin(with: bytes)
    }
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

    /// Returns the digest of `bytes`.
    func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        begin(with: bytes)
        return finish()
    }

    /// Returns the digest of what the other context has hashed so far, and of `bytes`.
    func hash(_ prefix: borrowing Self, followedBy bytes: ArraySlice<UInt8>) -> [UInt8] {
        Self.check(EVP_MD_CTX_copy_ex(context, prefix.context) == 1)
        update(with: bytes)
        return finish()
    }

    /// Begins a new digest.
    func begin(with bytes: ArraySlice<UInt8>) {
        Self.check(EVP_DigestInit_ex2(context, algorithm, nil) == 1)
        update(with: bytes)
    }

    private func update(with bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer {
            Self.check(EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1)
        }
    }

    private func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestCount) { digest, count in
            Self.check(EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1)
            count = digestCount
        }
    }

    private static func check(_ isDone: Bool) {
        precondition(isDone, "libcrypto could not compute a digest")
    }
}
