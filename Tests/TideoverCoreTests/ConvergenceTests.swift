import Foundation
import Testing
import TideoverCore
import TideoverLives

/// The answer must match the store's own truth. Independence of order and repetition is a law, in
/// `LawTests`.
@Suite struct ConvergenceTests {
    /// A debug build checks fewer lives than `scripts/laws.sh`; `TIDEOVER_SEEDS` sets the number.
    static let seeds: ClosedRange<UInt64> = {
        let asked = ProcessInfo.processInfo.environment["TIDEOVER_SEEDS"].flatMap { UInt64($0) }
        return 1...max(1, asked ?? 80)
    }()
    static let snapshotSeeds = seeds.prefix(40)
    static let lossSeeds: ClosedRange<UInt64> = 1...40

    /// Each fact one to five times, in any order, learned at any time.
    static func disturbed(_ facts: [Fact], _ random: inout SeededRandom) -> [Fact] {
        facts.flatMap { fact in
            (0..<Int.random(in: 1...5, using: &random)).map { _ in
                var late = fact
                late.learnedAt = fact.learnedAt + .hours(Int64.random(in: 0...2000, using: &random))
                return late
            }
        }.shuffled(using: &random)
    }

    @Test func `with every fact received the standing equals the store's state`() async {
        for seed in Self.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            let probes = generated.probes
            for (probe, standing) in zip(probes, generated.life.standings(probes)) {
                guard let entitled = generated.wasEntitled(probe) else { continue }
                #expect(
                    standing.access == entitled,
                    "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                )
                guard entitled else { continue }
                #expect(
                    standing.productId == generated.product(at: probe),
                    "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                )
            }
        }
    }

    // MARK: Loss

    /// Removes everything asserted at one instant, as if a notification were never delivered.
    static func losses(of facts: [Fact]) -> [[Fact]] {
        Set(facts.map(\.assertedAt)).sorted().map { lost in
            facts.filter { $0.assertedAt != lost }
        }
    }

    @Test func `a lost renewal never denies access with confirmed confidence`() async {
        for seed in Self.lossSeeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            for renewal in generated.life.facts {
                guard case .term(let term) = renewal.assertion, term.origin == .renewal,
                    renewal.assertedAt <= term.start
                else { continue }
                var lossy = generated.life
                lossy.facts.removeAll { $0.assertedAt == renewal.assertedAt }
                // Until the next store report, only the due renewal is known.
                let spoken = lossy.facts.map(\.assertedAt).filter { $0 > renewal.assertedAt }
                let silentUntil = min(spoken.min() ?? .distantFuture, term.end ?? term.start)
                for probe in [term.start, term.start + .hours(25)] where probe < silentUntil {
                    let standing = lossy.standing(probe)
                    #expect(
                        standing.access || standing.confidence != .confirmed
                            || standing.state == .hold,
                        "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                    )
                }
            }
        }
    }

    @Test func `the standing changes only at announced instants`() async throws {
        for seed in Self.snapshotSeeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            let history = SnapshotTests.history([generated.life])
            for probe in generated.probes {
                let now = try #require(history.snapshot(at: probe)["premium"])
                let end = now.nextChange ?? probe + .days(100)
                let length = (end - probe).count
                for _ in 0..<3 where length > 1 {
                    let between = probe + Milliseconds(Int64.random(in: 1..<length, using: &random))
                    let then = try #require(history.snapshot(at: between)["premium"])
                    #expect(
                        then.standing.state == now.standing.state
                            && then.standing.reason == now.standing.reason
                            && then.standing.confidence == now.standing.confidence,
                        "seed \(seed) at \(probe.rfc3339), \(between.rfc3339)"
                    )
                }
            }
        }
    }

}
