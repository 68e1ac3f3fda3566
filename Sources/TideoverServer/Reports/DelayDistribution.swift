package import TideoverCore

/// A distribution of lengths of time in bounded memory. Each length keeps its ten leading binary
/// digits, so a quantile is at most 0.2 % below the true one.
package struct DelayDistribution: Hashable, Sendable {
    private static let digits = 10

    /// The counts by length, truncated to its leading digits, in milliseconds.
    private var counts: [Int64: Int] = [:]
    /// The number of lengths.
    package private(set) var count = 0

    package init() {}

    /// Adds a length; a negative one counts as zero.
    package mutating func add(_ length: Milliseconds) {
        let length = max(0, length.count)
        let shift = max(0, Int64.bitWidth - length.leadingZeroBitCount - Self.digits)
        counts[(length >> shift) << shift, default: 0] += 1
        count += 1
    }

    /// Returns the shortest length that at least `percent` percent do not exceed, or nil if empty.
    package func quantile(percent: Int) -> Milliseconds? {
        precondition((1...100).contains(percent), "a quantile lies within what there is")
        let rank = (count * percent + 99) / 100
        var passed = 0
        for (length, count) in counts.sorted(by: { $0.key < $1.key }) {
            passed += count
            if passed >= rank { return Milliseconds(length) }
        }
        return nil
    }
}
