import Synchronization
import TideoverLocks

/// How often a public key has verified, and the table it gets for that.
///
/// The few keys that a store signs with verify everything there is: for those a table pays. A table is
/// large and takes long to make, so the number of them is bounded for the whole process, the one unused
/// for longest makes place, and no key gets one, or gets one anew, but for a thousand signatures that
/// the ordinary path accepted. Who has no key that verifies cannot cause one to be made.
final class KeyHeat: Sendable {
    /// How many signatures the ordinary path accepts before a key gets a table.
    static let threshold = 1_000

    private static let maximumTableCount = 8
    private static let tables = Locked(RecentlyUsed<FixedKeyTable>(capacity: maximumTableCount))

    private let accepted = Atomic<Int>(0)
    private let hasTable = Atomic<Bool>(false)

    /// The key's table, where it has one.
    func table(of key: P256PublicKey) -> FixedKeyTable? {
        guard hasTable.load(ordering: .relaxed) else { return nil }
        if let table = Self.tables.withLock({ $0.value(for: key.x963[...]) }) { return table }
        // Others have displaced it.
        if hasTable.exchange(false, ordering: .relaxed) {
            accepted.store(0, ordering: .relaxed)
        }
        return nil
    }

    /// Counts a signature that the ordinary path accepted, and makes the table when it is due: on the
    /// thread of whoever comes to the threshold, once, while all others go on without.
    func count(_ key: P256PublicKey, signature: [UInt8], digest: [UInt8]) {
        let count = accepted.wrappingAdd(1, ordering: .relaxed).newValue
        guard count == Self.threshold else { return }
        makeTable(of: key, signature: signature, digest: digest)
    }

    /// Makes the table, or takes the one that the same key has elsewhere; none is kept whose verdicts on
    /// an accepted signature are not the ordinary path's.
    private func makeTable(of key: P256PublicKey, signature: [UInt8], digest: [UInt8]) {
        let known = Self.tables.withLock { $0.value(for: key.x963[...]) }
        guard let table = known ?? FixedKeyTable(key),
            table.agrees(on: signature, digest: digest)
        else { return }
        Self.tables.withLock { $0.remember(table, for: key.x963[...]) }
        hasTable.store(true, ordering: .relaxed)
    }
}
