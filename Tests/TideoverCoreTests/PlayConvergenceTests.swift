import Testing
import TideoverCore

/// Order, repetition and delay of what we hear of Google Play must not matter, and the answer must
/// be the store's own truth.
@Suite struct PlayConvergenceTests {
    @Test func `reads shuffled, doubled and late give the same answer`() async {
        for seed in ConvergenceTests.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let probes = generated.probes
            let expected = generated.life.standings(probes)
            for _ in 0..<3 {
                var schedule = generated.life
                schedule.facts = ConvergenceTests.disturbed(generated.life.facts, &random)
                #expect(schedule.standings(probes) == expected, "seed \(seed)")
            }
        }
    }

    @Test func `bare notifications shuffled and doubled give the same answer`() async {
        for seed in ConvergenceTests.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let probes = generated.probes
            let unread = generated.unread
            let expected = unread.standings(probes)
            var schedule = unread
            schedule.facts = ConvergenceTests.disturbed(unread.facts, &random)
            #expect(schedule.standings(probes) == expected, "seed \(seed)")
            #expect(!expected.contains { $0.confidence == .confirmed && $0.state != .never })
        }
    }

    @Test func `asked at every event the answer is the store's own truth`() async {
        for seed in ConvergenceTests.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let probes = generated.probes
            for (probe, standing) in zip(probes, generated.life.standings(probes)) {
                let product = generated.product(at: probe)
                #expect(
                    standing.access == (product != nil),
                    "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                )
                guard product != nil else { continue }
                #expect(
                    standing.productId == product,
                    "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                )
            }
        }
    }

    @Test func `asked up to two days late nobody is locked out, as known afterwards`() async {
        for seed in ConvergenceTests.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let late = generated.delayed(upTo: .hours(47), &random)
            let probes = generated.probes
            for (probe, standing) in zip(probes, late.standings(probes))
            where generated.product(at: probe) != nil {
                // What ends on the 30th may have begun on the 30th or on the 31st.
                #expect(
                    standing.access
                        || standing.state == .hold && late.standing(probe + .days(1)).access,
                    "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                )
            }
        }
    }

    // MARK: Loss

    /// The latest instant to which anything read vouches for access at an instant: two days past
    /// the expiry, or a day past one that grace moves.
    private static func bound(in facts: [Fact], at instant: Instant) -> Instant {
        let dates = facts.flatMap { fact -> [Instant] in
            guard case .playSubscription(let read) = fact.assertion else { return [] }
            let isHeard =
                fact.assertedAt <= instant || (read.startedAt ?? .distantFuture) <= instant
            guard isHeard else { return [] }
            return read.items.compactMap(\.expiresAt)
        }
        return (dates.max() ?? .distantPast) + .days(7)
    }

    @Test func `whatever is lost, access never outlasts the dates still known`() async {
        for seed in ConvergenceTests.lossSeeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let probes = generated.probes
            for kept in ConvergenceTests.losses(of: generated.life.facts) {
                var lossy = generated.life
                lossy.facts = kept
                for (probe, standing) in zip(probes, lossy.standings(probes)) {
                    #expect(
                        !standing.access || probe < Self.bound(in: kept, at: probe),
                        "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                    )
                }
            }
        }
    }

    @Test func `a loss that was made good leaves no trace`() async {
        for seed in ConvergenceTests.lossSeeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let probes = generated.probes
            let expected = generated.life.standings(probes)
            for kept in ConvergenceTests.losses(of: generated.life.facts) {
                var healed = generated.life
                healed.facts = kept + generated.life.facts.filter { !kept.contains($0) }
                #expect(healed.standings(probes) == expected, "seed \(seed)")
            }
        }
    }

    @Test func `one lost read of a renewal denies nobody, as known afterwards`() async {
        for seed in ConvergenceTests.lossSeeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let facts = generated.life.facts
            for (position, lost) in facts.enumerated() {
                guard let next = facts.dropFirst(position + 1).first, lost.saysActive,
                    next.saysActive, lost.playPurchase == next.playPurchase
                else { continue }
                var lossy = generated.life
                lossy.facts.remove(at: position)
                for probe in [lost.assertedAt, next.assertedAt.justBefore, next.assertedAt]
                where generated.product(at: probe) != nil && position > 0 {
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
}

extension Fact {
    fileprivate var saysActive: Bool {
        if case .playSubscription(let read) = assertion { read.state == .active } else { false }
    }

    fileprivate var playPurchase: PlayToken? {
        if case .playSubscription(let read) = assertion { read.token } else { nil }
    }
}
