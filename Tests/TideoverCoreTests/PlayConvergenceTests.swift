import Testing
import TideoverCore
import TideoverLives

/// Reads of Google Play produce the store's own truth. Independence of order and repetition is a
/// law, in `LawTests`.
@Suite struct PlayConvergenceTests {
    @Test func `a standing from bare notifications is never confirmed`() async {
        for seed in ConvergenceTests.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let standings = generated.unread.standings(generated.probes)
            let confirmed = standings.contains { $0.confidence == .confirmed && $0.state != .never }
            #expect(!confirmed, "seed \(seed)")
        }
    }

    @Test func `reads at every event give the store's state`() async {
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

    @Test func `reads up to two days late cause no lockout`() async {
        for seed in ConvergenceTests.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let late = generated.delayed(upTo: .hours(47), &random)
            let probes = generated.probes
            for (probe, standing) in zip(probes, late.standings(probes))
            where generated.product(at: probe) != nil {
                // A period that ends on the 30th may have begun on the 30th or on the 31st.
                #expect(
                    standing.access
                        || standing.state == .hold && late.standing(probe + .days(1)).access,
                    "seed \(seed) at \(probe.rfc3339): \(standing.told)"
                )
            }
        }
    }

    // MARK: Loss

    @Test func `one lost read of a renewal causes no confirmed denial`() async {
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
