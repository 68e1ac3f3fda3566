import Testing
import TideoverCore
import TideoverLives

/// Several lineages, changing owners, past knowledge.
@Suite struct TimelineCustomerTests {
    static let anna = SnapshotTests.anna
    static let ben = SnapshotTests.ben

    /// The record of a customer's lives, each with its list of owners.
    private static func record(
        of customer: CustomerID = anna,
        _ lineageRecords: [(life: Life, owners: [OwnershipEntry])],
        policy: Versioned<Policy> = Versioned(Policy())
    ) -> CustomerRecord {
        CustomerRecord(
            customer: customer,
            environment: .production,
            lineageRecords: lineageRecords.map { $0.life.owned(by: $0.owners) },
            catalogue: Versioned(Life().catalogue),
            policy: policy
        )
    }

    private static func record(
        _ lives: Life...,
        policy: Versioned<Policy> = Versioned(Policy())
    ) -> CustomerRecord {
        record(lives.map { ($0, [entry($0, anna, from: .distantPast)]) }, policy: policy)
    }

    private static func entry(
        _ life: Life,
        _ customer: CustomerID,
        from: Instant
    ) -> OwnershipEntry {
        OwnershipEntry(lineage: life.lineage, customer: customer, from: from, why: .accountToken)
    }

    private static func events(_ record: CustomerRecord, until: Instant) -> [String] {
        CustomerTimeline(record, until: until).transitions.map { "\($0.lineage.id) \($0.line)" }
    }

    private static func spans(_ record: CustomerRecord, until: Instant) -> [String] {
        CustomerTimeline(record, until: until).timeline(of: "premium").spans.map {
            "\($0.lineage?.id ?? "-") \($0.line)"
        }
    }

    /// A year bought elsewhere ten days into the hold of a monthly subscription.
    private static func boughtAnew() -> (failed: Life, bought: Life) {
        var failed = TimelineStoryTests.converted()
        failed.fail("2026-06-04")
        var bought = Life("2000")
        bought.pay(
            "9",
            "yearly",
            from: "2026-06-14",
            to: "2027-06-14",
            price: "59.99 USD",
            origin: .purchase
        )
        return (failed, bought)
    }

    @Test func `a purchase in another lineage during hold recovers the customer`() {
        let (failed, bought) = Self.boughtAnew()
        let record = Self.record(failed, bought)
        #expect(
            Self.spans(record, until: "2026-09-01").dropFirst(2) == [
                "1000 2026-06-04 hold billingRetry monthly renews",
                "2000 2026-06-14 active paid yearly renews",
            ]
        )
        #expect(
            Self.events(record, until: "2026-09-01").dropFirst(2) == [
                "1000 2026-06-04 billing_issue_entered monthly 9.99 USD",
                "1000 2026-06-14 recovered_by_new_purchase from hold after 10d yearly 59.99 USD "
                    + "by 2000",
                "2000 2026-06-14 started yearly 59.99 USD",
                "1000 2026-08-03 expired from hold after 60d monthly keep until 2026-08-03",
            ]
        )
        let issues = CustomerTimeline(record, until: "2026-09-01").issues
        #expect(issues.map(\.outcome.word) == ["recovered from hold by 2000"])
        #expect(failed.told(until: "2026-09-01").issues.map(\.outcome.word) == ["expired in hold"])
    }

    @Test func `a purchase of another entitlement recovers no customer`() {
        var (failed, bought) = Self.boughtAnew()
        bought.facts = []
        bought.pay("9", "basic", from: "2026-06-14", to: "2026-07-14", origin: .purchase)
        let issues = CustomerTimeline(Self.record(failed, bought), until: "2026-07-01").issues
        #expect(issues.map(\.outcome) == [.open(.hold)])
        failed.lineage.ownership = .familyShared
        #expect(CustomerTimeline(Self.record(failed, bought), until: "2026-07-01").issues == [])
    }

    @Test func `a family share does not recover the customer's own issue`() {
        let (failed, bought) = Self.boughtAnew()
        let issues = CustomerTimeline(
            Self.record(failed, bought.shared),
            until: "2026-07-01"
        ).issues
        #expect(issues.map(\.outcome) == [.open(.hold)])
    }

    @Test func `no cleanup is due while another purchase gives access`() {
        var first = TimelineStoryTests.converted()
        first.lapse("2026-06-04", at: "2026-06-04", .cancelled)
        var second = Life("2000")
        second.pay("9", from: "2026-05-20", to: "2026-06-20", origin: .purchase)
        second.lapse("2026-06-20", at: "2026-06-20", .cancelled)
        let cleanups = CustomerTimeline(Self.record(first, second), until: "2026-08-01")
            .transitions.filter { $0.kind == .cleanupDue }
        #expect(
            cleanups.map { "\($0.lineage.id) \($0.line)" } == [
                "2000 2026-06-20 cleanup_due monthly keep until 2026-06-20"
            ]
        )
    }

    @Test func `only the lost one of two entitlements is cleaned up`() {
        var yearly = Life("1000")
        yearly.pay("1", "yearly", from: "2025-06-04", to: "2026-06-04", origin: .purchase)
        yearly.lapse("2026-06-04", at: "2026-06-04", .cancelled)
        var monthly = Life("2000")
        monthly.pay("9", from: "2026-06-01", to: "2026-07-01", origin: .purchase)
        let told = CustomerTimeline(Self.record(yearly, monthly), until: "2026-06-20")
        let cleanup = told.transitions.first { $0.kind == .cleanupDue }
        #expect(cleanup?.entitlements == ["archive"])
        #expect(told.timeline(of: "premium").transitions.allSatisfy { $0.kind != .cleanupDue })
    }

    @Test func `each owner has the events of their own time`() {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04")
        life.pay("3", from: "2026-06-14", to: "2026-07-14")
        life.lapse("2026-07-14", at: "2026-07-14", .cancelled)
        let owners = [
            Self.entry(life, Self.anna, from: .distantPast),
            Self.entry(life, Self.ben, from: "2026-06-10"),
        ]
        let annas = Self.record(of: Self.anna, [(life, owners)])
        let bens = Self.record(of: Self.ben, [(life, owners)])
        #expect(
            Self.events(annas, until: "2026-08-01").last
                == "1000 2026-06-04 billing_issue_entered monthly 9.99 USD"
        )
        #expect(
            Self.spans(annas, until: "2026-08-01").last
                == "- 2026-06-10 never unknown unknown"
        )
        #expect(
            Self.events(bens, until: "2026-08-01").first
                == "1000 2026-06-14 billing_issue_recovered from hold after 10d monthly 9.99 USD"
        )
        #expect(
            Self.spans(bens, until: "2026-08-01").first
                == "1000 2026-06-10 hold billingRetry monthly renews"
        )
        #expect(CustomerTimeline(annas, until: "2026-08-01").issues.count == 1)
        #expect(CustomerTimeline(bens, until: "2026-08-01").issues.isEmpty)
    }

    @Test func `environments are never mixed`() {
        var sandbox = Life("1", environment: .sandbox)
        sandbox.pay("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase)
        #expect(Self.events(Self.record(sandbox), until: "2026-07-01") == [])
        #expect(Self.spans(Self.record(sandbox), until: "2026-07-01") == [])
    }

    @Test func `spans of many customers equal their snapshots and leave no gaps`() async {
        for seed in TimelinePropertyTests.seeds.prefix(20) {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let lives = (0..<3).map { _ in GeneratedLife(&random).life }
            let lineageRecords = lives.map { ($0, [OwnershipEntry]().additions(for: $0.facts)) }
            let record = Self.record(lineageRecords)
            let (history, told) = (
                record.history, CustomerTimeline(record, until: TimelinePropertyTests.late)
            )
            for entitlement in TimelinePropertyTests.entitlements {
                let spans = told.timeline(of: entitlement).spans
                guard !spans.isEmpty else { continue }
                TimelinePropertyTests.expectTiling(
                    spans,
                    until: TimelinePropertyTests.late,
                    "seed \(seed)"
                )
                for (span, instant) in spans.flatMap({ span in span.probes.map { (span, $0) } }) {
                    let now = history.snapshot(at: instant)[entitlement]?.standing
                    #expect(now.map(span.says) == true, "seed \(seed) at \(instant.rfc3339)")
                }
            }
        }
    }

    @Test func `cleanups of many customers leave out what other purchases keep`() async {
        var count = 0
        for seed in TimelinePropertyTests.seeds {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let lives = (0..<4).map { _ in GeneratedLife(&random).life }
            let record = Self.record(
                lives.map { ($0, [Self.entry($0, Self.anna, from: "2026-02-20")]) }
            )
            let history = record.history
            let told = CustomerTimeline(record, until: TimelinePropertyTests.late)
            let due = told.lineages.flatMap(\.transitions).filter {
                $0.kind == .cleanupDue && $0.at >= "2026-02-20"
            }
            let expected = due.map { transition in
                let snapshot = history.snapshot(at: transition.at)
                let lost = transition.entitlements.filter { entitlement in
                    let best = snapshot[entitlement]?.standing
                    return best?.state == .expired && best?.confidence != .unknown
                }
                return "\(transition.id) \(lost)"
            }.filter { !$0.hasSuffix(" []") }
            let found = told.transitions.filter { $0.kind == .cleanupDue }
            #expect(
                found.map { "\($0.id) \($0.entitlements)" }.sorted() == expected.sorted(),
                "seed \(seed)"
            )
            count += due.count - found.count
        }
        #expect(count > 0, "other purchases keep some entitlements")
    }

    // MARK: Past knowledge

    @Test func `a late recovery is absent from an earlier view`() {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04")
        life.pay("3", from: "2026-06-14", to: "2026-07-14")
        life.name("anna")
        for position in life.facts.indices where life.facts[position].assertedAt > "2026-06-10" {
            life.facts[position].learnedAt = "2026-06-20"
        }
        let record = Self.record([(life, [OwnershipEntry]().additions(for: life.facts))])
        #expect(
            Self.events(record.asKnown(at: "2026-06-19"), until: "2026-06-19").last
                == "1000 2026-06-04 billing_issue_entered monthly 9.99 USD"
        )
        let now = CustomerTimeline(record, until: "2026-06-21").transitions
        #expect(now.last?.at == "2026-06-14")
        #expect(now.last?.learnedAt == "2026-06-20")
    }

    @Test func `each span uses the policy then in effect, as far as known`() throws {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04")
        let kept = Policy(billingRetry: .keep(.days(40)))
        let versions: [Versioned<Policy>.Version] = [
            .init(Policy(), effectiveAt: .distantPast, learnedAt: .distantPast),
            .init(kept, effectiveAt: "2026-06-24", learnedAt: "2026-06-26"),
        ]
        let policy = try #require(Versioned(versions: versions))
        let record = CustomerRecord(
            customer: Self.anna,
            environment: .production,
            lineageRecords: [life.owned(by: [Self.entry(life, Self.anna, from: "2026-05-01")])],
            catalogue: Versioned(life.catalogue),
            policy: policy
        )
        #expect(
            Self.spans(record, until: "2026-07-20").dropFirst(2) == [
                "1000 2026-06-04 hold billingRetry monthly renews",
                "1000 2026-06-24 grace keptByPolicy monthly renews",
                "1000 2026-07-14 hold billingRetry monthly renews",
            ]
        )
        #expect(Self.events(record, until: "2026-07-20").count == 3)
        let before = CustomerRecord(
            customer: record.customer,
            environment: record.environment,
            lineageRecords: record.lineageRecords,
            catalogue: record.catalogue,
            policy: policy.asKnown(at: "2026-06-25")
        )
        #expect(
            Self.spans(before, until: "2026-06-25").last
                == "1000 2026-06-04 hold billingRetry monthly renews"
        )
    }

    // MARK: Corrections

    @Test func `a late recovery corrects the expiry that was sent and is sent itself`() {
        var life = TimelineStoryTests.converted()
        life.fail("2026-06-04")
        let sent = life.told(until: "2026-08-10").transitions
        life.pay("3", from: "2026-07-01", to: "2026-08-01")
        life.pay("4", from: "2026-08-01", to: "2026-09-01")
        let told = life.told(until: "2026-08-10").transitions
        let news = Corrections(sent: sent.map(\.id), timeline: told)
        let undone = news.corrected.compactMap { one in sent.first { $0.id == one.undone }?.line }
        #expect(
            undone == [
                "2026-08-03 expired from hold after 60d monthly keep until 2026-08-03",
                "2026-08-03 cleanup_due monthly keep until 2026-08-03",
            ]
        )
        #expect(
            news.unsent.map(\.line) == [
                "2026-07-01 billing_issue_recovered from hold after 27d monthly 9.99 USD",
                "2026-08-01 renewed monthly 9.99 USD",
            ]
        )
        let all = sent.map(\.id) + news.corrected.map(\.id) + news.unsent.map(\.id)
        let nothing = Corrections(sent: all, timeline: told)
        #expect(nothing.corrected == [] && nothing.unsent == [])
    }

    /// Refunded, with a reversal that is received after the month; its renewal fails.
    private static func refunded(reversalIsHeard: Bool) -> CustomerRecord {
        var life = TimelineStoryTests.converted()
        life.revoke("2", at: "2026-05-10")
        if reversalIsHeard {
            life.reverse("2", at: "2026-05-23")
            life.fail("2026-06-04")
        }
        return record(life)
    }

    @Test func `an event sent too early is corrected and sent again at its time`() throws {
        let early = CustomerTimeline(Self.refunded(reversalIsHeard: false), until: "2026-06-05")
            .news(since: [String]()).unsent
        let cleanup = try #require(early.first { $0.kind == "cleanup_due" })
        #expect(cleanup.at == "2026-06-04")
        let record = Self.refunded(reversalIsHeard: true)
        let news = CustomerTimeline(record, until: "2026-06-05").news(since: early.map(\.id))
        #expect(news.corrected.map(\.undone).contains(cleanup.id))
        let sent = early.map(\.id) + news.corrected.map(\.id) + news.unsent.map(\.id)
        let later = CustomerTimeline(record, until: "2026-08-04").news(since: sent)
        let again = try #require(later.unsent.first { $0.kind == "cleanup_due" })
        #expect(again.id == cleanup.id + "-2")
        #expect(again.at == "2026-08-03")
    }

    @Test func `a clock set back by an hour corrects nothing`() {
        let record = Self.refunded(reversalIsHeard: false)
        let told = CustomerTimeline(record, until: "2026-06-04T00:30:00Z")
            .news(since: [String]()).unsent
        #expect(told.contains { $0.kind == "cleanup_due" })
        let news = CustomerTimeline(record, until: "2026-06-03T23:30:00Z")
            .news(since: told.map(\.id))
        #expect(news.corrected == [])
        #expect(news.unsent == [])
    }

    @Test func `an event that becomes true again is sent with a number`() throws {
        let life = TimelineStoryTests.converted()
        let told = life.told(until: "2026-05-10").transitions
        let first = try #require(told.first)
        let undone = Corrections(sent: [first.id], timeline: [])
        let correction = try #require(undone.corrected.first)
        #expect(correction.undone == first.id)
        let again = Corrections(sent: [first.id, correction.id], timeline: [first])
        #expect(again.unsent.map(\.id) == [first.id + "-2"])
        let sent = [first.id, correction.id, first.id + "-2"]
        #expect(Corrections(sent: sent, timeline: [first]).unsent == [])
        let twice = Corrections(sent: sent, timeline: [])
        #expect(twice.corrected.map(\.undone) == [first.id + "-2"])
    }
}
