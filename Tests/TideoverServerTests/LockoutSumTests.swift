import Testing
import TideoverCore
import TideoverServer

@testable import TideoverTestServer

@Suite struct LockoutSumTests {
    private static let start: Instant = "2026-05-01T00:00:00Z"

    /// The lockouts of a purchase of two entitlements: the renewal was received two days late.
    private func lockouts(_ purchase: String) throws -> [Lockouts] {
        let lineage = Lineage(store: .appStore, environment: .production, id: purchase)
        let terms: [(Int64, Int64)] = [(0, 0), (30, 32)]
        let facts = terms.map { began, learned in
            Fact(
                lineage: lineage,
                assertion: .term(
                    Term(
                        transactionId: "\(purchase)-\(began)",
                        productId: "cards.max",
                        start: Self.start + .days(began),
                        end: Self.start + .days(began + 30)
                    )
                ),
                effectiveAt: Self.start + .days(began),
                assertedAt: Self.start + .days(began),
                learnedAt: Self.start + .days(learned),
                source: .appStoreNotification,
                evidence: EvidenceID(hex: "\(learned)")
            )
        }
        let catalogue = Catalogue(products: [
            "cards.max": Product(
                entitlements: ["extra", "premium"],
                group: "pro",
                period: Period(months: 1)
            )
        ])
        return ["extra", "premium"].map { entitlement in
            Lockouts(
                lineage: lineage,
                facts: facts,
                entitlement: entitlement,
                until: Self.start + .days(60),
                catalogue: Versioned(catalogue),
                policy: Versioned(Policy())
            )
        }
    }

    @Test func `a purchase of two entitlements is one purchase with the minutes of both`() throws {
        var sum = LockoutSum()
        for purchase in ["1", "2"] { sum.add(try lockouts(purchase)) }
        #expect(sum.total.purchases == 2)
        #expect(sum.total.entitled == .days(240))
        #expect(sum.total[.ours].purchases == 2)
        // A day of leeway is presumed.
        #expect(sum.total[.ours].total == .days(4))
        #expect(sum.total[.expiryCheck].total == .days(8))
        var one = LockoutSum()
        one.add(try [#require(lockouts("1").first)])
        #expect(one.total.purchases == 1)
        #expect(one.total.entitled == .days(60))
    }
}
