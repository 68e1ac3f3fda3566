import Testing
import TideoverCore
import TideoverLives

/// The laws of every life, checked on generated lives; `scripts/laws.sh` checks many more.
@Suite struct LawTests {
    /// About ninety lives, unless more seeds than usual are requested.
    static let seeds = ConvergenceTests.seeds.prefix(
        ConvergenceTests.seeds.count > 80 ? .max : 90 / GeneratedLives.kinds
    )

    @Test(arguments: Law.all)
    func `every generated life satisfies the law`(law: Law) async {
        for seed in Self.seeds {
            await Task.yield()
            for life in GeneratedLives.lives(seed: seed) {
                let breach = law.breach(by: life, Law.Trial(seed: seed, schedules: 2))
                #expect(breach == nil, "\(breach?.description ?? "")")
            }
        }
    }

    @Test func `generated lives include failures, recoveries, lapses and refunds`() {
        let lives = (1...40).flatMap { GeneratedLives.lives(seed: $0) }
        #expect(lives.count == 40 * GeneratedLives.kinds)
        let stories = lives.map { life in
            Set(life.told(until: TimelinePropertyTests.late).transitions.map(\.kind))
        }
        for store in [Store.appStore, .googlePlay] {
            let told = zip(lives, stories).filter { $0.0.lineage.store == store }.map(\.1)
            for kind in [
                Transition.Kind.billingIssueEntered, .billingIssueRecovered, .expired, .renewed,
                .cancelled, .productChanged, .resubscribed,
            ] {
                #expect(told.contains { $0.contains(kind) }, "\(store) \(kind)")
            }
        }
        let kinds = stories.reduce(into: Set()) { $0.formUnion($1) }
        #expect(
            kinds.isSuperset(of: [
                .refunded, .refundReversed, .trialStarted, .trialConverted, .paused,
            ])
        )
    }

    @Test func `a violation is reported with the fewest facts that cause it, a line each`() throws {
        // No customer fails and is refunded: not a law of any store, so many lives break it.
        let law = Law(name: "no-bad-luck", sentence: "no customer fails and is refunded") {
            life,
            _ in
            let words = life.facts.map(\.assertion)
            let fails = words.contains {
                if case .outlook(let outlook) = $0 { outlook.isRetrying == true } else { false }
            }
            let refunded = words.contains {
                if case .revocation = $0 { true } else { false }
            }
            return fails && refunded ? "both" : nil
        }
        let trial = Law.Trial(seed: 1, schedules: 1)
        let unlucky = (1...400).lazy.compactMap { seed in
            law.breach(by: GeneratedLives.lives(seed: seed)[0], trial)
        }
        let breach = try #require(unlucky.first)
        #expect(breach.life.facts.count == 2)
        let lines = breach.description.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == "no customer fails and is refunded: not with seed 1, both")
        #expect(lines.contains { $0.contains("revocation: refund, from") })
    }

    @Test func `a life that satisfies the law is no violation`() {
        let law = Law(name: "none", sentence: "nothing is asked") { _, _ in nil }
        #expect(law.breach(by: Life(), Law.Trial(seed: 1, schedules: 1)) == nil)
    }
}
