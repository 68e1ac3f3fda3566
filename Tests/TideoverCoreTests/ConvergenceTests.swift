import Foundation
import Testing
import TideoverCore

/// Order, repetition and delay must not matter, and the answer must be the store's own truth.
@Suite struct ConvergenceTests {
    /// A debug build weighs a few hundred lives; `TIDEOVER_SEEDS` asks for more.
    static let seeds: ClosedRange<UInt64> = {
        let asked = ProcessInfo.processInfo.environment["TIDEOVER_SEEDS"].flatMap { UInt64($0) }
        return 1...max(1, asked ?? 200)
    }()
    static let snapshotSeeds = seeds.prefix(40)
    static let lossSeeds: ClosedRange<UInt64> = 1...60

    @Test func `facts shuffled, doubled and late give the same answer`() async {
        for seed in Self.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            let probes = generated.probes
            let expected = generated.life.standings(probes)
            for _ in 0..<5 {
                var schedule = generated.life
                schedule.facts = Self.disturbed(generated.life.facts, &random)
                #expect(schedule.standings(probes) == expected, "seed \(seed)")
            }
        }
    }

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

    @Test func `with every word heard the answer is the store's own truth`() async {
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

    /// All that was said at one instant goes missing, as when a notification is never delivered.
    static func losses(of facts: [Fact]) -> [[Fact]] {
        Set(facts.map(\.assertedAt)).sorted().map { lost in
            facts.filter { $0.assertedAt != lost }
        }
    }

    /// The latest date that words said by an instant give access until, before any bound on top.
    /// Grace counts whenever it was stated.
    static func newestDate(in facts: [Fact], by instant: Instant) -> Instant {
        let dates = facts.flatMap { fact -> [Instant?] in
            switch fact.assertion {
            case .term(let term) where min(term.start, fact.assertedAt) <= instant:
                [term.start, term.end]
            case .outlook(let outlook):
                [fact.assertedAt <= instant ? outlook.renewalDate : nil, outlook.graceEnd]
            default: []
            }
        }
        return dates.compactMap(\.self).max() ?? .distantPast
    }

    @Test func `whatever is lost, access never outlasts the dates still known`() async {
        for seed in Self.lossSeeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            let probes = generated.probes
            for kept in Self.losses(of: generated.life.facts) {
                var lossy = generated.life
                lossy.facts = kept
                let history = lossy.history
                let ends = Set(kept.map { Self.newestDate(in: kept, by: $0.assertedAt) })
                for probe in probes + ends.map({ $0 + .hours(24) }) {
                    let bound = Self.newestDate(in: kept, by: probe) + .hours(24)
                    let standing = history.standing(at: probe, policy: lossy.policy)
                    #expect(
                        !standing.access || probe < bound,
                        "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                    )
                    if standing.access, let until = standing.accessUntil {
                        #expect(until <= bound, "seed \(seed) at \(probe.rfc3339)")
                    }
                }
            }
        }
    }

    @Test func `a loss that was made good leaves no trace`() async {
        for seed in Self.lossSeeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            let probes = generated.probes
            let expected = generated.life.standings(probes)
            for kept in Self.losses(of: generated.life.facts) {
                var healed = generated.life
                healed.facts = kept + generated.life.facts.filter { !kept.contains($0) }
                #expect(healed.standings(probes) == expected, "seed \(seed)")
            }
        }
    }

    @Test func `a lost renewal denies nobody without saying that we do not know`() async {
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
                // Until the store speaks again, all we know is that a renewal was due.
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

    @Test func `the answer changes only at the instants that are announced`() async throws {
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

    @Test func `a fact older than the newest on the same thing changes nothing later`() {
        var life = StandingTests.failing()
        let before = life.standing("2026-06-10")
        life.outlook(end: "2026-06-01", signed: "2026-05-20", renews: false)
        life.condition(.active, end: "2026-06-01", signed: "2026-05-20")
        #expect(life.standing("2026-06-10") == before)
    }
}
