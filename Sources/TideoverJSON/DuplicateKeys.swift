/// The search for a key used twice in one object, in bounded work whatever the keys are.
package struct DuplicateKeys {
    /// How many pairs of texts were compared so far.
    package private(set) var comparisons = 0

    /// Up to this many keys, each pair of hashes is looked at; beyond, the hashes are sorted.
    static let fewKeys = 32

    package init() {}

    /// The first key in order that repeats an earlier one, with the first of those it repeats.
    ///
    /// - Parameters:
    ///   - keys: for each key its hash in the upper half and its number, ascending, in the lower.
    ///   - text: what the key of a number says, with no escapes left.
    ///   - same: whether the keys of two numbers say the same.
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

    /// The same among keys of one hash.
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
