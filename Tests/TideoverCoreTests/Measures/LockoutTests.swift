import Testing
import TideoverCore

/// Denied access, by judge and cause; calculated by hand for one month and its grace.
@Suite struct LockoutTests {
    private let month = Diary().term(0, 30)

    @Test func `a check of the expiry alone locks out a customer in grace`() {
        let lockouts = month.outlook(of: 30, said: 30, failing: true, grace: 46)
            .term(30, 60, said: 40).lockouts(until: 60)
        #expect(lockouts.total(.ours) == .zero)
        #expect(told(lockouts) == ["expiryCheck grace 30-40"])
        #expect(lockouts.entitled == .days(60))
    }

    @Test func `a renewal received late is our lockout once the leeway is over`() {
        // Asserted on day 30, learned on day 35: a day of leeway was presumed, without the message.
        let lockouts = month.term(30, 60, said: 30, heard: 35).lockouts(until: 60)
        #expect(told(lockouts) == ["expiryCheck notHeard 30-35", "ours notHeard 31-35"])
        #expect(lockouts.total(.ours) == .days(4))
        #expect(lockouts.total(.expiryCheck) == .days(5))
    }

    @Test func `a fact that the store itself sent late is counted separately`() {
        // The recovery of day 50 has that day's start and is signed only on day 52.
        let lockouts = month.outlook(of: 30, said: 30, failing: true).term(50, 80, said: 52)
            .lockouts(until: 60)
        #expect(lockouts.total(.ours, .saidLater) == .days(2))
        #expect(lockouts.total(.ours) == .days(2))
    }

    @Test func `a lost renewal counts for the whole period of its transaction`() {
        // Grace without a date is presumed for three days; the recovery is signed only on day 55.
        let lockouts = month.condition(.grace, of: 30, said: 30).term(30, 60, said: 55)
            .lockouts(until: 60)
        #expect(lockouts.total(.ours) == .days(22))
        #expect(lockouts.total(.ours, .saidLater) == .days(22))
        // As known now, the store's own reports cover the presumed days only from the fourth on.
        #expect(lockouts.entitled == .days(57))
    }

    @Test func `a purchase on Google Play counts like one on the App Store`() {
        let lineage = Lineage(store: .googlePlay, environment: .production, id: "g")
        let token = PlayToken("g")
        func read(_ said: Int64, until end: Int64, _ order: String) -> Fact {
            let item = PlayItem(
                productId: Diary.monthly,
                expiresAt: Diary.day(end),
                plan: .autoRenewing(isOn: true),
                orderId: order
            )
            let subscription = PlaySubscription(
                token: token,
                askedAt: Diary.day(said),
                state: .active,
                items: [item],
                startedAt: Diary.day(0)
            )
            return Fact(
                lineage: lineage,
                assertion: .playSubscription(subscription),
                effectiveAt: Diary.day(said),
                assertedAt: Diary.day(said),
                learnedAt: Diary.day(said),
                source: .playAPI,
                evidence: EvidenceID(hex: "\(said)")
            )
        }
        let facts = [read(0, until: 31, "GPA.1"), read(57, until: 59, "GPA.1..0")]
        #expect(Versioned(Diary.catalogue).entitlements(namedIn: facts) == ["premium"])
        let lockouts = Lockouts(
            lineage: lineage,
            facts: facts,
            entitlement: "premium",
            until: Diary.day(59),
            catalogue: Versioned(Diary.catalogue),
            policy: Versioned(Policy())
        )
        // Two days after the end are presumed.
        #expect(
            told(lockouts) == [
                "expiryCheck judgement 31-33", "expiryCheck saidLater 33-57",
                "ours saidLater 33-57",
            ]
        )
    }

    @Test func `each range belongs to the policy in effect`() throws {
        let policy = try #require(
            Versioned(versions: [
                .init(Policy(), effectiveAt: Diary.day(0), learnedAt: Diary.day(0)),
                .init(
                    Policy(billingRetry: .suspend),
                    effectiveAt: Diary.day(33),
                    learnedAt: Diary.day(33)
                ),
            ])
        )
        let lockouts = Lockouts(
            lineage: month.lineage,
            facts: month.term(30, 60, said: 30, heard: 35).facts,
            entitlement: "premium",
            until: Diary.day(60),
            catalogue: Versioned(Diary.catalogue),
            policy: policy
        )
        #expect(lockouts.periods.map(\.since) == [nil, Diary.day(33)])
        #expect(lockouts.periods.map(\.entitled) == [.days(33), .days(27)])
        #expect(lockouts.periods.map { $0.total(.ours) } == [.days(2), .days(2)])
        #expect(lockouts.periods.map { $0.total(.ours, .notHeard) } == [.days(2), .days(2)])
        #expect(lockouts.total(.ours) == .days(4))
        #expect(lockouts.entitled == .days(60))
    }

    @Test func `a silent relay denies access by itself`() {
        let lockouts = month.term(0, 30, rank: .relayed).term(30, 60).lockouts(until: 60)
        #expect(lockouts.total(.ours) == .zero)
        #expect(lockouts.total(.relay, .judgement) == .days(29))
    }

    @Test func `without relay facts its lockout is not measured`() {
        #expect(month.lockouts(until: 60).total(.relay) == .zero)
    }

    @Test func `the order of facts does not matter`() {
        let facts = month.outlook(of: 30, said: 30, heard: 33, failing: true, grace: 46)
            .term(30, 60, said: 40, heard: 44).facts
        #expect(measured(facts) == measured(facts.reversed()))
        #expect(measured(facts) == measured(facts + facts))
    }

    // MARK: One customer

    private static let anna = SnapshotTests.anna

    /// A purchase; without owners, always the customer's.
    private func owned(
        _ diary: Diary,
        _ owners: [OwnershipEntry]? = nil
    ) -> CustomerRecord.LineageRecord {
        CustomerRecord.LineageRecord(
            lineage: diary.lineage,
            facts: diary.facts,
            owners: owners ?? [entry(diary, Self.anna, from: .distantPast)]
        )
    }

    private func entry(
        _ diary: Diary,
        _ customer: CustomerID,
        from: Instant,
        until: Instant? = nil,
        decidedOn day: Int64? = nil
    ) -> OwnershipEntry {
        OwnershipEntry(
            lineage: diary.lineage,
            customer: customer,
            from: from,
            until: until,
            why: .claimed,
            decidedAt: day.map(Diary.day)
        )
    }

    /// The denials of the customer, by purchase.
    private func denials(_ purchases: CustomerRecord.LineageRecord...) -> [[String]] {
        denials(purchases, Policy())
    }

    private func denials(
        _ purchases: [CustomerRecord.LineageRecord],
        _ policy: Policy
    ) -> [[String]] {
        let record = CustomerRecord(
            customer: Self.anna,
            environment: .production,
            lineageRecords: purchases,
            catalogue: Versioned(Diary.catalogue),
            policy: Versioned(policy)
        )
        return record.lockouts(of: "premium", until: Diary.day(60)).map { told($0.lockouts) }
    }

    /// The renewal is received five days late; the first of them is presumed.
    private var late: Diary { month.term(30, 60, said: 30, heard: 35) }

    @Test func `a customer's lockout is that of the purchase if nothing else covers it`() {
        #expect(
            denials(owned(late)) == [["expiryCheck notHeard 30-35", "ours notHeard 31-35"]]
        )
    }

    @Test func `time that another purchase covers is no lockout`() {
        let family = Diary("2000000002", ownership: .familyShared).term(20, 33)
        // A day more is presumed.
        #expect(
            denials(owned(late), owned(family))
                == [["expiryCheck notHeard 33-35", "ours notHeard 34-35"], []]
        )
        let longer = Diary("2000000002").term(20, 50)
        #expect(denials(owned(late), owned(longer)) == [[], []])
    }

    @Test func `time that a grant covers is no lockout, though an expiry check denies it`() {
        let lineage = Lineage(store: .tideover, environment: .production, id: "g1")
        let grant = TideoverCore.Grant(
            id: "g1",
            customer: Self.anna,
            entitlement: "premium",
            start: Diary.day(32),
            end: Diary.day(34),
            why: "a gift"
        )
        let fact = Fact(
            lineage: lineage,
            assertion: .grant(grant),
            effectiveAt: Diary.day(32),
            assertedAt: Diary.day(32),
            learnedAt: Diary.day(32),
            source: .`operator`,
            evidence: EvidenceID(hex: "01")
        )
        let given = CustomerRecord.LineageRecord(
            lineage: lineage,
            facts: [fact],
            owners: [fact.claim].compactMap(\.self)
        )
        #expect(
            denials(owned(late), given) == [
                [
                    "expiryCheck notHeard 30-35", "ours notHeard 31-32", "ours notHeard 34-35",
                ]
            ]
        )
        #expect(denials(given) == [])
    }

    @Test func `only the time in which the customer owned the purchase counts`() {
        let ben = SnapshotTests.ben
        let moved = [
            entry(late, ben, from: .distantPast, until: Diary.day(33)),
            entry(late, Self.anna, from: Diary.day(33)),
        ]
        #expect(
            denials(owned(late, moved)) == [["expiryCheck notHeard 33-35", "ours notHeard 33-35"]]
        )
        let lost = [
            entry(late, Self.anna, from: .distantPast, until: Diary.day(33)),
            entry(late, ben, from: Diary.day(33)),
        ]
        #expect(
            denials(owned(late, lost)) == [["expiryCheck notHeard 30-33", "ours notHeard 31-33"]]
        )
    }

    @Test func `a purchase covers no time before it was known to be the customer's`() {
        let other = Diary("2000000002").term(20, 50)
        let claimed = entry(other, Self.anna, from: .distantPast, decidedOn: 34)
        #expect(
            denials(owned(late), owned(other, [claimed]))
                == [["expiryCheck notHeard 30-34", "ours notHeard 31-34"], []]
        )
    }

    @Test func `time in which two purchases were denied counts once`() {
        let other = Diary("2000000002").term(0, 30).term(30, 60, said: 30, heard: 37)
        #expect(
            denials(owned(late), owned(other))
                == [["expiryCheck notHeard 30-35", "ours notHeard 31-35"], []]
        )
    }

    @Test func `time in which two purchases were denied counts for the denial that began first`() {
        // The arrival on day 33 changes no answer.
        let first = late.outlook(of: 30, said: 20, heard: 33)
        let other = Diary("2000000002").term(0, 31).term(31, 60, said: 31, heard: 37)
        #expect(
            denials(owned(first), owned(other))
                == [["expiryCheck notHeard 31-35", "ours notHeard 32-35"], []]
        )
    }

    @Test func `an unlisted product that policy opens covers time`() {
        let other = Diary("2000000002").term(20, 50, product: "cards.old")
        let opened = Policy(unknownProduct: .allowAll)
        #expect(
            denials([owned(late), owned(other)], opened) == [["expiryCheck notHeard 30-35"]]
        )
        #expect(denials(owned(other)) == [])
    }

    @Test func `a product that a purchase renews into covers the time of the presumed renewal`() {
        // The upgrade is due on day 31, and presumed until day 32.
        let other = Diary("2000000002").term(0, 31, product: "cards.basic")
            .outlook(of: 31, said: 20, product: "cards.basic", renewsInto: Diary.monthly)
        #expect(
            denials(owned(late), owned(other))
                == [["expiryCheck notHeard 30-35", "ours notHeard 32-35"]]
        )
    }

    private func measured(_ facts: [Fact]) -> Lockouts {
        Lockouts(
            lineage: Diary().lineage,
            facts: facts,
            entitlement: "premium",
            until: Diary.day(60),
            catalogue: Versioned(Diary.catalogue),
            policy: Versioned(Policy())
        )
    }

    private func told(_ lockouts: Lockouts) -> [String] {
        lockouts.stretches.map {
            let from = ($0.from - Diary.day(0)).count / Milliseconds.days(1).count
            let until = ($0.until - Diary.day(0)).count / Milliseconds.days(1).count
            return "\($0.judge) \($0.cause) \(from)-\(until)"
        }
    }
}
