import Testing
import TideoverCore
import TideoverLives

/// Receipts and renewal infos that do not state the ownership type.
///
/// https://developer.apple.com/documentation/appstoreserverapi/inappownershiptype
@Suite struct UnstatedOwnershipTests {
    /// A family-shared month with a failed renewal, as signed transactions report it.
    private static func shared() -> Life {
        var life = StandingTests.failing()
        life.lineage.ownership = .familyShared
        for position in life.facts.indices { life.facts[position].lineage = life.lineage }
        return life
    }

    /// The same month as a receipt reports it.
    private static func receipt(signed: Instant = "2026-05-20") -> Life {
        var life = Life()
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-06-01",
            signed: signed,
            origin: .unstated
        )
        for position in life.facts.indices { life.facts[position].source = .appReceipt }
        return life
    }

    private func record(_ lives: Life...) -> CustomerRecord {
        CustomerRecord(
            customer: SnapshotTests.anna,
            environment: .production,
            lineageRecords: lives.map { $0.owned(by: [$0.owner(why: .claimed)]) },
            catalogue: Versioned(Life().catalogue),
            policy: Versioned(Policy())
        )
    }

    @Test func `a receipt of a family share is not a purchase of the customer`() throws {
        for record in [
            record(Self.shared(), Self.receipt()), record(Self.receipt(), Self.shared()),
        ] {
            let history = record.history
            #expect(history.lineageRecords.map(\.history.lineage.ownership) == [.familyShared])
            // A family member is not asked to pay in grace or in retry.
            for instant in ["2026-06-10", "2026-06-20"] as [Instant] {
                let snapshot = history.snapshot(at: instant)
                let standing = try #require(snapshot["premium"]?.standing)
                #expect(standing.lineage?.ownership == .familyShared)
                #expect(standing.told == Self.shared().told(instant))
                #expect(snapshot.prompt == nil)
            }
            let why = try #require(record.explanation(of: "premium", at: "2026-06-10"))
            #expect(why.others.isEmpty)
            #expect(why.used.count + why.setAside.count == 5)
            let spans = CustomerTimeline(record, until: "2026-06-20").timeline(of: "premium").spans
            #expect(spans.map(\.lineage?.ownership).allSatisfy { $0 == .familyShared })
        }
    }

    @Test func `a renewal info with a family share applies to the share`() throws {
        var shared = Life(ownership: .familyShared)
        shared.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase)
        var info = Life()
        info.outlook(
            end: "2026-06-01",
            signed: "2026-06-01",
            retrying: true,
            grace: "2026-06-17"
        )
        let snapshot = record(shared, info).history.snapshot(at: "2026-06-10")
        let standing = try #require(snapshot["premium"]?.standing)
        #expect(standing.told == "grace billingIssue in-grace confirmed")
        #expect(standing.lineage?.ownership == .familyShared)
        #expect(snapshot.prompt == nil)
    }

    @Test func `a receipt alone, or beside a purchase, is the customer's own`() {
        #expect(
            record(Self.receipt()).history.lineageRecords.map(\.history.lineage.ownership)
                == [.purchased]
        )
        var bought = Self.receipt()
        bought.facts += StandingTests.monthly().facts
        let both = record(bought, Self.shared()).history.lineageRecords.map(
            \.history.lineage.ownership
        )
        #expect(both == [.purchased, .familyShared])
    }

    @Test func `before the store reports a family share the purchase counts as the customer's`() {
        var shared = Self.shared()
        for position in shared.facts.indices { shared.facts[position].learnedAt = "2026-05-25" }
        let known = record(Self.receipt(), shared).asKnown(at: "2026-05-24")
        #expect(known.history.lineageRecords.map(\.history.lineage.ownership) == [.purchased])
    }
}
