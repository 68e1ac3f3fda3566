import Testing
import TideoverCore
import TideoverLives

/// App receipts list every renewal until they were made. A purchase without a listed renewal has
/// ended.
@Suite struct ReceiptStandingTests {
    private static let due = "active renewalDue renewal-due presumed"
    private static let unconfirmed = "expired unconfirmed unconfirmed unknown"
    private static let ended = "expired ended not-renewed confirmed"

    /// May, as the store reported it at purchase, and as a receipt made at `made` lists it.
    private static func listed(made: Instant, learned: Instant? = nil) -> Life {
        var life = StandingTests.monthly()
        life.catalogue.products["monthly"]?.grace = nil
        life.receipt(
            of: "1",
            from: "2026-05-01",
            to: "2026-06-01",
            made: made,
            learned: learned
        )
        return life
    }

    @Test func `a receipt made after the leeway ends the subscription at its date`() {
        let life = Self.listed(made: "2026-06-10")
        #expect(life.told("2026-06-01T12:00:00Z") == Self.due)
        #expect(life.told(("2026-06-10" as Instant).justBefore) == Self.unconfirmed)
        #expect(life.told("2026-06-10") == Self.ended)
        #expect(life.standing("2026-06-10").accessUntil == "2026-06-01")
    }

    @Test func `a receipt alone ends a subscription without other facts`() {
        var life = Life()
        life.receipt(of: "1", from: "2026-05-01", to: "2026-06-01", made: "2027-02-10")
        #expect(life.told("2026-05-10").hasPrefix("active paid in-term"))
        #expect(life.told("2027-02-11") == Self.ended)
        #expect(!life.standing("2027-02-11").asksStore)
        #expect(
            life.events(until: "2027-03-01").contains {
                $0.hasPrefix("2027-02-10 expired monthly")
            }
        )
    }

    /// A receipt that a device stored reports nothing later than its creation.
    @Test(arguments: ["2026-05-20", "2026-06-01", "2026-06-01T23:59:59Z"] as [Instant])
    func `a receipt made before the leeway's end ends nothing, whenever received`(made: Instant) {
        let life = Self.listed(made: made, learned: "2026-06-20")
        #expect(life.told("2026-06-01T12:00:00Z") == Self.due)
        #expect(life.told("2026-06-21") == Self.unconfirmed)
    }

    @Test func `a receipt ends neither grace nor hold that the store stated`() {
        var life = StandingTests.failing()
        life.receipt(of: "1", from: "2026-05-01", to: "2026-06-01", made: "2026-06-10")
        #expect(life.told("2026-06-11") == "grace billingIssue in-grace confirmed")
        #expect(life.told("2026-06-20") == "hold billingRetry in-retry confirmed")
    }

    @Test func `a store fact after the receipt counts`() {
        var renewed = Self.listed(made: "2026-06-10")
        renewed.term("2", from: "2026-06-11", to: "2026-07-11")
        #expect(renewed.told("2026-06-12") == "active paid in-term confirmed")
        var failing = Self.listed(made: "2026-06-10")
        failing.outlook(
            end: "2026-06-01",
            signed: "2026-06-11",
            retrying: true,
            grace: "2026-06-17"
        )
        #expect(failing.told("2026-06-12") == "grace billingIssue in-grace confirmed")
        var expected = Self.listed(made: "2026-06-10")
        expected.outlook(end: "2026-06-01", signed: "2026-06-11")
        #expect(expected.told("2026-06-12") == Self.unconfirmed)
    }

    @Test func `within the catalogue's grace a receipt ends nothing`() {
        var life = Self.listed(made: "2026-06-10")
        life.catalogue.products["monthly"]?.grace = Period(days: 16)
        #expect(life.told("2026-06-20") == Self.unconfirmed)
        life.receipt(of: "1", from: "2026-05-01", to: "2026-06-01", made: "2026-06-17")
        #expect(life.told("2026-06-17") == Self.ended)
    }

    @Test func `lookups continue while the store could retry the payment`() {
        let life = Self.listed(made: "2026-06-10")
        #expect(life.standing("2026-06-10").asksStore)
        #expect(life.standing("2026-07-31").told == Self.ended)
        #expect(!life.standing("2026-07-31").asksStore)
    }
}
