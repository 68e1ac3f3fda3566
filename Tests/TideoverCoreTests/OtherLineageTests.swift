import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// One-time purchases on Google Play, grants, purchases that only a relay reports, and pending
/// ones.
@Suite struct OtherLineageTests {
    static let lifetime = "active lifetime in-term confirmed"
    static let refunded = "expired refunded revoked confirmed"

    private func premium(_ lives: Life..., at instant: Instant) throws -> Snapshot.Entitlement {
        try SnapshotTests.premium(lives, at: instant)
    }

    // MARK: One-time purchases on Google Play

    @Test func `a one-time purchase is entitled for ever`() {
        var life = Life.play()
        life.bought(.purchased, at: "2026-05-02")
        #expect(life.told("2066-01-01") == Self.lifetime)
        #expect(life.standing("2026-05-01").access)
        #expect(!life.standing("2026-04-30").access)
        #expect(life.standing("2026-05-10").accessUntil == nil)
    }

    @Test func `a cancelled read revokes it, and a later purchased read restores it`() {
        var life = Life.play()
        life.bought(.purchased, at: "2026-05-02")
        life.bought(.cancelled, at: "2026-05-10")
        #expect(life.told("2026-05-09") == Self.lifetime)
        #expect(life.told("2026-05-10") == Self.refunded)
        life.bought(.purchased, at: "2026-05-10T00:30:00Z")
        #expect(life.told("2026-05-11") == Self.refunded, "a stale read must not regrant")
        life.bought(.purchased, at: "2026-05-12")
        #expect(life.told("2026-05-12") == Self.lifetime)
    }

    @Test func `a voided order revokes the purchase from when it was voided`() {
        var life = Life.play()
        life.bought(.purchased, at: "2026-05-02")
        life.void("GPA.9", at: "2026-05-10", "p")
        #expect(life.told("2026-05-10") == Self.refunded)
        var partial = Life.play()
        partial.bought(.purchased, at: "2026-05-02")
        let void = PlayVoidedOrder(
            token: PlayToken("p"),
            orderId: "GPA.9",
            date: "2026-05-10",
            isPartial: true
        )
        partial.say(.playVoidedOrder(void), at: "2026-05-10")
        #expect(partial.told("2026-05-11") == Self.lifetime)
    }

    @Test func `a read an hour after a voided order replaces it, an earlier one does not`() {
        var life = Life.play()
        life.bought(.purchased, at: "2026-05-02")
        life.void("GPA.9", at: "2026-05-10", "p")
        life.bought(.purchased, at: "2026-05-10T00:59:59Z")
        #expect(life.told("2026-05-11") == Self.refunded, "a stale read must not regrant")
        life.bought(.purchased, at: "2026-05-10T01:00:00Z")
        #expect(life.told("2026-05-11") == Self.lifetime)
        #expect(life.told("2026-05-10T00:59:59Z") == Self.refunded)
    }

    @Test func `a bare voided notification revokes nothing that was read`() {
        var life = Life.play()
        life.bought(.purchased, at: "2026-05-02")
        life.void("GPA.9", at: "2026-05-10", "p", rank: .inferred)
        #expect(life.told("2026-05-11") == Self.lifetime)
    }

    @Test func `a consumed purchase is over, and consumables unlock nothing`() throws {
        var used = Life.play()
        used.bought(.purchased, at: "2026-05-02")
        used.bought(.purchased, at: "2026-05-10", consumed: true)
        #expect(used.told("2026-05-09") == "active paid in-term confirmed")
        #expect(used.told("2026-05-10") == "expired ended ended confirmed")
        var coins = Life.play()
        coins.bought(.purchased, "coins", at: "2026-05-02")
        #expect(try !premium(coins, at: "2026-05-03").standing.access)
    }

    @Test func `a pass product lasts as long as the catalogue states`() {
        var life = Life.play()
        life.bought(.purchased, "pass", at: "2026-05-02")
        #expect(life.told("2026-05-30") == "active prepaid in-term confirmed")
        #expect(life.told("2026-05-31") == "expired ended ended confirmed")
    }

    @Test func `a pending purchase is listed separately until it is paid`() throws {
        var life = Life.play()
        life.bought(.pending, at: "2026-05-02", paid: nil)
        #expect(life.told("2026-05-03") == "never pending pending confirmed")
        #expect(try premium(life, at: "2026-05-03").pending.map(\.productId) == ["lifetime"])
        life.bought(.purchased, at: "2026-05-04", paid: "2026-05-03T12:00:00Z")
        #expect(life.told("2026-05-03T12:00:00Z") == Self.lifetime)
        #expect(try premium(life, at: "2026-05-05").pending == [])
        var declined = Life.play()
        declined.bought(.pending, at: "2026-05-02", paid: nil)
        declined.bought(.cancelled, at: "2026-05-04", paid: nil)
        #expect(declined.told("2026-05-05") == "never calledOff called-off confirmed")
        #expect(try premium(declined, at: "2026-05-05").pending == [])
    }

    @Test func `a purchase known by a bare notification is presumed`() {
        var life = Life.play()
        life.notice(.oneTimePurchased, at: "2026-05-02", "p", product: "lifetime")
        #expect(life.told("2026-05-03") == "active lifetime in-term presumed")
        life.bought(.purchased, at: "2026-05-04")
        #expect(life.told("2026-05-05") == Self.lifetime)
    }

    // MARK: Grants

    private static func granted() -> Life {
        var life = Life("g1", store: .tideover)
        life.grant(from: "2026-05-01", to: "2026-05-15")
        return life
    }

    @Test func `a grant is a term of its own for its entitlement only`() throws {
        let life = Self.granted()
        let snapshot = SnapshotTests.history([life]).snapshot(at: "2026-05-10")
        let premium = try #require(snapshot["premium"])
        #expect(premium.standing.told == "active granted in-term confirmed")
        #expect(premium.standing.productId == nil)
        #expect(premium.standing.grantedEntitlement == "premium")
        #expect(premium.standing.willRenew == false)
        #expect(premium.accessUntil == "2026-05-15")
        #expect(premium.nextChange == "2026-05-15")
        #expect(snapshot["archive"]?.standing.reason == .notEntitled)
        #expect(life.told("2026-05-15") == "expired ended ended confirmed")
        #expect(life.history.pace == .real)
    }

    @Test func `a repeated grant is extended, and a withdrawn one ends`() {
        var life = Self.granted()
        life.grant(from: "2026-05-01", to: "2026-06-01", said: "2026-05-10")
        #expect(life.standing("2026-05-20").access)
        let key = TermKey("t:g1")
        life.say(
            .revocation(Revocation(term: key, date: "2026-05-25", cause: .withdrawn)),
            at: "2026-05-25"
        )
        #expect(life.told("2026-05-24") == "active granted in-term confirmed")
        #expect(life.told("2026-05-25") == "expired revoked revoked confirmed")
        var endless = Life("g2", store: .tideover)
        endless.grant(from: "2026-05-01", to: nil)
        #expect(endless.standing("2066-05-01").accessUntil == nil)
        #expect(endless.told("2066-05-01") == "active granted in-term confirmed")
    }

    @Test func `a grant fills a subscription's gap`() throws {
        var grant = Life("g1", store: .tideover)
        grant.grant(from: "2026-06-10", to: "2026-07-10")
        let both = try premium(StandingTests.failing(), grant, at: "2026-06-12")
        #expect(both.standing.told == "active granted in-term confirmed")
        #expect(both.accessUntil == "2026-07-10")
    }

    @Test func `a grant that has ended hides no failed payment`() throws {
        var grant = Life("g1", store: .tideover)
        grant.grant(from: "2026-08-10", to: "2026-08-20")
        let failed = StandingTests.failing()
        let ended = try premium(failed, grant, at: "2026-08-25")
        #expect(ended.standing.told == "expired billingError ended confirmed")
        #expect(ended.standing.productId == "monthly")
        #expect(ended.accessUntil == "2026-08-20")
        #expect(ended.keepArtifactsUntil == "2026-08-20")
        #expect(ended.guidance.advice?.kind == .purchase)
        #expect(ended.guidance.advice?.productId == "monthly")
        #expect(
            try ExplanationTests.explain(failed, grant, at: "2026-08-25").reply == [
                "Your subscription ended on 17 June 2026 because the payment could not be "
                    + "collected.",
                "The access that we had given you ended on 20 August 2026.",
            ]
        )
    }

    /// The long grant was taken back on 10 May, and the subscription ended on 1 June.
    @Test func `a grant that ended before the purchase moves nothing`() throws {
        var grant = Life("g1", store: .tideover)
        grant.grant(from: "2026-05-01", to: "2027-05-01")
        let taken = Revocation(term: TermKey("t:g1"), date: "2026-05-10", cause: .withdrawn)
        grant.say(.revocation(taken), at: "2026-05-10")
        var month = StandingTests.monthly()
        month.outlook(end: "2026-06-01", signed: "2026-05-20", renews: false)
        let ended = try premium(month, grant, at: "2026-06-05")
        #expect(ended.standing.told == "expired cancelled ended confirmed")
        #expect(ended.accessUntil == "2026-06-01")
        #expect(ended.keepArtifactsUntil == "2026-06-01")
    }

    @Test func `a hold after a grant names the end of the grant`() throws {
        var grant = Life("g1", store: .tideover)
        grant.grant(from: "2026-06-20", to: "2026-06-27")
        let hold = try premium(StandingTests.failing(), grant, at: "2026-06-30")
        #expect(hold.standing.told == "hold billingRetry in-retry confirmed")
        #expect(hold.accessUntil == "2026-06-27")
        let reply = try ExplanationTests.explain(StandingTests.failing(), grant, at: "2026-06-30")
            .reply
        #expect(reply.contains("Access is paused since 27 June 2026."))
        #expect(reply.last == "The access that we had given you ended on 27 June 2026.")
    }

    @Test func `a reply on a running grant mentions a failed payment`() throws {
        var grant = Life("g1", store: .tideover)
        grant.grant(from: "2026-06-10", to: "2026-06-27")
        let access = "We have given you access until 27 June 2026, since 10 June 2026."
        for day: Instant in ["2026-06-12", "2026-06-25"] {
            let why = try ExplanationTests.explain(StandingTests.failing(), grant, at: day)
            #expect(why.decision.standing.reason == .granted)
            #expect(
                why.reply == [
                    access,
                    "The last payment for your subscription did not go through, and the store "
                        + "tries it again.",
                    "To keep the subscription, please update your payment method in the store.",
                ]
            )
        }
        let paid = try ExplanationTests.explain(AdviceTests.cancelled(), grant, at: "2026-06-12")
        #expect(paid.reply == [access])
        let shared = AdviceTests.shared(StandingTests.failing())
        #expect(try ExplanationTests.explain(shared, grant, at: "2026-06-12").reply == [access])
    }

    @Test func `a reply on a change of product names the end of a later grant`() throws {
        var life = StandingTests.monthly()
        life.term("2", "basic", from: "2026-06-01", to: "2026-07-01")
        var grant = Life("g1", store: .tideover)
        grant.grant(from: "2026-06-05", to: "2026-06-12")
        #expect(
            try ExplanationTests.explain(life, grant, at: "2026-06-20").reply == [
                "Your access to this ended on 1 June 2026, and what you have bought since does not "
                    + "include it.",
                "The access that we had given you ended on 12 June 2026.",
            ]
        )
    }

    @Test func `a grant belongs to its customer`() throws {
        let owners = [OwnershipEntry]().additions(for: Self.granted().facts)
        #expect(owners.owner(at: "2026-05-10") == SnapshotTests.anna)
        #expect(owners.map(\.why) == [.granted])
    }

    @Test func `a grant is explained without a product`() throws {
        let why = try ExplanationTests.explain(Self.granted(), at: "2026-05-10")
        #expect(why.used.map(\.told) == ["grant: term"])
        #expect(why.reply == ["We have given you access until 15 May 2026, since 1 May 2026."])
    }

    // MARK: Relays

    @Test func `a relay's facts alone are presumed, whatever rule decides`() {
        var life = Life("stripe:sub_1", store: .revenueCat)
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase, rank: .relayed)
        life.outlook(end: "2026-06-01", signed: "2026-05-01", rank: .relayed)
        #expect(life.told("2026-05-10") == "active paid in-term presumed")
        var failing = life
        failing.outlook(
            end: "2026-06-01",
            signed: "2026-06-01",
            retrying: true,
            grace: "2026-06-05",
            rank: .relayed
        )
        #expect(failing.told("2026-06-02") == "grace billingIssue in-grace presumed")
        #expect(failing.told("2026-06-06") == "hold billingRetry in-retry presumed")
        life.outlook(end: "2026-06-01", signed: "2026-05-20", renews: false, rank: .relayed)
        #expect(life.told("2026-06-01") == "expired cancelled ended presumed")
    }

    /// A month that a relay reported, with a pause of a month after it.
    static func paused() -> Life {
        var life = Life("stripe:sub_1", store: .revenueCat)
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase, rank: .relayed)
        let paused = Outlook(
            renewalDate: "2026-06-01",
            productId: "monthly",
            lapse: .paused,
            resumesAt: "2026-07-01"
        )
        life.say(.outlook(paused), at: "2026-05-10", rank: .relayed)
        return life
    }

    @Test func `an announced pause is described as one`() throws {
        let why = try ExplanationTests.explain(Self.paused(), at: "2026-05-20")
        #expect(
            why.reply.contains("It is set to pause on 1 June 2026 and to resume on 1 July 2026.")
        )
        #expect(!why.reply.contains { $0.contains("renews") })
    }

    @Test func `the answer changes at the end of a pause without a date`() {
        var life = Life("stripe:sub_1", store: .revenueCat)
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase, rank: .relayed)
        let paused = Outlook(renewalDate: "2026-06-01", productId: "monthly", lapse: .paused)
        life.say(.outlook(paused), at: "2026-05-10", rank: .relayed)
        #expect(life.told("2026-07-30T23:59:59Z") == "hold paused paused presumed")
        #expect(life.told("2026-07-31") == "hold paused resume-due presumed")
        #expect(life.told("2026-09-28T23:59:59Z") == "hold paused resume-due presumed")
        #expect(life.told("2026-09-29") == "expired ended ended presumed")
        let boundaries = life.history.boundaries(policy: Policy())
        #expect(boundaries.contains("2026-07-31") && boundaries.contains("2026-09-29"))
    }

    @Test func `a relay's pause lasts from the end of the term to its date`() {
        var life = Self.paused()
        #expect(life.told("2026-05-20") == "active paid in-term presumed")
        #expect(life.told("2026-06-01") == "hold paused paused presumed")
        #expect(life.told("2026-07-01") == "hold paused resume-due presumed")
        #expect(life.told("2026-08-30") == "expired ended ended presumed")
        // The start of the pause is reported without its end.
        life.say(
            .outlook(Outlook(renewalDate: "2026-06-01", lapse: .paused)),
            at: "2026-06-01",
            rank: .relayed
        )
        #expect(life.told("2026-07-01") == "hold paused resume-due presumed")
        life.term("2", from: "2026-07-01", to: "2026-08-01", rank: .relayed)
        #expect(life.told("2026-07-02") == "active paid in-term presumed")
    }

    /// A month that a relay reported, and its end as the relay states it on 21 June.
    static func month(endingLate end: Instant, failing: Instant? = nil) -> Life {
        var life = Life("stripe:sub_1", store: .revenueCat)
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase, rank: .relayed)
        life.term("1", from: "2026-05-01", to: end, signed: "2026-06-21", rank: .relayed)
        guard let failing else { return life }
        life.outlook(end: "2026-06-01", signed: failing, retrying: true, rank: .relayed)
        return life
    }

    @Test func `a relay's late end lengthens no term whose payment failed`() {
        let shortened = Self.month(endingLate: "2026-05-20")
        #expect(shortened.told("2026-05-19") == "active paid in-term presumed")
        #expect(shortened.standing("2026-05-25").access == false)
        let lengthened = Self.month(endingLate: "2026-06-20")
        #expect(lengthened.told("2026-06-10") == "active paid in-term presumed")
        #expect(lengthened.standing("2026-06-22").access == false)
        let failing = Self.month(endingLate: "2026-06-20", failing: "2026-06-01")
        #expect(failing.told("2026-06-10") == "hold billingRetry in-retry presumed")
        // A failure of an earlier term, or a later one, is another.
        for failure in ["2026-04-30", "2026-06-22"] as [Instant] {
            let other = Self.month(endingLate: "2026-06-20", failing: failure)
            #expect(other.standing("2026-06-10").access)
        }
    }

    @Test func `an extension that only a late report states still renews`() {
        var life = Self.month(endingLate: "2026-06-20")
        life.outlook(end: "2026-06-01", signed: "2026-05-01", rank: .relayed)
        life.outlook(end: "2026-06-20", signed: "2026-06-21", rank: .relayed)
        #expect(life.told("2026-06-20") == "active renewalDue renewal-due presumed")
    }

    @Test func `a failure that only a late report states is the term's`() {
        var life = Self.month(endingLate: "2026-06-17")
        life.outlook(end: "2026-06-01", signed: "2026-05-01", rank: .relayed)
        life.outlook(
            end: "2026-06-17",
            signed: "2026-06-21",
            retrying: true,
            grace: "2026-06-17",
            rank: .relayed
        )
        #expect(life.standing("2026-06-22").state == .hold)
        #expect(life.standing("2026-07-30").state == .hold)
        #expect(life.standing("2026-08-01").state == .expired)
    }

    @Test func `a relay's failure fills a gap and is replaced by the store's`() {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-06-01", retrying: true, rank: .relayed)
        #expect(life.told("2026-06-02") == "hold billingRetry in-retry presumed")
        life.outlook(end: "2026-06-01", signed: "2026-06-03")
        #expect(life.told("2026-06-03") == "expired unconfirmed unconfirmed unknown")
        #expect(life.told("2026-06-02") == "hold billingRetry in-retry presumed")
    }

    @Test func `a relay's refund does not revoke a purchase that the store reported`() {
        var life = StandingTests.monthly()
        life.say(
            .revocation(Revocation(term: TermKey("w:w1"), date: "2026-05-10", cause: .refund)),
            at: "2026-05-10",
            rank: .relayed
        )
        #expect(life.told("2026-05-11") == "active paid in-term confirmed")
    }

    @Test func `a relay fills only periods that no Google Play read covers`() {
        var life = PlayStandingTests.monthly()
        life.term("0", "play", from: "2026-03-01", to: "2026-04-01", rank: .relayed)
        life.term("2", "play", from: "2026-06-01", to: "2026-07-01", rank: .relayed)
        #expect(life.told("2026-03-10") == "active paid in-term presumed")
        #expect(life.told("2026-05-10") == "active paid in-term confirmed")
        #expect(life.told("2026-06-10") == "active paid in-term presumed")
        life.read(.expired, until: "2026-06-01", at: "2026-06-12", by: .customer)
        #expect(life.told("2026-06-13") == "expired cancelled expired confirmed")
    }

    // MARK: Ask to Buy

    @Test func `a purchase awaiting approval is listed separately until bought or lapsed`() throws {
        func asking(until: Instant?) -> Life {
            var life = Life("ask")
            let pending = PendingPurchase(id: "1", productId: "monthly", until: until)
            life.say(.pending(pending), at: "2026-05-01")
            return life
        }
        let asked = asking(until: "2026-05-03")
        #expect(asked.told("2026-05-02") == "never pending pending confirmed")
        #expect(asked.told("2026-05-03") == "never calledOff called-off confirmed")
        let waiting = SnapshotTests.history([asked]).snapshot(at: "2026-05-02")
        #expect(waiting["premium"]?.pending.count == 1)
        #expect(waiting.validUntil == "2026-05-03")
        #expect(waiting["premium"]?.standing.reason == .pending)
        #expect(waiting["archive"]?.standing.reason == .notEntitled)
        // It is bought under its own ID.
        var bought = Life("2000")
        bought.term("9", from: "2026-05-02", to: "2026-06-02", origin: .purchase)
        #expect(try premium(asking(until: nil), bought, at: "2026-05-10").pending == [])
        #expect(try premium(asking(until: nil), bought, at: "2026-05-10").standing.access)
    }

    @Test func `a pending purchase is written in the answer`() throws {
        var life = Life("ask")
        life.say(.pending(PendingPurchase(id: "1", productId: "monthly")), at: "2026-05-01")
        var writer = JSONWriter()
        try premium(life, at: "2026-05-02").write(to: &writer)
        let pending = try #require(JSONDocument(writer.bytes).root["pending"]?[0])
        #expect(pending.members.map(\.key) == ["productId", "store", "since"])
        #expect(pending["productId"]?.string == "monthly")
    }

    // MARK: Outages

    @Test func `an App Store outage keeps a short term as long as the policy states`() {
        var life = Life()
        life.term(
            "1",
            from: "2026-05-01",
            to: "2026-05-04",
            offer: StandingTests.trial,
            origin: .purchase
        )
        let end: Instant = "2026-05-04"
        let leeway = end + Milliseconds(Milliseconds.days(3).count / 5)
        #expect(life.told(leeway) == "expired unconfirmed unconfirmed unknown")
        life.ask(.unreachable, at: end + .hours(1))
        #expect(life.told(leeway) == "active renewalDue store-unreachable presumed")
        #expect(life.told(end + .hours(24)) == "expired unconfirmed unconfirmed unknown")
        #expect(life.standing(end + .hours(25)).accessUntil == end + .hours(24))
        // An inquiry from before the end, or one that was answered, has no effect.
        var answered = life
        answered.ask(.answered, at: end + .hours(2))
        #expect(answered.told(leeway) == "expired unconfirmed unconfirmed unknown")
    }

    @Test func `inquiries change no known standing`() {
        for life in [StandingTests.failing(), PlayStandingTests.failing()] {
            var asked = life
            for day in 0..<60 {
                asked.ask(.unreachable, at: "2026-05-01" + .days(Int64(day)))
            }
            for day in 0..<60 {
                let instant = "2026-05-01" + .days(Int64(day)) as Instant
                guard life.standing(instant).confidence == .confirmed else { continue }
                #expect(asked.standing(instant) == life.standing(instant))
            }
        }
    }

    // MARK: Commitments

    @Test func `a month of a yearly commitment contains the commitment's end`() {
        var life = Life(environment: .sandbox)
        let start: Instant = "2026-05-01"
        let term = Term(
            transactionId: "t1",
            productId: "yearly",
            start: start,
            end: start + .minutes(5),
            origin: .purchase,
            billing: .monthly,
            commitment: Term.Commitment(payment: 1, payments: 12, end: start + .minutes(60))
        )
        life.say(.term(term), at: start)
        #expect(life.standing(start).committedUntil == start + .minutes(60))
        // A payment is a twelfth of the product's period.
        #expect(life.history.pace == Pace(actual: .minutes(5), nominal: .days(365) / 12))
        #expect(life.told(start) == "active paid in-term confirmed")
    }

    @Test func `a price increase awaiting consent is listed until it is agreed`() {
        var life = StandingTests.monthly()
        let asking = Outlook(
            renewalDate: "2026-06-01",
            productId: "monthly",
            willRenew: true,
            priceIncreasePending: true
        )
        life.say(.outlook(asking), at: "2026-05-10")
        #expect(!life.standing("2026-05-09").awaitsConsent)
        #expect(life.standing("2026-05-10").awaitsConsent)
        life.outlook(end: "2026-06-01", signed: "2026-05-20")
        #expect(!life.standing("2026-05-20").awaitsConsent)
    }

    @Test(arguments: [
        (Revocation.Cause.proratedRefund, Reason.refunded),
        (.assignmentRemoved, .assignmentRemoved),
        (.familyAccessRemoved, .familyAccessRemoved), (.unrecognised("x"), .revoked),
    ])
    func `every kind of revocation ends access`(cause: Revocation.Cause, reason: Reason) {
        var life = StandingTests.monthly()
        let revocation = Revocation(
            term: TermKey("w:w1"),
            date: "2026-05-10",
            cause: cause,
            percentage: 50_000
        )
        life.say(.revocation(revocation), at: "2026-05-10")
        #expect(!life.standing("2026-05-10").access)
        #expect(life.standing("2026-05-10").reason == reason)
    }
}

extension Milliseconds {
    fileprivate static func / (length: Milliseconds, parts: Int64) -> Milliseconds {
        Milliseconds(length.count / parts)
    }
}
