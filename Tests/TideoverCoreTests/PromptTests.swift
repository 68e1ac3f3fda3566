import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// Which customers are prompted to fix a payment, how, where and how often.
@Suite struct PromptTests {
    static let failed: Instant = "2026-06-01"
    static let graceEnd: Instant = "2026-06-17"

    static func snapshot(
        _ life: Life = StandingTests.failing(),
        at instant: Instant,
        _ prompts: Policy.Prompts = Policy.Prompts(),
        exposures: [Instant] = []
    ) -> Snapshot {
        AdviceTests.history([life], policy: Policy(prompts: prompts))
            .snapshot(at: instant, shown: Presentation(exposures: exposures))
    }

    static func kind(
        at instant: Instant,
        _ prompts: Policy.Prompts = Policy.Prompts(),
        exposures: [Instant] = []
    ) -> Prompt.Kind? {
        snapshot(at: instant, prompts, exposures: exposures).prompt?.kind
    }

    @Test func `grace has a soft prompt and hold a hard one, to the millisecond`() {
        let over: Instant = "2026-07-31"
        for (instant, before, after): (Instant, Prompt.Kind?, Prompt.Kind?) in [
            (Self.failed, nil, .soft), (Self.graceEnd, .soft, .hard), (over, .hard, nil),
        ] {
            #expect(Self.kind(at: instant.justBefore) == before)
            #expect(Self.kind(at: instant) == after)
        }
    }

    // MARK: Quiet

    @Test func `a quiet period delays a soft prompt and gives the instant`() {
        let quiet = Policy.Prompts(quiet: .hours(6))
        let due = Self.failed + .hours(6)
        for instant in [Self.failed, due.justBefore] {
            let snapshot = Self.snapshot(at: instant, quiet)
            #expect(snapshot["premium"]?.standing.state == .grace)
            #expect(snapshot.prompt == nil)
            #expect(snapshot.promptAt == due)
            #expect(snapshot.validUntil == due)
        }
        let shown = Self.snapshot(at: due, quiet)
        #expect(shown.prompt?.kind == .soft)
        #expect(shown.promptAt == nil)
        #expect(shown.validUntil == Self.graceEnd)
    }

    @Test func `the quiet period starts when the failure was announced`() {
        var life = StandingTests.monthly()
        let told = Self.failed + .hours(3)
        life.outlook(end: "2026-06-01", signed: told, retrying: true)
        life.condition(.grace, end: "2026-06-01", signed: told)
        let snapshot = Self.snapshot(life, at: told, Policy.Prompts(quiet: .hours(6)))
        #expect(snapshot["premium"]?.standing.rule == .graceUnstated)
        #expect(snapshot.promptAt == told + .hours(6))
    }

    @Test func `a recovery within the quiet period causes no prompt`() throws {
        var life = StandingTests.failing()
        let back = Self.failed + .minutes(20)
        life.term("2", from: Self.failed, to: "2026-07-01", signed: back)
        life.outlook(end: "2026-07-01", signed: back)
        let quiet = Policy.Prompts(quiet: .hours(1))
        for minute: Int64 in [0, 19, 20, 59, 60, 61] {
            let snapshot = Self.snapshot(life, at: Self.failed + .minutes(minute), quiet)
            #expect(snapshot.prompt == nil, "minute \(minute)")
        }
    }

    @Test func `a locked out customer is prompted at once, whatever the policy`() {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: Self.failed, retrying: true)
        let manners = Policy.Prompts(quiet: .days(30), interval: .days(30), perDay: 1)
        let snapshot = Self.snapshot(
            life,
            at: Self.failed,
            manners,
            exposures: [Self.failed, Self.failed]
        )
        #expect(snapshot.prompt?.kind == .hard)
        #expect(snapshot.promptAt == nil)
    }

    @Test func `policy grace starts no new quiet period`() {
        let policy = Policy(
            billingRetry: .keep(.days(7)),
            prompts: Policy.Prompts(quiet: .days(1))
        )
        let history = AdviceTests.history([StandingTests.failing()], policy: policy)
        #expect(history.snapshot(at: Self.graceEnd)["premium"]?.standing.reason == .keptByPolicy)
        #expect(history.snapshot(at: Self.graceEnd).prompt?.kind == .soft)
    }

    // MARK: Caps

    @Test func `two prompts are at least the interval apart`() {
        let seldom = Policy.Prompts(interval: .hours(12))
        let shown = Self.failed + .hours(1)
        let next = shown + .hours(12)
        #expect(Self.kind(at: Self.failed, seldom) == .soft)
        #expect(Self.kind(at: shown, seldom, exposures: [shown]) == nil)
        #expect(Self.kind(at: next.justBefore, seldom, exposures: [shown]) == nil)
        #expect(Self.snapshot(at: shown, seldom, exposures: [shown]).validUntil == next)
        #expect(Self.kind(at: next, seldom, exposures: [shown]) == .soft)
    }

    @Test func `a day has at most the policy's number of prompts, in whatever order reported`() {
        let twice = Policy.Prompts(perDay: 2)
        let first = Self.failed + .hours(1)
        let second = Self.failed + .hours(5)
        let again = first + .hours(24)
        #expect(Self.kind(at: second.justBefore, twice, exposures: [first]) == .soft)
        for exposures in [[first, second], [second, first]] {
            #expect(Self.kind(at: second, twice, exposures: exposures) == nil)
            #expect(Self.kind(at: again.justBefore, twice, exposures: exposures) == nil)
            #expect(Self.snapshot(at: second, twice, exposures: exposures).promptAt == again)
            #expect(Self.kind(at: again, twice, exposures: exposures) == .soft)
        }
    }

    @Test func `a prompt shown after the requested instant delays nothing`() {
        let seldom = Policy.Prompts(interval: .days(3), perDay: 1)
        let later: Instant = "2026-06-05"
        #expect(Self.kind(at: "2026-06-04", seldom, exposures: [later]) == .soft)
        #expect(Self.kind(at: later, seldom, exposures: [later]) == nil)
    }

    @Test func `quiet period and limits scale with the pace of the purchase`() throws {
        var life = Life(environment: .sandbox)
        let start: Instant = "2026-05-01T10:00:00Z"
        // A month in five minutes: 8928 times as fast as May.
        let end = start + .minutes(5)
        life.term("1", from: start, to: end, origin: .purchase)
        life.outlook(end: end, signed: end, retrying: true, grace: end + .minutes(2))
        let day = Milliseconds(Milliseconds.days(1).count * 300 / 2_678_400)
        let quiet = Self.snapshot(life, at: end, Policy.Prompts(quiet: .days(1)))
        #expect(quiet.promptAt == end + day)
        for prompts in [Policy.Prompts(interval: .days(1)), Policy.Prompts(perDay: 1)] {
            #expect(Self.snapshot(life, at: end, prompts, exposures: [end]).promptAt == end + day)
        }
        let shown = try #require(Self.snapshot(life, at: end).prompt)
        #expect(shown.message.contains("1 May 2026, 10:07 UTC"))
    }

    // MARK: Links

    @Test(
        arguments: [
            (.appStore, nil, AdviceTests.billing, AdviceTests.subscriptions),
            (
                .googlePlay, "com.example.cards",
                "https://play.google.com/store/account/subscriptions?sku=pro.monthly"
                    + "&package=com.example.cards",
                "https://play.google.com/store/account/subscriptions?sku=pro.monthly"
                    + "&package=com.example.cards"
            ),
            (
                .googlePlay, nil, "https://play.google.com/store/account/subscriptions",
                "https://play.google.com/store/account/subscriptions"
            ),
            (.revenueCat, nil, nil, nil), (.tideover, "com.example.cards", nil, nil),
        ] as [(Store, String?, String?, String?)]
    )
    func `each store has its own pages`(
        store: Store,
        package: String?,
        payment: String?,
        manage: String?
    ) {
        let standing = Standing(
            state: .hold,
            reason: .billingRetry,
            rule: .inRetry,
            productId: "pro.monthly",
            lineage: Lineage(store: store, environment: .production, id: "1")
        )
        #expect(StoreLink.payment(for: standing, package: package) == payment)
        #expect(StoreLink.manage(standing, package: package) == manage)
    }

    @Test func `an argument in a link cannot change the host`() {
        let standing = Standing(
            state: .hold,
            reason: .billingRetry,
            rule: .inRetry,
            productId: "a&b=c#d é",
            lineage: Lineage(store: .googlePlay, environment: .production, id: "1")
        )
        #expect(
            StoreLink.manage(standing, package: "x/y")
                == "https://play.google.com/store/account/subscriptions"
                + "?sku=a%26b%3Dc%23d%20%C3%A9&package=x%2Fy"
        )
    }

    // MARK: Validity of an answer

    @Test func `a prompt stays the same until its announced change`() async throws {
        let prompts = Policy.Prompts(quiet: .days(2), interval: .days(3), perDay: 2)
        for seed in UInt64(1)...15 {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            for probe in generated.probes {
                var life = generated.life
                life.facts = life.facts.filter { $0.assertedAt <= probe }
                let history = AdviceTests.history([life], policy: Policy(prompts: prompts))
                let presentation = Presentation(
                    exposures: (0..<3).map { _ in
                        probe - .hours(Int64.random(in: 0...100, using: &random))
                    }
                )
                let now = history.snapshot(at: probe, shown: presentation)
                let end = now.validUntil ?? probe + .days(400)
                for _ in 0..<2 where (end - probe).count > 1 {
                    let length = Int64.random(in: 1..<(end - probe).count, using: &random)
                    let then = history.snapshot(
                        at: probe + Milliseconds(length),
                        shown: presentation
                    )
                    #expect(
                        Self.answer(then) == Self.answer(now),
                        "seed \(seed) at \(probe.rfc3339), \(length) later"
                    )
                }
            }
        }
    }

    private static func answer(_ snapshot: Snapshot) -> String {
        var writer = JSONWriter()
        writer.object { snapshot.writeAnswer(to: &$0) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
