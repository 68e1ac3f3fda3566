import Testing
import TideoverCore
import TideoverLives

/// Each rule from both sides of its boundaries.
@Suite struct StandingTests {
    /// A month from 1 May to 1 June that the store expects to renew.
    static func monthly() -> Life {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase)
        life.outlook(end: "2026-06-01", signed: "2026-05-01")
        return life
    }

    /// The same month with a failed renewal and sixteen days of grace.
    static func failing() -> Life {
        var life = monthly()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-01",
            retrying: true,
            grace: "2026-06-17"
        )
        life.condition(
            .grace,
            notice: .failedToRenewInGrace,
            end: "2026-06-01",
            signed: "2026-06-01"
        )
        return life
    }

    @Test func `without facts the standing is never, with confidence unknown`() {
        #expect(Life().told("2026-05-01") == "never unknown no-facts unknown")
    }

    @Test func `an outlook without a term grants nothing and causes a lookup`() {
        var life = Life()
        life.outlook(end: "2026-06-01", signed: "2026-05-01")
        #expect(life.told("2026-05-10") == "never unlinked unlinked unknown")
        #expect(life.standing("2026-05-10").asksStore)
    }

    @Test func `a term includes its first and its last millisecond`() {
        let life = Self.monthly()
        let start: Instant = "2026-05-01"
        let end: Instant = "2026-06-01"
        #expect(life.told(start.justBefore) == "never notStarted not-started confirmed")
        #expect(life.told(start) == "active paid in-term confirmed")
        #expect(life.told(end.justBefore) == "active paid in-term confirmed")
        #expect(life.told(end) == "active renewalDue renewal-due presumed")
    }

    @Test func `cancelling changes only whether it will renew`() {
        var life = Self.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-05-10", renews: false)
        let end: Instant = "2026-06-01"
        #expect(life.standing(end.justBefore).access)
        #expect(life.standing(end.justBefore).willRenew == false)
        #expect(life.told(end) == "expired cancelled ended confirmed")
    }

    @Test func `a silent renewal has a day of leeway, then is unconfirmed`() {
        let life = Self.monthly()
        let end: Instant = "2026-06-01"
        let over = end + .hours(24)
        #expect(life.told(over.justBefore) == "active renewalDue renewal-due presumed")
        #expect(life.told(over) == "expired unconfirmed unconfirmed unknown")
    }

    @Test func `the leeway is at most a fifth of the term`() {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-05-04", offer: Self.trial)
        let end: Instant = "2026-05-04"
        let over = end + Milliseconds(Milliseconds.days(3).count / 5)
        #expect(life.standing(over.justBefore).access)
        #expect(!life.standing(over).access)
    }

    static let trial = Offer(kind: .introductory, discount: .freeTrial, period: Period(days: 3))

    @Test func `grace keeps access past the expiry until its own end`() {
        let life = Self.failing()
        let end: Instant = "2026-06-01"
        let grace: Instant = "2026-06-17"
        #expect(life.told(end.justBefore) == "active paid in-term confirmed")
        #expect(life.told(end) == "grace billingIssue in-grace confirmed")
        #expect(life.standing(end).graceUntil == grace)
        #expect(life.told(grace.justBefore) == "grace billingIssue in-grace confirmed")
        #expect(life.told(grace) == "hold billingRetry in-retry confirmed")
    }

    @Test func `a hold in billing retry lasts sixty days in total, grace included`() {
        let life = Self.failing()
        let end: Instant = "2026-06-01"
        let over = end + .days(60)
        #expect(life.told(over.justBefore) == "hold billingRetry in-retry confirmed")
        #expect(life.told(over) == "expired billingError ended confirmed")
        #expect(life.standing(over.justBefore).willRenew == true)
        #expect(life.standing(over).willRenew == false)
    }

    @Test func `a failure without grace causes a hold at once`() {
        var life = Self.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-06-01", retrying: true)
        life.condition(.retry, notice: .failedToRenew, end: "2026-06-01", signed: "2026-06-01")
        #expect(life.told("2026-06-01") == "hold billingRetry in-retry confirmed")
    }

    @Test func `policy may keep access in retry, counted from the end of grace`() {
        var life = Self.failing()
        life.policy = Policy(billingRetry: .keep(.days(7)))
        let over: Instant = "2026-06-24"
        #expect(life.told(over.justBefore) == "grace keptByPolicy retry-kept confirmed")
        #expect(life.told(over) == "hold billingRetry in-retry confirmed")
        #expect(life.standing(over).accessUntil == over)
        #expect(life.standing("2026-07-10").accessUntil == over)
    }

    @Test func `access in retry that policy did not keep ended with the term`() {
        var life = Self.monthly()
        life.policy = Policy(billingRetry: .keep(.days(7)))
        // The failure was reported after the time for which the policy would have kept access.
        life.outlook(end: "2026-06-01", signed: "2026-06-20", retrying: true)
        #expect(life.told("2026-06-21") == "hold billingRetry in-retry confirmed")
        #expect(life.standing("2026-06-21").accessUntil == "2026-06-01")
    }

    @Test func `grace without a date is presumed for three days, then retry`() {
        var life = Self.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-06-01", retrying: false)
        life.condition(.grace, end: "2026-06-01", signed: "2026-06-01")
        let over: Instant = "2026-06-04"
        #expect(life.told(over.justBefore) == "grace billingIssue grace-unstated presumed")
        #expect(life.told(over) == "hold billingRetry in-retry confirmed")
    }

    @Test func `a later outlook without the grace date does not erase it`() {
        var life = Self.failing()
        life.outlook(end: "2026-06-01", signed: "2026-06-03", retrying: true)
        #expect(life.told("2026-06-10") == "grace billingIssue in-grace confirmed")
    }

    @Test func `a retrying flag that is false in grace changes nothing`() {
        var life = Self.failing()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-03",
            retrying: false,
            grace: "2026-06-17"
        )
        #expect(life.told("2026-06-10") == "grace billingIssue in-grace confirmed")
        #expect(life.told("2026-06-20") == "hold billingRetry in-retry confirmed")
    }

    @Test func `cancelling in grace ends access at once`() {
        var life = Self.failing()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-05",
            renews: false,
            retrying: false,
            grace: "2026-06-17",
            lapse: .cancelled
        )
        let cancelled: Instant = "2026-06-05"
        #expect(life.told(cancelled.justBefore) == "grace billingIssue in-grace confirmed")
        #expect(life.told(cancelled) == "expired cancelled ended confirmed")
        #expect(life.standing(cancelled).accessUntil == cancelled)
    }

    @Test func `auto-renew off keeps access while the store still reports grace`() {
        var life = Self.failing()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-05",
            renews: false,
            grace: "2026-06-17"
        )
        life.condition(.grace, end: "2026-06-01", signed: "2026-06-05")
        #expect(life.told("2026-06-06") == "grace billingIssue in-grace confirmed")
        life.condition(.expired, notice: .expired, end: "2026-06-01", signed: "2026-06-17")
        #expect(life.told("2026-06-17") == "expired cancelled ended-stated confirmed")
    }

    @Test func `an older grace state ends when auto-renew is switched off`() {
        var life = Self.failing()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-06",
            renews: false,
            grace: "2026-06-17"
        )
        #expect(life.told("2026-06-06") == "expired cancelled ended confirmed")
    }

    @Test func `cancelling in retry ends the hold`() {
        var life = Self.failing()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-20",
            renews: false,
            lapse: .cancelled
        )
        #expect(life.told("2026-06-20") == "expired cancelled ended confirmed")
    }

    @Test func `an expired state has no leeway and applies at the end of the term`() {
        var life = Self.monthly()
        life.condition(.expired, end: "2026-06-01", signed: "2026-05-20")
        let end: Instant = "2026-06-01"
        #expect(life.told(end.justBefore) == "active paid in-term confirmed")
        #expect(life.told(end) == "expired ended ended-stated confirmed")
    }

    @Test func `a later expired state does not remove the past grace`() {
        var life = Self.failing()
        life.condition(.expired, notice: .expired, end: "2026-06-01", signed: "2026-07-31")
        #expect(life.told("2026-06-10") == "grace billingIssue in-grace confirmed")
        #expect(life.told("2026-07-31") == "expired billingError ended-stated confirmed")
    }

    @Test(arguments: [
        (Outlook.Lapse.cancelled, "cancelled"), (.billingError, "billingError"),
        (.priceIncrease, "priceIncrease"), (.productUnavailable, "productUnavailable"),
        (.other, "ended"), (.unrecognised("9"), "cancelled"),
    ])
    func `the expiration intent is the reason for the end`(lapse: Outlook.Lapse, reason: String) {
        var life = Self.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-06-01", renews: false, lapse: lapse)
        #expect(life.standing("2026-06-02").reason.rawValue == reason)
    }

    @Test func `renewal switched off after an early charge is that of the charged term`() {
        var life = Self.monthly()
        let charged: Instant = "2026-05-31T06:00:00Z"
        let off: Instant = "2026-05-31T12:00:00Z"
        life.term("2", from: "2026-06-01", to: "2026-07-01", signed: charged)
        life.outlook(end: "2026-07-01", signed: charged)
        life.outlook(end: "2026-07-01", signed: off, renews: false)
        #expect(life.standing(off.justBefore).willRenew == true)
        #expect(life.standing(off).willRenew == false)
        #expect(life.standing("2026-06-01").willRenew == false)
        // A refund of the charged term leaves the former one.
        let refunded: Instant = "2026-05-31T18:00:00Z"
        life.revoke("2", at: refunded)
        #expect(life.standing(refunded.justBefore).willRenew == false)
        #expect(life.standing(refunded).willRenew == true)
    }

    // MARK: Refunds

    @Test func `a refund ends access from its date, and its reversal restores it`() {
        var life = Self.monthly()
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-10", revoked: true)
        life.revoke("1", at: "2026-05-09", signed: "2026-05-10")
        life.reverse("1", at: "2026-05-23")
        let refunded: Instant = "2026-05-09"
        let reversed: Instant = "2026-05-23"
        #expect(life.told(refunded.justBefore) == "active paid in-term confirmed")
        #expect(life.told(refunded) == "expired refunded revoked confirmed")
        #expect(life.told(reversed.justBefore) == "expired refunded revoked confirmed")
        #expect(life.told(reversed) == "active paid in-term confirmed")
        #expect(life.standing(reversed).accessUntil == "2026-06-01")
    }

    /// Refunded on 10 May, and a month bought on 15 May in its place.
    private static func replacedYear(upgraded: Bool = false) -> Life {
        var life = Life()
        life.term("1", "yearly", from: "2026-01-01", to: "2027-01-01", origin: .purchase)
        life.revoke("1", at: "2026-05-10")
        life.term("2", from: "2026-05-15", to: "2026-06-15", origin: .purchase)
        life.outlook(end: "2026-06-15", signed: "2026-05-15", renews: false)
        if upgraded {
            life.term(
                "1",
                "yearly",
                from: "2026-01-01",
                to: "2027-01-01",
                signed: "2026-05-15",
                upgraded: true
            )
        }
        return life
    }

    @Test(arguments: ["2026-06-01", "2026-06-20"] as [Instant])
    func `a reversed refund gives back the rest of its term`(reversed: Instant) {
        var life = Self.replacedYear()
        let ended: Instant = "2026-06-15"
        #expect(life.told(ended) == "expired cancelled ended confirmed")
        life.reverse("1", at: reversed)
        #expect(life.standing(ended.justBefore).productId == "monthly")
        let back = max(ended, reversed)
        #expect(life.told(back) == "active paid in-term confirmed")
        #expect(life.standing(back).productId == "yearly")
        #expect(life.standing(back).accessUntil == "2027-01-01")
        #expect(life.standing(back).willRenew == false)
        #expect(life.standing("2027-01-01").state == .expired)
        #expect(life.standing("2027-01-01").productId == "yearly")
        #expect(life.standing("2027-01-01").accessUntil == "2027-01-01")
        // The month that is refunded too leaves the year.
        life.revoke("2", at: "2026-06-10")
        #expect(life.told(back) == "active paid in-term confirmed")
    }

    @Test func `a term whose refund is reversed does not end with a shorter one`() {
        var life = Self.replacedYear()
        life.reverse("1", at: "2026-06-01")
        let kinds = life.told(until: "2026-12-31").transitions.map(\.kind)
        #expect(
            kinds == [.started, .refunded, .resubscribed, .refundReversed, .productChanged]
        )
    }

    @Test func `a reversed refund gives no term back that was upgraded away or refunded again`() {
        var upgraded = Self.replacedYear(upgraded: true)
        upgraded.reverse("1", at: "2026-06-20")
        #expect(upgraded.standing("2026-06-21").state == .expired)
        var again = Self.replacedYear()
        again.reverse("1", at: "2026-06-20")
        again.revoke("1", at: "2026-06-25")
        #expect(again.standing("2026-06-24").access)
        #expect(again.standing("2026-06-26").state == .expired)
    }

    /// A year is refunded on 10 May. A month without the archive runs since 15 May.
    private static func lessThanYear() -> Life {
        var life = Life()
        life.term("1", "yearly", from: "2026-01-01", to: "2027-01-01", origin: .purchase)
        life.revoke("1", at: "2026-05-10")
        life.term("2", "basic", from: "2026-05-15", to: "2026-06-15", origin: .purchase)
        life.outlook(end: "2026-06-15", signed: "2026-05-15", product: "basic")
        return life
    }

    private static func archive(_ life: Life, _ instant: Instant) -> Standing {
        life.history.standing(
            of: "archive",
            at: instant,
            policy: life.policy,
            catalogue: life.catalogue
        )
    }

    @Test func `a reversed refund gives back what a running month lacks`() {
        var life = Self.lessThanYear()
        life.term("3", "basic", from: "2026-06-15", to: "2026-07-15")
        life.outlook(end: "2026-07-15", signed: "2026-06-15", product: "basic")
        let reversed: Instant = "2026-06-01"
        life.reverse("1", at: reversed)
        let before = Self.archive(life, reversed.justBefore)
        #expect(before.told == "expired changedProduct in-term confirmed")
        #expect(before.accessUntil == "2026-05-10")
        for instant: Instant in [reversed, "2026-06-15", "2026-07-14"] {
            let back = Self.archive(life, instant)
            #expect(back.told == "active paid in-term confirmed")
            #expect(back.productId == "yearly")
            #expect(back.accessUntil == "2027-01-01")
            // The outlook of the month does not state what follows the year.
            #expect(back.willRenew == nil)
            #expect(life.standing(instant).productId == "basic")
        }
        #expect(life.told(until: reversed).timeline(of: "archive").spans.last?.state == .expired)
        #expect(
            life.told(until: "2026-06-02").timeline(of: "archive").spans.last?.state == .active
        )
        life.revoke("1", at: "2026-06-20")
        let again = Self.archive(life, "2026-06-20")
        #expect(again.told == "expired changedProduct in-term confirmed")
        #expect(again.accessUntil == "2026-06-20")
    }

    @Test func `a later signing without the refund gives the term back too`() {
        var life = Self.replacedYear()
        let read: Instant = "2026-06-20"
        life.term("1", "yearly", from: "2026-01-01", to: "2027-01-01", signed: read)
        #expect(life.told(read.justBefore) == "expired cancelled ended confirmed")
        #expect(life.told(read) == "active paid in-term confirmed")
        #expect(life.standing(read).productId == "yearly")
        // Within an hour of the refund, a read may be of a copy that it has not reached yet.
        var stale = Self.replacedYear()
        let soon: Instant = "2026-05-10T00:30:00Z"
        stale.term("1", "yearly", from: "2026-01-01", to: "2027-01-01", signed: soon)
        #expect(stale.told("2026-06-21") == "expired cancelled ended confirmed")
    }

    @Test func `a reversed refund counts though the message of the refund is lost`() {
        var life = Self.replacedYear()
        life.facts.removeAll { if case .revocation = $0.assertion { true } else { false } }
        life.reverse("1", at: "2026-06-20")
        #expect(life.told("2026-06-19") == "expired cancelled ended confirmed")
        #expect(life.told("2026-06-21") == "active paid in-term confirmed")
        #expect(life.standing("2026-06-21").productId == "yearly")
    }

    @Test func `what a reversed refund gives back ends with its term, beside a later month`() {
        var life = Self.lessThanYear()
        life.term("3", "basic", from: "2026-12-15", to: "2027-01-15", origin: .purchase)
        life.outlook(end: "2027-01-15", signed: "2026-12-15", product: "basic")
        life.reverse("1", at: "2026-06-01")
        let end: Instant = "2027-01-01"
        #expect(Self.archive(life, end.justBefore).access)
        #expect(Self.archive(life, end).told == "expired changedProduct in-term confirmed")
        #expect(Self.archive(life, end).accessUntil == end)
    }

    @Test func `a reversed refund gives nothing back that an upgrade has replaced since`() {
        var life = Life()
        life.term("1", "basic", from: "2026-01-01", to: "2027-01-01", origin: .purchase)
        life.revoke("1", at: "2026-05-10")
        life.reverse("1", at: "2026-05-12")
        // No message flags the first term as upgraded.
        life.term("2", from: "2026-06-01", to: "2026-07-01", origin: .purchase)
        life.outlook(end: "2026-07-01", signed: "2026-06-01", renews: false)
        #expect(life.standing("2026-05-20").productId == "basic")
        #expect(life.told("2026-07-02") == "expired cancelled ended confirmed")
        #expect(life.standing("2026-07-02").productId == "monthly")
    }

    @Test func `an ended term with a reversed refund hides no longer one`() {
        var life = Self.replacedYear()
        life.revoke("2", at: "2026-05-20")
        life.reverse("2", at: "2026-05-25")
        life.reverse("1", at: "2026-06-01")
        #expect(life.standing("2026-06-14").productId == "monthly")
        #expect(life.standing("2026-06-16").productId == "yearly")
        #expect(life.standing("2026-06-16").access)
    }

    @Test func `a failed month stays in hold though an earlier year returns`() {
        var life = Self.lessThanYear()
        life.outlook(end: "2026-06-15", signed: "2026-06-15", retrying: true, product: "basic")
        life.condition(.retry, notice: .failedToRenew, end: "2026-06-15", signed: "2026-06-15")
        life.reverse("1", at: "2026-06-20")
        let basics = life.history.standing(
            of: "basics",
            at: "2026-06-22",
            policy: life.policy,
            catalogue: life.catalogue
        )
        #expect(basics.told == "hold billingRetry in-retry confirmed")
        #expect(Self.archive(life, "2026-06-22").told == "active paid in-term confirmed")
    }

    @Test func `a stale read soon after a refund does not restore access`() {
        var life = Self.monthly()
        life.revoke("1", at: "2026-05-09")
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-09T00:00:05Z")
        #expect(life.told("2026-05-10") == "expired refunded revoked confirmed")
        life.term("1", from: "2026-05-01", to: "2026-06-01", signed: "2026-05-09T01:00:00Z")
        #expect(life.told("2026-05-10") == "active paid in-term confirmed")
        let read: Instant = "2026-05-09T01:00:00Z"
        #expect(life.told(read.justBefore) == "expired refunded revoked confirmed")
    }

    @Test func `old revoked content signed after the reversal does not revoke again`() {
        var life = Self.monthly()
        life.revoke("1", at: "2026-05-09")
        life.reverse("1", at: "2026-05-12")
        life.revoke("1", at: "2026-05-09", signed: "2026-05-12T00:00:10Z")
        #expect(life.told("2026-05-13") == "active paid in-term confirmed")
        life.revoke("1", at: "2026-05-14")
        #expect(life.told("2026-05-14") == "expired refunded revoked confirmed")
    }

    @Test func `a refund of the next term keeps the running one`() {
        var life = Self.monthly()
        life.term("2", from: "2026-06-01", to: "2026-07-01", signed: "2026-05-31T17:00:00Z")
        life.revoke("2", at: "2026-05-31T20:00:00Z")
        #expect(life.told("2026-05-31T23:00:00Z") == "active paid in-term confirmed")
        #expect(life.told("2026-06-01") == "expired refunded revoked confirmed")
        #expect(life.standing("2026-06-01").accessUntil == "2026-06-01")
    }

    @Test func `a bare revoked state counts from its assertion`() {
        var life = Self.monthly()
        life.condition(.revoked, end: "2026-06-01", signed: "2026-05-12")
        #expect(life.told("2026-05-11") == "active paid in-term confirmed")
        #expect(life.told("2026-05-12") == "expired revoked revoked confirmed")
    }

    @Test func `a later reported renewal outranks the revocation of the old term`() {
        var life = Self.monthly()
        life.revoke("1", at: "2026-05-09")
        life.outlook(end: "2026-06-20", signed: "2026-05-20")
        #expect(life.told("2026-05-19") == "expired refunded revoked confirmed")
        #expect(life.told("2026-05-21") == "active paid renewed-unseen presumed")
    }

    // MARK: Recovery

    @Test func `a recovery in grace keeps the cycle and the billing issue`() {
        var life = Self.failing()
        life.term("2", from: "2026-06-01", to: "2026-07-01", signed: "2026-06-09")
        life.outlook(end: "2026-07-01", signed: "2026-06-09")
        let recovered: Instant = "2026-06-09"
        #expect(life.told(recovered.justBefore) == "grace billingIssue in-grace confirmed")
        #expect(life.told(recovered) == "active paid in-term confirmed")
        #expect(life.told("2026-06-30") == "active paid in-term confirmed")
    }

    @Test func `a recovery in grace signed again late counts within grace`() {
        var life = Self.failing()
        life.term("2", from: "2026-06-01", to: "2026-07-01", signed: "2026-06-25")
        let grace: Instant = "2026-06-17"
        #expect(life.told(grace.justBefore) == "grace billingIssue in-grace confirmed")
        #expect(life.told(grace) == "active paid in-term confirmed")
    }

    @Test func `a recovery in retry starts at its purchase date, however late received`() {
        var life = Self.failing()
        life.term("2", from: "2026-06-20", to: "2026-07-20", signed: "2026-07-10")
        let recovered: Instant = "2026-06-20"
        #expect(life.told(recovered.justBefore) == "hold billingRetry in-retry confirmed")
        #expect(life.told(recovered) == "active paid in-term confirmed")
    }

    @Test func `a failure announced after its renewal causes no issue`() {
        var life = Self.monthly()
        life.term("2", from: "2026-06-01", to: "2026-07-01", signed: "2026-05-31T20:00:00Z")
        life.condition(
            .retry,
            notice: .failedToRenew,
            end: "2026-06-01",
            signed: "2026-06-01T03:00:00Z"
        )
        #expect(life.told("2026-06-01") == "active paid in-term confirmed")
        #expect(life.told("2026-06-02") == "active paid in-term confirmed")
    }

    // MARK: Observations of unseen terms

    @Test func `an outlook with a lost transaction keeps access, presumed`() {
        var life = Self.monthly()
        life.outlook(end: "2026-07-01", signed: "2026-06-01")
        #expect(life.told("2026-05-31") == "active paid in-term confirmed")
        #expect(life.told("2026-06-15") == "active paid renewed-unseen presumed")
        #expect(life.standing("2026-06-15").accessUntil == "2026-07-01")
        #expect(life.told("2026-07-01T01:00:00Z") == "expired unconfirmed unconfirmed unknown")
    }

    @Test func `a failure of an unseen term has its grace`() {
        var life = Self.monthly()
        life.outlook(
            end: "2026-07-01",
            signed: "2026-07-01",
            retrying: true,
            grace: "2026-07-17"
        )
        #expect(life.told("2026-07-10") == "grace billingIssue in-grace confirmed")
        #expect(life.told("2026-07-20") == "hold billingRetry in-retry confirmed")
    }

    @Test func `an outlook of an abandoned chain is set aside`() {
        var life = Self.monthly()
        life.outlook(end: "2026-06-20", signed: "2026-05-20")
        life.term("2", "yearly", from: "2026-06-02", to: "2027-06-02", origin: .purchase)
        life.outlook(end: "2027-06-02", signed: "2026-06-02", renews: false, product: "yearly")
        #expect(life.told("2027-06-03") == "expired cancelled ended confirmed")
    }

    @Test func `a renewal announced early counts as paid though the one between is unseen`() {
        var life = Self.monthly()
        life.term("3", from: "2026-07-01", to: "2026-08-01", signed: "2026-06-30T17:00:00Z")
        #expect(life.told("2026-06-30T18:00:00Z") == "active paid renewed-unseen presumed")
        #expect(life.told("2026-07-01") == "active paid in-term confirmed")
    }

    // MARK: Upgrades

    @Test func `an upgrade with an unseen successor keeps access, presumed`() {
        var life = Self.monthly()
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-06-01",
            signed: "2026-05-10",
            upgraded: true
        )
        #expect(life.told("2026-05-09") == "active paid in-term confirmed")
        #expect(life.told("2026-05-11") == "active paid superseded presumed")
        #expect(life.told("2026-06-01") == "expired unconfirmed unconfirmed unknown")
        life.term("2", "yearly", from: "2026-05-10", to: "2027-05-10", origin: .purchase)
        #expect(life.told("2026-05-11") == "active paid in-term confirmed")
        #expect(life.standing("2026-05-11").productId == "yearly")
    }

    // MARK: Pace

    @Test func `a five-minute month shrinks every bound with it`() {
        var life = Life(environment: .sandbox)
        let start: Instant = "2026-05-01"
        let end = start + .minutes(5)
        life.term("1", from: start, to: end, origin: .purchase)
        life.outlook(end: end, signed: start)
        // 24 hours at 5 minutes a month of 31 days.
        let leeway = Milliseconds(86_400_000 * 5 / (31 * 24 * 60))
        #expect(life.standing((end + leeway).justBefore).access)
        #expect(!life.standing(end + leeway).access)
        life.condition(.retry, notice: .failedToRenew, end: end, signed: end)
        let retry = Milliseconds(60 * 86_400_000 * 5 / (31 * 24 * 60))
        #expect(life.told((end + retry).justBefore) == "hold billingRetry in-retry confirmed")
        #expect(life.told(end + retry + .seconds(1)) == "expired billingError ended confirmed")
    }

    @Test func `a share that starts within a period does not set the pace`() {
        var life = Life(environment: .sandbox, ownership: .familyShared)
        life.term("1", from: "2026-05-31", to: "2026-06-01", origin: .purchase)
        #expect(life.history.pace == .real)
        life.term("2", from: "2026-06-01", to: "2026-06-01T00:05:00Z")
        #expect(life.history.pace == Pace(actual: .minutes(5), nominal: .days(30)))
    }

    @Test func `production runs in real time, whatever a term's length`() {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-05-02")
        #expect(life.history.pace == .real)
    }

    // MARK: Trust

    @Test func `a relay fills gaps and never overrules the store`() {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", rank: .relayed)
        #expect(life.told("2026-05-10") == "active paid in-term presumed")
        life.term("1", from: "2026-05-01", to: "2026-05-20", signed: "2026-04-30")
        #expect(life.standing("2026-05-10").accessUntil == "2026-05-20")
        #expect(life.told("2026-05-10") == "active paid in-term confirmed")
    }

    @Test func `an unknown value changes nothing`() {
        var life = Self.monthly()
        let before = life.standing("2026-05-10")
        life.say(
            .unrecognised(Unrecognised(field: "notificationType", value: "SPLENDID")),
            at: "2026-05-09"
        )
        life.condition(.unrecognised("9"), end: "2026-06-01", signed: "2026-05-09")
        #expect(life.standing("2026-05-10") == before)
    }

    @Test func `an unknown status does not replace the known one before it`() {
        var life = Self.monthly()
        life.condition(.expired, end: "2026-06-01", signed: "2026-05-20")
        life.condition(.unrecognised("9"), end: "2026-06-01", signed: "2026-05-25")
        #expect(life.told("2026-06-01") == "expired ended ended-stated confirmed")
    }

    // MARK: Other purchases

    @Test func `a lifetime purchase lasts for ever unless it is refunded`() {
        var life = Life()
        life.term("1", "lifetime", from: "2026-05-01", to: nil, plan: .nonConsumable)
        #expect(life.told("2066-05-01") == "active lifetime in-term confirmed")
        #expect(life.standing("2066-05-01").accessUntil == nil)
    }

    @Test func `a non-renewing purchase lasts as long as the catalogue states`() {
        var life = Life()
        life.term("1", "pass", from: "2026-05-01", to: nil, plan: .nonRenewing)
        let end: Instant = "2026-05-31"
        #expect(life.told(end.justBefore) == "active prepaid in-term confirmed")
        #expect(life.told(end) == "expired ended ended confirmed")
    }
}
