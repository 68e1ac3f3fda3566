package import TideoverCore

/// How long many things took, in bounded memory: each length is kept with its ten leading binary digits,
/// so that a quantile is at most 0.2 % below the true one.
package struct DelayDistribution: Hashable, Sendable {
    private static let digits = 10

    /// By length, cut to its leading digits, in milliseconds.
    private var counts: [Int64: Int] = [:]
    /// How many lengths there are.
    package private(set) var count = 0

    package init() {}

    /// A negative length counts as none.
    package mutating func add(_ length: Milliseconds) {
        let length = max(0, length.count)
        let shift = max(0, Int64.bitWidth - length.leadingZeroBitCount - Self.digits)
        counts[(length >> shift) << shift, default: 0] += 1
        count += 1
    }

    /// The shortest length that so many percent of all do not exceed; nil of nothing.
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
