import Testing
import TideoverCore
import TideoverLives

/// The timeline does not depend on the order of facts, and it matches the standings.
@Suite struct TimelinePropertyTests {
    /// Some of the lives, or all if more than usual are requested.
    static let seeds = ConvergenceTests.seeds.prefix(
        ConvergenceTests.seeds.count > 200 ? .max : 30
    )
    static let entitlements = ["archive", "basics", "premium"]

    private static func lives() -> some Sequence<(seed: UInt64, life: GeneratedLife)> {
        seeds.lazy.map { seed in
            var random = SeededRandom(seed: seed)
            return (seed, GeneratedLife(&random))
        }
    }

    /// An instant after the end of every generated life.
    static let late: Instant = "2099-01-01"

    /// Returns the parts of the timeline that do not depend on when facts were learned.
    private static func story(of life: Life) -> [String] {
        let told = life.told(until: late)
        let spans = entitlements.flatMap { told.timeline(of: $0).spans.map(\.line) }
        let events = told.transitions.map { "\($0.id) \($0.line) \($0.evidence.map(\.hex))" }
        let issues = told.issues.map { "\($0.id) \($0.enteredAt.short) \($0.summary)" }
        return spans + events + issues
    }

    @Test func `spans cover the time without gaps and equal the standing at both ends`()
        async
    {
        for (seed, generated) in Self.lives() {
            await Task.yield()
            Self.expectSpans(of: generated.life, "seed \(seed)")
        }
    }

    @Test func `a timeline with lost facts keeps its properties`() async {
        for seed in ConvergenceTests.lossSeeds.prefix(10) {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let generated = GeneratedLife(&random)
            for kept in ConvergenceTests.losses(of: generated.life.facts) {
                var lossy = generated.life
                lossy.facts = kept
                Self.expectSpans(of: lossy, "seed \(seed)")
                Self.expectEvents(of: lossy, "seed \(seed)")
            }
        }
    }

    /// Reads and bare notifications without a plan: a store with every kind of error.
    private static func wildReads(_ random: inout SeededRandom) -> Life {
        var life = Life.play()
        var now: Instant = "2026-05-01"
        var expiry: Instant = "2026-06-01"
        for number in 1...Int.random(in: 2...9, using: &random) {
            let states: [PlaySubscription.State] = [
                .active, .active, .active, .inGrace, .onHold, .paused, .cancelled, .expired,
            ]
            let token = number > 5 && Bool.random(using: &random) ? "b" : "a"
            life.read(
                states.randomElement(using: &random) ?? .active,
                token,
                until: expiry,
                at: now,
                product: Bool.random(using: &random) ? "play" : "play.plus",
                order: Bool.random(using: &random) ? "GPA.\(number / 2)" : nil,
                replaces: token == "b" ? "a" : nil,
                resumes: expiry + .days(30)
            )
            if Int.random(in: 0..<6, using: &random) == 0 {
                life.void("GPA.\(number / 2)", at: now + .hours(5))
            }
            now = now + .hours(Int64.random(in: 1...1200, using: &random))
            if Bool.random(using: &random) { expiry = max(expiry, now) + Period(months: 1) }
        }
        return life
    }

    @Test func `any order of Google Play facts gives one valid timeline`() async {
        for seed in Self.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let life = Self.wildReads(&random)
            Self.expectSpans(of: life, "seed \(seed)")
            Self.expectEvents(of: life, "seed \(seed)")
            var disturbed = life
            disturbed.facts = ConvergenceTests.disturbed(life.facts, &random)
            let difference = Self.story(of: disturbed).difference(from: Self.story(of: life))
            #expect(difference.isEmpty, "seed \(seed)")
        }
    }

    private static func expectSpans(of life: Life, _ comment: Comment) {
        let history = SnapshotTests.history([life])
        let told = life.told(until: late)
        for entitlement in entitlements {
            let spans = told.timeline(of: entitlement).spans
            guard !spans.isEmpty else { continue }
            expectTiling(spans, until: late, comment)
            for (span, instant) in spans.flatMap({ span in span.probes.map { (span, $0) } }) {
                let now = history.snapshot(at: instant)[entitlement]?.standing
                #expect(now.map(span.says) == true, "\(comment) at \(instant.rfc3339)")
            }
        }
    }

    /// Expects unique IDs, ordered events, and one event at the start of each billing issue.
    private static func expectEvents(of life: Life, _ comment: Comment) {
        let told = life.told(until: late)
        #expect(Set(told.transitions.map(\.id)).count == told.transitions.count, comment)
        #expect(told.transitions.map(\.at) == told.transitions.map(\.at).sorted(), comment)
        let entries = told.transitions.filter { $0.kind == .billingIssueEntered }
        // A family member is never asked to pay, so their failed payment is not a billing issue.
        let counted = life.lineage.ownership == .familyShared ? [] : entries
        #expect(told.issues.map(\.id) == counted.map(\.id), comment)
        #expect(told.issues.allSatisfy { $0.graceFrom != nil || $0.holdFrom != nil }, comment)
    }

    static func expectTiling(_ spans: [Timeline.Span], until end: Instant, _ comment: Comment) {
        #expect(spans.last?.until == end, comment)
        for (before, after) in zip(spans, spans.dropFirst()) {
            #expect(before.until == after.from, comment)
            #expect(before.from < after.from, comment)
            #expect(!before.isSame(as: after), comment)
        }
    }

    @Test func `each id is unique, and events are in order`() async {
        for (seed, generated) in Self.lives() {
            await Task.yield()
            Self.expectEvents(of: generated.life, "seed \(seed)")
        }
    }

    @Test func `each change of access has an event`() async {
        for (seed, generated) in Self.lives() {
            await Task.yield()
            let told = generated.life.told(until: Self.late)
            let events = Set(told.transitions.filter { $0.kind != .cleanupDue }.map(\.at))
            let premium = told.timeline(of: "premium").spans
            for (before, after) in zip(premium, premium.dropFirst())
            where before.access != after.access {
                let isTold = events.contains(after.from)
                #expect(isTold, "seed \(seed) at \(after.from.rfc3339): \(after.line)")
            }
        }
    }

    @Test func `a later timeline begins with the earlier one`() async {
        for (seed, generated) in Self.lives() {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let whole = generated.life.told(until: Self.late)
            for probe in generated.probes.shuffled(using: &random).prefix(12) {
                let part = generated.life.told(until: probe)
                #expect(
                    part.transitions == whole.transitions.filter { $0.at <= probe },
                    "seed \(seed) at \(probe.rfc3339)"
                )
                #expect(
                    part.transitions + part.expected == whole.transitions,
                    "seed \(seed) at \(probe.rfc3339)"
                )
            }
        }
    }

    @Test func `every billing issue ends with an event`() async {
        let ends: Set<Transition.Kind> = [
            .billingIssueRecovered, .recoveredByNewPurchase, .expired, .trialEnded, .refunded,
        ]
        for (seed, generated) in Self.lives() {
            await Task.yield()
            let told = generated.life.told(until: Self.late)
            for issue in told.issues {
                let isTold = told.transitions.contains {
                    $0.at == issue.endedAt && ends.contains($0.kind)
                }
                #expect(isTold, "seed \(seed): \(issue.summary)")
            }
        }
    }

    // MARK: Corrections

    /// Sends everything due each time a fact arrives or a deadline passes. Returns the sent IDs,
    /// corrections included, and a line for each undone event.
    private static func sent(of life: Life) -> (sent: [String], undone: [String]) {
        var sent: [String] = []
        var lines: [String: String] = [:]
        var undone: [String] = []
        let heard = Set(life.facts.flatMap { [$0.learnedAt, $0.learnedAt + .days(20)] })
        for now in heard.sorted() + [late] {
            var known = life
            known.facts = life.facts.filter { $0.learnedAt <= now }
            let news = Corrections(sent: sent, timeline: known.told(until: now).transitions)
            sent += news.corrected.map(\.id) + news.unsent.map(\.id)
            for event in news.unsent { lines[event.id] = event.line }
            undone += news.corrected.map { "\(lines[$0.undone] ?? "?") undone on \(now.short)" }
        }
        return (sent, undone)
    }

    /// Returns the IDs in effect, without the number of a repetition.
    private static func standing(_ sent: [String]) -> Set<String> {
        let undone = Set(
            sent.filter { $0.hasSuffix("-corrected") }
                .map { String($0.dropLast("-corrected".count)) }
        )
        let standing = sent.filter { !$0.hasSuffix("-corrected") && !undone.contains($0) }
        return Set(standing.map { String($0.prefix(32)) })
    }

    @Test func `sent and uncorrected events equal the timeline, however late facts arrive`() async {
        for (seed, generated) in Self.lives() {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            var late = generated.life
            for position in late.facts.indices {
                let delay = Milliseconds.hours(Int64.random(in: 0...2000, using: &random))
                late.facts[position].learnedAt = late.facts[position].assertedAt + delay
            }
            let sent = Self.sent(of: late).sent
            #expect(Set(sent).count == sent.count, "seed \(seed)")
            let happened = Set(late.told(until: Self.late).transitions.map(\.id))
            #expect(Self.standing(sent) == happened, "seed \(seed)")
        }
    }

    @Test func `an event of facts received in time is never corrected`() async {
        for (seed, generated) in Self.lives() {
            await Task.yield()
            #expect(Self.sent(of: generated.life).undone == [], "seed \(seed)")
        }
    }
}

extension Timeline.Span {
    /// The first instant, the middle, the last millisecond.
    var probes: [Instant] {
        guard let until else { return [from] }
        return [from, from + Milliseconds((until - from).count / 2), until.justBefore]
    }

    func isSame(as other: Timeline.Span) -> Bool {
        (state, reason, confidence, rule, productId)
            == (other.state, other.reason, other.confidence, other.rule, other.productId)
            && lineage == other.lineage && willRenew == other.willRenew
    }
}

extension BillingIssue {
    var summary: String {
        let known = [graceFrom, holdFrom, endedAt].map { $0?.short ?? "-" }
        return ([enteredAt.short, outcome.word] + known).joined(separator: " ")
    }
}

extension BillingIssue.Outcome {
    var word: String {
        switch self {
        case .open(let state): "open in \(state.rawValue)"
        case .recovered(let recovery): "recovered from \(recovery.from.rawValue)"
        case .recoveredByNewPurchase(let recovery, let lineage):
            "recovered from \(recovery.from.rawValue) by \(lineage.id)"
        case .cancelled(let from, _): "cancelled in \(from.rawValue)"
        case .expired(let from, _): "expired in \(from.rawValue)"
        case .takenBack(let from, _): "taken back in \(from.rawValue)"
        case .unconfirmed(let from, _): "lost sight of in \(from.rawValue)"
        }
    }
}
