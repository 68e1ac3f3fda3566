import Glibc

/// A bounded cache of values by exact bytes that evicts the least recently used value.
///
/// A search compares bytes in order of last use. With a few dozen entries that differ early this is
/// cheaper than hashing kilobytes.
package struct RecentlyUsed<Value> {
    private let capacity: Int
    private var entries: [(key: [UInt8], value: Value)] = []

    /// Creates an empty cache of at most `capacity` values, at least one.
    package init(capacity: Int) {
        precondition(capacity > 0, "a memory of nothing remembers nothing")
        self.capacity = capacity
    }

    package var count: Int { entries.count }

    /// Returns the cached value for these bytes, which counts as a use.
    package mutating func value(for key: ArraySlice<UInt8>) -> Value? {
        guard let index = entries.firstIndex(where: { Self.isSame($0.key, key) }) else {
            return nil
        }
        if index > 0 {
            entries.insert(entries.remove(at: index), at: 0)
        }
        return entries[0].value
    }

    /// Caches a value as the most recently used one, replacing any other for the same bytes.
    package mutating func remember(_ value: Value, for key: ArraySlice<UInt8>) {
        entries.removeAll { Self.isSame($0.key, key) }
        if entries.count == capacity {
            entries.removeLast()
        }
        entries.insert((Array(key), value), at: 0)
    }

    private static func isSame(_ one: [UInt8], _ other: ArraySlice<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let first = one.baseAddress, let second = other.baseAddress else {
                    return true
                }
                return memcmp(first, second, one.count) == 0
            }
        }
    }
}
