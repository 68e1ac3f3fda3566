import Synchronization
import TideoverLocks

/// Counts how often a public key has verified, and manages its lookup table.
///
/// The few signing keys of a store verify almost all documents, so a table pays off for them. A
/// table is large and slow to compute, so their number is bounded for the whole process. The least
/// recently used one is replaced. A key gets a table, or gets it again, only after a thousand
/// signatures that the ordinary path accepted. So an attacker without a trusted key cannot cause a
/// table to be computed.
final class HotKeyCache: Sendable {
    /// The number of accepted signatures before a key gets a table.
    static let threshold = 1_000

    private static let maximumTableCount = 8
    private static let tables = Locked(RecentlyUsed<FixedKeyTable>(capacity: maximumTableCount))

    private let accepted = Atomic<Int>(0)
    private let hasTable = Atomic<Bool>(false)

    /// Returns the key's table, if it has one.
    func table(of key: P256PublicKey) -> FixedKeyTable? {
        guard hasTable.load(ordering: .relaxed) else { return nil }
        if let table = Self.tables.withLock({ $0.value(for: key.x963[...]) }) { return table }
        // Other keys have displaced it.
        if hasTable.exchange(false, ordering: .relaxed) {
            accepted.store(0, ordering: .relaxed)
        }
        return nil
    }

    /// Counts a signature that the ordinary path accepted. At the threshold, the calling thread
    /// computes the table once, while all others continue without it.
    func count(_ key: P256PublicKey, signature: [UInt8], digest: [UInt8]) {
        let count = accepted.wrappingAdd(1, ordering: .relaxed).newValue
        guard count == Self.threshold else { return }
        makeTable(of: key, signature: signature, digest: digest)
    }

    /// Computes the table, or reuses one of the same key. Discards a table that disagrees with
    /// libcrypto.
    private func makeTable(of key: P256PublicKey, signature: [UInt8], digest: [UInt8]) {
        let known = Self.tables.withLock { $0.value(for: key.x963[...]) }
        guard let table = known ?? FixedKeyTable(key),
            table.agrees(on: signature, digest: digest)
        else { return }
        Self.tables.withLock { $0.remember(table, for: key.x963[...]) }
        hasTable.store(true, ordering: .relaxed)
    }
}
