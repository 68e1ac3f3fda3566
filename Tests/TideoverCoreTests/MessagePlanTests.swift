import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// Which customer is shown or sent what, when and in which words.
@Suite struct MessagePlanTests {
    private static let failed: Instant = "2026-06-04"
    private static let graceEnd: Instant = "2026-06-20"
    private static let everything = Policy.Plan(
        Dictionary(uniqueKeysWithValues: PlannedMessage.Kind.allCases.map { ($0, .message) })
    )

    private static func timeline(
        _ lives: [Life],
        until: Instant,
        policy: Versioned<Policy>
    ) -> CustomerTimeline {
        CustomerTimeline(record(lives, policy), until: until)
    }

    private static func record(_ lives: [Life], _ policy: Versioned<Policy>) -> CustomerRecord {
        CustomerRecord(
            customer: SnapshotTests.anna,
            environment: .production,
            lineageRecords: lives.map { $0.owned(by: [$0.owner()]) },
            catalogue: Versioned(Life().catalogue),
            policy: policy
        )
    }

    private static func plan(
        _ lives: Life...,
        until: Instant,
        prompts: Policy.Prompts = Policy.Prompts(),
        shown: [PromptExposure] = []
    ) -> MessagePlan {
        let policy = Policy(prompts: prompts, plan: everything)
        return timeline(lives, until: until, policy: Versioned(policy)).plan(shown: shown)
    }

    private static func lines(_ messages: [PlannedMessage]) -> [String] {
        messages.map { "\($0.at.short) \($0.kind.rawValue) \($0.wording.screen.key.rawValue)" }
    }

    private static func failing() -> Life {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04", grace: "2026-06-20")
        return life
    }

    private static func shown(
        _ kind: PromptExposure.Kind,
        at instant: Instant,
        id: String = "p"
    ) -> PromptExposure {
        PromptExposure(id: id, kind: kind, shownAt: instant)
    }

    // MARK: Occasions

    @Test func `a failed payment for a lesser product plans words that are true of it`() {
        var life = StandingTests.monthly()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-01",
            retrying: true,
            grace: "2026-06-17",
            into: "basic"
        )
        let keys = Self.plan(life, until: "2026-06-20").messages.reduce(into: [:]) {
            $0[$1.kind] = $1.wording.screen.key
        }
        #expect(keys[.graceEntered] == .graceChanging)
        #expect(keys[.graceEnding] == .graceChanging)
        #expect(keys[.holdEntered] == .holdChanging)
    }

    @Test func `a failed payment plans a notice, a reminder and the news of the hold`() {
        #expect(
            Self.lines(Self.plan(Self.failing(), until: Self.failed).open(at: Self.failed)) == [
                "2026-06-04 graceEntered grace.soft", "2026-06-17 graceEnding grace.soft",
                "2026-06-20 holdEntered hold.hard",
            ]
        )
    }

    @Test func `a trial that will renew has a reminder, a cancelled one has none`() {
        var life = Life()
        life.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            offer: StandingTests.trial,
            origin: .purchase
        )
        let start: Instant = "2026-05-01"
        #expect(
            Self.lines(Self.plan(life, until: start).open(at: start)) == [
                "2026-05-02 trialEnding trial.ending.unpriced"
            ]
        )
        life.outlook(end: "2026-05-04", signed: "2026-05-01T12:00:00Z", renews: false)
        let now: Instant = "2026-05-01T13:00:00Z"
        #expect(
            Self.plan(life, until: now).open(at: now).allSatisfy { $0.kind != .trialEnding }
        )
    }

    @Test func `a recovery replaces what was planned, and thanks for a day`() {
        var life = Self.failing()
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-10")
        let back: Instant = "2026-06-10"
        #expect(
            Self.lines(Self.plan(life, until: back).open(at: back)) == [
                "2026-06-10 recovered recovered"
            ]
        )
        #expect(Self.plan(life, until: back + .days(1)).open(at: back + .days(1)) == [])
    }

    @Test func `an ended subscription plans a cleanup for a week`() {
        var life = TimelineStoryTests.converted()
        life.lapse("2026-06-04", at: "2026-06-04", .cancelled)
        let end: Instant = "2026-06-04"
        #expect(
            Self.lines(Self.plan(life, until: end).due(at: end)) == [
                "2026-06-04 cleanupDue expired.unpriced"
            ]
        )
        #expect(Self.plan(life, until: end + .days(7)).due(at: end + .days(7)) == [])
    }

    @Test func `a change of product plans no message that the subscription has ended`() {
        var life = TimelineStoryTests.converted()
        life.outlook(end: "2026-06-04", signed: "2026-05-20", into: "basic")
        life.pay("3", "basic", from: "2026-06-04", to: "2026-07-04")
        let end: Instant = "2026-06-04"
        #expect(life.told(until: end).transitions.last?.kind == .cleanupDue)
        #expect(Self.plan(life, until: end).due(at: end) == [])
    }

    @Test(arguments: [true, false])
    func `the cleanup of a replaced product plans no message after the next product's end`(
        renews: Bool
    ) throws {
        let end: Instant = "2026-07-04"
        var life = Life()
        life.pay("1", "yearly", from: "2025-07-04", to: end, origin: .purchase)
        life.pay("2", "basic", from: "2026-05-20", to: "2026-06-20", origin: .purchase)
        life.term(
            "1",
            "yearly",
            from: "2025-07-04",
            to: end,
            signed: "2026-05-20",
            upgraded: true
        )
        life.outlook(
            end: "2026-06-20",
            signed: "2026-06-10",
            renews: renews,
            product: "basic"
        )
        let cleanup = try #require(life.told(until: end).transitions.last)
        #expect(cleanup.kind == .cleanupDue)
        #expect(cleanup.productId == "yearly")
        #expect(cleanup.state == .expired)
        #expect(cleanup.reason == (renews ? .unconfirmed : .cancelled))
        #expect(Self.plan(life, until: end).due(at: end) == [])
    }

    @Test func `a higher price is announced only while the store awaits consent`() {
        var life = TimelineStoryTests.converted()
        let asked: Instant = "2026-05-20"
        for (signed, pending) in [(asked, true), (asked + .days(3), false)] {
            var outlook = Outlook(renewalDate: "2026-06-04", productId: "monthly")
            outlook.willRenew = true
            outlook.priceIncreasePending = pending
            life.say(.outlook(outlook), at: signed)
        }
        let plan = Self.plan(life, until: asked)
        #expect(Self.lines(plan.due(at: asked)) == ["2026-05-20 priceConsent price.consent"])
        #expect(plan.due(at: asked.justBefore) == [])
        #expect(plan.due(at: asked + .days(3)) == [])
    }

    @Test func `a trial whose higher price awaits consent is reminded of that`() {
        var life = Life()
        life.pay(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            offer: StandingTests.trial,
            origin: .purchase
        )
        var outlook = Outlook(renewalDate: "2026-05-04", productId: "monthly", willRenew: true)
        outlook.priceIncreasePending = true
        life.say(.outlook(outlook), at: "2026-05-01T12:00:00Z")
        let plan = Self.plan(life, until: "2026-05-03")
        #expect(
            Self.lines(plan.open(at: "2026-05-03")) == [
                "2026-05-01 12:00:00 priceConsent price.consent",
                "2026-05-02 trialEnding price.consent",
            ]
        )
    }

    @Test func `a family member has no plan, nor has a customer with another purchase`() {
        #expect(Self.plan(Self.failing().shared, until: Self.failed) == .none)
        var other = Life("2000")
        other.pay("9", "yearly", from: "2026-05-20", to: "2027-05-20", origin: .purchase)
        let plan = Self.plan(Self.failing(), other, until: Self.failed)
        #expect(plan.open(at: Self.failed) == [])
        #expect(plan.messages.contains { $0.suppression == .notAffected })
    }

    @Test func `each message about a failure agrees with the answer when it is due`() throws {
        var lives: [Life] = []
        // Each life fails on another day; some have paid again by the time of the others' messages.
        for number in 0..<6 {
            var life = Life("\(3000 + number)")
            let start = Self.failed - .days(30 - Int64(number) * 4)
            let end = start + .days(30)
            life.pay("\(number)-1", from: start, to: end, origin: .purchase)
            life.fail(end, grace: end + .days(16))
            if number.isMultiple(of: 3) {
                let back = end + .days(18)
                life.pay("\(number)-2", from: back, to: back + .days(3), signed: back)
            }
            lives.append(life)
        }
        let policy = Versioned(Policy(plan: Self.everything))
        let until = Self.failed + .days(90)
        let timeline = Self.timeline(lives, until: until, policy: policy)
        let failures = timeline.plan().messages.filter { message in
            [.graceEntered, .graceEnding, .holdEntered].contains(message.kind)
        }
        let record = Self.record(lives, policy)
        for message in failures where [nil, .notAffected].contains(message.suppression) {
            let snapshot = record.history.snapshot(at: message.at)
            let states = message.entitlements.compactMap { snapshot[$0]?.standing.state }
            let failing: State = message.kind == .holdEntered ? .hold : .grace
            #expect((message.suppression == nil) == states.contains(failing), "\(message)")
        }
        #expect(Set(failures.map(\.suppression)).isSuperset(of: [nil, .notAffected]))
    }

    // MARK: Experiments

    /// Returns the messages about a failed payment of a customer in the arm `later`, which waits for
    /// a day. Without a stop the experiment goes on.
    private static func plan(stop: Instant?, until: Instant) -> [PlannedMessage] {
        var experiment = Experiment(
            id: "timing",
            entitlement: "premium",
            start: "2026-06-01",
            arms: [.init("plain", weight: 0), .init("later", quiet: .days(1), channel: .app)]
        )
        func policy() -> Policy { Policy(plan: everything, experiments: [experiment]) }
        var versions = Versioned(policy())
        if let stop {
            experiment.stop = Experiment.Stop(at: stop, reason: .lockouts, arm: "later")
            versions.add(.init(policy(), effectiveAt: stop, learnedAt: stop))
        }
        let plan = timeline([failing()], until: until, policy: versions).plan()
        return plan.messages.filter { $0.experiment != nil }
    }

    private static func arms(_ messages: [PlannedMessage]) -> [String] {
        messages.map {
            "\($0.at.short) \($0.kind.rawValue) \($0.channel.rawValue) "
                + ($0.experiment?.arm.name ?? "none")
        }
    }

    @Test func `a message that is due after a stop has the control's words and time`() {
        let running = Self.plan(stop: nil, until: Self.failed)
        #expect(
            Self.arms(running) == [
                "2026-06-05 graceEntered app later", "2026-06-17 graceEnding message later",
                "2026-06-20 holdEntered message later",
            ]
        )
        let stop = Self.failed + .hours(6)
        let stopped = Self.plan(stop: stop, until: stop)
        #expect(stopped.first?.at == stop)
        #expect(stopped.first?.channel == .message)
        #expect(stopped.map { $0.experiment?.arm.name } == ["plain", "plain", "plain"])
        // A plan as of an earlier instant does not include the stop.
        #expect(Self.arms(Self.plan(stop: stop, until: stop.justBefore)) == Self.arms(running))
        // What was due before the stop keeps its arm.
        let late = Self.plan(stop: Self.failed + .days(2), until: Self.failed + .days(2))
        #expect(late.map { $0.experiment?.arm.name } == ["later", "plain", "plain"])
    }

    // MARK: Waits and suppression

    @Test func `a notice waits for the quiet period, and a recovery within it is silent`() {
        let quiet = Policy.Prompts(quiet: .hours(6))
        var life = Self.failing()
        let due = Self.failed + .hours(6)
        let plan = Self.plan(life, until: Self.failed, prompts: quiet)
        #expect(plan.due(at: due.justBefore) == [])
        #expect(plan.due(at: due).map(\.kind) == [.graceEntered])
        let back = Self.failed + .hours(5)
        life.pay("3", from: "2026-06-04", to: "2026-07-04", signed: back)
        for instant in [back, due] {
            let plan = Self.plan(life, until: instant, prompts: quiet)
            #expect(plan.due(at: instant) == [])
        }
    }

    @Test func `the caps delay a reminder, and leave out one that would be out of date`() {
        let seldom = Policy.Prompts(interval: .days(2))
        let prompt = Self.shown(.soft, at: "2026-06-16")
        let late = Self.plan(
            Self.failing(),
            until: Self.failed,
            prompts: seldom,
            shown: [prompt]
        )
        #expect(late.messages.first { $0.kind == .graceEnding }?.at == "2026-06-18")
        let never = Self.plan(
            Self.failing(),
            until: Self.failed,
            prompts: Policy.Prompts(interval: .days(9)),
            shown: [prompt]
        )
        #expect(never.messages.first { $0.kind == .graceEnding }?.suppression == .waits)
        #expect(never.messages.first { $0.kind == .holdEntered }?.at == Self.graceEnd)
    }

    @Test func `what the store or a report has shown is left out`() throws {
        let first = Self.plan(Self.failing(), until: Self.failed)
        let notice = try #require(first.due(at: Self.failed).first)
        let now = Self.failed + .hours(1)
        for (report, reason) in [
            (Self.shown(.message, at: now, id: notice.id), PlannedMessage.Suppression.reported),
            (Self.shown(.store, at: now), .store),
        ] {
            let plan = Self.plan(Self.failing(), until: now, shown: [report])
            let again = plan.messages.first { $0.id == notice.id }
            #expect(again?.suppression == reason)
            #expect(plan.due(at: now) == [])
        }
        let earlier = Self.shown(.store, at: Self.failed.justBefore)
        let plan = Self.plan(Self.failing(), until: now, shown: [earlier])
        #expect(plan.due(at: now).map(\.kind) == [.graceEntered])
    }

    @Test func `the store's own message delays the soft prompt by a day`() {
        let shown = PromptTests.failed + .hours(1)
        let history = AdviceTests.history([StandingTests.failing()], policy: Policy())
        let after = Presentation(after: [Self.shown(.store, at: shown)])
        for (instant, kind) in [
            (PromptTests.failed, Prompt.Kind.soft), (shown, nil),
            ((shown + .days(1)).justBefore, nil), (shown + .days(1), .soft),
        ] {
            #expect(history.snapshot(at: instant, shown: after).prompt?.kind == kind)
        }
        #expect(history.prompting(at: shown, after).hold?.reason == .store)
    }

    // MARK: Events

    @Test func `a message is sent once while it is due, and no report undoes it`() {
        let policy = Versioned(Policy(prompts: .init(interval: .days(1)), plan: Self.everything))
        func news(at instant: Instant, _ sent: [String], _ shown: [PromptExposure]) -> CustomerNews
        {
            let timeline = Self.timeline([Self.failing()], until: instant, policy: policy)
            return timeline.news(since: sent, of: timeline.plan(shown: shown))
        }
        let first = news(at: Self.failed, [], [])
        let messages = first.unsent.filter { $0.kind == PlannedMessage.eventKind }
        #expect(messages.map(\.at) == [Self.failed])
        #expect(first.nextAt == "2026-06-17")
        let sent = first.unsent.map(\.id)
        let now = Self.failed + .minutes(5)
        for report in [
            Self.shown(.message, at: now, id: messages[0].id), Self.shown(.store, at: now),
            Self.shown(.soft, at: now),
        ] {
            let later = news(at: now, sent, [report])
            #expect(later.unsent.isEmpty)
            #expect(later.corrected.isEmpty)
        }
        // A server that was down for the whole of grace sends no outdated message.
        let late = news(at: "2026-06-21", [], []).unsent.compactMap { happening in
            if case .message(let message) = happening { message.kind } else { nil }
        }
        #expect(late == [.holdEntered])
    }

    @Test func `an occasion that did not happen undoes its message`() throws {
        let policy = Versioned(Policy(plan: Self.everything))
        let before = Self.timeline([Self.failing()], until: Self.failed, policy: policy)
        let sent = before.news(since: [], of: before.plan()).unsent
        let message = try #require(sent.first { $0.kind == PlannedMessage.eventKind })
        var paid = TimelineStoryTests.converted()
        paid.pay("3", from: "2026-06-04", to: "2026-07-04", signed: "2026-06-04")
        let after = Self.timeline([paid], until: "2026-06-05", policy: policy)
        let news = after.news(since: sent.map(\.id), of: after.plan())
        #expect(news.corrected.map(\.undone).contains(message.id))
    }

    /// Facts become known as they are signed, and the plan is computed at those instants and at its
    /// own; each derivation knows what earlier ones sent.
    @Test func `generated lives get each message once, while it is not out of date`() {
        var random = SeededRandom(seed: 2026)
        var kinds: Set<PlannedMessage.Kind> = []
        for _ in 0..<20 {
            let whole = GeneratedLife(&random).life
            var ids: [String] = []
            var sent: [PlannedMessage] = []
            var next: Instant?
            for now in Set(whole.facts.map(\.assertedAt)).sorted() {
                while let due = next, due < now {
                    next = Self.send(whole.known(by: due), at: due, &ids, &sent)
                }
                next = Self.send(whole.known(by: now), at: now, &ids, &sent)
            }
            #expect(Set(sent.map(\.id)).count == sent.count)
            #expect(whole.lineage.ownership == .purchased || sent.isEmpty)
            kinds.formUnion(sent.map(\.kind))
        }
        #expect(kinds.isSuperset(of: [.graceEntered, .holdEntered, .recovered, .cleanupDue]))
    }

    /// Sends what is due, and returns when something is due next.
    private static func send(
        _ life: Life,
        at now: Instant,
        _ ids: inout [String],
        _ sent: inout [PlannedMessage]
    ) -> Instant? {
        let policy = Versioned(Policy(plan: everything))
        let timeline = timeline([life], until: now, policy: policy)
        let news = timeline.news(since: ids, of: timeline.plan())
        ids += news.corrected.map(\.id) + news.unsent.map(\.id)
        for case .message(let message) in news.unsent {
            #expect(message.at <= now && now < message.until)
            sent.append(message)
        }
        return news.nextAt
    }

    @Test func `a plan concerns only occasions after it was switched on`() throws {
        let on: Instant = "2026-06-10"
        let policy = try #require(
            Versioned(versions: [
                .init(Policy(), effectiveAt: .distantPast, learnedAt: .distantPast),
                .init(Policy(plan: Self.everything), effectiveAt: on, learnedAt: on),
            ])
        )
        let timeline = Self.timeline([Self.failing()], until: on, policy: policy)
        #expect(timeline.plan().open(at: on).map(\.kind) == [.graceEnding, .holdEntered])
        #expect(
            timeline.news(since: [], of: timeline.plan()).unsent.allSatisfy {
                $0.kind != PlannedMessage.eventKind
            }
        )
    }

    @Test func `another length of reminders concerns periods that begin later`() throws {
        var life = PlayStandingTests.failing()
        for day in 2..<7 {
            let asked = PlayStandingTests.end + .days(Int64(day))
            life.read(.inGrace, until: asked + .days(1), at: asked, order: "GPA.1")
        }
        let changed = PlayStandingTests.end + .hours(12)
        let shorter = Policy(reminders: .init(graceEnding: .days(2)))
        let policy = try #require(
            Versioned(versions: [
                .init(Policy(), effectiveAt: .distantPast, learnedAt: .distantPast),
                .init(shorter, effectiveAt: changed, learnedAt: changed),
            ])
        )
        let timeline = Self.timeline([life], until: "2026-06-07T12:00:00Z", policy: policy)
        let reminders = timeline.news(since: [String]()).unsent.compactMap { happening in
            if case .reminder(let reminder) = happening { reminder.deadline.at } else { nil }
        }
        #expect(reminders == ["2026-06-05"])
    }

    @Test func `a plan is kept by the policy's form, and an empty one leaves no trace`() throws {
        var policy = Policy()
        policy.plan.channels = [.recovered: .app, .holdEntered: .message]
        var writer = JSONWriter()
        policy.write(to: &writer)
        #expect(try Policy(json: JSONDocument(writer.bytes).root) == policy)
        var plain = JSONWriter()
        Policy().write(to: &plain)
        #expect(!String(decoding: plain.bytes, as: UTF8.self).contains("plan"))
    }
}

extension Life {
    /// Returns the life with the facts signed by an instant.
    fileprivate func known(by instant: Instant) -> Life {
        var known = self
        known.facts.removeAll { $0.assertedAt > instant }
        return known
    }
}
