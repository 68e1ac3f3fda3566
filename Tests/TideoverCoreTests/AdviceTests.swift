import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// The advice to a customer, which never causes a double payment.
@Suite struct AdviceTests {
    static let billing = "https://apps.apple.com/account/billing"
    static let subscriptions = "https://apps.apple.com/account/subscriptions"
    static let tenDollars = Money(milliunits: 9990, currency: "USD")
    static let eightEuros = Money(milliunits: 7990, currency: "EUR")

    /// The catalogue of every life, with prices.
    static let catalogue = {
        var catalogue = Life().catalogue
        catalogue.products["monthly"]?.price = tenDollars
        catalogue.products["yearly"]?.price = Money(milliunits: 59_990, currency: "USD")
        catalogue.products["lifetime"]?.price = Money(milliunits: 149_990, currency: "USD")
        return catalogue
    }()

    static func history(
        _ lives: [Life],
        policy: Policy = Policy(),
        catalogue: Catalogue = catalogue,
        package: String? = nil
    ) -> CustomerHistory {
        history(lives, policy: Versioned(policy), catalogue: catalogue, package: package)
    }

    static func history(
        _ lives: [Life],
        policy: Versioned<Policy>,
        catalogue: Catalogue = catalogue,
        package: String? = nil
    ) -> CustomerHistory {
        let priced = lives.map { life in
            var life = life
            life.catalogue = catalogue
            return life
        }
        return CustomerHistory(
            customer: SnapshotTests.anna,
            environment: lives.first?.lineage.environment ?? .production,
            lineageRecords: priced.map {
                OwnedHistory(history: $0.history, owners: [$0.owner()])
            },
            catalogue: Versioned(catalogue),
            policy: policy,
            googlePlayPackage: package
        )
    }

    static func guidance(
        _ lives: [Life],
        _ entitlement: String = "premium",
        at instant: Instant,
        policy: Policy = Policy()
    ) throws -> Guidance {
        let snapshot = history(lives, policy: policy).snapshot(at: instant)
        return try #require(snapshot[entitlement]).guidance
    }

    static func kind(_ lives: [Life], at instant: Instant) throws -> Advice.Kind? {
        try guidance(lives, at: instant).advice?.kind
    }

    /// A month to 1 June that was cancelled on 10 May.
    static func cancelled(_ id: String = "1000") -> Life {
        var life = Life(id)
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase)
        life.outlook(end: "2026-06-01", signed: "2026-05-01")
        life.outlook(end: "2026-06-01", signed: "2026-05-10", renews: false)
        return life
    }

    /// The same facts for a family-shared purchase.
    static func shared(_ life: Life) -> Life {
        var shared = Life("3000", ownership: .familyShared)
        shared.facts = life.facts.map { fact in
            var fact = fact
            fact.lineage = shared.lineage
            return fact
        }
        return shared
    }

    // MARK: Complete life

    @Test func `advice changes with a failing payment from its month to its end`() throws {
        let life = StandingTests.failing()
        let turns: [(Instant, Advice.Kind?, Advice.Kind?)] = [
            ("2026-06-01", nil, .fixPayment), ("2026-06-17", .fixPayment, .fixPayment),
            ("2026-07-31", .fixPayment, .purchase),
        ]
        for (instant, before, after) in turns {
            #expect(try Self.kind([life], at: instant.justBefore) == before)
            #expect(try Self.kind([life], at: instant) == after)
        }
    }

    @Test func `the advice links to the payment page, never to a second purchase`() throws {
        for instant: Instant in ["2026-06-10", "2026-06-20"] {
            let advice = try #require(
                try Self.guidance([StandingTests.failing()], at: instant).advice
            )
            #expect(advice.kind == .fixPayment)
            #expect(advice.productId == "monthly")
            #expect(advice.price == Price(amount: Self.tenDollars, period: Period(months: 1)))
            #expect(advice.chargedAt == nil)
            #expect(advice.url == Self.billing)
        }
    }

    @Test func `a cancelled subscription is re-enabled at no cost until it ends`() throws {
        let cancel: Instant = "2026-05-10"
        let end: Instant = "2026-06-01"
        #expect(try Self.kind([Self.cancelled()], at: cancel.justBefore) == nil)
        for instant in [cancel, end.justBefore] {
            let advice = try #require(try Self.guidance([Self.cancelled()], at: instant).advice)
            #expect(advice.kind == .reEnableRenewal)
            #expect(advice.price?.amount == Self.tenDollars)
            #expect(advice.chargedAt == end)
            #expect(advice.url == Self.subscriptions)
        }
        #expect(try Self.kind([Self.cancelled()], at: end) == .purchase)
    }

    @Test func `an ended subscription is bought at the full price`() throws {
        let advice = try #require(
            try Self.guidance([Self.cancelled()], at: "2026-06-10").advice
        )
        #expect(advice.productId == "monthly")
        #expect(advice.price == Price(amount: Self.tenDollars, period: Period(months: 1)))
        #expect(advice.chargedAt == nil)
        #expect(advice.url == nil, "it is bought in the app")
    }

    @Test func `no purchase is advised while the store is silent`() throws {
        let life = StandingTests.monthly()
        let due: Instant = "2026-06-01"
        let over = due + .hours(24)
        for (instant, kind): (Instant, Advice.Kind?) in [
            (due.justBefore, nil), (due, .wait), (over.justBefore, .wait), (over, .wait),
            ("2026-12-01", .wait),
        ] {
            #expect(try Self.kind([life], at: instant) == kind)
        }
        var unlinked = Life()
        unlinked.outlook(end: "2026-06-01", signed: "2026-05-01")
        #expect(try Self.kind([unlinked], at: "2026-05-10") == .wait)
    }

    @Test func `a family member is not advised to buy while the share may come back`() throws {
        var own = Life("2000")
        own.term("9", from: "2026-03-01", to: "2026-04-01", origin: .purchase)
        own.outlook(end: "2026-04-01", signed: "2026-03-01", renews: false)
        let silent = [own, Self.shared(StandingTests.monthly())]
        for instant: Instant in ["2026-06-01T12:00:00Z", "2026-06-10", "2026-12-01"] {
            #expect(try Self.kind(silent, at: instant) == .wait)
        }
        let unpaid = [own, Self.shared(StandingTests.failing())]
        let guidance = try Self.guidance(unpaid, at: "2026-06-20")
        #expect(guidance.advice == nil)
        #expect(guidance.wording?.screen == .holdShared)
        let over: Instant = "2026-07-31"
        #expect(try Self.kind(unpaid, at: over.justBefore) == nil)
        #expect(try Self.kind(unpaid, at: over) == .purchase)
    }

    @Test func `one uncertain purchase delays the advice though another has ended`() throws {
        var other = Life("2000")
        other.term("9", from: "2026-05-15", to: "2026-06-15", origin: .purchase)
        other.outlook(end: "2026-06-15", signed: "2026-05-15", renews: false)
        let lives = [other, StandingTests.monthly()]
        #expect(
            try SnapshotTests.premium(lives, at: "2026-07-01").standing.confidence == .confirmed
        )
        #expect(try Self.kind(lives, at: "2026-07-01") == .wait)
    }

    @Test func `a customer without known purchases gets no advice`() throws {
        #expect(try Self.guidance([], at: "2026-05-01").advice == nil)
        #expect(try Self.guidance([], at: "2026-05-01").wording == nil)
    }

    @Test func `family members are never prompted to pay`() throws {
        for life in [StandingTests.failing(), Self.cancelled()] {
            for instant: Instant in ["2026-05-20", "2026-06-10", "2026-06-20", "2026-12-01"] {
                let guidance = try Self.guidance([Self.shared(life)], at: instant)
                #expect(guidance.advice == nil)
                #expect(guidance.wording?.label == nil)
            }
        }
    }

    @Test func `an own payment is fixed even while a family share gives access`() throws {
        let lives = [Self.shared(StandingTests.failing()), StandingTests.failing()]
        #expect(try Self.kind(lives, at: "2026-06-20") == .fixPayment)
    }

    @Test func `a refunded lifetime purchase is bought again`() throws {
        var life = Life()
        life.term("1", "lifetime", from: "2026-05-01", to: nil, plan: .nonConsumable)
        #expect(try Self.kind([life], at: "2026-05-05") == nil)
        let refund = Revocation(term: TermKey("t:t1"), date: "2026-05-09", cause: .refund)
        life.say(.revocation(refund), at: "2026-05-09")
        let advice = try #require(try Self.guidance([life], at: "2026-05-10").advice)
        #expect(advice.kind == .purchase)
        #expect(advice.price == Price(amount: Money(milliunits: 149_990, currency: "USD")))
    }

    @Test func `a product that is no longer sold is not advised`() throws {
        var life = Self.cancelled()
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-01",
            renews: false,
            lapse: .productUnavailable
        )
        let advice = try #require(try Self.guidance([life], at: "2026-06-10").advice)
        #expect(advice.kind == .purchase)
        #expect(advice.productId == nil)
        #expect(advice.price == nil)
    }

    @Test func `after a change of product the former one is bought at its own price`() throws {
        var life = Life()
        life.term("1", "yearly", from: "2025-05-01", to: "2026-05-01", origin: .purchase)
        life.term("2", "basic", from: "2026-05-01", to: "2026-06-01")
        life.outlook(end: "2026-06-01", signed: "2026-05-01", product: "basic")
        life.priceRenewal(Self.eightEuros)
        let advice = try #require(
            try Self.guidance([life], "archive", at: "2026-05-10").advice
        )
        #expect(advice.kind == .purchase)
        #expect(advice.productId == "yearly")
        #expect(advice.price?.amount == Money(milliunits: 59_990, currency: "USD"))
    }

    /// A month of `monthly`, then one of `basic` that is to renew into another product.
    private static func changing(into next: String) -> Life {
        var life = Life()
        life.term("0", from: "2026-04-01", to: "2026-05-01", origin: .purchase)
        life.term("1", "basic", from: "2026-05-01", to: "2026-06-01")
        life.outlook(end: "2026-06-01", signed: "2026-05-20", product: "basic", into: next)
        return life
    }

    @Test func `no purchase is advised while a change to a product that unlocks it is overdue`()
        throws
    {
        let life = Self.changing(into: "yearly")
        let over: Instant = "2026-06-02"
        let before = try SnapshotTests.premium([life], at: over.justBefore)
        #expect(before.standing.told == "active renewalDue renewal-due presumed")
        for (entitlement, former): (String, Bool) in [("premium", true), ("archive", false)] {
            let snapshot = SnapshotTests.history([life]).snapshot(at: over)
            let found = try #require(snapshot[entitlement])
            #expect(found.standing.told == "expired unconfirmed unconfirmed unknown")
            #expect(found.standing.productId == "yearly")
            #expect(found.accessUntil == over)
            #expect(found.guidance.advice?.kind == .wait)
            // A renewal of the lower product leaves the former entitlement ended.
            let other = SnapshotTests.history([Self.changing(into: "basic")]).snapshot(at: over)
            let state: State = former ? .expired : .never
            #expect(other[entitlement]?.standing.state == state)
            #expect(other[entitlement]?.standing.confidence == .confirmed)
        }
    }

    @Test func `a failed payment for a change to a product that unlocks it is fixed`() throws {
        var life = Self.changing(into: "yearly")
        life.outlook(
            end: "2026-06-01",
            signed: "2026-06-01T00:05:00Z",
            retrying: true,
            product: "basic",
            into: "yearly"
        )
        let guidance = try Self.guidance([life], at: "2026-06-05")
        #expect(guidance.advice?.kind == .fixPayment)
        #expect(guidance.advice?.productId == "yearly")
        #expect(guidance.advice?.url == Self.billing)
        #expect(guidance.wording?.screen == .hold)
        let both = [life, Self.cancelled("0500")]
        #expect(try Self.kind(both, at: "2026-06-05") == .fixPayment)
        var lower = Self.changing(into: "basic")
        lower.outlook(
            end: "2026-06-01",
            signed: "2026-06-01T00:05:00Z",
            retrying: true,
            product: "basic"
        )
        #expect(try Self.kind([lower], at: "2026-06-05") == .purchase)
    }

    // MARK: Prices

    @Test func `the store's price for the next period wins over the catalogue's`() throws {
        var life = Self.cancelled()
        life.priceRenewal(Self.eightEuros)
        for instant: Instant in ["2026-05-20", "2026-06-10"] {
            let advice = try #require(try Self.guidance([life], at: instant).advice)
            #expect(advice.price == Price(amount: Self.eightEuros, period: Period(months: 1)))
        }
    }

    @Test func `a discount on the next period is not the full price`() throws {
        var life = Self.cancelled()
        life.priceRenewal(Money(milliunits: 990, currency: "EUR"), offer: Offer(kind: .promotional))
        let before = try #require(try Self.guidance([life], at: "2026-05-20").advice)
        #expect(before.price?.amount == Money(milliunits: 990, currency: "EUR"))
        let after = try #require(try Self.guidance([life], at: "2026-06-10").advice)
        #expect(after.price?.amount == Self.tenDollars)
    }

    @Test func `a renewal into another product costs that product's price`() throws {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase)
        life.outlook(end: "2026-06-01", signed: "2026-05-10", renews: false, into: "yearly")
        let advice = try #require(try Self.guidance([life], at: "2026-05-20").advice)
        #expect(advice.productId == "yearly")
        #expect(
            advice.price
                == Price(
                    amount: Money(milliunits: 59_990, currency: "USD"),
                    period: Period(years: 1)
                )
        )
    }

    // MARK: Double charges

    @Test func `renewal is not re-enabled beside a purchase that renews`() throws {
        var other = Life("2000")
        other.term("9", from: "2026-04-20", to: "2026-05-20", origin: .purchase)
        other.outlook(end: "2026-05-20", signed: "2026-04-20")
        #expect(try Self.kind([Self.cancelled(), other], at: "2026-05-15") == nil)
        var lifetime = Life("2001")
        lifetime.term("9", "lifetime", from: "2026-05-12", to: nil, plan: .nonConsumable)
        #expect(try Self.kind([Self.cancelled(), lifetime], at: "2026-05-15") == nil)
        #expect(
            try Self.kind([Self.cancelled(), Self.cancelled("2002")], at: "2026-05-15")
                == .reEnableRenewal
        )
    }

    @Test func `a purchase made during another's retry is reported, and neither is advised`()
        throws
    {
        var other = Life("2000")
        other.term("9", from: "2026-06-20", to: "2026-07-20", origin: .purchase)
        other.outlook(end: "2026-07-20", signed: "2026-06-20")
        let lives = [StandingTests.failing(), other]
        let bought: Instant = "2026-06-20"
        #expect(try Self.guidance(lives, at: bought.justBefore).chargedTwice.isEmpty)
        let guidance = try Self.guidance(lives, at: bought)
        #expect(guidance.advice == nil)
        #expect(guidance.wording?.screen == .chargedTwice)
        #expect(guidance.chargedTwice.map(\.lineage.id) == ["1000", "2000"])
        #expect(guidance.chargedTwice.map(\.state) == [.hold, .active])
        #expect(guidance.chargedTwice.map(\.url) == [Self.subscriptions, Self.subscriptions])
    }

    @Test func `a purchase that no longer charges is not reported`() throws {
        let renewing = StandingTests.monthly()
        var lifetime = Life("2001")
        lifetime.term("9", "lifetime", from: "2026-05-02", to: nil, plan: .nonConsumable)
        let shared = Self.shared(StandingTests.monthly())
        for other in [Self.cancelled("2002"), lifetime, shared] {
            #expect(try Self.guidance([renewing, other], at: "2026-05-15").chargedTwice.isEmpty)
        }
    }

    // MARK: Google Play

    private static let playPage =
        "https://play.google.com/store/account/subscriptions?sku=play&package=com.example.cards"

    private func playGuidance(_ life: Life, at instant: Instant) throws -> Guidance {
        let snapshot = Self.history([life], package: "com.example.cards").snapshot(at: instant)
        return try #require(snapshot["premium"]).guidance
    }

    @Test func `a failed payment on Google Play links to the subscription's own page`() throws {
        var life = Life.play()
        life.read(.active, until: "2026-06-01", at: "2026-05-01", order: "GPA.1")
        life.read(.onHold, until: "2026-06-01", at: "2026-06-08", order: "GPA.1")
        let guidance = try playGuidance(life, at: "2026-06-10")
        #expect(guidance.advice?.kind == .fixPayment)
        #expect(guidance.advice?.url == Self.playPage)
        let prompt = Self.history([life], package: "com.example.cards")
            .snapshot(at: "2026-06-10").prompt
        #expect(prompt?.kind == .hard)
        #expect(prompt?.action.url == Self.playPage)
    }

    @Test func `a customer who paused gets only advice on how to resume`() throws {
        var life = Life.play()
        life.read(.active, until: "2026-06-01", at: "2026-05-01", order: "GPA.1")
        life.read(
            .paused,
            until: "2026-06-01",
            at: "2026-06-01",
            order: "GPA.1",
            resumes: "2026-07-01"
        )
        let guidance = try playGuidance(life, at: "2026-06-10")
        #expect(guidance.advice?.kind == .resume)
        #expect(guidance.advice?.url == Self.playPage)
        #expect(guidance.wording?.screen == .paused)
        #expect(Self.history([life]).snapshot(at: "2026-06-10").prompt == nil)
    }

    @Test func `renewal of a prepaid plan is not re-enabled`() throws {
        var prepaid = Life.play()
        prepaid.read(
            .active,
            until: "2026-06-01",
            at: "2026-05-01",
            plan: .prepaid(extendableFrom: nil),
            order: "GPA.1"
        )
        #expect(try playGuidance(prepaid, at: "2026-05-10").advice == nil)
        var pass = Life()
        pass.term("1", "pass", from: "2026-05-01", to: nil, plan: .nonRenewing)
        #expect(try Self.kind([pass], at: "2026-05-10") == nil)
        #expect(try Self.kind([pass], at: "2026-05-31") == .purchase)
    }

    @Test func `the price in a read is the price of the renewal`() throws {
        let advice = try #require(try playGuidance(priced(nil), at: "2026-05-10").advice)
        #expect(advice.kind == .reEnableRenewal)
        #expect(advice.price?.amount == Self.eightEuros)
        #expect(advice.chargedAt == "2026-06-01")
    }

    /// A change from 7.99 to 9.99, first charged on 1 June or on a later renewal.
    @Test(
        arguments: [
            (.confirmed, "2026-06-01", 9990), (.announced, "2026-06-01", 9990),
            (.awaitsConsent, nil, 9990), (.confirmed, "2026-07-01", 7990), (.applied, nil, 7990),
            (.cancelled, "2026-06-01", 7990), (.unrecognised("LATER"), "2026-06-01", 7990),
        ] as [(PlayItem.PriceChange.State, Instant?, Int64)]
    )
    func `a changed price is that of the first renewal charged at it`(
        state: PlayItem.PriceChange.State,
        chargedFrom: Instant?,
        price: Int64
    ) throws {
        let change = PlayItem.PriceChange(
            state: state,
            price: Money(milliunits: 9990, currency: "EUR"),
            chargedFrom: chargedFrom
        )
        let advice = try playGuidance(priced(change), at: "2026-05-10").advice
        #expect(advice?.price?.amount == Money(milliunits: price, currency: "EUR"))
    }

    /// Paused until 1 July, from when a confirmed price is charged, or until later.
    @Test(arguments: [("2026-07-01", 9990), ("2026-08-01", 7990)] as [(Instant, Int64)])
    func `a changed price is that of the charge at the end of a pause`(
        chargedFrom: Instant,
        price: Int64
    ) throws {
        let item = PlayItem(
            productId: "play",
            expiresAt: "2026-06-01",
            plan: .autoRenewing(isOn: true),
            phase: .base,
            orderId: "GPA.1",
            price: Self.eightEuros,
            priceChange: PlayItem.PriceChange(
                state: .confirmed,
                price: Money(milliunits: 9990, currency: "EUR"),
                chargedFrom: chargedFrom
            )
        )
        var life = Life.play()
        life.read(.active, until: "2026-06-01", at: "2026-05-01", order: "GPA.1")
        life.read(
            PlaySubscription(
                token: PlayToken("a"),
                askedAt: "2026-06-01",
                state: .paused,
                items: [item],
                startedAt: "2026-05-01",
                resumesAt: "2026-07-01"
            ),
            at: "2026-06-01"
        )
        let advice = try #require(try playGuidance(life, at: "2026-06-10").advice)
        #expect(advice.kind == .resume)
        #expect(advice.price?.amount == Money(milliunits: price, currency: "EUR"))
    }

    /// The payment for another base plan of the same product fails when it is due.
    @Test func `a deferred change costs the price that the store states for it`() throws {
        let price = Money(milliunits: 59_990, currency: "EUR")
        let owned = PlayItem(
            productId: "play",
            basePlan: "monthly",
            expiresAt: "2026-06-08",
            plan: .autoRenewing(isOn: true),
            orderId: "GPA.1",
            price: Self.eightEuros,
            replacement: "play"
        )
        let next = PlayItem(
            productId: "play",
            basePlan: "yearly",
            expiresAt: nil,
            plan: .autoRenewing(isOn: true),
            price: price
        )
        var life = Life.play()
        life.read(
            PlaySubscription(
                token: PlayToken("a"),
                askedAt: "2026-06-01",
                state: .inGrace,
                items: [next, owned],
                startedAt: "2026-05-01"
            ),
            at: "2026-06-01"
        )
        let advice = try #require(try playGuidance(life, at: "2026-06-02").advice)
        #expect(advice.kind == .fixPayment)
        #expect(advice.price?.amount == price)
    }

    /// A cancelled month of 7.99.
    private func priced(_ change: PlayItem.PriceChange?) -> Life {
        var life = Life.play()
        let item = PlayItem(
            productId: "play",
            expiresAt: "2026-06-01",
            plan: .autoRenewing(isOn: false),
            phase: .base,
            orderId: "GPA.1",
            price: Self.eightEuros,
            priceChange: change
        )
        life.read(
            PlaySubscription(
                token: PlayToken("a"),
                askedAt: "2026-05-01",
                state: .cancelled,
                items: [item],
                startedAt: "2026-05-01"
            ),
            at: "2026-05-01"
        )
        return life
    }

    @Test func `a failed payment has its words, although a later purchase is paused`() throws {
        var failed = Life()
        failed.term("1", from: "2026-04-20", to: "2026-05-20", origin: .purchase)
        failed.outlook(end: "2026-05-20", signed: "2026-05-20", retrying: true)
        let guidance = try Self.guidance([failed, PlayStandingTests.paused()], at: "2026-06-10")
        #expect(guidance.advice?.kind == .fixPayment)
        #expect(guidance.wording?.screen == .hold)
    }

    @Test func `no purchase is advised while one waits for approval`() throws {
        var life = Life.play()
        life.read(.pending, until: nil, at: "2026-05-01", started: nil)
        var ended = Self.cancelled()
        ended.condition(.expired, notice: .expired, end: "2026-06-01", signed: "2026-06-01")
        for lives in [[life], [life, ended]] {
            let guidance = try Self.guidance(lives, at: "2026-06-10")
            #expect(guidance.advice?.kind == .wait)
            #expect(guidance.wording?.screen == .pending)
        }
    }

    @Test func `a running gift is not renewed, and no payment is requested for it`() throws {
        var gift = Life("gift", store: .tideover)
        gift.grant(from: "2026-05-01", to: "2026-05-08")
        #expect(try Self.kind([gift], at: "2026-05-02") == nil)
        #expect(try Self.kind([gift, StandingTests.failing()], at: "2026-05-02") == nil)
    }

    // MARK: From standings

    private static func standing(
        _ state: State,
        _ reason: Reason,
        store: Store = .googlePlay,
        id: String = "a",
        renews: Bool? = true,
        asks: Bool = false
    ) -> Standing {
        Standing(
            state: state,
            reason: reason,
            accessUntil: "2026-06-01",
            willRenew: renews,
            rule: .inTerm,
            productId: "monthly",
            lineage: Lineage(store: store, environment: .production, id: id),
            asksStore: asks
        )
    }

    @Test func `a pause is resumed only after another failed purchase is corrected`() {
        let paused = Self.standing(.hold, .paused)
        #expect(Counsel(standings: [paused]).advice?.kind == .resume)
        let failed = Self.standing(.hold, .accountHold, id: "b")
        for standings in [[paused, failed], [failed, paused]] {
            let advice = Counsel(standings: standings).advice
            #expect(advice?.kind == .fixPayment)
            #expect(advice?.about == failed)
        }
    }

    @Test func `an operator's grant is neither renewed nor counted as a charge`() {
        let gift = Self.standing(.active, .paid, store: .tideover, renews: false)
        #expect(Counsel(standings: [gift]).advice == nil)
        let gifts = [
            Self.standing(.active, .paid, store: .tideover, renews: nil),
            Self.standing(.active, .paid, id: "b"),
        ]
        #expect(Counsel(standings: gifts).charging(in: Self.catalogue).isEmpty)
    }

    @Test func `a healthy subscription gets no advice`() {
        #expect(Counsel(standings: []).advice == nil)
        #expect(Counsel(standings: [Self.standing(.active, .paid)]).advice == nil)
        #expect(Counsel(standings: [Self.standing(.active, .paid, renews: nil)]).advice == nil)
    }

    // MARK: In an answer

    @Test func `an answer contains advice, words and offers`() throws {
        let snapshot = Self.history([Self.cancelled()]).snapshot(at: "2026-05-20")
        var writer = JSONWriter()
        writer.object { snapshot.writeAnswer(to: &$0) }
        let premium = try JSONDocument(writer.bytes).root["entitlements"]?["premium"]
        let advice = premium?["advice"]
        #expect(advice?["kind"]?.string == "reEnableRenewal")
        #expect(advice?["price"]?["milliunits"]?.int64 == 9990)
        #expect(advice?["price"]?["period"]?.string == "P1M")
        #expect(advice?["chargedAt"]?.string == "2026-06-01T00:00:00.000Z")
        #expect(advice?["url"]?.string == Self.subscriptions)
        #expect(premium?["words"]?["key"]?.string == "cancelled")
        #expect(
            premium?["words"]?["arguments"]?["until"]?.string == "2026-06-01T00:00:00.000Z"
        )
        #expect(premium?["words"]?["label"]?.string == "Turn renewal on")
        #expect(premium?["trialOffer"]?["eligibility"]?.string == "eligible")
        #expect(premium?["trialOffer"]?["length"]?.string == "P3D")
        #expect(premium?["chargedTwice"]?.kind == .array)
    }
}

extension Life {
    /// Sets the price of the next period on the newest outlook.
    mutating func priceRenewal(_ price: Money, offer: Offer? = nil) {
        guard case .outlook(var outlook) = facts[facts.count - 1].assertion else { return }
        outlook.renewalPrice = price
        outlook.offer = offer
        facts[facts.count - 1].assertion = .outlook(outlook)
    }
}
