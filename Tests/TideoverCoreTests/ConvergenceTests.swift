import Testing
import TideoverCore

/// Order, repetition and delay must not matter, and the answer must be the store's own truth.
@Suite struct ConvergenceTests {
    static let seeds: ClosedRange<UInt64> = 1...300

    @Test func `facts shuffled, doubled and late give the same answer`() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            let probes = generated.probes
            let expected = probes.map { generated.life.standing($0) }
            for _ in 0..<5 {
                var schedule = generated.life
                schedule.facts = Self.disturbed(generated.life.facts, &random)
                let found = probes.map { schedule.standing($0) }
                #expect(found == expected, "seed \(seed)")
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

    @Test func `with every word heard the answer is the store's own truth`() {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            for probe in generated.probes {
                guard let entitled = generated.wasEntitled(probe) else { continue }
                let standing = generated.life.standing(probe)
                #expect(
                    standing.access == entitled,
                    "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                )
            }
        }
    }

    @Test func `the answer changes only at the instants that are announced`() throws {
        for seed in Self.seeds {
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
                        then.standing.told == now.standing.told,
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
