import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

@Suite struct SnapshotTests {
    static let anna = CustomerID("anna").unsafelyUnwrapped
    static let ben = CustomerID("ben").unsafelyUnwrapped

    static func history(
        _ lives: [Life],
        owner: CustomerID = anna,
        policy: Policy = Policy(),
        environment: Environment = .production
    ) -> CustomerHistory {
        CustomerHistory(
            customer: owner,
            environment: environment,
            lineageRecords: lives.map {
                OwnedHistory(history: $0.history, owners: [$0.owner(owner)])
            },
            catalogue: Life().catalogue,
            policy: policy
        )
    }

    static func premium(_ lives: [Life], at instant: Instant) throws -> Snapshot.Entitlement {
        try #require(history(lives).snapshot(at: instant)["premium"])
    }

    @Test func `a customer without linked purchases is never, with confidence unknown`()
        throws
    {
        let premium = try Self.premium([], at: "2026-05-01")
        #expect(premium.standing.state == .never)
        #expect(premium.standing.confidence == .unknown)
        #expect(premium.nextChange == nil)
    }

    @Test func `every entitlement of the catalogue has an answer`() {
        let snapshot = Self.history([]).snapshot(at: "2026-05-01")
        #expect(snapshot.entitlements.map(\.name) == ["archive", "basics", "premium"])
    }

    @Test func `the best of several lineages gives the standing`() throws {
        var other = Life("2000")
        other.term("9", "yearly", from: "2026-01-01", to: "2027-01-01", origin: .purchase)
        let both = try Self.premium([StandingTests.failing(), other], at: "2026-06-10")
        #expect(both.standing.state == .active)
        #expect(both.standing.lineage?.id == "2000")
    }

    @Test func `an old end does not hide that a newer purchase may have renewed`() throws {
        var old = Life("0500")
        old.term("9", from: "2026-02-01", to: "2026-03-01", origin: .purchase)
        old.outlook(end: "2026-03-01", signed: "2026-02-10", renews: false)
        for lives in [[old, StandingTests.monthly()], [StandingTests.monthly(), old]] {
            let premium = try Self.premium(lives, at: "2026-06-05")
            #expect(premium.standing.told == "expired unconfirmed unconfirmed unknown")
            #expect(premium.standing.lineage?.id == "1000")
            #expect(premium.accessUntil == "2026-06-02")
        }
    }

    @Test func `accessUntil is the end of unbroken confirmed access`() throws {
        var next = Life("2000")
        next.term("9", from: "2026-06-17", to: "2026-07-17", origin: .purchase)
        next.outlook(end: "2026-07-17", signed: "2026-06-17", renews: false)
        let premium = try Self.premium([StandingTests.failing(), next], at: "2026-06-10")
        #expect(premium.standing.state == .grace)
        #expect(premium.accessUntil == "2026-07-17")
    }

    @Test func `accessUntil contains no leeway`() throws {
        let premium = try Self.premium([StandingTests.monthly()], at: "2026-05-10")
        #expect(premium.accessUntil == "2026-06-01")
    }

    @Test func `the next change follows each step of a failing life`() throws {
        let life = StandingTests.failing()
        var instant: Instant = "2026-05-10"
        var walked: [String] = []
        while let next = try Self.premium([life], at: instant).nextChange {
            let before = try Self.premium([life], at: next.justBefore).standing
            let now = try Self.premium([life], at: instant).standing
            #expect(before.state == now.state)
            instant = next
            walked.append("\(next.rfc3339.prefix(10)) \(life.standing(next).state.rawValue)")
        }
        #expect(walked == ["2026-06-01 grace", "2026-06-17 hold", "2026-07-31 expired"])
    }

    @Test func `a product change ends the old entitlement`() throws {
        var life = Life()
        life.term("1", "yearly", from: "2025-05-01", to: "2026-05-01", origin: .purchase)
        life.term("2", "basic", from: "2026-05-01", to: "2026-06-01")
        let snapshot = Self.history([life]).snapshot(at: "2026-05-10")
        #expect(snapshot["basics"]?.standing.state == .active)
        #expect(snapshot["archive"]?.standing.told == "expired changedProduct in-term confirmed")
        #expect(snapshot["archive"]?.accessUntil == "2026-05-01")
        #expect(snapshot["archive"]?.keepArtifactsUntil == "2026-05-01")
    }

    @Test(
        arguments: [
            ("2026-06-01", "2026-06-05", "2026-06-05"), ("2026-06-25", "2026-06-25", "2026-06-17"),
        ] as [(Instant, Instant, Instant)]
    )
    func `a product change after a failed payment leaves the access of its grace`(
        start: Instant,
        signed: Instant,
        end: Instant
    ) throws {
        var life = StandingTests.failing()
        life.term("2", "basic", from: start, to: start + .days(30), signed: signed)
        let premium = try Self.premium([life], at: signed + .days(1))
        #expect(premium.standing.reason == .changedProduct)
        #expect(premium.accessUntil == end)
        #expect(try Self.premium([life], at: end.justBefore).standing.access)
        #expect(try !Self.premium([life], at: end).standing.access)
    }

    @Test func `a product bought after a refund does not extend the refunded one`() throws {
        var life = Life()
        life.term("1", "yearly", from: "2026-01-01", to: "2027-01-01", origin: .purchase)
        life.revoke("1", at: "2026-05-10")
        life.term("2", "basic", from: "2026-05-15", to: "2026-06-15", origin: .purchase)
        let premium = try Self.premium([life], at: "2026-05-20")
        #expect(premium.standing.reason == .changedProduct)
        #expect(premium.accessUntil == "2026-05-10")
    }

    @Test func `a change of product that is only assumed takes nothing away yet`() throws {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase)
        life.outlook(end: "2026-06-01", signed: "2026-05-10", into: "basic")
        let premium = try Self.premium([life], at: "2026-06-01T00:05:00Z")
        #expect(premium.standing.state == .expired)
        #expect(premium.standing.reason == .changedProduct)
        #expect(premium.standing.confidence == .presumed)
        #expect(premium.keepArtifactsUntil == nil)
        life.term("2", "basic", from: "2026-06-01", to: "2026-07-01", signed: "2026-06-01")
        let confirmed = try Self.premium([life], at: "2026-06-01T00:05:00Z")
        #expect(confirmed.keepArtifactsUntil == "2026-06-01")
    }

    @Test func `consumables and unknown kinds of product unlock nothing`() throws {
        var coins = Life("1")
        coins.term("1", "coins", from: "2026-05-01", to: nil, plan: .consumable)
        var bundle = Life("2")
        bundle.term(
            "2",
            "monthly",
            from: "2026-05-01",
            to: "2026-06-01",
            plan: .unrecognised("Bundle")
        )
        #expect(try !Self.premium([coins, bundle], at: "2026-05-10").standing.access)
    }

    @Test func `environments are never mixed`() throws {
        var sandbox = Life("1", environment: .sandbox)
        sandbox.term("1", from: "2026-05-01", to: "2026-06-01")
        #expect(try Self.premium([sandbox], at: "2026-05-10").standing.state == .never)
    }

    // MARK: Ownership

    @Test func `ownership moves from the start of the term that names another customer`() {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", token: "anna")
        life.term("2", from: "2026-06-01", to: "2026-07-01", token: "ben")
        let forward = [OwnershipEntry]().additions(for: life.facts)
        let backward = life.facts.reversed().reduce(into: [OwnershipEntry]()) {
            $0 += $0.additions(for: [$1])
        }
        let switchover: Instant = "2026-06-01"
        for entries in [forward, backward] {
            #expect(entries.owner(at: "2026-04-30") == nil)
            #expect(entries.owner(at: switchover.justBefore) == Self.anna)
            #expect(entries.owner(at: switchover) == Self.ben)
        }
    }

    @Test func `a former owner keeps past access, not present access`() throws {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", token: "anna")
        life.term("2", from: "2026-06-01", to: "2026-07-01", token: "ben")
        let owners = [OwnershipEntry]().additions(for: life.facts)
        let held = OwnedHistory(history: life.history, owners: owners)
        let anna = CustomerHistory(
            customer: Self.anna,
            environment: .production,
            lineageRecords: [held],
            catalogue: life.catalogue,
            policy: Policy()
        )
        #expect(anna.snapshot(at: "2026-05-10")["premium"]?.standing.state == .active)
        #expect(anna.snapshot(at: "2026-06-10")["premium"]?.standing.state == .never)
        #expect(anna.snapshot(at: "2026-05-10")["premium"]?.nextChange == "2026-06-01")
    }

    @Test func `UUID customer ids compare without case, and zeros are no customer`() {
        let upper = CustomerID("7E3FB20B-4CDB-47CC-936D-99D65F608138")
        #expect(upper == CustomerID("7e3fb20b-4cdb-47cc-936d-99d65f608138"))
        #expect(CustomerID("00000000-0000-0000-0000-000000000000") == nil)
        #expect(CustomerID("") == nil)
        #expect(CustomerID("Anna") != CustomerID("anna"))
        #expect(CustomerID("caf\u{E9}") != CustomerID("cafe\u{301}"), "ids differ by their bytes")
    }

    // MARK: Prompt

    @Test func `grace has a soft prompt, hold a hard one, and other states none`() {
        let history = Self.history([StandingTests.failing()])
        #expect(history.snapshot(at: "2026-05-10").prompt == nil)
        let soft = history.snapshot(at: "2026-06-10").prompt
        #expect(soft?.kind == .soft)
        #expect(soft?.until == "2026-06-17")
        #expect(soft?.message.contains("17 June 2026") == true)
        #expect(soft?.message.contains("data") == false)
        let hard = history.snapshot(at: "2026-06-20").prompt
        #expect(hard?.kind == .hard)
        #expect(hard?.message.contains("data") == true)
        #expect(hard?.action.url == "https://apps.apple.com/account/billing")
        #expect(history.snapshot(at: "2026-08-10").prompt == nil)
    }

    @Test func `family members are never prompted to pay`() {
        var family = Life("3000", ownership: .familyShared)
        family.facts = StandingTests.failing().facts.map { fact in
            var fact = fact
            fact.lineage = family.lineage
            return fact
        }
        let snapshot = Self.history([family]).snapshot(at: "2026-06-20")
        #expect(snapshot["premium"]?.standing.state == .hold)
        #expect(snapshot.prompt == nil)
    }

    // MARK: Trial

    @Test func `a trial counts its days and is urgent in the last one`() throws {
        var life = Life()
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            offer: StandingTests.trial,
            origin: .purchase
        )
        let first = try #require(life.standing("2026-05-01").trial)
        #expect(first.daysLeft == 3)
        #expect(first.cancelBy == "2026-05-03")
        #expect(!first.urgent)
        let cancelBy: Instant = "2026-05-03"
        #expect(life.standing(cancelBy.justBefore).trial?.urgent == false)
        #expect(life.standing(cancelBy.justBefore).trial?.daysLeft == 2)
        #expect(life.standing(cancelBy).trial?.urgent == true)
        #expect(life.standing(cancelBy).trial?.daysLeft == 1)
        let snapshot = Self.history([life]).snapshot(at: "2026-05-01")
        #expect(snapshot.validUntil == "2026-05-02")
        #expect(snapshot["premium"]?.nextChange == "2026-05-04")
    }

    // MARK: JSON

    @Test func `the answer has every member of the interface`() throws {
        let snapshot = Self.history([StandingTests.failing()]).snapshot(at: "2026-06-10")
        var writer = JSONWriter()
        writer.object { snapshot.writeAnswer(to: &$0) }
        let answer = try JSONDocument(writer.bytes).root
        let premium = try #require(answer["entitlements"]?["premium"])
        #expect(
            premium.members.map(\.key) == [
                "state", "reason", "access", "confidence", "rule", "productId", "store",
                "accessUntil", "graceUntil", "willRenew", "trial", "pending", "nextChange",
                "keepArtifactsUntil", "advice", "words", "trialOffer", "chargedTwice",
            ]
        )
        let mirrored = Set(MirroredMember.allCases.map(\.rawValue))
        #expect(
            MirroredMember.written.map(\.rawValue)
                == premium.members.map(\.key).filter(mirrored.contains)
        )
        #expect(premium["state"]?.string == "grace")
        #expect(premium["graceUntil"]?.string == "2026-06-17T00:00:00.000Z")
        #expect(answer["prompt"]?["kind"]?.string == "soft")
        #expect(
            answer["prompt"]?["arguments"]?["until"]?.string == "2026-06-17T00:00:00.000Z"
        )
    }
}
