import TideoverSignatures
import TideoverStorage

/// The SHA-256 digest of a key, compared in the same time wherever two differ.
struct KeyDigest: Sendable {
    private let words: SIMD4<UInt64>

    /// The digest of what somebody presents, be it a key or not.
    init(of presented: some StringProtocol) {
        self.init(SHA256.hash(presented.utf8))
    }

    /// A digest of 32 bytes.
    init(_ bytes: [UInt8]) {
        precondition(bytes.count == KeyRecord.digestCount, "a digest has its 32 bytes")
        words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// The bytes, as they are stored.
    var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// Whether two are the same. All bytes are looked at before there is an answer, so that time
    /// tells nobody how much of a guess was right.
    func isSame(as other: KeyDigest) -> Bool {
        let difference = words ^ other.words
        return difference[0] | difference[1] | difference[2] | difference[3] == 0
    }
}
