import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests relayed facts beside store facts. Relayed facts fill gaps and override nothing, and no
/// purchase counts twice.
@Suite struct RelayTests {
    static let start = RevenueCatWire.start
    static let end = RevenueCatWire.end

    static func term(_ id: String = "700", from: Instant = start, to: Instant = end) -> Term {
        Term(transactionId: id, productId: "cards.pro.monthly", start: from, end: to)
    }

    // MARK: Rank

    @Test func `a relay never overrules the store`() throws {
        var life = Life()
        life.store(.term(Self.term()), of: Life.appStore, at: Self.start)
        let paid = "active paid in-term confirmed"
        #expect(life.told(.day("2026-05-20")) == paid)
        try life.hear(
            "CANCELLATION",
            at: .day("2026-05-10"),
            [
                "cancel_reason": "CUSTOMER_SUPPORT",
                "expiration_at_ms": RevenueCatWire.ms(.day("2026-05-10")),
            ]
        )
        #expect(life.told(.day("2026-05-20")) == paid)
        try life.hear(
            "RENEWAL",
            at: .day("2026-05-12"),
            ["expiration_at_ms": RevenueCatWire.ms(Self.end + .days(300))]
        )
        #expect(life.standing(.day("2026-05-20"))?.accessUntil == Self.end)
        #expect(life.lineages == [Life.appStore], "joined by the original transaction id")
    }

    @Test func `a grace that the store stated continues after a relay's expiration`() throws {
        var life = Life()
        life.store(.term(Self.term()), of: Life.appStore, at: Self.start)
        let outlook = Outlook(
            renewalDate: Self.end,
            willRenew: true,
            isRetrying: true,
            graceEnd: RevenueCatWire.graceEnd
        )
        life.store(.outlook(outlook), of: Life.appStore, at: Self.end)
        for reason in ["BILLING_ERROR", "UNSUBSCRIBE"] {
            try life.hear("EXPIRATION", at: Self.end, ["expiration_reason": .string(reason)])
        }
        #expect(life.standing(.day("2026-06-10"))?.graceUntil == RevenueCatWire.graceEnd)
    }

    @Test func `a relay fills gaps that the store left`() throws {
        var life = Life()
        life.store(.term(Self.term()), of: Life.appStore, at: Self.start)
        #expect(life.standing(.day("2026-06-10"))?.access == false)
        try life.hear(
            "RENEWAL",
            at: Self.end,
            [
                "transaction_id": "701", "purchased_at_ms": RevenueCatWire.ms(Self.end),
                "expiration_at_ms": RevenueCatWire.ms(Self.end + .days(30)),
            ]
        )
        #expect(life.told(.day("2026-06-10")) == "active paid in-term presumed")
        life.store(
            .term(Self.term("701", from: Self.end, to: Self.end + .days(30))),
            of: Life.appStore,
            at: Self.end
        )
        #expect(life.told(.day("2026-06-10")) == "active paid in-term confirmed")
    }

    // MARK: Duplicate purchases

    static let chain = Lineage(store: .googlePlay, environment: .production, id: "token-digest")

    static func playRead(at asked: Instant, order: String) -> Assertion {
        .playSubscription(
            PlaySubscription(
                token: PlayToken("t1"),
                askedAt: asked,
                state: .active,
                items: [
                    PlayItem(
                        productId: "cards.pro.monthly",
                        expiresAt: end,
                        plan: .autoRenewing(isOn: true),
                        phase: .base,
                        orderId: order
                    )
                ],
                startedAt: start
            )
        )
    }

    static let play: JSONObject = [
        "store": "PLAY_STORE", "product_id": "cards.pro.monthly:monthly-base",
        "transaction_id": "GPA.3309-9122-6177-45730..1",
        "original_transaction_id": "GPA.3309-9122-6177-45730",
    ]

    @Test func `a Google Play purchase is joined by its order without the renewal number`() throws {
        var life = Life()
        life.store(
            Self.playRead(at: Self.start, order: "GPA.3309-9122-6177-45730..4"),
            of: Self.chain,
            at: Self.start
        )
        try life.hear("RENEWAL", Self.play)
        #expect(life.lineages == [Self.chain])
        #expect(life.told(.day("2026-05-10")) == "active paid in-term confirmed")
    }

    @Test func `an event received before the store's order is joined to it later`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE", Self.play)
        let named = Lineage(
            store: .googlePlay,
            environment: .production,
            id: "GPA.3309-9122-6177-45730"
        )
        #expect(life.lineages == [named])
        #expect(life.told(.day("2026-05-10")) == "active paid in-term presumed")
        #expect(life.standing(.day("2026-05-10"))?.productId == "cards.pro.monthly")
        life.store(
            Self.playRead(at: Self.start, order: "GPA.3309-9122-6177-45730"),
            of: Self.chain,
            at: Self.start
        )
        for facts in [life.facts, life.facts.reversed()] {
            let chains = StoreChains(facts)
            let joined = Life(facts: facts.map(chains.joined))
            #expect(joined.lineages == [Self.chain])
            #expect(joined.told(.day("2026-05-10")) == "active paid in-term confirmed")
        }
    }

    @Test func `orders are not joined across environments`() throws {
        var life = Life()
        life.store(
            Self.playRead(at: Self.start, order: "GPA.3309-9122-6177-45730"),
            of: Self.chain,
            at: Self.start
        )
        try life.hear("RENEWAL", Self.play.changed(["environment": "SANDBOX"]))
        #expect(life.lineages.count == 2)
    }

    @Test func `an answer's newest transaction is joined to the first one's chain`()
        throws
    {
        let renewed = SubscriberWire.subscription(["store_transaction_id": "703"])
        let answer = SubscriberWire.answer(["cards.pro.monthly": .object(renewed)])
        var byStore = Life()
        byStore.store(.term(Self.term("703")), of: Life.appStore, at: Self.start)
        try byStore.read(answer)
        #expect(byStore.lineages == [Life.appStore])
        var byRelay = Life()
        try byRelay.hear("RENEWAL", ["transaction_id": "703"])
        try byRelay.read(answer)
        #expect(byRelay.lineages == [Life.appStore])
        // Without a known lineage, the key is the transaction, which identifies it in a store
        // query.
        var alone = Life()
        try alone.read(answer)
        #expect(alone.lineages.map(\.key) == ["appStore:703"])
    }

    // MARK: Imported purchases

    /// The last period of a purchase before the switch, as a response names it.
    static func imported() throws -> Life {
        let renewed = SubscriberWire.subscription(["store_transaction_id": "703"])
        var life = Life()
        try life.read(SubscriberWire.answer(["cards.pro.monthly": .object(renewed)]))
        return life
    }

    static func joined(_ life: Life) -> Life {
        let chains = StoreChains(life.facts, isOfOneCustomer: true)
        return Life(facts: life.facts.map(chains.joined))
    }

    static let period: JSONObject = ["transaction_id": "703"]

    static let refund = period.changed([
        "cancel_reason": "CUSTOMER_SUPPORT", "price_in_purchased_currency": -9.99,
        "expiration_at_ms": RevenueCatWire.ms(.day("2026-05-12")),
    ])

    @Test func `a refund, its reversal and a failed payment reach an imported purchase`() throws {
        var refunded = try Self.imported()
        try refunded.hear("CANCELLATION", at: .day("2026-05-12"), Self.refund)
        #expect(Self.joined(refunded).lineages == [Life.appStore])
        #expect(
            Self.joined(refunded).told(.day("2026-05-20")) == "expired refunded revoked presumed"
        )
        try refunded.hear("REFUND_REVERSED", at: .day("2026-05-15"), Self.period)
        #expect(Self.joined(refunded).told(.day("2026-05-20")) == "active paid in-term presumed")
        var failed = try Self.imported()
        let graceEnd = RevenueCatWire.ms(RevenueCatWire.graceEnd)
        try failed.hear(
            "BILLING_ISSUE",
            at: Self.end + .minutes(5),
            Self.period.changed([
                "grace_period_expiration_at_ms": graceEnd, "expiration_at_ms": graceEnd,
            ])
        )
        failed = Self.joined(failed)
        #expect(failed.lineages == [Life.appStore])
        #expect(failed.told(.day("2026-06-10")) == "grace billingIssue in-grace presumed")
        #expect(failed.told(.day("2026-06-18")) == "hold billingRetry in-retry presumed")
    }

    @Test func `a renewal after an import continues the imported purchase`() throws {
        var life = try Self.imported()
        let renewal: JSONObject = [
            "transaction_id": "704", "purchased_at_ms": RevenueCatWire.ms(Self.end),
            "expiration_at_ms": RevenueCatWire.ms(Self.end + .days(30)),
        ]
        try life.hear("RENEWAL", at: Self.end + .minutes(1), renewal)
        let joined = Self.joined(life)
        #expect(joined.lineages == [Life.appStore])
        #expect(joined.told(.day("2026-05-20")) == "active paid in-term presumed")
        #expect(joined.told(.day("2026-06-10")) == "active paid in-term presumed")
        try life.hear(
            "CANCELLATION",
            at: Self.end + .hours(2),
            renewal.changed([
                "cancel_reason": "CUSTOMER_SUPPORT",
                "expiration_at_ms": RevenueCatWire.ms(Self.end + .hours(2)),
            ])
        )
        #expect(Self.joined(life).standing(Self.end + .hours(3))?.access == false)
    }

    @Test(
        arguments: [
            ["product_id": "cards.pro.yearly"], ["environment": "SANDBOX"],
            ["purchased_at_ms": RevenueCatWire.ms(end + .days(2))], ["is_family_share": true],
        ] as [JSONObject]
    )
    func `another purchase does not continue an imported one`(_ changes: JSONObject) throws {
        var life = try Self.imported()
        let renewal: JSONObject = [
            "transaction_id": "704", "purchased_at_ms": RevenueCatWire.ms(Self.end),
            "expiration_at_ms": RevenueCatWire.ms(Self.end + .days(30)),
        ]
        try life.hear("RENEWAL", at: Self.end + .minutes(1), renewal.changed(changes))
        #expect(Self.joined(life).lineages.count == 2)
    }

    @Test func `a first purchase of another subscription continues no imported one`() throws {
        var life = try Self.imported()
        let bought: JSONObject = [
            "transaction_id": "800", "original_transaction_id": "800",
            "purchased_at_ms": RevenueCatWire.ms(Self.end),
            "expiration_at_ms": RevenueCatWire.ms(Self.end + .days(30)),
        ]
        try life.hear("INITIAL_PURCHASE", at: Self.end, bought)
        // A later renewal makes the other lineage known by its first transaction.
        let renewal: JSONObject = [
            "transaction_id": "801", "original_transaction_id": "800",
            "purchased_at_ms": RevenueCatWire.ms(Self.end + .days(30)),
            "expiration_at_ms": RevenueCatWire.ms(Self.end + .days(60)),
        ]
        try life.hear("RENEWAL", at: Self.end + .days(30), renewal)
        #expect(Self.joined(life).lineages.map(\.id) == ["703", "800"])
    }

    // MARK: Purchases of other stores

    @Test(arguments: [
        ("STRIPE", "stripe"), ("AMAZON", "amazon"), ("PADDLE", "paddle"), ("GALAXY", "galaxy"),
    ])
    func `other stores have their own lineages`(_ store: String, _ prefix: String) throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE", ["store": .string(store)])
        #expect(life.lineages.map(\.key) == ["revenueCat:\(prefix):700"])
        #expect(life.told(.day("2026-05-10")) == "active paid in-term presumed")
    }

    @Test(arguments: ["STRIPE", "RC_BILLING", "AMAZON"])
    func `an event and an answer about a purchase of another store are one purchase`(
        _ store: String
    ) throws {
        let event: JSONObject = [
            "store": .string(store), "transaction_id": "in_1", "original_transaction_id": "sub_1",
        ]
        let subscription = SubscriberWire.subscription([
            "store": .string(store.lowercased()), "store_transaction_id": "in_1",
        ])
        let answer = SubscriberWire.answer(["cards.pro.monthly": .object(subscription)])
        let chain = "revenueCat:\(store.lowercased()):sub_1"
        var heardFirst = Life()
        try heardFirst.hear("INITIAL_PURCHASE", event)
        try heardFirst.read(answer)
        #expect(heardFirst.lineages.map(\.key) == [chain])
        var readFirst = Life()
        try readFirst.read(answer)
        try readFirst.hear("INITIAL_PURCHASE", event)
        let chains = StoreChains(readFirst.facts)
        let joined = Life(facts: readFirst.facts.map(chains.joined))
        #expect(joined.lineages.map(\.key) == [chain])
        #expect(joined.told(.day("2026-05-20")) == "active paid in-term presumed")
        // The same identifiers in another store name another purchase.
        try heardFirst.hear("INITIAL_PURCHASE", event.changed(["store": "PADDLE"]))
        #expect(heardFirst.lineages.count == 2)
    }

    @Test func `a promotional purchase is a grant of its entitlement`() throws {
        var life = Life()
        let promo: JSONObject = [
            "store": "PROMOTIONAL", "period_type": "PROMOTIONAL",
            "product_id": "rc_promo_premium_monthly", "transaction_id": "promo-1",
        ]
        try life.hear("NON_RENEWING_PURCHASE", promo)
        #expect(life.lineages.map(\.key) == ["revenueCat:promotional:promo-1:premium"])
        #expect(life.told(.day("2026-05-10")) == "active granted in-term presumed")
        #expect(life.standing(.day("2026-05-10"), "basic")?.access == false)
        #expect(life.standing(Self.end + .seconds(1))?.access == false)
        let takenBack = RevenueCatWire.ms(.day("2026-05-15"))
        try life.hear(
            "EXPIRATION",
            at: .day("2026-05-15"),
            promo.changed(["expiration_at_ms": takenBack])
        )
        #expect(life.standing(.day("2026-05-14"))?.access == true)
        #expect(life.standing(.day("2026-05-16"))?.access == false)
    }

    @Test func `an unknown store produces no facts`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE", ["store": "MOON_STORE"])
        #expect(life.facts == [])
    }

    @Test func `the sandbox is separate`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE", ["environment": "SANDBOX"])
        #expect(life.lineages.map(\.environment) == [.sandbox])
        #expect(life.standing(.day("2026-05-10"))?.access == false)
        #expect(life.snapshot(.day("2026-05-10"), in: .sandbox)["premium"]?.standing.access == true)
    }

    @Test func `a family member's purchase does not belong to the purchaser`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE", ["is_family_share": true])
        #expect(life.lineages.map(\.key) == ["appStore:700:family"])
    }

    // MARK: Owner

    @Test func `an owner is set once per chain, and the store's owner outranks it`()
        throws
    {
        let reading = try RevenueCatWire.read(RevenueCatWire.event("INITIAL_PURCHASE"))
        let claims = reading.claims(at: Self.start)
        #expect(
            claims == [
                OwnershipClaim(lineage: Life.appStore, customer: Life.customer, at: Self.start)
            ]
        )
        var life = Life()
        var named = Self.term()
        named.accountToken = CustomerID("another")
        life.store(.term(named), of: Life.appStore, at: Self.start)
        let ruling = claims[0].ruling(
            facts: life.facts,
            owners: [],
            policy: .claim,
            holderHasAccess: { false }
        )
        #expect(ruling == .refused(.namedByStore))
    }

    // MARK: Answers

    @Test func `an answer produces the same facts as the events`() throws {
        let grace = SubscriberWire.date(RevenueCatWire.graceEnd)
        let cases: [(JSONObject, at: Instant, then: Instant, answer: String)] = [
            ([:], SubscriberWire.asked, .day("2026-05-20"), "active paid in-term presumed"),
            (
                ["period_type": "trial"], SubscriberWire.asked, .day("2026-05-20"),
                "active trial in-term presumed"
            ),
            (
                ["period_type": "intro"], SubscriberWire.asked, .day("2026-05-20"),
                "active introductory in-term presumed"
            ),
            (
                ["unsubscribe_detected_at": "2026-05-05T10:00:00Z"], SubscriberWire.asked,
                .day("2026-06-02"), "expired cancelled ended presumed"
            ),
            (
                [
                    "billing_issues_detected_at": "2026-06-01T10:00:00Z",
                    "grace_period_expires_date": grace,
                ], .day("2026-06-02"), .day("2026-06-10"),
                "grace billingIssue in-grace presumed"
            ),
            (
                ["billing_issues_detected_at": "2026-06-01T10:00:00Z"], .day("2026-06-02"),
                .day("2026-06-10"), "hold billingRetry in-retry presumed"
            ),
            (
                ["refunded_at": "2026-05-05T10:00:00Z", "expires_date": "2026-05-05T10:00:00Z"],
                SubscriberWire.asked, .day("2026-05-20"), "expired refunded revoked presumed"
            ),
            (
                ["auto_resume_date": grace], .day("2026-06-02"), .day("2026-06-10"),
                "hold paused paused presumed"
            ),
            (
                ["auto_resume_date": grace, "unsubscribe_detected_at": "2026-05-05T10:00:00Z"],
                .day("2026-06-02"), .day("2026-06-10"), "expired cancelled ended presumed"
            ),
            (
                ["store": "stripe", "store_transaction_id": "sub_1"], SubscriberWire.asked,
                .day("2026-05-20"), "active paid in-term presumed"
            ),
        ]
        for (changes, at, then, answer) in cases {
            var life = Life()
            let subscription = SubscriberWire.subscription(changes)
            try life.read(
                SubscriberWire.answer(at: at, ["cards.pro.monthly": .object(subscription)])
            )
            #expect(life.told(then) == answer)
            #expect(Set(life.facts.map(\.source)) == [.revenueCatAPI])
            #expect(Set(life.facts.map(\.rank)) == [.relayed])
        }
    }

    @Test func `an answer contains the grace date`() throws {
        var life = Life()
        let subscription = SubscriberWire.subscription([
            "billing_issues_detected_at": "2026-06-01T10:00:00Z",
            "grace_period_expires_date": SubscriberWire.date(RevenueCatWire.graceEnd),
        ])
        try life.read(
            SubscriberWire.answer(
                at: .day("2026-06-02"),
                ["cards.pro.monthly": .object(subscription)]
            )
        )
        #expect(life.standing(.day("2026-06-10"))?.graceUntil == RevenueCatWire.graceEnd)
        #expect(life.standing(.day("2026-06-10"))?.accessUntil == RevenueCatWire.graceEnd)
    }

    @Test func `an answer's purchases and grants are read, its entitlements never`() throws {
        var life = Life()
        try life.read(
            SubscriberWire.answer(
                purchases: [
                    "cards.lifetime": [
                        [
                            "id": "b1", "store_transaction_id": "901", "store": "app_store",
                            "is_sandbox": false, "purchase_date": "2026-05-02T10:00:00Z",
                        ]
                    ]
                ]
            )
        )
        #expect(life.told(.day("2036-05-10")) == "active lifetime in-term presumed")
        var gift = Life()
        try gift.read(
            SubscriberWire.answer([
                "rc_promo_premium_six_month": .object(
                    SubscriberWire.subscription([
                        "store": "promotional", "period_type": "promotional",
                        "store_transaction_id": "promo-1",
                    ])
                )
            ])
        )
        #expect(gift.told(.day("2026-05-20")) == "active granted in-term presumed")
        #expect(gift.lineages.map(\.key) == ["revenueCat:promotional:promo-1:premium"])
        var concluded = Life()
        try concluded.read(
            SubscriberWire.answer(
                entitlements: [
                    "premium": ["expires_date": .null, "product_identifier": "cards.lifetime"]
                ]
            )
        )
        #expect(concluded.facts == [])
    }

    @Test func `a purchase without facts is reported`() throws {
        let production = RevenueCatReader(
            environments: [.production],
            catalogue: RevenueCatWire.catalogue
        )
        let answer = SubscriberWire.answer([
            "a": .object(SubscriberWire.subscription(["is_sandbox": true])),
            "b": .object(SubscriberWire.subscription(["store_transaction_id": .null])),
            "c": .object(SubscriberWire.subscription(["store": "moon_store"])),
            "d": .object(SubscriberWire.subscription(["purchase_date": false])),
        ])
        let reading = production.reading(of: try SubscriberWire.read(answer))
        #expect(reading.lineages == [])
        #expect(
            reading.notes == [
                .leftOut(.malformed(field: "subscriber.subscriptions.d.purchase_date")),
                .leftOut(.wrongEnvironment(accepted: [.production], found: .sandbox)),
                .incomplete(product: "b", missing: ["store_transaction_id"]),
                .unknownStore("MOON_STORE"),
            ]
        )
    }
}
