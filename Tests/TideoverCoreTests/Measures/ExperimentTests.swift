import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// Experiments: who is in which arm, and what the report concludes.
@Suite struct ExperimentTests {
    private static let experiment = Experiment(
        id: "words",
        entitlement: "premium",
        start: "2026-06-01",
        arms: [.init("holdout", isHoldout: true), .init("asked", weight: 3)]
    )

    private static func customers(_ count: Int) -> [CustomerID] {
        (0..<count).compactMap { CustomerID("customer-\($0)") }
    }

    // MARK: Assignment

    @Test func `arms have their parts of the customers, and each customer keeps the arm`() {
        let arms = Self.customers(8000).map { Self.experiment.arm(of: $0).name }
        let held = arms.count { $0 == "holdout" }
        // Four standard deviations of a quarter of 8,000.
        #expect((1845...2155).contains(held))
        #expect(Self.customers(8).map { Self.experiment.arm(of: $0).name } == Array(arms.prefix(8)))
    }

    @Test func `another experiment assigns independently`() {
        var other = Self.experiment
        other.id = "timing"
        let both = Self.customers(8000).filter {
            Self.experiment.arm(of: $0).name == "holdout" && other.arm(of: $0).name == "holdout"
        }
        #expect((400...600).contains(both.count))
    }

    // MARK: Entries

    private static func entry(
        _ life: Life,
        until: Instant,
        in experiment: Experiment = experiment,
        policy: Policy = Policy()
    ) -> ExperimentEntry? {
        let record = ExplanationTests.record([life], policy: policy)
        return CustomerTimeline(record, until: until).entry(in: experiment)
    }

    @Test func `an entry begins with the first failed payment and is young until it ends`() throws {
        var life = TimelineStoryTests.converted()
        #expect(Self.entry(life, until: "2026-06-03") == nil)
        life.fail("2026-06-04", grace: "2026-06-20")
        let young = try #require(Self.entry(life, until: "2026-06-10"))
        #expect(young.arm == Self.experiment.arm(of: SnapshotTests.anna).name)
        #expect(young.recovery == KaplanMeier.Observation(.days(6), happened: false))
        let held = try #require(Self.entry(life, until: "2026-06-25"))
        #expect(held.lockout == KaplanMeier.Observation(.days(16), happened: true))
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-14")
        let paid = try #require(Self.entry(life, until: "2026-06-25"))
        #expect(paid.recovery == KaplanMeier.Observation(.days(10), happened: true))
        #expect(!paid.lockout.happened)
        #expect(!paid.refund.happened)
    }

    @Test func `a payment that failed before the start is in no arm`() {
        var life = Life()
        life.pay("1", from: "2026-04-04", to: "2026-05-04", origin: .purchase)
        life.fail("2026-05-04", grace: "2026-05-20")
        #expect(Self.entry(life, until: "2026-06-10") == nil)
    }

    @Test func `a failed payment has an entry only in the experiment that assigned an arm`() {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        var second = Self.experiment
        second.id = "timing"
        let policy = Policy(experiments: [Self.experiment, second])
        func hasEntry(_ experiment: Experiment) -> Bool {
            Self.entry(life, until: "2026-06-10", in: experiment, policy: policy) != nil
        }
        #expect(hasEntry(Self.experiment))
        #expect(!hasEntry(second))
    }

    @Test func `an alias keeps the entry of the id that was asked, in its arm`() throws {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        let anna = SnapshotTests.anna
        let arm = Self.experiment.arm(of: anna).name
        let asked = try #require(
            Self.customers(100).first { Self.experiment.arm(of: $0).name != arm }
        )
        func entry(aliasFrom from: Instant) -> ExperimentEntry? {
            let record = CustomerRecord(
                customer: anna,
                aliases: [CustomerAlias(alias: asked, customer: anna, from: from, by: "test")],
                environment: .production,
                lineageRecords: [life.owned(by: [life.owner(asked)])],
                catalogue: Versioned(life.catalogue),
                policy: Versioned(Policy())
            )
            return CustomerTimeline(record.withJoinedIDs, until: "2026-06-10")
                .entry(in: Self.experiment, of: record.identity)
        }
        #expect(entry(aliasFrom: "2026-06-01")?.arm == arm)
        let later = try #require(entry(aliasFrom: "2026-06-08"))
        #expect(later.arm == Self.experiment.arm(of: asked).name)
        #expect(later.recovery == KaplanMeier.Observation(.days(6), happened: false))
    }

    // MARK: Asking

    private static func prompt(
        _ arm: Experiment.Arm,
        at instant: Instant,
        unlocking entitlements: [String] = ["premium"]
    ) -> Prompt? {
        history(arm, unlocking: entitlements).snapshot(at: instant).prompt
    }

    private static func history(
        _ arm: Experiment.Arm,
        unlocking entitlements: [String] = ["premium"]
    ) -> CustomerHistory {
        var catalogue = AdviceTests.catalogue
        catalogue.products["monthly"]?.entitlements = entitlements
        let experiment = Experiment(
            id: "words",
            entitlement: "premium",
            start: PromptTests.failed,
            arms: [arm, .init("other", weight: 0)]
        )
        let policy = Policy(experiments: [experiment])
        let life = StandingTests.failing()
        return AdviceTests.history([life], policy: policy, catalogue: catalogue)
    }

    @Test func `a holdout is not asked while it has access, and always when it has none`() {
        let holdout = Experiment.Arm("holdout", isHoldout: true)
        #expect(Self.prompt(holdout, at: PromptTests.failed) == nil)
        let hard = Self.prompt(holdout, at: PromptTests.graceEnd)
        #expect(hard?.kind == .hard)
        #expect(hard?.experiment?.arm.name == "holdout")
    }

    @Test func `the explanation states that a holdout is why no prompt is shown`() {
        let sentences = [Experiment.Arm("holdout", isHoldout: true), .init("asked")].map { arm in
            let history = Self.history(arm)
            return [PromptTests.failed.justBefore, PromptTests.failed, PromptTests.graceEnd].map {
                history.prompting(at: $0, Presentation()).sentence
            }
        }
        let (none, shown) = ("There is nothing to ask the customer.", "A prompt is shown now.")
        let held = "No prompt is shown: the customer is in the holdout of an experiment."
        #expect(sentences == [[none, held, shown], [none, shown, shown]])
    }

    @Test func `the arm counts for everything that the failed payment unlocks`() {
        let both = ["archive", "premium"]
        let holdout = Experiment.Arm("holdout", isHoldout: true)
        #expect(Self.prompt(holdout, at: PromptTests.failed, unlocking: both) == nil)
        let asked = Self.prompt(.init("asked"), at: PromptTests.failed, unlocking: both)
        #expect(asked?.entitlement == "archive")
        #expect(asked?.experiment?.arm.name == "asked")
    }

    @Test func `an arm's quiet period replaces the policy's, and the prompt names the arm`() {
        let later = Experiment.Arm("later", quiet: .hours(6))
        let due = PromptTests.failed + .hours(6)
        #expect(Self.prompt(later, at: due.justBefore) == nil)
        #expect(Self.prompt(later, at: due)?.experiment?.arm == later)
        var writer = JSONWriter()
        Self.prompt(later, at: due)?.write(to: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text.contains(#""experiment":{"id":"words","arm":"later"}"#))
    }

    // MARK: Stops

    private static let stop = Experiment.Stop(at: "2026-06-20", reason: .refunds, arm: "asked")

    @Test func `a stopped experiment shows the control from its stop until its end`() {
        let later = Experiment.Arm("later", quiet: .hours(6))
        let stop = PromptTests.failed + .hours(8)
        var experiment = Experiment(
            id: "words",
            entitlement: "premium",
            start: PromptTests.failed,
            arms: [.init("plain", weight: 0), later]
        )
        let running = Policy(experiments: [experiment])
        experiment.stop = Experiment.Stop(at: stop, reason: .lockouts, arm: "later")
        var policy = Versioned(running)
        policy.add(
            .init(Policy(experiments: [experiment]), effectiveAt: stop, learnedAt: stop)
        )
        let history = AdviceTests.history([StandingTests.failing()], policy: policy)
        for (instant, arm) in [
            (PromptTests.failed, nil), (PromptTests.failed + .hours(6), "later"),
            (stop.justBefore, "later"), (stop, "plain"), (PromptTests.graceEnd, "plain"),
        ] as [(Instant, String?)] {
            #expect(history.snapshot(at: instant).prompt?.experiment?.arm.name == arm)
        }
    }

    @Test func `payments that fail after a stop belong to the next experiment, if there is one`() {
        var stopped = Experiment(
            id: "words",
            entitlement: "premium",
            start: PromptTests.failed - .days(9),
            arms: [.init("plain", weight: 0), .init("later")]
        )
        stopped.stop = Experiment.Stop(at: PromptTests.failed, reason: .lockouts, arm: "later")
        let next = Experiment(
            id: "timing",
            entitlement: "premium",
            start: PromptTests.failed,
            arms: [.init("now"), .init("never", weight: 0)]
        )
        for (experiments, arm) in [([stopped, next], "now"), ([stopped], "plain")] {
            let history = AdviceTests.history(
                [StandingTests.failing()],
                policy: Policy(experiments: experiments)
            )
            let prompt = history.snapshot(at: PromptTests.graceEnd).prompt
            #expect(prompt?.experiment?.arm.name == arm)
        }
    }

    @Test func `an experiment is planned, running, ended or stopped`() {
        var experiment = Self.experiment
        experiment.end = "2026-07-01"
        #expect(experiment.phase(at: "2026-05-31") == .planned)
        #expect(experiment.phase(at: "2026-06-01") == .running)
        #expect(experiment.phase(at: "2026-07-01") == .ended)
        experiment.stop = Self.stop
        #expect(experiment.phase(at: "2026-06-19") == .running)
        #expect(experiment.phase(at: "2026-06-20") == .stopped)
        #expect(experiment.phase(at: "2026-07-01") == .stopped)
        #expect(experiment.asKnown(at: "2026-06-19").stop == nil)
        #expect(experiment.asKnown(at: "2026-06-20").stop == Self.stop)
    }

    @Test func `a stop ends the observation, and later failures are not compared`() throws {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-14")
        func entry(_ stop: Instant) -> ExperimentEntry? {
            var experiment = Self.experiment
            experiment.stop = Experiment.Stop(at: stop, reason: .refunds, arm: "asked")
            return Self.entry(life, until: "2026-06-25", in: experiment)
        }
        #expect(entry("2026-06-04") == nil)
        let early = try #require(entry("2026-06-10"))
        #expect(early.recovery == KaplanMeier.Observation(.days(6), happened: false))
        #expect(early.lockout == KaplanMeier.Observation(.days(6), happened: false))
        let late = try #require(entry("2026-06-20"))
        #expect(late.recovery == KaplanMeier.Observation(.days(10), happened: true))
    }

    @Test func `harm calls for a stop while the experiment runs, and no harm does not`() {
        let end = ExperimentWorld.start + .days(395)
        let harmful = ExperimentWorld(seed: 3, customers: 3000, effect: 0, harm: 0.2)
        let report = harmful.report(at: end)
        let stop = Experiment.Stop(at: end, reason: .refunds, arm: "asked")
        #expect(report.neededStop == stop)
        var ended = report
        ended.experiment.end = end
        #expect(ended.neededStop == nil)
        var stopped = harmful.experiment
        stopped.stop = stop
        let after = ExperimentReport(of: harmful.entries(at: end), in: stopped, asOf: end)
        #expect(after.neededStop == nil)
        #expect(after.rows[1].sentence == "Stopped at \(end.rfc3339): refunds rose with this arm.")
        let harmless = ExperimentWorld(seed: 4, customers: 3000, effect: 0.1)
        for day in stride(from: 30, through: 390, by: 60) {
            let look = harmless.report(at: ExperimentWorld.start + .days(Int64(day)))
            #expect(look.neededStop == nil)
        }
    }

    @Test func `the policy's form keeps experiments`() throws {
        var experiment = Self.experiment
        experiment.stop = Self.stop
        experiment.end = "2027-06-01"
        experiment.arms[1].quiet = .hours(6)
        experiment.arms[1].channel = .app
        let policy = Policy(experiments: [experiment])
        var writer = JSONWriter()
        policy.write(to: &writer)
        #expect(try Policy(json: JSONDocument(writer.bytes).root) == policy)
    }

    @Test(
        arguments: [
            ("\"arms\":[", "\"arms\":[],\"other\":[", FormError.missing(field: "arms")),
            ("\"weight\":3", "\"weight\":0", .unknownWord(field: "weight", value: "0")),
            ("\"weight\":3", "\"weight\":-3", .unknownWord(field: "weight", value: "-3")),
            ("\"weight\":3", "\"weight\":1001", .unknownWord(field: "weight", value: "1001")),
            ("\"days\":30", "\"days\":0", .unknownWord(field: "days", value: "0")),
            ("\"points\":5", "\"points\":101", .unknownWord(field: "points", value: "101")),
        ] as [(String, String, FormError)]
    )
    func `an experiment that cannot be assigned is refused`(
        part: String,
        replaced: String,
        error: FormError
    ) throws {
        var policy = Policy()
        policy.experiments = [Self.experiment]
        var writer = JSONWriter()
        policy.write(to: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text.contains(part))
        let changed = text.replacing(part, with: replaced)
        let root = try JSONDocument(changed).root
        #expect(throws: error) { try Policy(json: root) }
    }

    // MARK: Report

    /// Robbins's boundary for a standard error of 0.02 and an effect of 0.05, computed by hand:
    /// information 2500; needed 1.126008 ln(8.936/0.0025)/0.0025 = 3685.0; prior 3685.0/7.936 =
    /// 464.34; sqrt(2964.34 ln(2964.34/(464.34 0.0025)))/2500 = 0.0610.
    @Test func `the interval has the width of Robbins's boundary`() {
        let sequence = ConfidenceSequence(effect: 0.05)
        #expect(abs(sequence.neededInformation - 3685.0) < 1)
        #expect(abs(sequence.halfWidth(standardError: 0.02) - 0.0610) < 0.0001)
        let narrowest = (1 / sequence.neededInformation).squareRoot()
        #expect(abs(sequence.halfWidth(standardError: narrowest) - 0.05) < 0.0001)
    }

    @Test func `a young experiment says how much is missing`() {
        let world = ExperimentWorld(seed: 1, customers: 2000, effect: 0)
        let row = world.report(at: ExperimentWorld.start + .days(14)).rows[1]
        #expect(row.difference == nil)
        #expect(row.sentence.hasPrefix("Not enough data: "))
        #expect(row.sentence.hasSuffix(" of about 3,700 needed."))
    }

    @Test func `an experiment of many young entries does not claim that entries are missing`() {
        let young = KaplanMeier.Observation(.days(3), happened: false)
        let entries = Self.experiment.arms.flatMap { arm in
            (0..<4_000).map { _ in
                ExperimentEntry(arm: arm.name, recovery: young, lockout: young, refund: young)
            }
        }
        let report = ExperimentReport(of: entries, in: Self.experiment, asOf: "2026-07-01")
        #expect(
            report.rows[1].sentence
                == "Not enough data: in each arm 25 must have recovered in time, and 25 must not."
        )
    }

    @Test func `a large effect is found and stated in a sentence`() throws {
        let world = ExperimentWorld(seed: 2, customers: 3000, effect: 0.2)
        let report = world.report(at: ExperimentWorld.start + .days(395))
        let difference = try #require(report.rows[1].difference)
        #expect(difference.isFound)
        #expect(difference.interval.lower < 0.2 && 0.2 < difference.interval.upper)
        #expect(report.rows[1].sentence.contains(" more of 100 recover: between "))
        #expect(report.rows[1].alarm == nil)
    }

    @Test func `an arm with more refunds is to be stopped`() {
        let world = ExperimentWorld(seed: 3, customers: 3000, effect: 0, harm: 0.2)
        let row = world.report(at: ExperimentWorld.start + .days(395)).rows[1]
        #expect(row.alarm == .refunds)
        #expect(row.sentence == "Stop it: refunds rise with this arm.")
    }

    /// A short form of `TideoverLaws experiments`.
    @Test(arguments: [0, 0.08])
    func `intervals cover the planted difference at every look`(effect: Double) {
        var trial = ExperimentTrial()
        for seed in 1...4 {
            let world = ExperimentWorld(seed: UInt64(seed), customers: 900, effect: effect)
            trial.add(world, effect: effect, every: 79)
        }
        #expect(trial.silent == 0)
        #expect(trial.missed == 0)
        if effect == 0 { #expect(trial.found == 0) }
    }
}
