import Testing
import TideoverCore
import TideoverLives

/// The sentences of a reply, where a wrong one would mislead the customer.
@Suite struct ExplanationReplyTests {
    private static func reply(
        _ life: Life,
        at instant: Instant,
        entitlement: String = "premium"
    ) throws -> [String] {
        try ExplanationTests.explain(life, at: instant, entitlement: entitlement).reply
    }

    // MARK: Change of product

    static let loss = "to one that does not include this"

    @Test func `a pending downgrade is no renewal of what the next product lacks`() throws {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-05-10", into: "basic")
        #expect(
            try Self.reply(life, at: "2026-05-15").last
                == "The subscription is set to change on 1 June 2026 \(Self.loss); "
                + "you keep access until 1 June 2026."
        )
        let due = try Self.reply(life, at: "2026-06-01T01:00:00Z")
        #expect(due.last == "The store has not confirmed that change to us yet.")
        let silent = try Self.reply(life, at: "2026-06-03")
        #expect(silent[0].contains("was due to change on 1 June 2026 \(Self.loss)"))
        life.outlook(end: "2026-06-01", signed: "2026-05-20", into: "yearly")
        let kept = try Self.reply(life, at: "2026-05-25")
        #expect(kept.last == "It renews on 1 June 2026 unless it is cancelled before.")
    }

    @Test func `a failed payment for a downgrade does not promise the access back`() throws {
        var life = StandingTests.monthly()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-01",
            retrying: true,
            grace: "2026-06-17",
            into: "basic"
        )
        let grace = try Self.reply(life, at: "2026-06-10")
        #expect(grace.last == "The subscription is set to change \(Self.loss).")
        let hold = try Self.reply(life, at: "2026-06-20")
        #expect(hold.last?.contains("may not come back when the payment succeeds") == true)
    }

    @Test func `a deferred replacement on Google Play is no renewal`() throws {
        var life = PlayStandingTests.monthly()
        life.read(.active, until: "2026-06-01", at: "2026-05-10", order: "GPA.1", becomes: "basic")
        let reply = try Self.reply(life, at: "2026-05-15")
        #expect(reply.last?.contains("set to change on 1 June 2026 \(Self.loss)") == true)
    }

    @Test func `a renewal charged early and then switched off is paid to its end`() throws {
        var life = StandingTests.monthly()
        life.term("2", from: "2026-06-01", to: "2026-07-01", signed: "2026-05-31T06:00:00Z")
        life.outlook(end: "2026-07-01", signed: "2026-05-31T12:00:00Z", renews: false)
        let why = try ExplanationTests.explain(life, at: "2026-05-31T13:00:00Z")
        #expect(
            why.reply == [
                "Your subscription began on 1 May 2026 and is paid until 1 July 2026.",
                "It will not renew; you keep access until 1 July 2026.",
            ]
        )
        #expect(
            why.used.map(\.told) == ["term: term", "term: announcement", "outlook: outlook"]
        )
    }

    // MARK: Access given by hand

    @Test func `a grant of another entitlement is no purchase that lacks this one`() throws {
        var gift = Life("gift")
        gift.grant("archive", from: "2026-05-01", to: "2026-05-15")
        for day: Instant in ["2026-05-05", "2026-05-20"] {
            let why = try ExplanationTests.explain(gift, at: day)
            #expect(why.decision.standing.reason == .notEntitled)
            #expect(why.why == ["The access given by hand is for another entitlement."])
            #expect(why.reply.first == "We cannot find a purchase that belongs to your account.")
            #expect(why.reply.contains { $0.contains("choose Restore Purchases in the app") })
        }

        // With a purchase of something else, the order of the two does not matter.
        for id in ["a", "z"] {
            var basic = Life(id)
            basic.term("1", "basic", from: "2026-05-01", to: "2026-06-01")
            let why = try ExplanationTests.explain(gift, basic, at: "2026-05-05")
            #expect(why.decision.standing.reason == .notEntitled)
            #expect(why.reply == ["What you have bought does not include this."])
        }
    }

    // MARK: Consent

    private static let consent =
        "It renews on 1 June 2026 only if you accept the higher price in the store; otherwise it "
        + "ends then."

    @Test func `a higher price that awaits consent is a condition of the renewal`() throws {
        var life = StandingTests.monthly()
        var outlook = Outlook(renewalDate: "2026-06-01", productId: "monthly", willRenew: true)
        outlook.priceIncreasePending = true
        life.say(.outlook(outlook), at: "2026-05-10")
        #expect(try Self.reply(life, at: "2026-05-15").last == Self.consent)
        outlook.priceIncreasePending = false
        life.say(.outlook(outlook), at: "2026-05-20")
        #expect(
            try Self.reply(life, at: "2026-05-25").last
                == "It renews on 1 June 2026 unless it is cancelled before."
        )
    }

    @Test(arguments: [nil, "2026-06-01", "2026-07-01"] as [Instant?])
    func `a higher price on Google Play is charged with a later renewal, if stated`(
        chargedFrom: Instant?
    ) throws {
        var life = PlayStandingTests.monthly()
        let item = PlayItem(
            productId: "play",
            expiresAt: "2026-06-01",
            plan: .autoRenewing(isOn: true),
            phase: .base,
            orderId: "GPA.1",
            priceChange: PlayItem.PriceChange(state: .awaitsConsent, chargedFrom: chargedFrom)
        )
        life.read(
            PlaySubscription(
                token: PlayToken("a"),
                askedAt: "2026-05-10",
                state: .active,
                items: [item],
                startedAt: "2026-05-01"
            ),
            at: "2026-05-10"
        )
        let reply = try Self.reply(life, at: "2026-05-15")
        guard chargedFrom == "2026-07-01" else {
            #expect(reply.last == Self.consent)
            return
        }
        #expect(
            reply.suffix(2) == [
                "It renews on 1 June 2026 unless it is cancelled before.",
                "From 1 July 2026 it continues only if you accept the higher price in the store; "
                    + "otherwise it ends then.",
            ]
        )
    }

    @Test func `a payment of a commitment does not end by a cancellation`() throws {
        var life = Life()
        var term = Term(
            transactionId: "t1",
            webOrderLineItemId: "w1",
            productId: "monthly",
            plan: .autoRenewable,
            start: "2026-05-01",
            end: "2026-06-01",
            origin: .purchase
        )
        term.commitment = Term.Commitment(payment: 1, payments: 12, end: "2027-05-01")
        life.say(.term(term), at: "2026-05-01")
        life.outlook(end: "2026-06-01", signed: "2026-05-01")
        #expect(try Self.reply(life, at: "2026-05-15").last == "It renews on 1 June 2026.")
    }

    // MARK: Refunds and ends

    @Test func `a refund after the end did not end the access`() throws {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-05-20", renews: false)
        life.revoke("1", at: "2026-06-20")
        #expect(life.standing("2026-06-25").accessUntil == "2026-06-01")
        #expect(
            try Self.reply(life, at: "2026-06-25") == [
                "The store refunded your purchase on 20 June 2026.",
                "Access had already ended on 1 June 2026.",
            ]
        )
    }

    @Test func `a hold after access that policy kept names the end of that access`() throws {
        var life = StandingTests.failing()
        life.policy = Policy(billingRetry: .keep(.days(7)))
        let reply = try Self.reply(life, at: "2026-06-30")
        #expect(reply.contains("Access is paused since 24 June 2026."))
    }

    @Test func `a refund ends access that policy or a leeway kept`() {
        var failing = StandingTests.failing()
        failing.policy = Policy(billingRetry: .keep(.days(7)))
        failing.revoke("1", at: "2026-06-20")
        #expect(failing.standing("2026-06-21").accessUntil == "2026-06-20")
        var silent = StandingTests.monthly()
        silent.revoke("1", at: "2026-06-01T06:00:00Z")
        #expect(silent.standing("2026-06-21").accessUntil == "2026-06-01T06:00:00Z")
    }

    @Test func `a refund after assumed grace names the end of that grace`() throws {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-06-01", retrying: true)
        life.condition(.grace, end: "2026-06-01", signed: "2026-06-01")
        var refundedLater = life
        refundedLater.revoke("1", at: "2026-06-20")
        #expect(
            try Self.reply(refundedLater, at: "2026-06-25") == [
                "The store refunded your purchase on 20 June 2026.",
                "Access had already ended on 4 June 2026.",
            ]
        )
        life.revoke("1", at: "2026-06-03")
        #expect(life.standing("2026-06-25").accessUntil == "2026-06-03")
    }

    @Test func `a refund does not extend access that the store ended`() {
        var life = StandingTests.monthly()
        life.policy = Policy(billingRetry: .keep(.days(7)))
        life.outlook(end: "2026-06-01", signed: "2026-06-01", retrying: true)
        life.condition(.expired, end: "2026-06-01", signed: "2026-06-03")
        life.revoke("1", at: "2026-06-20")
        #expect(life.told("2026-06-02") == "grace keptByPolicy retry-kept confirmed")
        #expect(life.standing("2026-06-25").accessUntil == "2026-06-01")
    }

    @Test func `a failed payment keeps access until grace ends, also if it succeeded later`()
        throws
    {
        var life = StandingTests.failing()
        life.pay("2", from: "2026-06-01", to: "2026-07-01", signed: "2026-06-14")
        #expect(
            try Self.reply(life, at: "2026-06-10").suffix(2) == [
                "You keep full access until 17 June 2026.",
                "If you update your payment method in the store before that, "
                    + "nothing is interrupted.",
            ]
        )
    }

    @Test func `a refund on Google Play after the end is no cause of the end`() throws {
        var life = PlayStandingTests.monthly()
        life.read(.expired, until: "2026-06-01", at: "2026-06-01", order: "GPA.1", by: .customer)
        life.void("GPA.1", at: "2026-06-10")
        #expect(
            try Self.reply(life, at: "2026-06-12") == [
                "Your subscription ended on 1 June 2026.",
                "The store refunded it on 10 June 2026.",
            ]
        )
    }

    @Test func `a cancellation in grace was not paid for until the end of grace`() throws {
        var life = PlayStandingTests.failing()
        life.read(
            .cancelled,
            until: "2026-06-03",
            at: "2026-06-02T12:00:00Z",
            order: "GPA.1",
            by: .customer
        )
        #expect(
            try Self.reply(life, at: "2026-06-02T18:00:00Z") == [
                "Your subscription began on 1 May 2026 and was paid until 1 June 2026.",
                "It will not renew; you keep access until 3 June 2026.",
            ]
        )
    }

    // MARK: Another account

    private static func moved(_ policy: Policy) throws -> [String] {
        let life = StandingTests.monthly()
        let owners = [("anna", Instant.distantPast), ("ben", "2026-05-10")].map { name, from in
            OwnershipEntry(
                lineage: life.lineage,
                customer: CustomerID(name).unsafelyUnwrapped,
                from: from,
                why: from == .distantPast ? .claimed : .transferred,
                decidedAt: max(from, "2026-05-01")
            )
        }
        let record = CustomerRecord(
            customer: ExplanationTests.anna,
            environment: .production,
            lineageRecords: [life.owned(by: owners)],
            catalogue: life.catalogue,
            policy: policy
        )
        let former = try #require(record.explanation(of: "premium", at: "2026-05-05"))
        #expect(former.decision.standing.access)
        let other = try #require(record.explanation(of: "basics", at: "2026-05-20"))
        #expect(other.reply[0].contains("cannot find a purchase"))
        return try #require(record.explanation(of: "premium", at: "2026-05-20")).reply
    }

    @Test func `a former owner learns that the purchase belongs to another account`() throws {
        let known = "A purchase that was yours belongs to another account of this app now."
        let transferring = try Self.moved(Policy(transfer: .transfer(coolDown: .zero)))
        #expect(transferring[0] == known)
        #expect(transferring.last?.contains("Restore Purchases") == true)
        let fixed = try Self.moved(Policy())
        #expect(fixed[0] == known)
        #expect(fixed.last == "If it should be yours, please write to us.")
        #expect(!(transferring + fixed).contains { $0.contains("ben") || $0.contains("order") })
    }
}
