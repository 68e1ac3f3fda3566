import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// The same facts under another policy or catalogue.
@Suite struct BackTestTests {
    static let summer: Range<Instant> = "2026-05-01"..<"2026-09-01"
    static let keeping = Versioned(Policy(billingRetry: .keep(.days(7))))

    /// A customer's record. Every fact is learned when it was asserted, and the customer always
    /// owned it.
    static func record(
        _ lives: [Life],
        customer: CustomerID = SnapshotTests.anna,
        policy: Policy = Policy(),
        catalogue: Catalogue = Life().catalogue
    ) -> CustomerRecord {
        CustomerRecord(
            customer: customer,
            environment: .production,
            lineageRecords: lives.map { life in
                let facts = life.facts.map { fact in
                    guard case .term(var term) = fact.assertion else { return fact }
                    var named = fact
                    term.accountToken = customer
                    named.assertion = .term(term)
                    return named
                }
                let owners = [OwnershipEntry]().additions(for: facts)
                return .init(lineage: life.lineage, facts: facts, owners: owners)
            },
            catalogue: catalogue,
            policy: policy
        )
    }

    /// A month renewed on 1 June. The renewal was learned on the 4th, and cancelled then.
    static func heardLate() -> Life {
        var life = StandingTests.monthly()
        life.term("2", from: "2026-06-01", to: "2026-07-01")
        life.facts[life.facts.count - 1].learnedAt = "2026-06-04"
        life.outlook(end: "2026-07-01", signed: "2026-06-04", renews: false)
        return life
    }

    static func premium(
        _ test: BackTest,
        _ records: [CustomerRecord]
    ) throws -> BackTest.Report.Entitlement {
        try #require(test.report(on: records).entitlements.first { $0.name == "premium" })
    }

    @Test func `the same policy produces no difference`() throws {
        let record = Self.record([StandingTests.failing()])
        let report = BackTest(over: Self.summer, policy: Versioned(Policy())).report(on: [record])
        #expect(report.differences.isEmpty)
        #expect(report.entitlements.map(\.name) == ["archive", "basics", "premium"])
        for entitlement in report.entitlements {
            #expect(entitlement.current == entitlement.tried)
            #expect(entitlement.customersDiffering == 0)
        }
    }

    @Test func `access kept in retry is access without the store's confirmation`() throws {
        let record = Self.record([StandingTests.failing()])
        let test = BackTest(over: Self.summer, policy: Self.keeping)
        let report = test.report(on: [record])
        let difference = try #require(report.differences.first)
        #expect(report.differences.count == 1)
        #expect(difference.span == "2026-06-17"..<"2026-06-24")
        #expect(difference.current.told == "hold billingRetry in-retry confirmed")
        #expect(difference.tried.told == "grace keptByPolicy retry-kept confirmed")
        let premium = try Self.premium(test, [record])
        #expect(premium.customersDiffering == 1)
        #expect(premium.current.access == .days(47))
        #expect(premium.tried.access == .days(54))
        #expect(premium.current.exposure == .zero)
        #expect(premium.tried.exposure == .days(7))
        #expect(premium.tried.exposures == 1)
        #expect(premium.tried.lockouts == 0)
    }

    @Test func `a denial before the store's report is a lockout, unless the leeway covers it`()
        throws
    {
        let record = Self.record([Self.heardLate()])
        let longer = Versioned(Policy(renewalLeeway: .days(3)))
        let premium = try Self.premium(BackTest(over: Self.summer, policy: longer), [record])
        #expect(premium.current.lockout == .days(2))
        #expect(premium.current.lockouts == 1)
        #expect(premium.tried.lockout == .zero)
        #expect(premium.tried.exposure == .zero, "the renewal had been paid for all along")
        #expect(
            premium.tried.access.count - premium.current.access.count == Milliseconds.days(2).count
        )
    }

    @Test func `with current knowledge no fact is late`() throws {
        let record = Self.record([Self.heardLate()])
        let test = BackTest(
            over: Self.summer,
            policy: Versioned(Policy(renewalLeeway: .zero)),
            knowledge: .now
        )
        let premium = try Self.premium(test, [record])
        #expect(premium.current == premium.tried)
        #expect(premium.tried.lockouts == 0)
        #expect(premium.tried.access == .days(61))
    }

    @Test func `leeway for a renewal that never happened is exposure`() throws {
        let record = Self.record([StandingTests.monthly()])
        let none = Versioned(Policy(renewalLeeway: .zero))
        let premium = try Self.premium(BackTest(over: Self.summer, policy: none), [record])
        #expect(premium.current.exposure == .hours(24))
        #expect(premium.tried.exposure == .zero)
    }

    @Test func `a product left out of a catalogue locks its customers out`() throws {
        var smaller = Life().catalogue
        smaller.products["monthly"] = nil
        let record = Self.record([StandingTests.monthly()])
        let removed = BackTest(over: Self.summer, catalogue: Versioned(smaller))
        #expect(try Self.premium(removed, [record]).tried.lockout == .days(31))
        #expect(try Self.premium(removed, [record]).current.lockout == .zero)
        let forgotten = Self.record([StandingTests.monthly()], catalogue: smaller)
        let added = BackTest(over: Self.summer, catalogue: Versioned(Life().catalogue))
        #expect(try Self.premium(added, [forgotten]).current.lockout == .days(31))
        #expect(try Self.premium(added, [forgotten]).tried.exposure == .hours(24), "leeway alone")
    }

    @Test func `relay facts cause neither a lockout when denied nor exposure when granted`() throws
    {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", rank: .relayed)
        life.outlook(end: "2026-06-01", signed: "2026-05-01", renews: false, rank: .relayed)
        var smaller = Life().catalogue
        smaller.products["monthly"] = nil
        let test = BackTest(over: Self.summer, catalogue: Versioned(smaller))
        let premium = try Self.premium(test, [Self.record([life])])
        #expect(premium.current.access == .days(31))
        #expect(premium.current.exposure == .zero)
        #expect(premium.tried.access == .zero)
        #expect(premium.tried.lockout == .zero)
    }

    @Test func `an entitlement that only the tried catalogue names is reported`() {
        var larger = Life().catalogue
        larger.products["monthly"]?.entitlements.append("sync")
        let report = BackTest(over: Self.summer, catalogue: Versioned(larger))
            .report(on: [Self.record([StandingTests.monthly()])])
        #expect(report.entitlements.map(\.name) == ["archive", "basics", "premium", "sync"])
        #expect(report.differences.map(\.entitlement) == ["sync"])
    }

    @Test func `only the requested interval is evaluated`() throws {
        let record = Self.record([StandingTests.failing()])
        for (range, days): (Range<Instant>, Int64) in [
            ("2026-06-20"..<"2026-06-22", 2), ("2026-06-23"..<"2026-07-22", 1),
            ("2026-06-24"..<"2026-07-22", 0), ("2026-05-01"..<"2026-06-17", 0),
        ] {
            let premium = try Self.premium(BackTest(over: range, policy: Self.keeping), [record])
            #expect(premium.tried.exposure == .days(days))
            #expect(premium.customersDiffering == (days == 0 ? 0 : 1))
        }
    }

    @Test func `a report does not depend on the order of customers and facts`() {
        var random = SeededRandom(seed: 11)
        let records = [SnapshotTests.anna, SnapshotTests.ben].map {
            Self.record([StandingTests.failing(), Self.heardLate()], customer: $0)
        }
        let shuffled = records.reversed().map { record in
            CustomerRecord(
                customer: record.customer,
                environment: .production,
                lineageRecords: record.lineageRecords.reversed().map {
                    .init(
                        lineage: $0.lineage,
                        facts: $0.facts.shuffled(using: &random),
                        owners: $0.owners
                    )
                },
                catalogue: record.catalogue,
                policy: record.policy
            )
        }
        let test = BackTest(over: Self.summer, policy: Self.keeping)
        #expect(test.report(on: records) == test.report(on: shuffled))
    }

    @Test(arguments: BackTest.Knowledge.allCases)
    func `the reported spans are those with different answers`(
        knowledge: BackTest.Knowledge
    ) async throws {
        for seed in UInt64(1)...6 {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            var life = GeneratedLife(&random).life
            for index in life.facts.indices {
                let late = Milliseconds.hours(Int64.random(in: 0...100, using: &random))
                life.facts[index].learnedAt = life.facts[index].assertedAt + late
            }
            let record = Self.record([life])
            let other = record.under(policy: Self.keeping)
            let range: Range<Instant> = "2026-02-01"..<"2027-08-01"
            let test = BackTest(over: range, policy: Self.keeping, knowledge: knowledge)
            let spans = test.report(on: [record]).differences.filter { $0.entitlement == "premium" }
                .map(\.span)
            for _ in 0..<60 {
                let length = (range.upperBound - range.lowerBound).count
                let probe =
                    range.lowerBound
                    + Milliseconds(Int64.random(in: 0..<length, using: &random))
                let answers = [record, other].map { record in
                    let known = knowledge == .then ? record.asKnown(at: probe) : record
                    return known.history.snapshot(at: probe)["premium"]?.standing.access
                }
                #expect(
                    spans.contains { $0.contains(probe) } == (answers[0] != answers[1]),
                    "seed \(seed) at \(probe.rfc3339)"
                )
            }
        }
    }

    /// A record with several generated purchases: late facts, claims by the server, an alias, and
    /// in every other record two purchases that may answer together.
    private static func severalPurchases(_ random: inout SeededRandom) -> CustomerRecord {
        func instant(_ random: inout SeededRandom) -> Instant {
            "2026-02-01" + .hours(Int64.random(in: 0...12_000, using: &random))
        }
        var records: [CustomerRecord.LineageRecord] = []
        for number in 0..<5 {
            var life = GeneratedLife(&random).life
            if number == 4, let twin = records.first?.lineage, Bool.random(using: &random) {
                life.lineage.id = twin.id
                life.lineage.ownership = .familyShared
            } else {
                life.lineage.ownership = .purchased
            }
            for index in life.facts.indices {
                let late = Milliseconds.hours(Int64.random(in: 0...100, using: &random))
                life.facts[index].learnedAt = life.facts[index].assertedAt + late
                life.facts[index].lineage = life.lineage
            }
            var entry = OwnershipEntry(
                lineage: life.lineage,
                customer: number == 2 ? SnapshotTests.ben : SnapshotTests.anna,
                from: instant(&random),
                why: .claimed
            )
            entry.decidedAt = entry.from + .hours(Int64.random(in: 0...900, using: &random))
            records.append(.init(lineage: life.lineage, facts: life.facts, owners: [entry]))
        }
        return CustomerRecord(
            customer: SnapshotTests.anna,
            aliases: [
                CustomerAlias(
                    alias: SnapshotTests.ben,
                    customer: SnapshotTests.anna,
                    from: instant(&random),
                    by: "t"
                )
            ],
            environment: .production,
            lineageRecords: records,
            catalogue: Versioned(Life().catalogue),
            policy: Versioned(Policy()),
            reconciledAt: instant(&random)
        )
    }

    @Test(arguments: BackTest.Knowledge.allCases)
    func `several purchases have the answers that all of them together give`(
        knowledge: BackTest.Knowledge
    ) async throws {
        let range: Range<Instant> = "2026-02-01"..<"2027-08-01"
        let test = BackTest(over: range, policy: Self.keeping, knowledge: knowledge)
        var found = 0
        for seed in UInt64(1)...8 {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let record = Self.severalPurchases(&random)
            let records = [record, record.under(policy: Self.keeping)]
            func answers(_ name: String, _ instant: Instant) -> [Standing?] {
                records.map { record in
                    let known = knowledge == .then ? record.asKnown(at: instant) : record
                    return known.history.snapshot(at: instant)[name]?.standing
                }
            }
            let differences = test.report(on: [record]).differences
            found += differences.count
            for difference in differences {
                #expect(
                    answers(difference.entitlement, difference.span.lowerBound)
                        == [difference.current, difference.tried],
                    "seed \(seed) at \(difference.span.lowerBound.rfc3339)"
                )
            }
            let length = (range.upperBound - range.lowerBound).count
            for _ in 0..<20 {
                let probe =
                    range.lowerBound + Milliseconds(Int64.random(in: 0..<length, using: &random))
                for name in record.catalogue.entitlements {
                    let access = answers(name, probe).map { $0?.access }
                    #expect(
                        differences.contains { $0.entitlement == name && $0.span.contains(probe) }
                            == (access[0] != access[1]),
                        "seed \(seed), \(name) at \(probe.rfc3339)"
                    )
                }
            }
        }
        #expect(found > 0)
    }

    @Test func `a claim counts from when it was decided, also without a new fact`() throws {
        let life = StandingTests.monthly()
        var claim = OwnershipEntry(
            lineage: life.lineage,
            customer: SnapshotTests.anna,
            from: "2026-05-01",
            why: .claimed
        )
        claim.decidedAt = "2026-05-05"
        let record = CustomerRecord(
            customer: SnapshotTests.anna,
            environment: .production,
            lineageRecords: [.init(lineage: life.lineage, facts: life.facts, owners: [claim])],
            catalogue: Versioned(life.catalogue),
            policy: Versioned(Policy(renewalLeeway: .zero))
        )
        let test = BackTest(over: Self.summer, policy: record.policy)
        let premium = try Self.premium(test, [record])
        #expect(premium.current.lockout == .days(4))
        #expect(premium.current.access == .days(27))
    }

    @Test func `a report contains its numbers and spans`() throws {
        let report = BackTest(over: Self.summer, policy: Self.keeping)
            .report(on: [Self.record([StandingTests.failing()])])
        var writer = JSONWriter()
        report.write(to: &writer)
        let root = try JSONDocument(writer.bytes).root
        let premium = root["entitlements"]?["premium"]
        #expect(premium?["customersDiffering"]?.int64 == 1)
        #expect(premium?["tried"]?["exposureMilliseconds"]?.int64 == Milliseconds.days(7).count)
        let difference = root["differences"]?.elements.first { _ in true }
        #expect(difference?["from"]?.string == "2026-06-17T00:00:00.000Z")
        #expect(difference?["current"]?["rule"]?.string == "in-retry")
        #expect(difference?["tried"]?["access"]?.bool == true)
    }
}
