/// Finds a repeated key in one object, with bounded work for any keys.
package struct DuplicateKeys {
    /// The number of text comparisons so far.
    package private(set) var comparisons = 0

    /// Up to this many keys, all pairs of hashes are compared; beyond, the hashes are sorted.
    static let fewKeys = 32

    package init() {}

    /// Returns the first key in order that repeats an earlier one, and the first key it repeats.
    ///
    /// - Parameters:
    ///   - keys: each key as its hash in the upper half and its number, ascending, in the lower.
    ///   - text: returns the unescaped text of the key with a number.
    ///   - same: whether the keys with two numbers have equal text.
    /// - Returns: the numbers of both; nil if no key repeats another.
    package mutating func first(
        in keys: inout [UInt64],
        text: (UInt32) -> [UInt8],
        same: (UInt32, UInt32) -> Bool
    ) -> (first: UInt32, second: UInt32)? {
        if keys.count <= Self.fewKeys {
            return firstByPairs(in: keys[...], same: same)
        }
        keys.sort()
        var found: (first: UInt32, second: UInt32)?
        var start = 0
        while start < keys.count {
            let end = endOfRun(in: keys, from: start)
            let next = firstInRun(keys[start..<end], text: text, same: same)
            if let next, next.second < found?.second ?? .max { found = next }
            start = end
        }
        return found
    }

    private func endOfRun(in keys: [UInt64], from start: Int) -> Int {
        var end = start + 1
        while end < keys.count && keys[end] >> 32 == keys[start] >> 32 { end += 1 }
        return end
    }

    /// Searches keys with the same hash in the same way.
    private mutating func firstInRun(
        _ run: ArraySlice<UInt64>,
        text: (UInt32) -> [UInt8],
        same: (UInt32, UInt32) -> Bool
    ) -> (first: UInt32, second: UInt32)? {
        if run.count <= Self.fewKeys { return firstByPairs(in: run, same: same) }
        var texts = run.map { (text: text(Self.number($0)), number: Self.number($0)) }
        var compared = 0
        texts.sort { a, b in
            compared += 1
            if a.text == b.text { return a.number < b.number }
            return a.text.lexicographicallyPrecedes(b.text)
        }
        comparisons += compared
        return firstOfNeighbours(texts)
    }

    private func firstOfNeighbours(
        _ texts: [(text: [UInt8], number: UInt32)]
    ) -> (first: UInt32, second: UInt32)? {
        var found: (first: UInt32, second: UInt32)?
        for (a, b) in zip(texts, texts.dropFirst()) where a.text == b.text {
            if b.number < found?.second ?? .max { found = (a.number, b.number) }
        }
        return found
    }

    private mutating func firstByPairs(
        in keys: ArraySlice<UInt64>,
        same: (UInt32, UInt32) -> Bool
    ) -> (first: UInt32, second: UInt32)? {
        keys.withUnsafeBufferPointer { keys in
            for later in keys.indices {
                for earlier in 0..<later where (keys[earlier] ^ keys[later]) >> 32 == 0 {
                    comparisons += 1
                    let pair = (first: Self.number(keys[earlier]), second: Self.number(keys[later]))
                    if same(pair.first, pair.second) { return pair }
                }
            }
            return nil
        }
    }

    private static func number(_ key: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: key) }
}
