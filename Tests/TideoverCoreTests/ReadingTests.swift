import Testing
import TideoverCore
import TideoverLives

/// The interpretation of the rules where their text is ambiguous. Each case is derived by hand,
/// each boundary from both sides.
@Suite struct ReadingTests {
    static let end: Instant = "2026-06-01"
    static let grace: Instant = "2026-06-17"

    static let inTerm = "active paid in-term confirmed"
    static let inGrace = "grace billingIssue in-grace confirmed"
    static let inRetry = "hold billingRetry in-retry confirmed"
    static let due = "active renewalDue renewal-due presumed"
    static let unconfirmed = "expired unconfirmed unconfirmed unknown"
    static let unseen = "active paid renewed-unseen presumed"
    static let refunded = "expired refunded revoked confirmed"
    static let cancelled = "expired cancelled ended confirmed"

    // MARK: As of

    @Test func `a read that states grace fixes the days before it`() {
        var life = StandingTests.monthly()
        #expect(life.told("2026-06-03") == Self.unconfirmed)
        life.outlook(end: Self.end, signed: "2026-06-06", retrying: true, grace: Self.grace)
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inGrace)
        #expect(life.told("2026-06-03") == Self.inGrace)
        expectTurn(life, at: Self.grace, from: Self.inGrace, to: Self.inRetry)
    }

    @Test func `a revoked state with a refund counts from the refund, not before`() {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-12", signed: "2026-05-13")
        life.condition(.revoked, end: Self.end, signed: "2026-05-13")
        expectTurn(life, at: "2026-05-12", from: Self.inTerm, to: Self.refunded)
        #expect(life.told("2026-05-13") == Self.refunded)
    }

    // MARK: Effective start

    @Test func `an outlook that reports an earlier recovery dates it`() {
        var life = StandingTests.failing()
        life.outlook(end: "2026-07-01", signed: "2026-06-05")
        life.term("2", from: Self.end, to: "2026-07-01", signed: "2026-06-09")
        expectTurn(life, at: "2026-06-05", from: Self.inGrace, to: Self.inTerm)
    }

    @Test func `a failure announced before the old end keeps its grace until recovery`() {
        var life = StandingTests.monthly()
        life.outlook(
            end: Self.end,
            signed: Self.end.justBefore,
            retrying: true,
            grace: Self.grace
        )
        life.term("2", from: Self.end, to: "2026-07-01", signed: "2026-06-09")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inGrace)
        expectTurn(life, at: "2026-06-09", from: Self.inGrace, to: Self.inTerm)
    }

    @Test func `a new purchase after a lapse counts from its date, however late received`() {
        var life = StandingTests.monthly()
        life.outlook(end: Self.end, signed: "2026-05-10", renews: false)
        life.term("2", from: "2026-06-20", to: "2026-07-20", signed: "2026-07-10")
        expectTurn(life, at: "2026-06-20", from: Self.cancelled, to: Self.inTerm)
    }

    @Test func `a failure announced after the renewal changes neither its start nor its access`() {
        var life = StandingTests.monthly()
        life.term("2", from: Self.end, to: "2026-07-01", signed: "2026-05-31T17:00:00Z")
        life.outlook(end: "2026-07-01", signed: "2026-05-31T17:00:00Z")
        life.outlook(end: Self.end, signed: "2026-06-01T02:00:00Z", retrying: true)
        life.condition(
            .retry,
            notice: .failedToRenew,
            end: Self.end,
            signed: "2026-06-01T02:00:00Z"
        )
        for instant: Instant in [Self.end, "2026-06-01T02:00:00Z", "2026-06-15"] {
            expectTurn(life, at: instant, from: Self.inTerm, to: Self.inTerm)
        }
        expectTurn(life, at: "2026-07-01", from: Self.inTerm, to: Self.due)
    }

    // MARK: Upgrades

    private func upgraded(signed: Instant = "2026-05-10") -> Life {
        var life = StandingTests.monthly()
        life.term("1", from: "2026-05-01", to: Self.end, signed: signed, upgraded: true)
        return life
    }

    @Test func `the upgrade flag takes effect when the upgrade happened`() {
        var life = upgraded(signed: "2026-05-25")
        life.term("2", "yearly", from: "2026-05-10", to: "2027-05-10", origin: .purchase)
        let upgrade: Instant = "2026-05-10"
        expectTurn(life, at: upgrade, from: Self.inTerm, to: Self.inTerm)
        #expect(life.standing(upgrade.justBefore).productId == "monthly")
        #expect(life.standing(upgrade).productId == "yearly")
    }

    @Test func `an upgrade flag before the first known successor dates the upgrade`() {
        var life = upgraded()
        life.term("3", "basic", from: "2026-06-10", to: "2026-07-10")
        let superseded = "active paid superseded presumed"
        expectTurn(life, at: "2026-05-10", from: Self.inTerm, to: superseded)
        expectTurn(life, at: Self.end, from: superseded, to: Self.unconfirmed)
        expectTurn(life, at: "2026-06-10", from: Self.unconfirmed, to: Self.inTerm)
    }

    @Test func `a running grace continues after an upgrade`() {
        var life = StandingTests.failing()
        life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-06-05", upgraded: true)
        expectTurn(life, at: "2026-06-05", from: Self.inGrace, to: Self.inGrace)
        #expect(life.told(Self.grace.justBefore) == Self.inGrace)
    }

    @Test func `an outlook of an unseen successor outranks the upgraded term`() {
        var life = upgraded()
        life.outlook(end: "2027-05-10", signed: "2026-05-10", product: "yearly")
        expectTurn(life, at: "2026-05-10", from: Self.inTerm, to: Self.unseen)
        #expect(life.standing("2026-05-10").productId == "yearly")
        expectTurn(life, at: "2027-05-10", from: Self.unseen, to: Self.unconfirmed)
    }

    @Test func `a cancellation date of an upgrade in an old receipt is not a refund`() {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-10")
        #expect(life.told("2026-05-10") == Self.refunded)
        life.term("2", "yearly", from: "2026-05-10", to: "2027-05-10", origin: .purchase)
        expectTurn(life, at: "2026-05-10", from: Self.inTerm, to: Self.inTerm)
        var flagged = upgraded()
        flagged.revoke("1", at: "2026-05-10")
        #expect(flagged.told("2026-05-10") == "active paid superseded presumed")
    }

    // MARK: Announced early

    @Test func `a renewal announced hours early into another product waits for the old end`() {
        var life = StandingTests.monthly()
        let announced = Self.end - .hours(7)
        life.term("2", "basic", from: Self.end, to: "2026-07-01", signed: announced)
        life.outlook(end: "2026-07-01", signed: announced, product: "basic")
        for instant in [announced, Self.end.justBefore] {
            #expect(life.told(instant) == Self.inTerm)
            #expect(life.standing(instant).productId == "monthly")
            #expect(life.standing(instant).accessUntil == Self.end)
        }
        #expect(life.standing(Self.end).productId == "basic")
    }

    @Test func `an announced renewal follows the product of the last outlook`() {
        var life = StandingTests.monthly()
        life.outlook(end: Self.end, signed: "2026-05-20", into: "basic")
        life.term(
            "3",
            "basic",
            from: "2026-07-01",
            to: "2026-08-01",
            signed: "2026-06-30T17:00:00Z"
        )
        let announced: Instant = "2026-06-30T17:00:00Z"
        expectTurn(life, at: announced, from: Self.unconfirmed, to: Self.unseen)
        #expect(life.standing(announced).productId == "basic")
        #expect(life.standing(announced).accessUntil == "2026-07-01")
        expectTurn(life, at: "2026-07-01", from: Self.unseen, to: Self.inTerm)
    }

    @Test func `a future purchase has no effect before its date`() {
        var life = StandingTests.monthly()
        life.outlook(end: Self.end, signed: "2026-05-10", renews: false)
        life.term(
            "2",
            from: "2026-06-20",
            to: "2026-07-20",
            signed: "2026-06-19T23:59:00Z",
            origin: .purchase
        )
        expectTurn(life, at: "2026-06-20", from: Self.cancelled, to: Self.inTerm)
    }

    // MARK: Revocation

    @Test func `a bare revoked state hides no later reported renewal`() {
        var life = StandingTests.monthly()
        life.condition(.revoked, end: Self.end, signed: "2026-05-12")
        life.outlook(end: "2026-06-20", signed: "2026-05-20")
        expectTurn(
            life,
            at: "2026-05-12",
            from: Self.inTerm,
            to: "expired revoked revoked confirmed"
        )
        expectTurn(
            life,
            at: "2026-05-20",
            from: "expired revoked revoked confirmed",
            to: Self.unseen
        )
    }

    @Test func `a reversal also cancels a bare revoked state`() {
        var life = StandingTests.monthly()
        life.condition(.revoked, end: Self.end, signed: "2026-05-12")
        life.reverse("1", at: "2026-05-20")
        expectTurn(
            life,
            at: "2026-05-20",
            from: "expired revoked revoked confirmed",
            to: Self.inTerm
        )
    }

    @Test func `a read without the refund counts an hour after the last one with it`() {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-09")
        life.revoke("1", at: "2026-05-09", signed: "2026-05-09T03:00:00Z")
        life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-05-09T00:00:05Z")
        life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-05-09T03:59:59.999Z")
        #expect(life.told("2026-05-20") == Self.refunded)
        life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-05-09T04:00:00Z")
        expectTurn(life, at: "2026-05-09T04:00:00Z", from: Self.refunded, to: Self.inTerm)
    }

    @Test func `a relay's fact does not reverse the store's refund`() {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-09")
        life.term(
            "1",
            from: "2026-05-01",
            to: Self.end,
            signed: "2026-05-12",
            rank: .relayed
        )
        #expect(life.told("2026-05-13") == Self.refunded)
    }

    @Test func `the days between a refund and its reversal stay refunded`() {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-09")
        life.outlook(end: Self.end, signed: "2026-05-09", renews: false)
        life.reverse("1", at: "2026-05-22")
        expectTurn(life, at: "2026-05-09", from: Self.inTerm, to: Self.refunded)
        expectTurn(life, at: "2026-05-22", from: Self.refunded, to: Self.inTerm)
        #expect(life.told("2026-05-15") == Self.refunded)
        #expect(life.standing("2026-05-22").accessUntil == Self.end)
    }

    @Test func `a renewal seen after the old term's refund stays visible`() {
        var life = StandingTests.monthly()
        life.revoke("1", at: "2026-05-09")
        life.term("2", from: "2026-05-20", to: "2026-06-20", origin: .purchase)
        expectTurn(life, at: "2026-05-20", from: Self.refunded, to: Self.inTerm)
    }

    // MARK: Grace

    @Test func `the store extends grace only by a state not older than auto-renew off`() {
        let off: Instant = "2026-06-06"
        for (upheld, expected) in [(off, Self.inGrace), (off.justBefore, Self.cancelled)] {
            var life = StandingTests.failing()
            life.condition(.grace, end: Self.end, signed: upheld)
            life.outlook(end: Self.end, signed: off, renews: false, grace: Self.grace)
            expectTurn(life, at: off, from: Self.inGrace, to: expected)
        }
    }

    @Test func `auto-renew off in an announced grace ends with it or with expired`() {
        var life = StandingTests.failing()
        life.outlook(end: Self.end, signed: "2026-06-05", renews: false, grace: Self.grace)
        life.condition(.grace, end: Self.end, signed: "2026-06-05")
        expectTurn(life, at: "2026-06-05", from: Self.inGrace, to: Self.inGrace)
        expectTurn(life, at: Self.grace, from: Self.inGrace, to: Self.cancelled)
        life.outlook(
            end: Self.end,
            signed: "2026-06-12",
            renews: false,
            grace: Self.grace,
            lapse: .billingError
        )
        life.condition(.expired, notice: .expired, end: Self.end, signed: "2026-06-12")
        let ended = "expired billingError ended-stated confirmed"
        expectTurn(life, at: "2026-06-12", from: Self.inGrace, to: ended)
        #expect(life.standing("2026-06-20").accessUntil == "2026-06-12")
    }

    @Test func `repeated facts do not move the end of access`() {
        var life = StandingTests.failing()
        for signed: Instant in ["2026-06-05", "2026-06-10", "2026-06-20"] {
            life.outlook(end: Self.end, signed: signed, renews: false, grace: Self.grace)
            life.condition(.expired, end: Self.end, signed: signed)
        }
        #expect(life.standing("2026-07-01").accessUntil == "2026-06-05")
    }

    @Test func `grace that the store ends early continues while it renews`() {
        var life = StandingTests.failing()
        life.condition(.retry, notice: .graceExpired, end: Self.end, signed: "2026-06-10")
        expectTurn(life, at: "2026-06-10", from: Self.inGrace, to: Self.inGrace)
        expectTurn(life, at: Self.grace, from: Self.inGrace, to: Self.inRetry)
    }

    @Test func `grace without a date and with auto-renew off lasts three days`() {
        var life = StandingTests.monthly()
        life.outlook(end: Self.end, signed: Self.end, renews: false)
        life.condition(.grace, notice: .failedToRenewInGrace, end: Self.end, signed: Self.end)
        let unstated = "grace billingIssue grace-unstated presumed"
        expectTurn(life, at: Self.end, from: Self.inTerm, to: unstated)
        expectTurn(life, at: "2026-06-04", from: unstated, to: Self.cancelled)
    }

    @Test func `a grace date left over from a recovery does not apply to the next failure`() {
        var life = StandingTests.failing()
        life.term("2", from: Self.end, to: "2026-07-01", signed: "2026-06-09")
        life.outlook(end: "2026-07-01", signed: "2026-06-09", grace: Self.grace)
        expectTurn(life, at: Self.grace, from: Self.inTerm, to: Self.inTerm)
        expectTurn(life, at: "2026-07-01", from: Self.inTerm, to: Self.due)
        life.condition(.grace, end: "2026-07-01", signed: "2026-07-01")
        let unstated = "grace billingIssue grace-unstated presumed"
        expectTurn(life, at: "2026-07-01", from: Self.inTerm, to: unstated)
        expectTurn(life, at: "2026-07-04", from: unstated, to: Self.inRetry)
    }

    @Test func `a stated failure stays though a later outlook omits it`() {
        var life = StandingTests.monthly()
        life.outlook(end: Self.end, signed: Self.end, retrying: true)
        life.outlook(end: Self.end, signed: "2026-06-03")
        life.condition(.active, end: Self.end, signed: "2026-06-03")
        expectTurn(life, at: "2026-06-03", from: Self.inRetry, to: Self.inRetry)
    }

    @Test func `a newer state replaces expired`() {
        var life = StandingTests.monthly()
        life.condition(.expired, end: Self.end, signed: Self.end)
        life.condition(.retry, end: Self.end, signed: "2026-06-03")
        expectTurn(
            life,
            at: "2026-06-03",
            from: "expired ended ended-stated confirmed",
            to: Self.inRetry
        )
    }

    @Test func `an active state does not extend a past end`() {
        var life = StandingTests.monthly()
        life.condition(.active, end: Self.end, signed: "2026-06-01T10:00:00Z")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.due)
        expectTurn(life, at: "2026-06-02", from: Self.due, to: Self.unconfirmed)
    }

    @Test func `a price increase without consent renews until the store reports expired`() {
        var life = StandingTests.monthly()
        expectTurn(life, at: "2026-06-01T01:00:00Z", from: Self.due, to: Self.due)
        life.outlook(
            end: Self.end,
            signed: "2026-06-01T01:00:00Z",
            renews: false,
            lapse: .priceIncrease
        )
        life.condition(
            .expired,
            notice: .expired,
            end: Self.end,
            signed: "2026-06-01T01:00:00Z"
        )
        expectTurn(
            life,
            at: "2026-06-01T01:00:00Z",
            from: Self.due,
            to: "expired priceIncrease ended-stated confirmed"
        )
    }

    // MARK: Observations and their term

    @Test(arguments: [true, false])
    func `an outlook of an earlier term does not apply to a renewal's transaction`(
        signedAgain: Bool
    ) {
        var life = StandingTests.monthly()
        life.outlook(end: Self.end, signed: "2026-05-20", renews: false)
        life.term("2", from: Self.end, to: "2026-07-01", signed: "2026-06-02")
        if signedAgain {
            life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-06-05")
        }
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inTerm)
        #expect(life.standing("2026-06-10").willRenew == nil)
        expectTurn(life, at: "2026-07-01", from: Self.inTerm, to: Self.due)
        expectTurn(life, at: "2026-07-02", from: Self.due, to: Self.unconfirmed)
    }

    @Test func `a resubscription known only by its transaction has no outlook`() {
        var life = StandingTests.monthly()
        life.outlook(end: Self.end, signed: "2026-05-20", renews: false)
        life.condition(.expired, notice: .expired, end: Self.end, signed: Self.end)
        life.term("2", from: "2026-08-01", to: "2026-09-01", origin: .purchase)
        let ended = "expired cancelled ended-stated confirmed"
        expectTurn(life, at: "2026-08-01", from: ended, to: Self.inTerm)
        #expect(life.standing("2026-08-01").willRenew == nil)
        expectTurn(life, at: "2026-09-01", from: Self.inTerm, to: Self.due)
        expectTurn(life, at: "2026-09-02", from: Self.due, to: Self.unconfirmed)
    }

    @Test func `an old grace state does not apply to an unseen term's failure`() {
        var life = StandingTests.failing()
        life.outlook(
            end: "2026-07-01",
            signed: "2026-07-01",
            retrying: true,
            grace: "2026-07-17",
            product: "yearly"
        )
        expectTurn(life, at: "2026-07-01", from: Self.inRetry, to: Self.inGrace)
        #expect(life.standing("2026-07-01").productId == "yearly")
        expectTurn(life, at: "2026-07-17", from: Self.inGrace, to: Self.inRetry)
    }

    @Test func `the end of an unseen term ends it`() {
        var life = StandingTests.failing()
        life.outlook(end: "2026-07-01", signed: "2026-07-01", renews: false, lapse: .cancelled)
        expectTurn(life, at: "2026-07-01", from: Self.inRetry, to: Self.cancelled)
    }

    @Test func `an outlook that names an extended end reports no new renewal`() {
        var life = StandingTests.monthly()
        life.term("1", from: "2026-05-01", to: "2026-06-15", signed: "2026-05-20")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inTerm)
        expectTurn(life, at: "2026-06-15", from: Self.inTerm, to: Self.due)
        expectTurn(life, at: "2026-06-16", from: Self.due, to: Self.unconfirmed)
    }

    @Test func `an outlook repeated after a newer term reports a renewal beyond it`() {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-07-05", signed: "2026-05-20")
        life.term("2", from: Self.end, to: "2026-06-08")
        #expect(life.told("2026-06-20") == Self.unconfirmed)
        life.outlook(end: "2026-07-05", signed: "2026-06-08")
        #expect(life.told("2026-06-20") == Self.unseen)
    }

    @Test func `a late fact about the old term does not set its renewal aside`() {
        var life = Life()
        life.outlook(end: "2026-07-01", signed: Self.end)
        life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-06-10", origin: .purchase)
        #expect(life.told("2026-06-15") == Self.unseen)
    }

    @Test func `the nearest of several ends within the tolerance applies`() {
        for (named, expected) in [(200, nil), (500, false)] as [(Int64, Bool?)] {
            var life = Life()
            life.term("1", from: "2026-05-01", to: Self.end, upgraded: true, origin: .purchase)
            life.term("2", from: "2026-05-31", to: Self.end + Milliseconds(600))
            life.outlook(end: Self.end + Milliseconds(named), signed: "2026-05-31", renews: false)
            #expect(life.standing("2026-05-31T12:00:00Z").willRenew == expected)
        }
    }

    @Test func `an outlook can differ from the end by at most a second`() {
        for (off, expected) in [(-1001, nil), (-1000, false), (1000, false), (1001, nil)]
            as [(Int64, Bool?)]
        {
            var life = Life()
            life.term("1", from: "2026-05-01", to: Self.end, origin: .purchase)
            life.outlook(end: Self.end + Milliseconds(off), signed: "2026-05-02", renews: false)
            #expect(life.standing("2026-05-20").willRenew == expected, "\(off) ms")
        }
    }

    // MARK: Rank

    @Test func `a relay's copy of a term without the period's id is the same term`() {
        var life = Life()
        let copy = Term(
            transactionId: "t1",
            productId: "monthly",
            start: "2026-05-01",
            end: "2026-06-20"
        )
        life.say(.term(copy), at: "2026-05-30", rank: .relayed)
        #expect(life.told("2026-06-10") == "active paid in-term presumed")
        life.term("1", from: "2026-05-01", to: Self.end, origin: .purchase)
        #expect(life.told(Self.end.justBefore) == Self.inTerm)
        #expect(life.told(Self.end) == Self.due)
    }

    @Test func `a relay's later term applies only outside of the store's terms`() {
        var life = StandingTests.monthly()
        life.term("2", from: "2026-05-20", to: "2026-06-20", rank: .relayed)
        expectTurn(life, at: "2026-05-20", from: Self.inTerm, to: Self.inTerm)
        #expect(life.standing("2026-05-20").accessUntil == Self.end)
        let relayed = "active paid in-term presumed"
        expectTurn(life, at: Self.end, from: Self.inTerm, to: relayed)
        #expect(life.told("2026-06-19") == relayed)
    }

    // MARK: Pace

    @Test func `a three-minute month shrinks every bound with it`() {
        var life = Life(environment: .sandbox)
        let start: Instant = "2026-05-01"
        let end = start + .minutes(3)
        life.term("1", from: start, to: end, origin: .purchase)
        life.outlook(end: end, signed: start)
        let month = Milliseconds.days(31).count
        let pace = { (length: Milliseconds) in
            Milliseconds(length.count * Milliseconds.minutes(3).count / month)
        }
        expectTurn(life, at: end, from: Self.inTerm, to: Self.due)
        expectTurn(life, at: end + pace(.hours(24)), from: Self.due, to: Self.unconfirmed)
        life.condition(.grace, end: end, signed: end)
        let unstated = "grace billingIssue grace-unstated presumed"
        expectTurn(life, at: end + pace(.days(3)), from: unstated, to: Self.inRetry)
        expectTurn(
            life,
            at: end + pace(.days(60)),
            from: Self.inRetry,
            to: "expired billingError ended confirmed"
        )
        life.revoke("1", at: start + .minutes(1))
        let undone = start + .minutes(1) + pace(.hours(1))
        life.term("1", from: start, to: end, signed: undone.justBefore)
        #expect(life.told(undone) == Self.refunded)
        life.term("1", from: start, to: end, signed: undone)
        expectTurn(life, at: undone, from: Self.refunded, to: Self.inTerm)
    }

    @Test func `the shortest plain term sets the pace`() {
        var life = Life(environment: .sandbox)
        let start: Instant = "2026-05-01"
        life.term("1", from: start, to: start + .minutes(5))
        life.term("2", from: start + .minutes(5), to: start + .minutes(8))
        #expect(
            life.history.pace == Pace(actual: .minutes(3), nominal: .days(31))
        )
    }

    // MARK: Products and customers

    @Test func `a pending downgrade denies the higher product until the failure is announced`()
        throws
    {
        var life = Life()
        life.term("1", "yearly", from: "2025-06-01", to: Self.end, origin: .purchase)
        life.outlook(end: Self.end, signed: "2026-05-01", product: "yearly", into: "basic")
        let failed = Self.end + .minutes(3)
        life.outlook(
            end: Self.end,
            signed: failed,
            retrying: true,
            grace: Self.grace,
            product: "yearly",
            into: "basic"
        )
        let history = SnapshotTests.history([life])
        // The grace end also covers the minutes before it was announced.
        let archive = try #require(history.snapshot(at: Self.end)["archive"])
        #expect(archive.standing.told == Self.inGrace)
        var silent = life
        silent.facts.removeLast()
        let unspoken = SnapshotTests.history([silent]).snapshot(at: Self.end)
        #expect(unspoken["archive"]?.standing.state == .expired)
        #expect(unspoken["archive"]?.standing.reason == .changedProduct)
        #expect(unspoken["basics"]?.standing.told == Self.due)
    }

    @Test func `a product that never unlocked the entitlement gives never`() {
        let snapshot = SnapshotTests.history([StandingTests.monthly()]).snapshot(at: "2026-05-10")
        #expect(snapshot["basics"]?.standing.told == "never notEntitled in-term confirmed")
    }

    @Test func `Xcode's zero is not a period id`() {
        var life = Life(environment: .xcode)
        for (id, start): (String, Instant) in [("0", "2026-05-01"), ("1", "2026-06-01")] {
            let term = Term(
                transactionId: id,
                webOrderLineItemId: "0",
                productId: "monthly",
                start: start,
                end: start + Period(months: 1)
            )
            life.say(.term(term), at: start)
        }
        #expect(life.standing("2026-05-10").accessUntil == "2026-06-01")
        #expect(life.standing("2026-06-10").accessUntil == "2026-07-01")
    }

    @Test func `another purchase can confirm what one only presumes`() throws {
        var other = Life("2000")
        other.term("9", from: "2026-05-20", to: "2026-06-01T12:00:00Z", origin: .purchase)
        other.outlook(
            end: "2026-06-01T12:00:00Z",
            signed: "2026-06-01T12:00:00Z",
            retrying: true,
            grace: Self.grace
        )
        let both = [StandingTests.monthly(), other]
        #expect(try SnapshotTests.premium(both, at: "2026-05-21").accessUntil == Self.grace)
    }

    @Test func `a transferred lineage answers each customer for their own time`() {
        var life = Life()
        life.term("1", from: "2026-05-01", to: Self.end, token: "anna")
        life.outlook(end: Self.end, signed: "2026-05-01")
        life.term("2", from: Self.end, to: "2026-07-01", token: "ben")
        let owners = [OwnershipEntry]().additions(for: life.facts)
        let premium = { (customer: CustomerID, instant: Instant) in
            CustomerHistory(
                customer: customer,
                environment: .production,
                lineageRecords: [OwnedHistory(history: life.history, owners: owners)],
                catalogue: life.catalogue,
                policy: Policy()
            ).snapshot(at: instant)["premium"]
        }
        let anna = SnapshotTests.anna
        let ben = SnapshotTests.ben
        #expect(premium(anna, Self.end.justBefore)?.standing.state == .active)
        #expect(premium(anna, Self.end)?.standing.state == .never)
        #expect(premium(ben, Self.end.justBefore)?.standing.state == .never)
        #expect(premium(ben, Self.end)?.standing.state == .active)
        #expect(premium(anna, "2026-05-10")?.accessUntil == Self.end)
        #expect(premium(anna, "2026-05-10")?.nextChange == Self.end)
        #expect(premium(ben, "2026-05-10")?.nextChange == Self.end)
    }

    @Test func `the newest owner fact of a term decides, in any order`() {
        var life = Life()
        life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-05-01", token: "ben")
        life.term("1", from: "2026-05-01", to: Self.end, signed: "2026-05-03", token: "anna")
        for facts in [life.facts, life.facts.reversed()] {
            let owners = [OwnershipEntry]().additions(for: facts)
            #expect(owners.owner(at: "2026-05-10") == SnapshotTests.anna)
            #expect(owners.additions(for: facts).isEmpty)
        }
    }

    @Test func `a family member's failure gives hold without advice`() {
        var family = Life("3000", ownership: .familyShared)
        family.facts = StandingTests.failing().facts.map { fact in
            var fact = fact
            fact.lineage = family.lineage
            return fact
        }
        let history = SnapshotTests.history([family])
        for (instant, state): (Instant, State) in [
            (Self.end, .grace), (Self.grace.justBefore, .grace), (Self.grace, .hold),
        ] {
            #expect(history.snapshot(at: instant)["premium"]?.standing.state == state)
            #expect(history.snapshot(at: instant).prompt == nil)
        }
    }

    // MARK: One-time purchases

    @Test func `a refunded lifetime ends, and a reversal restores it for ever`() {
        var life = Life()
        life.term("1", "lifetime", from: "2026-05-01", to: nil, plan: .nonConsumable)
        let key = TermKey("t:t1")
        let refund = Revocation(term: key, date: "2026-05-09", cause: .refund)
        life.say(.revocation(refund), at: "2026-05-10")
        life.say(.reversal(Reversal(term: key)), at: "2026-05-23")
        let lifetime = "active lifetime in-term confirmed"
        expectTurn(life, at: "2026-05-09", from: lifetime, to: Self.refunded)
        expectTurn(life, at: "2026-05-23", from: Self.refunded, to: lifetime)
        #expect(life.standing("2026-05-23").accessUntil == nil)
    }

    @Test func `a non-renewing purchase without a length has no duration`() {
        var life = Life()
        life.catalogue.products["pass"]?.period = nil
        life.term("1", "pass", from: "2026-05-01", to: nil, plan: .nonRenewing)
        #expect(life.told("2026-05-01") == "expired ended ended confirmed")
    }

    // MARK: Dates at the ends of the range

    @Test func `no date from outside causes a trap`() {
        let dates: [Instant] = [
            .distantPast, Instant.writable.lowerBound, "2026-05-01", "2026-06-01",
            Instant.writable.upperBound, .distantFuture,
        ]
        for start in dates {
            for end in dates {
                for signed in dates {
                    let lives = [Environment.production, .sandbox].map { environment in
                        var life = Life(environment: environment)
                        life.term(
                            "1",
                            from: start,
                            to: end,
                            signed: signed,
                            offer: StandingTests.trial
                        )
                        life.term("2", from: end, to: start, signed: start, upgraded: true)
                        life.outlook(end: end, signed: signed, retrying: true, grace: start)
                        life.outlook(end: signed, signed: start, grace: .distantFuture)
                        life.condition(.grace, end: end, signed: signed)
                        life.revoke("1", at: end, signed: signed)
                        return life
                    }
                    for life in lives {
                        let history = SnapshotTests.history(
                            [life],
                            environment: life.lineage.environment
                        )
                        for instant in dates { _ = history.snapshot(at: instant).validUntil }
                    }
                }
            }
        }
    }
}
