import Testing
import TideoverCore
import TideoverLives

/// The answer changes only at its listed boundaries.
@Suite struct BoundaryTests {
    /// Each life is evaluated very often, so there are fewer of them than elsewhere.
    static let seeds = stride(from: UInt64(1), through: ConvergenceTests.seeds.upperBound, by: 4)

    static let policies = [
        Policy(), Policy(billingRetry: .keep(.days(7)), unreachable: .days(5)),
        Policy(renewalLeeway: .hours(3), unreachable: .hours(1)),
    ]

    /// Returns the life with random inquiries, some of them answered.
    private static func asked(_ life: Life, _ random: inout SeededRandom) -> Life {
        var asked = life
        for fact in life.facts where Int.random(in: 0..<3, using: &random) == 0 {
            let at = fact.assertedAt + .hours(Int64.random(in: 0...800, using: &random))
            asked.ask(Bool.random(using: &random) ? .answered : .unreachable, at: at)
        }
        return asked
    }

    /// Returns the standing without the running countdown of a trial.
    private static func said(_ standing: Standing) -> Standing {
        var said = standing
        said.trial = nil
        return said
    }

    private static func check(
        _ life: Life,
        _ policy: Policy,
        _ name: String,
        _ random: inout SeededRandom
    ) {
        let history = life.history
        let catalogue = life.catalogue
        let boundaries = Set(history.boundaries(policy: policy)).sorted()
        let edges = [Instant("2025-01-01")] + boundaries + [Instant("2040-01-01")]
        for (from, until) in zip(edges, edges.dropFirst()) where from < until {
            let length = (until - from).count
            let samples =
                [until.justBefore]
                + (0..<3).map { _ in
                    from + Milliseconds(Int64.random(in: 0..<length, using: &random))
                }
            let expected = said(history.standing(at: from, policy: policy))
            let archive = said(
                history.standing(of: "archive", at: from, policy: policy, catalogue: catalogue)
            )
            for sample in samples {
                #expect(
                    said(history.standing(at: sample, policy: policy)) == expected,
                    "\(name) from \(from.rfc3339) at \(sample.rfc3339)"
                )
                #expect(
                    said(
                        history.standing(
                            of: "archive",
                            at: sample,
                            policy: policy,
                            catalogue: catalogue
                        )
                    ) == archive,
                    "\(name) from \(from.rfc3339) at \(sample.rfc3339), archive"
                )
            }
        }
    }

    @Test func `a purchase that cannot renew has no boundary after its end`() {
        var life = Life()
        life.term("1", "pass", from: "2026-05-01", to: nil, plan: .nonRenewing)
        for policy in Self.policies {
            #expect(life.history.boundaries(policy: policy).max() == "2026-05-31")
        }
    }

    @Test func `a grace without a date that is reported of such a purchase has its end`() {
        var life = Life()
        life.term("1", "pass", from: "2026-05-01", to: nil, plan: .nonRenewing)
        life.condition(.grace, end: "2026-05-31", signed: "2026-05-31")
        var random = SeededRandom(seed: 1)
        for policy in Self.policies { Self.check(life, policy, "pass", &random) }
        #expect(life.history.boundaries(policy: Policy()).max() == "2026-06-03")
    }

    @Test(arguments: policies.indices)
    func `no standing changes between two boundaries on the App Store`(policy: Int) async {
        for seed in Self.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let life = Self.asked(GeneratedLife(&random).life, &random)
            Self.check(life, Self.policies[policy], "seed \(seed)", &random)
        }
    }

    @Test(arguments: policies.indices)
    func `no standing changes between two boundaries on Google Play`(policy: Int) async {
        for seed in Self.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedPlayLife(&random)
            let life = Self.asked(generated.life, &random)
            Self.check(life, Self.policies[policy], "seed \(seed)", &random)
            let late = Self.asked(generated.delayed(upTo: .days(9), &random), &random)
            Self.check(late, Self.policies[policy], "seed \(seed), late", &random)
            Self.check(generated.unread, Self.policies[policy], "seed \(seed), unread", &random)
        }
    }

    @Test func `no standing changes between two boundaries after many losses`() async {
        for seed in Self.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            for life in [GeneratedLife(&random).life, GeneratedPlayLife(&random).life] {
                var lossy = Self.asked(life, &random)
                lossy.facts = lossy.facts.filter { _ in Bool.random(using: &random) }
                Self.check(lossy, Policy(), "seed \(seed)", &random)
            }
        }
    }

    @Test func `no standing changes between two boundaries when a relay fills gaps`() async {
        for seed in Self.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            for life in [GeneratedLife(&random).life, GeneratedPlayLife(&random).life] {
                var filled = life
                for position in filled.facts.indices where Bool.random(using: &random) {
                    filled.facts[position].rank = .relayed
                }
                let relayed = GeneratedLife(&random).life.facts.map { fact in
                    var fact = fact
                    fact.lineage = life.lineage
                    fact.rank = .relayed
                    return fact
                }
                filled.facts += relayed.filter { _ in Bool.random(using: &random) }
                Self.check(filled, Policy(), "seed \(seed)", &random)
            }
        }
    }
}
