import Testing
import TideoverCore
import TideoverLives

/// Each rule on Google Play's products from both sides of its boundaries.
@Suite struct PlayStandingTests {
    static let start: Instant = "2026-05-01"
    static let end: Instant = "2026-06-01"

    static let inTerm = "active paid in-term confirmed"
    static let silent = "active renewalDue silent-grace presumed"
    static let inGrace = "grace billingIssue in-grace confirmed"
    static let presumedGrace = "grace billingIssue grace-presumed presumed"
    static let presumedHold = "hold accountHold hold-presumed presumed"
    static let onHold = "hold accountHold on-hold confirmed"
    static let unconfirmed = "expired unconfirmed unconfirmed unknown"

    /// A month from 1 May to 1 June that the store expects to renew, read when it was bought.
    static func monthly(_ product: String = "play") -> Life {
        var life = Life.play()
        life.read(.active, until: end, at: start, product: product, order: "GPA.1")
        return life
    }

    /// The same month with a failed renewal; grace was last read to end on 3 June.
    static func failing(_ product: String = "play") -> Life {
        var life = monthly(product)
        for (asked, until): (Instant, Instant) in [
            ("2026-06-01", "2026-06-02"), ("2026-06-02", "2026-06-03"),
        ] {
            life.read(.inGrace, until: until, at: asked, product: product, order: "GPA.1")
        }
        return life
    }

    /// The same again, on hold since grace ended on 8 June.
    static func held() -> Life {
        var life = failing()
        life.read(.onHold, until: "2026-06-08", at: "2026-06-08", order: "GPA.1")
        return life
    }

    /// The month, paused at its end until 1 July.
    static func paused() -> Life {
        var life = monthly()
        life.read(.paused, until: end, at: end, order: "GPA.1", resumes: "2026-07-01")
        return life
    }

    // MARK: Running period

    @Test func `an active subscription runs to its expiry, then renews silently for two days`() {
        let life = Self.monthly()
        expectTurn(
            life,
            at: Self.start,
            from: "never notStarted not-started confirmed",
            to: Self.inTerm
        )
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.silent)
        expectTurn(life, at: Self.end + .hours(48), from: Self.silent, to: Self.unconfirmed)
        #expect(life.standing("2026-05-10").willRenew == true)
        #expect(life.standing("2026-05-10").accessUntil == Self.end)
        #expect(!life.standing("2026-05-10").asksStore)
        #expect(life.standing(Self.end).asksStore)
    }

    @Test func `a cancelled subscription has access exactly until its expiry`() {
        var life = Self.monthly()
        life.read(.cancelled, until: Self.end, at: "2026-05-10", by: .customer)
        let cancelled = "active paid cancelled confirmed"
        expectTurn(life, at: "2026-05-10", from: Self.inTerm, to: cancelled)
        #expect(life.standing("2026-05-10").willRenew == false)
        expectTurn(life, at: Self.end, from: cancelled, to: "expired cancelled expired confirmed")
        #expect(life.standing("2026-06-10").accessUntil == Self.end)
        life.read(.active, until: Self.end, at: "2026-05-20")
        expectTurn(life, at: "2026-05-20", from: cancelled, to: Self.inTerm)
    }

    @Test func `a cancelled subscription past its expiry is over`() {
        var life = Self.monthly()
        life.read(.cancelled, until: Self.end, at: "2026-06-10", by: .system)
        #expect(life.told("2026-06-10") == "expired billingError expired confirmed")
    }

    @Test func `prepaid time ends at its expiry`() {
        var life = Life.play()
        let plan = PlayItem.Plan.prepaid(extendableFrom: nil)
        life.read(.active, until: Self.end, at: Self.start, plan: plan)
        let prepaid = "active prepaid prepaid confirmed"
        expectTurn(life, at: Self.end, from: prepaid, to: "expired ended expired confirmed")
        #expect(life.standing("2026-05-10").willRenew == false)
    }

    @Test func `a trial is a free phase`() throws {
        var life = Life.play()
        life.read(.active, until: "2026-05-08", at: Self.start, phase: .freeTrial, order: "GPA.1")
        #expect(life.told("2026-05-02") == "active trial in-term confirmed")
        let trial = try #require(life.standing("2026-05-02").trial)
        #expect(trial.startedAt == Self.start && trial.endsAt == "2026-05-08")
        #expect(trial.cancelBy == "2026-05-07")
        life.read(.active, until: "2026-06-08", at: "2026-05-08", order: "GPA.1..0")
        #expect(life.standing("2026-05-08").trial == nil)
        expectTurn(
            life,
            at: "2026-05-08",
            from: "active trial in-term confirmed",
            to: Self.inTerm
        )
    }

    @Test(arguments: [
        (PlayItem.Phase.freeTrial, "trial"), (.introductory, "introductory"), (.base, "paid"),
        (.proration, "paid"), (.unrecognised("x"), "paid"),
    ])
    func `the phase determines the kind of period`(phase: PlayItem.Phase, reason: String) {
        var life = Life.play()
        life.read(.active, until: Self.end, at: Self.start, phase: phase)
        #expect(life.standing("2026-05-10").reason.rawValue == reason)
    }

    /// The store states the code in every later period, too.
    @Test(
        arguments: [
            (.freeTrial, "trial", .freeTrial), (.introductory, "offer", nil), (.base, "paid", nil),
        ] as [(PlayItem.Phase, String, Offer.Discount?)]
    )
    func `a promotion code of the signup makes its discounts offers of a code`(
        phase: PlayItem.Phase,
        reason: String,
        discount: Offer.Discount?
    ) {
        for text in ["SPRING", nil] {
            var life = Life.play()
            let code = PlayItem.PromotionCode(text: text)
            life.read(.active, until: Self.end, at: Self.start, phase: phase, code: code)
            #expect(life.standing("2026-05-10").reason.rawValue == reason)
            let expected = Offer(kind: .code, discount: discount, identifier: text)
            let bought = life.history.purchases(by: "2026-05-10")
            #expect(bought.map(\.offer) == [phase == .base ? nil : expected])
        }
    }

    @Test func `a price increase awaiting consent is reported`() {
        var life = Life.play()
        var item = PlayItem(
            productId: "play",
            expiresAt: Self.end,
            plan: .autoRenewing(isOn: true)
        )
        item.priceChange = PlayItem.PriceChange(state: .awaitsConsent)
        life.read(item)
        #expect(life.standing("2026-05-10").awaitsConsent)
    }

    @Test func `a deferred change is presumed only for its new product`() {
        var life = Life.play()
        life.read(.active, until: Self.end, at: Self.start, product: "play.plus", becomes: "play")
        #expect(life.standing("2026-05-10").productId == "play.plus")
        #expect(life.standing(Self.end).productId == "play")
        #expect(life.told(Self.end) == Self.silent)
    }

    /// Both base plans are listed by themselves; Google names only the product that follows.
    @Test(arguments: [true, false])
    func `a deferred change is presumed for the base plan that follows`(isListed: Bool) {
        var life = Life.play()
        for plan in ["light:monthly", "light:yearly", "pro:monthly"] {
            life.catalogue.products[plan] = Product(
                entitlements: plan == "pro:monthly" ? ["premium", "studio"] : ["premium"],
                period: plan == "light:yearly" ? Period(years: 1) : Period(months: 1)
            )
        }
        let owned = PlayItem(
            productId: "pro",
            basePlan: "monthly",
            expiresAt: Self.end,
            plan: .autoRenewing(isOn: true),
            replacement: "light"
        )
        let next = PlayItem(
            productId: "light",
            basePlan: "yearly",
            expiresAt: nil,
            plan: .autoRenewing(isOn: true)
        )
        let read = PlaySubscription(
            token: PlayToken("a"),
            askedAt: Self.start,
            state: .active,
            items: isListed ? [owned, next] : [owned],
            startedAt: Self.start
        )
        life.read(read, at: Self.start)
        #expect(life.standing("2026-05-10").productId == "pro:monthly")
        let following = isListed ? "light:yearly" : "light:monthly"
        #expect(life.standing(Self.end).productId == following)
        #expect(life.told(Self.end) == Self.silent)

        // A read that lists no product concerns those listed before.
        let asked: Instant = "2026-05-20"
        life.read(
            PlaySubscription(token: PlayToken("a"), askedAt: asked, state: .active, items: []),
            at: asked
        )
        #expect(life.standing(Self.end).productId == following)
    }

    // MARK: Failed payment

    @Test func `grace lasts as long as read, and a day longer while a lookup is due`() {
        let life = Self.failing("play.bare")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inGrace)
        let moved: Instant = "2026-06-03"
        expectTurn(life, at: moved, from: Self.inGrace, to: Self.presumedGrace)
        #expect(life.standing(Self.end).graceUntil == nil)
        #expect(life.standing(Self.end).accessUntil == "2026-06-02")
        #expect(life.standing(moved).asksStore)
        let over = moved + .hours(24)
        expectTurn(life, at: over, from: Self.presumedGrace, to: Self.presumedHold)
        #expect(life.standing(over).accessUntil == over)
        let lost = over + .days(60)
        expectTurn(life, at: lost, from: Self.presumedHold, to: Self.unconfirmed)
    }

    @Test func `a plan with known grace states its end and bounds the presumption`() {
        let life = Self.failing()
        let grace: Instant = "2026-06-08"
        #expect(life.standing("2026-06-02").graceUntil == grace)
        expectTurn(life, at: "2026-06-03", from: Self.inGrace, to: Self.presumedGrace)
        #expect(life.standing("2026-06-04").graceUntil == grace)
        expectTurn(life, at: grace, from: Self.presumedGrace, to: Self.presumedHold)
    }

    @Test func `a hold lasts for sixty days from the end of grace`() {
        let life = Self.held()
        expectTurn(life, at: "2026-06-08", from: Self.inGrace, to: Self.onHold)
        let over = "2026-06-08" + .days(60) as Instant
        expectTurn(life, at: over, from: Self.onHold, to: Self.unconfirmed)
        #expect(life.standing("2026-06-20").accessUntil == "2026-06-08")
    }

    @Test func `a hold after a pause lasts for sixty days from the pause's end`() {
        var life = Self.paused()
        life.read(.onHold, until: Self.end, at: "2026-07-02", order: "GPA.1")
        life.read(.onHold, until: Self.end, at: "2026-07-20", order: "GPA.1")
        let over = "2026-07-01" + .days(60) as Instant
        expectTurn(life, at: over, from: Self.onHold, to: Self.unconfirmed)
        #expect(life.standing("2026-08-20").accessUntil == Self.end)
        var early = Self.paused()
        early.read(.onHold, until: Self.end, at: "2026-06-20", order: "GPA.1")
        let soon = "2026-06-20" + .days(60) as Instant
        expectTurn(early, at: soon, from: Self.onHold, to: Self.unconfirmed)
    }

    @Test func `a hold after an unseen pause is accepted when the store reports it`() {
        var life = Self.monthly()
        life.read(.onHold, until: Self.end, at: "2026-08-20", order: "GPA.1")
        let over = "2026-08-20" + .days(60) as Instant
        expectTurn(life, at: over, from: Self.onHold, to: Self.unconfirmed)
    }

    @Test func `a recovery in grace keeps the cycle, and one from hold begins a new one`() {
        var recovered = Self.failing()
        recovered.read(.active, until: "2026-07-01", at: "2026-06-03", order: "GPA.1..0")
        expectTurn(recovered, at: "2026-06-03", from: Self.inGrace, to: Self.inTerm)
        var back = Self.held()
        back.read(.active, until: "2026-07-20", at: "2026-06-20", order: "GPA.1..0")
        expectTurn(back, at: "2026-06-20", from: Self.onHold, to: Self.inTerm)
        #expect(back.standing("2026-06-20").accessUntil == "2026-07-20")
    }

    @Test func `an exhausted hold is an end by the store`() {
        var life = Self.held()
        life.read(.cancelled, until: "2026-06-08", at: "2026-08-07", order: "GPA.1", by: .system)
        let ended = "expired billingError expired confirmed"
        expectTurn(life, at: "2026-08-07", from: Self.onHold, to: ended)
        life.read(.expired, until: "2026-06-08", at: "2026-08-07T00:00:01Z", by: .system)
        #expect(life.told("2026-08-08") == ended)
    }

    // MARK: Unpaid end of a hold, with a moved expiry

    private static let ended = "expired billingError expired confirmed"

    /// The end of a hold, with the order IDs of the reads before and at the end.
    @Test(arguments: [("GPA.1", "GPA.1"), ("GPA.1", nil), (nil, "GPA.1"), (nil, nil)])
    func `an expiry moved to the end of a hold adds no paid time`(
        before: String?,
        after: String?
    ) {
        var life = Life.play()
        life.read(.active, until: Self.end, at: Self.start, order: before)
        life.read(.onHold, until: "2026-06-02", at: "2026-06-02", order: before)
        let over: Instant = "2026-07-02"
        for (state, asked): (PlaySubscription.State, Instant) in [
            (.cancelled, over), (.expired, "2026-07-02T00:00:01Z"), (.expired, "2026-08-20"),
        ] {
            life.read(state, until: over, at: asked, order: after, by: .system)
        }
        for day: Instant in ["2026-06-03", "2026-06-15", "2026-07-01"] {
            #expect(life.told(day) == Self.onHold)
        }
        expectTurn(life, at: over, from: Self.onHold, to: Self.ended)
        #expect(life.told("2026-08-21") == Self.ended)
        #expect(life.standing("2026-08-21").accessUntil == "2026-06-02")
    }

    @Test func `an expiry that moves while the hold goes on adds no access`() {
        var life = Self.held()
        life.read(.onHold, until: "2026-07-08", at: "2026-07-08", order: "GPA.1")
        for day: Instant in ["2026-06-09", "2026-07-07", "2026-07-09"] {
            #expect(life.told(day) == Self.onHold)
            #expect(life.standing(day).accessUntil == "2026-06-08")
        }
        expectTurn(life, at: "2026-08-07", from: Self.onHold, to: Self.unconfirmed)
    }

    @Test func `a read on hold states the end of grace, also after a bare notification`() {
        var life = Self.monthly()
        life.notice(.onHold, at: "2026-06-08")
        life.read(.onHold, until: "2026-06-08", at: "2026-06-12", order: "GPA.1")
        #expect(life.standing("2026-06-20").accessUntil == "2026-06-08")
        expectTurn(life, at: "2026-08-07", from: Self.onHold, to: Self.unconfirmed)
    }

    @Test func `a cancellation on hold adds no paid time`() {
        var life = Self.held()
        let over: Instant = "2026-06-20"
        life.read(.expired, until: over, at: over, order: "GPA.1", by: .customer)
        expectTurn(life, at: over, from: Self.onHold, to: "expired cancelled expired confirmed")
        #expect(life.standing("2026-07-20").accessUntil == "2026-06-08")
    }

    @Test func `a hold after a pause ends unpaid too`() {
        var life = Self.paused()
        life.read(.onHold, until: Self.end, at: "2026-07-01", order: "GPA.1")
        life.read(.expired, until: "2026-07-31", at: "2026-07-31", order: "GPA.1", by: .system)
        #expect(life.told("2026-06-15") == "hold paused paused confirmed")
        expectTurn(life, at: "2026-07-31", from: Self.onHold, to: Self.ended)
        #expect(life.standing("2026-08-01").accessUntil == Self.end)
    }

    @Test func `an expiry moved past a pause adds no paid time`() {
        var life = Self.paused()
        life.read(.expired, until: "2026-07-31", at: "2026-07-31", order: "GPA.1", by: .system)
        #expect(life.told("2026-06-15") == "hold paused paused confirmed")
        #expect(life.told("2026-07-15") == "hold paused resume-due presumed")
        #expect(life.told("2026-08-01") == Self.ended)
    }

    @Test(arguments: [true, false])
    func `an unseen failure adds no paid time for the hold`(isRead: Bool) {
        let product = isRead ? "play.bare" : "play"
        var life = isRead ? Self.failing(product) : Self.monthly(product)
        life.read(
            .expired,
            until: "2026-07-08",
            at: "2026-07-09",
            product: product,
            order: "GPA.1",
            by: .system
        )
        for day: Instant in ["2026-06-04", "2026-06-20", "2026-07-08"] {
            #expect(!life.standing(day).access, "\(life.told(day))")
        }
        #expect(life.told("2026-07-09") == Self.ended)
        #expect(life.standing("2026-07-09").accessUntil == (isRead ? "2026-06-03" : Self.end))
    }

    @Test func `a new order after a hold is a payment, whatever the state`() {
        var life = Self.held()
        life.read(.expired, until: "2026-07-20", at: "2026-07-25", order: "GPA.1..0", by: .customer)
        expectTurn(life, at: "2026-06-20", from: Self.onHold, to: Self.inTerm)
        #expect(life.standing("2026-07-25").accessUntil == "2026-07-20")
    }

    @Test func `an active state after a hold is a payment, whatever the order`() {
        var life = Self.held()
        life.read(.active, until: "2026-07-20", at: "2026-06-20", order: "GPA.1")
        expectTurn(life, at: "2026-06-20", from: Self.onHold, to: Self.inTerm)
    }

    @Test func `a cancelled state after a hold with a future expiry counts from its read`() {
        var unnamed = Life.play()
        unnamed.read(.active, until: Self.end, at: Self.start)
        unnamed.read(.onHold, until: "2026-06-02", at: "2026-06-02")
        unnamed.read(.cancelled, until: "2026-06-25", at: "2026-06-20", by: .customer)
        unnamed.read(.expired, until: "2026-06-25", at: "2026-06-26", by: .customer)
        let cancelled = "active paid cancelled confirmed"
        expectTurn(unnamed, at: "2026-06-20", from: Self.onHold, to: cancelled)
        expectTurn(
            unnamed,
            at: "2026-06-25",
            from: cancelled,
            to: "expired cancelled expired confirmed"
        )
        #expect(unnamed.standing("2026-06-27").accessUntil == "2026-06-25")
    }

    @Test func `a later end by prepayment or deferral keeps the earlier paid time`() {
        var prepaid = Life.play()
        let plan = PlayItem.Plan.prepaid(extendableFrom: nil)
        prepaid.read(.active, until: Self.end, at: Self.start, plan: plan, order: "GPA.1")
        prepaid.read(
            .expired,
            until: "2026-06-10",
            at: "2026-06-12",
            plan: plan,
            order: "GPA.1",
            by: .system
        )
        #expect(prepaid.standing("2026-06-09").access)
        var extended = Self.monthly()
        extended.read(
            .expired,
            until: "2026-06-10",
            at: "2026-06-12",
            order: "GPA.1",
            by: .customer
        )
        #expect(extended.standing("2026-06-09").access)
    }

    @Test func `a pause is a hold without advice, and a lookup follows its end`() {
        let life = Self.paused()
        let paused = "hold paused paused confirmed"
        let due = "hold paused resume-due presumed"
        expectTurn(life, at: Self.end, from: Self.inTerm, to: paused)
        expectTurn(life, at: "2026-07-01", from: paused, to: due)
        let lost = "2026-07-01" + .days(60) as Instant
        expectTurn(life, at: lost, from: due, to: Self.unconfirmed)
        #expect(life.standing("2026-06-10").accessUntil == Self.end)
    }

    // MARK: Pending payment

    @Test func `a pending purchase gives never and is listed separately`() throws {
        var life = Life.play()
        life.read(.pending, until: nil, at: Self.start, started: nil)
        #expect(life.told("2026-05-02") == "never pending pending confirmed")
        let snapshot = SnapshotTests.history([life]).snapshot(at: "2026-05-02")
        let premium = try #require(snapshot["premium"])
        #expect(premium.pending.map(\.productId) == ["play"])
        #expect(premium.pending[0].since == Self.start)
        #expect(premium.pending[0].store == .googlePlay)
        #expect(snapshot["archive"]?.pending == [])
        #expect(snapshot["archive"]?.standing.reason == .notEntitled)
        life.read(.active, until: "2026-06-03", at: "2026-05-04", started: "2026-05-03")
        expectTurn(
            life,
            at: "2026-05-03",
            from: "never pending pending confirmed",
            to: Self.inTerm
        )
        #expect(SnapshotTests.history([life]).snapshot(at: "2026-05-05")["premium"]?.pending == [])
    }

    @Test func `a pending purchase ranks below every paid one`() throws {
        var life = Life.play()
        life.read(.pending, until: nil, at: Self.start, started: nil)
        var old = Life("1000")
        old.term("1", from: "2026-01-01", to: "2026-02-01", origin: .purchase)
        old.outlook(end: "2026-02-01", signed: "2026-01-02", renews: false)
        let premium = try SnapshotTests.premium([life, old], at: "2026-05-02")
        #expect(premium.standing.told == "expired cancelled ended confirmed")
        #expect(premium.pending.count == 1)
    }

    @Test func `a cancelled pending purchase grants nothing and replaces nothing`() {
        var life = Self.monthly()
        life.read(.pending, "b", until: nil, at: "2026-05-10", started: nil, replaces: "a")
        #expect(life.told("2026-05-11") == Self.inTerm)
        life.read(.pendingCancelled, "b", until: nil, at: "2026-05-12", started: nil, replaces: "a")
        #expect(life.told("2026-05-13") == Self.inTerm)
        var alone = Life.play()
        alone.read(.pending, until: nil, at: "2026-05-10", started: nil)
        alone.read(.pendingCancelled, until: nil, at: "2026-05-12", started: nil)
        expectTurn(
            alone,
            at: "2026-05-12",
            from: "never pending pending confirmed",
            to: "never calledOff called-off confirmed"
        )
    }

    // MARK: Lost and late reads

    @Test func `the content of the first read counts from the start`() {
        var life = Life.play()
        life.read(.active, until: Self.end, at: "2026-05-20")
        expectTurn(
            life,
            at: Self.start,
            from: "never notStarted not-started confirmed",
            to: Self.inTerm
        )
        var held = Life.play()
        held.read(.onHold, until: Self.end, at: "2026-06-10")
        expectTurn(held, at: Self.end, from: Self.inTerm, to: Self.onHold)
    }

    @Test func `a renewal read late counts as paid from its start`() {
        var life = Self.monthly()
        life.read(.active, until: "2026-07-01", at: "2026-06-10", order: "GPA.1..0")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inTerm)
        #expect(life.standing("2026-06-05").accessUntil == "2026-07-01")
        // A read with a later period start does not extend back to the old end.
        var later = Self.monthly()
        later.read(.active, until: "2026-07-08", at: "2026-06-10", order: "GPA.1..0")
        expectTurn(later, at: Self.end, from: Self.inTerm, to: Self.silent)
        expectTurn(later, at: "2026-06-08", from: Self.unconfirmed, to: Self.inTerm)
    }

    @Test func `grace read late counts from the old end`() {
        var life = Self.monthly()
        life.read(.inGrace, until: "2026-06-06", at: "2026-06-05", order: "GPA.1")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inGrace)
        #expect(life.told("2026-06-04") == Self.inGrace)
    }

    @Test func `a hold read late counts from the end of grace`() {
        var life = Self.monthly()
        life.read(.onHold, until: "2026-06-08", at: "2026-06-12", order: "GPA.1")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inGrace)
        expectTurn(life, at: "2026-06-08", from: Self.inGrace, to: Self.onHold)
    }

    @Test func `an unknown state changes nothing`() {
        var life = Self.monthly()
        life.read(.unrecognised("SPLENDID"), until: nil, at: "2026-05-10")
        #expect(life.told("2026-05-11") == Self.inTerm)
        var alone = Life.play()
        alone.read(.unrecognised("SPLENDID"), until: Self.end, at: Self.start)
        #expect(alone.told("2026-05-11") == "never unknown no-facts unknown")
    }

    @Test func `an expiry that moves within one order is an extension`() {
        var life = Self.monthly()
        life.read(.active, until: "2026-06-15", at: "2026-05-20", order: "GPA.1")
        expectTurn(life, at: Self.end, from: Self.inTerm, to: Self.inTerm)
        expectTurn(life, at: "2026-06-15", from: Self.inTerm, to: Self.silent)
    }

    // MARK: Replaced tokens

    @Test func `a linked token ends the replaced one for ever from its own start`() {
        var life = Self.monthly()
        life.read(
            .active,
            "b",
            until: "2026-05-30",
            at: "2026-05-20",
            product: "play.plus",
            started: "2026-05-15",
            replaces: "a"
        )
        #expect(life.standing("2026-05-14").productId == "play")
        #expect(life.standing("2026-05-15").productId == "play.plus")
        life.read(
            .expired,
            "b",
            until: "2026-05-20",
            at: "2026-05-20T00:00:01Z",
            product: "play.plus",
            started: "2026-05-15",
            replaces: "a",
            by: .developer
        )
        // The old token's own expiry is in the future, and it does not return.
        #expect(life.told("2026-05-25") == "expired ended expired confirmed")
    }

    @Test func `a prepaid top-up links to the purchase it extends`() {
        let plan = PlayItem.Plan.prepaid(extendableFrom: nil)
        var life = Life.play()
        life.read(.active, until: Self.end, at: Self.start, plan: plan)
        life.read(
            .active,
            "b",
            until: "2026-07-01",
            at: "2026-05-20",
            plan: plan,
            started: "2026-05-20",
            replaces: "a"
        )
        #expect(life.told("2026-06-10") == "active prepaid prepaid confirmed")
        #expect(life.standing("2026-05-21").accessUntil == "2026-07-01")
    }

    @Test func `the better of two unlinked tokens gives the standing`() {
        var life = Self.monthly()
        life.read(.onHold, "b", until: "2026-05-02", at: "2026-05-10", started: "2026-04-01")
        #expect(life.told("2026-05-20") == Self.inTerm)
    }

    @Test func `a replacement in another chain ends this one`() {
        var life = Self.monthly()
        let replacement = PlayReplacement(
            token: PlayToken("a"),
            by: PlayToken("z"),
            from: "2026-05-15"
        )
        life.say(.playReplacement(replacement), at: "2026-05-16")
        expectTurn(
            life,
            at: "2026-05-15",
            from: Self.inTerm,
            to: "expired replaced replaced confirmed"
        )
        #expect(life.standing("2026-05-20").accessUntil == "2026-05-15")
    }

    // MARK: Several products in one subscription

    /// A subscription with an add-on that is taken out of it on 10 May.
    private static func withExtra() -> Life {
        var life = Life.play()
        let base = PlayItem(productId: "play", expiresAt: end, plan: .autoRenewing(isOn: true))
        let extra = PlayItem(
            productId: "play.extra",
            expiresAt: "2026-05-20",
            plan: .autoRenewing(isOn: false)
        )
        for (items, asked): ([PlayItem], Instant) in [
            ([base, extra], start), ([base], "2026-05-10"),
        ] {
            life.read(
                PlaySubscription(
                    token: PlayToken("a"),
                    askedAt: asked,
                    state: .active,
                    items: items,
                    startedAt: start
                ),
                at: asked
            )
        }
        return life
    }

    @Test func `each product of a subscription has its own standing`() throws {
        let history = SnapshotTests.history([Self.withExtra()])
        func told(_ entitlement: String, _ instant: Instant) -> String? {
            history.snapshot(at: instant)[entitlement]?.standing.told
        }
        #expect(told("premium", "2026-05-05") == Self.inTerm)
        #expect(told("archive", "2026-05-05") == Self.inTerm)
        #expect(told("premium", "2026-05-12") == Self.inTerm)
        #expect(told("archive", "2026-05-12") == "expired changedProduct in-term confirmed")
        let archive = try #require(history.snapshot(at: "2026-05-12")["archive"])
        #expect(archive.accessUntil == "2026-05-10")
    }

    @Test func `a product marked for removal ends at its expiry`() {
        var life = Life.play()
        var item = PlayItem(
            productId: "play",
            expiresAt: Self.end,
            plan: .autoRenewing(isOn: true)
        )
        item.isRemovedAtExpiry = true
        life.read(item)
        #expect(life.standing("2026-05-10").willRenew == false)
        #expect(life.standing(Self.end).state == .expired)
    }

    @Test func `a base plan can be listed by itself`() {
        var life = Life.play()
        life.catalogue.products["pro:gold"] = Product(
            entitlements: ["premium"],
            period: Period(months: 1)
        )
        let item = PlayItem(
            productId: "pro",
            basePlan: "gold",
            expiresAt: Self.end,
            plan: .autoRenewing(isOn: true)
        )
        life.read(item)
        #expect(life.standing("2026-05-10").productId == "pro:gold")
    }

    @Test func `a product that a relay names without a base plan has the one that gives least`() {
        var life = Life.play()
        life.catalogue.products["light:yearly"] = Product(
            entitlements: ["premium", "archive"],
            period: Period(years: 1)
        )
        life.catalogue.products["light:monthly"] = Product(
            entitlements: ["premium"],
            period: Period(months: 1)
        )
        life.term("1", "light", from: Self.start, to: Self.end, rank: .relayed)
        #expect(life.standing("2026-05-10").productId == "light:monthly")
        #expect(life.standing("2026-05-10").state == .active)
        // The product itself wins where the catalogue has it.
        life.catalogue.products["light"] = Product(entitlements: ["basics"])
        #expect(life.standing("2026-05-10").productId == "light")
    }

    // MARK: Prices

    /// The month with a price change in a given state.
    private static func priced(
        _ state: PlaySubscription.State,
        _ change: PlayItem.PriceChange.State?
    ) -> PlaySubscription {
        PlaySubscription(
            token: PlayToken("a"),
            askedAt: start,
            state: state,
            items: [
                PlayItem(
                    productId: "play",
                    expiresAt: end,
                    plan: .autoRenewing(isOn: state == .active),
                    phase: .base,
                    orderId: "GPA.1",
                    priceChange: change.map { PlayItem.PriceChange(state: $0) }
                )
            ],
            startedAt: start,
            cancellation: state == .expired ? .system : nil
        )
    }

    /// After the end the store may still report the price as awaiting consent, cancel it, or omit
    /// it.
    @Test(arguments: [PlayItem.PriceChange.State.awaitsConsent, .cancelled, nil])
    func `an end for a missing price consent is not a failed payment`(
        last: PlayItem.PriceChange.State?
    ) {
        var life = Self.monthly()
        life.read(Self.priced(.active, .awaitsConsent), at: "2026-05-10")
        life.read(Self.priced(.expired, last), at: Self.end)
        #expect(life.told("2026-06-02") == "expired priceIncrease expired confirmed")
    }

    @Test(arguments: [PlayItem.PriceChange.State.confirmed, .applied, .announced, nil])
    func `an end without a pending price increase is a failed payment`(
        change: PlayItem.PriceChange.State?
    ) {
        var life = Self.monthly()
        life.read(Self.priced(.active, .awaitsConsent), at: "2026-05-10")
        life.read(Self.priced(.active, change ?? .confirmed), at: "2026-05-11")
        life.read(Self.priced(.expired, change), at: Self.end)
        #expect(life.told("2026-06-02") == "expired billingError expired confirmed")
    }

    @Test func `a failed payment is the reason for the end though a price increase waits too`() {
        var life = Self.monthly()
        life.read(Self.priced(.active, .awaitsConsent), at: "2026-05-10")
        life.read(.onHold, until: Self.end, at: Self.end, order: "GPA.1")
        life.read(.expired, until: Self.end, at: "2026-06-20", order: "GPA.1", by: .system)
        #expect(life.told("2026-06-21") == "expired billingError expired confirmed")
    }

    // MARK: Unknown ends

    @Test func `an end without details ends the earlier read, ahead of its expiry too`() {
        var life = Self.monthly()
        life.read(.active, until: "2027-05-01", at: "2026-05-02", order: "GPA.1")
        let ended = PlaySubscription(
            token: PlayToken("a"),
            askedAt: "2026-09-01",
            state: .expired
        )
        life.read(ended, at: "2026-09-01")
        expectTurn(
            life,
            at: "2026-09-01",
            from: Self.inTerm,
            to: "expired ended expired confirmed"
        )
        #expect(life.standing("2026-09-02").productId == "play")
    }

    // MARK: Refunds

    @Test func `a voided order gives the reason and never causes the end`() {
        var life = Self.monthly()
        life.void("GPA.1", at: "2026-05-10")
        #expect(life.told("2026-05-11") == Self.inTerm)
        life.read(.expired, until: "2026-05-10", at: "2026-05-12", order: "GPA.1")
        expectTurn(
            life,
            at: "2026-05-12",
            from: Self.inTerm,
            to: "expired refunded expired confirmed"
        )
        #expect(life.standing("2026-05-13").accessUntil == "2026-05-10")
    }

    @Test func `an older voided order is not the reason`() {
        var life = Self.monthly()
        life.read(.active, until: "2026-07-01", at: Self.end, order: "GPA.1..0")
        life.void("GPA.1", at: "2026-06-10")
        life.read(.expired, until: "2026-07-01", at: "2026-07-01", order: "GPA.1..0", by: .customer)
        #expect(life.told("2026-07-02") == "expired cancelled expired confirmed")
    }

    @Test func `a bare revoked notification without an order gives the reason too`() {
        var life = Self.monthly()
        life.void(nil, at: "2026-05-10", rank: .inferred)
        #expect(life.told("2026-05-11") == Self.inTerm)
        life.read(.expired, until: "2026-05-10", at: "2026-05-10T00:00:02Z", order: "GPA.1")
        #expect(life.told("2026-05-11") == "expired refunded expired confirmed")
    }

    // MARK: Several products in one one-time purchase

    /// A lifetime, a pass and coins that were bought together.
    private static func together(_ changed: [PlayPurchase.Item]..., void: Instant? = nil) -> Life {
        var life = Life.play()
        life.catalogue.products["themes"] = Product(
            entitlements: ["archive"],
            kind: .nonConsumable
        )
        if let void {
            let order = PlayVoidedOrder(token: PlayToken("p"), date: void, isPartial: true)
            life.say(.playVoidedOrder(order), at: void)
        }
        let first = ["coins", "pass", "themes"].map {
            PlayPurchase.Item(productId: $0, quantity: 1, refundableQuantity: 1)
        }
        for (day, items) in ([first] + changed).enumerated() {
            let asked = start + .days(Int64(10 * day)) + .seconds(5)
            let read = PlayPurchase(
                token: PlayToken("p"),
                askedAt: asked,
                state: .purchased,
                items: items,
                orderId: "GPA.9",
                completedAt: start
            )
            life.say(.playPurchase(read), at: asked)
        }
        return life
    }

    private static func snapshot(of life: Life, _ instant: Instant) -> Snapshot {
        AdviceTests.history([life], catalogue: life.catalogue).snapshot(at: instant)
    }

    private static func told(_ life: Life, _ entitlement: String, _ instant: Instant) -> String? {
        snapshot(of: life, instant)[entitlement]?.standing.told
    }

    @Test func `each product of a one-time purchase has its own standing`() {
        let life = Self.together()
        #expect(Self.told(life, "premium", "2026-05-10") == "active prepaid in-term confirmed")
        #expect(Self.told(life, "archive", "2026-05-10") == "active lifetime in-term confirmed")
        #expect(Self.told(life, "premium", "2026-06-10") == "expired ended ended confirmed")
        #expect(Self.told(life, "archive", "2026-06-10") == "active lifetime in-term confirmed")
        #expect(Self.told(life, "basics", "2026-05-10")?.hasPrefix("never notEntitled") == true)
        let ahead = Self.snapshot(of: life, "2026-05-10")
        #expect(ahead["premium"]?.accessUntil == "2026-05-31")
        #expect(ahead["archive"]?.accessUntil == nil)
    }

    @Test func `a product of a one-time purchase that is used up ends no other`() {
        let life = Self.together([
            PlayPurchase.Item(productId: "coins", isConsumed: true),
            PlayPurchase.Item(productId: "pass"), PlayPurchase.Item(productId: "themes"),
        ])
        #expect(Self.told(life, "premium", "2026-05-20") == "active prepaid in-term confirmed")
        #expect(Self.told(life, "archive", "2026-05-20") == "active lifetime in-term confirmed")
    }

    @Test func `a refund of one product of a one-time purchase takes no other back`() {
        let void: Instant = "2026-05-09"
        let refunded = Self.together(
            [
                PlayPurchase.Item(productId: "coins", quantity: 1, refundableQuantity: 1),
                PlayPurchase.Item(productId: "pass", quantity: 1),
                PlayPurchase.Item(productId: "themes", quantity: 1, refundableQuantity: 1),
            ],
            void: void
        )
        let day: Instant = "2026-05-20"
        #expect(Self.told(refunded, "premium", day) == "expired refunded revoked confirmed")
        #expect(Self.told(refunded, "archive", day) == "active lifetime in-term confirmed")
    }

    /// Returns the events of one product, and of no other, on the days that they happened.
    private static func story(_ life: Life, of product: String) -> [String] {
        life.told(until: "2026-12-31").transitions.filter { $0.productId == product }.map {
            let keep = $0.keepArtifactsUntil.map { " keep until \($0.rfc3339.prefix(10))" } ?? ""
            let names = $0.entitlements.joined(separator: " ")
            return "\($0.at.rfc3339.prefix(10)) \($0.kind.rawValue) \(names)\(keep)"
        }
    }

    @Test func `each product of a one-time purchase of several has its own events`() {
        let life = Self.together()
        #expect(
            Self.story(life, of: "pass") == [
                "2026-05-01 started premium",
                "2026-05-31 expired premium keep until 2026-05-31",
                "2026-05-31 cleanup_due premium keep until 2026-05-31",
            ]
        )
        #expect(Self.story(life, of: "themes") == ["2026-05-01 started archive"])
        #expect(Self.story(life, of: "coins") == [])
        let ended = Self.snapshot(of: life, "2026-06-10")["premium"]
        #expect(ended?.keepArtifactsUntil == "2026-05-31")
    }

    @Test func `products of a one-time purchase that end together have an event each`() {
        var life = Life.play()
        life.catalogue.products["ticket"] = Product(
            entitlements: ["archive"],
            kind: .nonRenewing,
            period: Period(days: 30)
        )
        let read = PlayPurchase(
            token: PlayToken("p"),
            askedAt: Self.start,
            state: .purchased,
            items: ["pass", "ticket"].map { PlayPurchase.Item(productId: $0) },
            orderId: "GPA.9",
            completedAt: Self.start
        )
        life.say(.playPurchase(read), at: Self.start)
        let events = life.told(until: "2026-06-10").transitions
        #expect(events.filter { $0.kind == .expired }.count == 2)
        #expect(events.count == 6)
        #expect(Set(events.map(\.id)).count == 6)
    }

    @Test func `a refund of one product of a one-time purchase has no event for the others`() {
        let refunded = Self.together(
            [
                PlayPurchase.Item(productId: "coins", quantity: 1, refundableQuantity: 1),
                PlayPurchase.Item(productId: "pass", quantity: 1, refundableQuantity: 1),
                PlayPurchase.Item(productId: "themes", quantity: 1),
            ],
            void: "2026-05-09"
        )
        #expect(
            Self.story(refunded, of: "themes") == [
                "2026-05-01 started archive",
                "2026-05-09 refunded archive keep until 2026-06-08",
                "2026-06-08 cleanup_due archive keep until 2026-06-08",
            ]
        )
        #expect(
            Self.story(refunded, of: "pass").first == "2026-05-01 started premium"
        )
        #expect(Self.story(refunded, of: "pass").count == 3)
        #expect(refunded.standing("2026-05-20").productId == "pass")
        #expect(refunded.standing("2026-05-20").access)
    }

    @Test func `products of a one-time purchase that are refunded in turn end in turn`() {
        var life = Self.together(
            [
                PlayPurchase.Item(productId: "coins", quantity: 1, refundableQuantity: 1),
                PlayPurchase.Item(productId: "pass", quantity: 1, refundableQuantity: 1),
                PlayPurchase.Item(productId: "themes", quantity: 1),
            ],
            [
                PlayPurchase.Item(productId: "coins", quantity: 1, refundableQuantity: 1),
                PlayPurchase.Item(productId: "pass", quantity: 1),
                PlayPurchase.Item(productId: "themes", quantity: 1),
            ],
            void: "2026-05-09"
        )
        let second: Instant = "2026-05-19"
        let order = PlayVoidedOrder(token: PlayToken("p"), date: second, isPartial: true)
        life.say(.playVoidedOrder(order), at: second)
        #expect(Self.snapshot(of: life, "2026-05-25")["archive"]?.accessUntil == "2026-05-09")
        #expect(Self.snapshot(of: life, "2026-05-25")["premium"]?.accessUntil == second)
    }

    /// `tokens` come after the lifetime in every order, and are used up on 2 May.
    @Test func `the events of a one-time purchase of several are not about what is used up`() {
        var life = Life.play()
        life.catalogue.products["tokens"] = Product(entitlements: [], kind: .consumable)
        for (asked, isConsumed): (Instant, Bool) in [(Self.start, false), ("2026-05-02", true)] {
            let read = PlayPurchase(
                token: PlayToken("p"),
                askedAt: asked,
                state: .purchased,
                items: [
                    PlayPurchase.Item(productId: "lifetime"),
                    PlayPurchase.Item(productId: "tokens", isConsumed: isConsumed),
                ],
                orderId: "GPA.9",
                completedAt: Self.start
            )
            life.say(.playPurchase(read), at: asked)
        }
        #expect(life.standing("2026-05-10").productId == "lifetime")
        #expect(life.standing("2026-05-10").access)
        #expect(life.told(until: "2026-05-10").transitions.map(\.kind) == [.started])
    }

    // MARK: Unreachable store

    @Test func `without the store access lasts as long as the policy states`() {
        var life = Self.monthly()
        life.policy = Policy(unreachable: .days(4))
        #expect(life.told("2026-06-04") == Self.unconfirmed)
        life.ask(.unreachable, at: "2026-06-01T06:00:00Z")
        let kept = "active renewalDue store-unreachable presumed"
        expectTurn(life, at: Self.end + .hours(48), from: Self.silent, to: kept)
        expectTurn(life, at: "2026-06-05", from: kept, to: Self.unconfirmed)
        #expect(life.standing("2026-06-06").accessUntil == "2026-06-05")
        life.ask(.answered, at: "2026-06-03T12:00:00Z")
        expectTurn(life, at: "2026-06-03T12:00:00Z", from: kept, to: Self.unconfirmed)
    }

    @Test func `a later policy does not move the end of access in a past outage`() {
        var life = Self.monthly()
        life.ask(.unreachable, at: "2026-06-01T06:00:00Z")
        let changes: [(Instant, end: Instant)] = [
            ("2026-06-04", "2026-06-04"), ("2026-07-01", "2026-06-05"),
        ]
        for (change, end) in changes {
            var policy = Versioned(Policy(unreachable: .days(4)))
            policy.add(Versioned.Version(Policy(), effectiveAt: change, learnedAt: change))
            let standing = life.history.standing(at: "2026-08-01", policy: policy)
            #expect(standing.told == Self.unconfirmed)
            #expect(standing.accessUntil == end)
        }
    }

    @Test func `an outage extends grace too, and never access that had ended`() {
        var life = Self.failing("play.bare")
        life.policy = Policy(unreachable: .days(4))
        life.ask(.throttled, at: "2026-06-03T01:00:00Z")
        expectTurn(life, at: "2026-06-07", from: Self.presumedGrace, to: Self.presumedHold)
        var held = Self.held()
        held.policy = life.policy
        held.ask(.unreachable, at: "2026-06-08T01:00:00Z")
        #expect(held.told("2026-06-09") == Self.onHold)
    }

    @Test func `an outage adds nothing to the two days by default`() {
        var life = Self.monthly()
        life.ask(.unreachable, at: "2026-06-02")
        expectTurn(life, at: Self.end + .hours(48), from: Self.silent, to: Self.unconfirmed)
    }

    // MARK: Pace

    @Test func `a tester's month shrinks every bound in proportion`() {
        var life = Life.play(environment: .sandbox)
        let end = Self.start + .minutes(5)
        life.read(.active, until: end, at: Self.start, order: "GPA.1")
        let month = Milliseconds.days(31).count
        let silent = Milliseconds(
            Milliseconds.hours(48).count * Milliseconds.minutes(5).count / month
        )
        expectTurn(life, at: end, from: Self.inTerm, to: Self.silent)
        expectTurn(life, at: end + silent, from: Self.silent, to: Self.unconfirmed)
        #expect(life.history.pace == Pace(actual: .minutes(5), nominal: .days(31)))
    }

    @Test func `a tester's trial or renewal determines the pace as well`() {
        var trial = Life.play(environment: .sandbox)
        trial.read(
            .active,
            until: Self.start + .minutes(3),
            at: Self.start,
            phase: .freeTrial,
            order: "GPA.1"
        )
        #expect(trial.history.pace == Pace(actual: .minutes(3), nominal: .days(7)))
        var late = Life.play(environment: .sandbox)
        let first = Self.start + .minutes(50)
        late.read(.active, until: first, at: first - .minutes(1), order: "GPA.1..8")
        late.read(.active, until: first + .minutes(5), at: first, order: "GPA.1..9")
        #expect(late.history.pace == Pace(actual: .minutes(5), nominal: .days(31)))
    }

    @Test func `a plan that keeps the replaced plan's billing date determines no pace`() {
        var life = Life.play(environment: .sandbox)
        life.read(.active, until: Self.end, at: Self.start, order: "GPA.1")
        life.read(
            .active,
            "b",
            until: Self.end,
            at: "2026-05-20",
            order: "GPA.2",
            started: "2026-05-20",
            replaces: "a"
        )
        #expect(life.history.pace == .real)
    }
}

extension Life {
    /// Adds the reading of an active subscription with one item, at its start.
    fileprivate mutating func read(_ item: PlayItem) {
        let start = PlayStandingTests.start
        let read = PlaySubscription(
            token: PlayToken("a"),
            askedAt: start,
            state: .active,
            items: [item],
            startedAt: start
        )
        self.read(read, at: start)
    }
}
