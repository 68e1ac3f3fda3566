import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

@Suite struct TimelineDeadlineTests {
    private static func deadlines(_ life: Life, after instant: Instant) -> [String] {
        all(life, after: instant).map { "\($0.at.short) \($0.kind.rawValue)" }
    }

    private static func all(_ life: Life, after instant: Instant) -> [Deadline] {
        life.told(until: instant).deadlines(
            after: instant,
            trialEnding: .hours(48),
            graceEnding: .days(3)
        )
    }

    private static func trial() -> Life {
        var life = Life()
        life.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            offer: StandingTests.trial,
            origin: .purchase
        )
        return life
    }

    @Test func `a trial has a reminder, an end and a lookup of the store`() {
        let leeway: Instant = "2026-05-04T14:24:00Z"
        #expect(
            Self.deadlines(Self.trial(), after: "2026-05-01") == [
                "2026-05-02 trial_ending", "2026-05-04 expiry", "2026-05-04 reread",
                "\(leeway.short) presumed_end",
            ]
        )
        #expect(Self.deadlines(Self.trial(), after: "2026-05-02").first == "2026-05-04 expiry")
    }

    @Test func `grace has a reminder and an end, and retry ends after sixty days`() {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        #expect(
            Self.deadlines(life, after: "2026-06-04") == [
                "2026-06-17 grace_ending", "2026-06-20 grace_end", "2026-08-03 cleanup",
                "2026-08-03 retry_end",
            ]
        )
    }

    @Test func `access kept by policy has an end of its own`() {
        var life = TimelineStoryTests.converted()
        life.policy = Policy(billingRetry: .keep(.days(7)))
        life.fail("2026-06-04", grace: "2026-06-20")
        #expect(
            Self.deadlines(life, after: "2026-06-18").prefix(2) == [
                "2026-06-20 grace_end", "2026-06-27 kept_end",
            ]
        )
    }

    @Test func `a renewal announced early is due when it begins`() {
        var life = TimelineStoryTests.converted()
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-03T17:00:00Z")
        #expect(
            Self.deadlines(life, after: "2026-06-03T18:00:00Z").prefix(2) == [
                "2026-06-04 expiry", "2026-06-04 term_start",
            ]
        )
    }

    @Test func `a refunded month is cleaned up at its end`() {
        var life = TimelineStoryTests.converted()
        life.revoke("2", at: "2026-05-10")
        #expect(Self.deadlines(life, after: "2026-05-11") == ["2026-06-04 cleanup"])
    }

    @Test func `reminders scale with the pace of the sandbox`() {
        var life = Life(environment: .sandbox)
        let start: Instant = "2026-05-01T10:00:00Z"
        let end = start + .minutes(3)
        life.pay("1", from: start, to: end, offer: StandingTests.trial, origin: .purchase)
        #expect(Self.deadlines(life, after: start).first == "2026-05-01 10:01:00 trial_ending")
    }

    @Test(arguments: [true, false])
    func `a reminder of a trial says whether it renews`(renews: Bool) {
        var life = Self.trial()
        life.outlook(end: "2026-05-04", signed: "2026-05-01T12:00:00Z", renews: renews)
        // What is learned after the reminder was due does not change it.
        life.outlook(end: "2026-05-04", signed: "2026-05-02T12:00:00Z", renews: !renews)
        let timeline = CustomerTimeline(ExplanationTests.record([life]), until: "2026-05-03")
        let reminders = timeline.news(since: [String]()).unsent.compactMap { happening in
            if case .reminder(let reminder) = happening { reminder } else { nil }
        }
        #expect(reminders.map(\.willRenew) == [renews])
        #expect(reminders.map(\.deadline.kind) == [.trialEnding])
    }

    @Test func `a span shorter than its reminder has none, and a family share has none`() {
        var short = Life()
        short.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-02",
            offer: StandingTests.trial,
            origin: .purchase
        )
        #expect(
            Self.deadlines(short, after: "2026-04-01").prefix(2) == [
                "2026-05-01 term_start", "2026-05-02 expiry",
            ]
        )
        let shared = Self.trial().shared
        #expect(!Self.deadlines(shared, after: "2026-05-01").contains { $0.contains("ending") })
    }

    @Test func `a deadline keeps its id until it moves`() {
        var life = Self.trial()
        let first = Self.all(life, after: "2026-05-01").filter { $0.kind == .expiry }
        #expect(first == Self.all(life, after: "2026-05-03").filter { $0.kind == .expiry })
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-05-05",
            signed: "2026-05-03",
            offer: StandingTests.trial,
            origin: .purchase
        )
        let moved = Self.all(life, after: "2026-05-03").filter { $0.kind == .expiry }
        #expect(moved.map(\.at) == ["2026-05-05"])
        #expect(moved.map(\.id) != first.map(\.id))
    }

    @Test func `each deadline falls due once, and none is missed as time passes`() async {
        for seed in TimelinePropertyTests.seeds.prefix(20) {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let life = GeneratedLife(&random).life
            let told = life.told(until: TimelinePropertyTests.late)
            let all = told.deadlines(
                after: .distantPast,
                trialEnding: .hours(48),
                graceEnding: .days(3)
            )
            #expect(Set(all.map(\.id)).count == all.count, "seed \(seed)")
            for probe in all.map(\.at) {
                let rest = told.deadlines(
                    after: probe,
                    trialEnding: .hours(48),
                    graceEnding: .days(3)
                )
                #expect(rest == all.filter { $0.at > probe }, "seed \(seed)")
            }
        }
    }

    @Test func `each change by time alone has a deadline at its instant`() {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        for instant: Instant in ["2026-05-01", "2026-05-10", "2026-06-05", "2026-06-21"] {
            let due = Set(Self.all(life, after: instant).map(\.at))
            for event in life.told(until: instant).expected {
                #expect(due.contains(event.at), "\(event.line)")
            }
        }
    }

    private static func playSubscription(
        _ items: [PlayItem],
        isAcknowledged: Bool = false,
        isTest: Bool = false
    ) -> Assertion {
        .playSubscription(
            PlaySubscription(
                token: PlayToken("a"),
                askedAt: "2026-05-01",
                state: .active,
                items: items,
                startedAt: "2026-05-01",
                isAcknowledged: isAcknowledged,
                isTest: isTest
            )
        )
    }

    private static func acknowledgements(_ reads: Assertion...) -> [Instant] {
        var life = Life()
        life.lineage.store = .googlePlay
        for (day, read) in reads.enumerated() {
            life.say(read, at: Instant("2026-05-01") + .hours(Int64(day)))
        }
        return all(life, after: "2026-04-01").filter { $0.kind == .acknowledge }.map(\.at)
    }

    @Test func `a Google Play purchase has three days for its acknowledgement`() {
        let month = PlayItem(
            productId: "monthly",
            expiresAt: "2026-06-01",
            plan: .autoRenewing(isOn: true)
        )
        let days = PlayItem(
            productId: "days",
            expiresAt: "2026-05-05",
            plan: .prepaid(extendableFrom: nil)
        )
        let open = Self.playSubscription([month])
        #expect(Self.acknowledgements(open) == ["2026-05-04"])
        #expect(Self.acknowledgements(Self.playSubscription([days])) == ["2026-05-03"])
        #expect(
            Self.acknowledgements(Self.playSubscription([month], isTest: true))
                == ["2026-05-01T00:05:00Z"]
        )
        let done = Self.playSubscription([month], isAcknowledged: true)
        #expect(Self.acknowledgements(open, done) == [])
        let once = PlayPurchase(
            token: PlayToken("b"),
            askedAt: "2026-05-01",
            state: .purchased,
            items: [],
            completedAt: "2026-05-02",
            isAcknowledged: false
        )
        #expect(Self.acknowledgements(done, .playPurchase(once)) == ["2026-05-05"])
    }

    // MARK: JSON

    private static func members(_ write: (inout JSONWriter) -> Void) throws -> [String] {
        var writer = JSONWriter()
        write(&writer)
        return try JSONDocument(writer.bytes).root.members.map(\.key)
    }

    @Test func `spans, events and deadlines have their documented members`() throws {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        let told = life.told(until: "2026-06-10")
        let timeline = told.timeline(of: "premium")
        #expect(
            try Self.members { writer in writer.object { timeline.writeFields(to: &$0) } }
                == ["spans", "expected", "transitions"]
        )
        let span = try #require(timeline.spans.last)
        #expect(
            try Self.members { span.write(to: &$0) } == [
                "from", "until", "state", "reason", "access", "confidence", "rule", "productId",
                "store", "lineage", "willRenew",
            ]
        )
        let event = try #require(timeline.transitions.last)
        #expect(
            try Self.members { event.write(to: &$0) } == [
                "id", "kind", "at", "learnedAt", "lineage", "state", "reason", "confidence",
                "productId",
                "entitlements", "money", "familyShared", "evidence",
            ]
        )
        let deadline = try #require(Self.all(life, after: "2026-06-10").first)
        #expect(
            try Self.members { deadline.write(to: &$0) } == [
                "id", "kind", "at", "lineage", "productId",
            ]
        )
        let correction = try #require(Corrections(sent: ["x"], timeline: []).corrected.first)
        #expect(try Self.members { correction.write(to: &$0) } == ["id", "kind", "undone"])
    }

    @Test func `the expected spans begin where the past ones end`() {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        let timeline = life.told(until: "2026-06-10").timeline(of: "premium")
        #expect(
            timeline.expected.map(\.line) == [
                "2026-06-10 grace billingIssue monthly renews",
                "2026-06-20 hold billingRetry monthly renews",
                "2026-08-03 expired billingError monthly ends",
            ]
        )
        #expect(timeline.expected.map(\.until) == ["2026-06-20", "2026-08-03", nil])
    }

    @Test func `ids are the same on each machine and in each version`() {
        let told = TimelineStoryTests.converted().told(until: "2026-06-01").transitions
        #expect(
            told.map(\.id) == [
                "ac95c38216cfb4dd0d020112fd176db0", "a360fa28750fc1a7023c0eed119615ed",
            ]
        )
    }
}
