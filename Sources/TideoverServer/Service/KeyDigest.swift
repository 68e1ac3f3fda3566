import TideoverSignatures
import TideoverStorage

/// The SHA-256 digest of a key, compared in constant time.
struct KeyDigest: Sendable {
    private let words: SIMD4<UInt64>

    /// Computes the digest of a credential, valid or not.
    init(of presented: some StringProtocol) {
        self.init(SHA256.hash(presented.utf8))
    }

    /// Creates a digest from 32 bytes.
    init(_ bytes: [UInt8]) {
        precondition(bytes.count == KeyRecord.digestCount, "a digest has its 32 bytes")
        words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// The bytes in their stored form.
    var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// Returns whether two digests are equal. All bytes are compared, so the time reveals nothing
    /// about a guess.
    func isSame(as other: KeyDigest) -> Bool {
        let difference = words ^ other.words
        return difference[0] | difference[1] | difference[2] | difference[3] == 0
    }
}
