import Testing
import TideoverCore
import TideoverLives

/// A customer without purchases, before and after a device presented its purchases.
@Suite struct ReconciledTests {
    private func record(_ lives: [Life] = [], at instant: Instant?) -> CustomerRecord {
        CustomerRecord(
            customer: SnapshotTests.anna,
            environment: .production,
            lineageRecords: lives.map {
                $0.owned(by: [$0.owner(until: "2026-05-10", why: .claimed)])
            },
            catalogue: Versioned(Life().catalogue),
            policy: Versioned(Policy()),
            reconciledAt: instant
        )
    }

    private func told(_ record: CustomerRecord, _ instant: Instant) -> String? {
        record.history.snapshot(at: instant)["premium"]?.standing.told
    }

    @Test func `a never standing is unknown until a first reconcile, then confirmed`() {
        let reconciled: Instant = "2026-05-05"
        let record = record(at: reconciled)
        #expect(told(record, reconciled.justBefore) == "never unknown no-facts unknown")
        #expect(told(record, reconciled) == "never unknown no-facts confirmed")
        let before = record.history.snapshot(at: reconciled.justBefore)["premium"]
        #expect(before?.nextChange == reconciled)
        #expect(
            told(record.asKnown(at: reconciled.justBefore), reconciled)?.hasSuffix(" unknown")
                == true
        )
        #expect(told(record.asKnown(at: reconciled), reconciled)?.hasSuffix(" confirmed") == true)
        #expect(told(self.record(at: nil), reconciled) == "never unknown no-facts unknown")
    }

    @Test func `an explanation contains the device's report`() throws {
        let record = record(at: "2026-05-05")
        let sure = try #require(record.explanation(of: "premium", at: "2026-05-06"))
        #expect(sure.why.count == 2)
        #expect(sure.why.last?.contains("device") == true)
        let unsure = try #require(record.explanation(of: "premium", at: "2026-05-04"))
        #expect(unsure.why == [Rule.ID.noFacts.sentence])
    }

    @Test func `a purchase keeps its standing, and the timeline equals it`() {
        let record = record([StandingTests.monthly()], at: "2026-05-05")
        #expect(told(record, "2026-05-09") == "active paid in-term confirmed")
        #expect(told(record, "2026-05-10") == "never unknown no-facts confirmed")
        let later = self.record([StandingTests.monthly()], at: "2026-05-12")
        #expect(told(later, "2026-05-11") == "never unknown no-facts unknown")
        let spans = CustomerTimeline(later, until: "2026-05-20").timeline(of: "premium").spans
        #expect(
            spans.suffix(2).map { "\($0.from.rfc3339) \($0.state) \($0.confidence)" } == [
                "2026-05-10T00:00:00.000Z never unknown",
                "2026-05-12T00:00:00.000Z never confirmed",
            ]
        )
    }

    @Test func `an alias is not confirmed by a report from before it was declared`() throws {
        let phone = try #require(CustomerID("phone"))
        func record(of customer: CustomerID) -> CustomerRecord {
            CustomerRecord(
                customer: customer,
                aliases: [
                    CustomerAlias(
                        alias: phone,
                        customer: SnapshotTests.anna,
                        from: "2026-05-10",
                        by: "support"
                    )
                ],
                environment: .production,
                lineageRecords: [],
                catalogue: Versioned(Life().catalogue),
                policy: Versioned(Policy()),
                reconciledAt: "2026-05-05"
            )
        }
        let alias = record(of: phone)
        #expect(told(alias, "2026-05-06") == "never unknown no-facts unknown")
        #expect(told(alias, "2026-05-10") == "never unknown no-facts confirmed")
        #expect(
            told(alias.asKnown(at: "2026-05-06"), "2026-05-06") == "never unknown no-facts unknown"
        )
        let primary = record(of: SnapshotTests.anna)
        #expect(told(primary, "2026-05-06") == "never unknown no-facts confirmed")
    }
}
