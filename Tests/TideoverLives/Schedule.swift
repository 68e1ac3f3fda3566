package import TideoverCore

/// How the facts of a life arrive: each one to five times, in any order, some lost at first and
/// sent again at the end.
///
/// The schedule of a fact depends on the seed and on that fact alone, so removing another one does
/// not change it.
package struct Schedule {
    private let seed: UInt64
    /// Whether each fact is first learned when the life states; otherwise whenever it arrives.
    package let keepsLearning: Bool
    private static let batches = 6

    package init(seed: UInt64) {
        self.seed = seed
        keepsLearning = seed.isMultiple(of: 2)
    }

    /// Returns the batches in order of arrival; a batch may be empty.
    package func arrivals(of facts: [Fact]) -> [[Fact]] {
        var batches = [[(order: UInt64, fact: Fact)]](repeating: [], count: Self.batches + 1)
        for fact in facts {
            var random = SeededRandom(seed: seed, fact.evidence.hex)
            let isLost = Int.random(in: 0..<6, using: &random) == 0
            let repetitions = Int.random(in: 0...4, using: &random)
            for copy in 0...repetitions {
                let batch = isLost ? Self.batches : Int.random(in: 0..<Self.batches, using: &random)
                var arrived = fact
                if copy > 0 || !keepsLearning {
                    let delay = Int64.random(in: 0...2000, using: &random)
                    arrived.learnedAt = fact.learnedAt + .hours(delay)
                }
                batches[batch].append((random.next(), arrived))
            }
        }
        return batches.map { batch in batch.sorted { $0.order < $1.order }.map(\.fact) }
    }
}

extension SeededRandom {
    /// Creates the same generator for the same seed and text.
    init(seed: UInt64, _ text: String) {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        self.init(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ hash)
    }
}
