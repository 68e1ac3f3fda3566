import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests the standings that the rules derive from RevenueCat's events.
@Suite struct EventFactsTests {
    static let start = RevenueCatWire.start
    static let end = RevenueCatWire.end
    static let graceEnd = RevenueCatWire.graceEnd
    static let grace: JSONObject = ["grace_period_expiration_at_ms": RevenueCatWire.ms(graceEnd)]

    @Test func `a purchase event is a relay's fact and presumed`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        #expect(life.told(.day("2026-05-10")) == "active paid in-term presumed")
        #expect(life.standing(.day("2026-05-10"))?.accessUntil == Self.end)
        #expect(life.standing(.day("2026-05-10"))?.willRenew == true)
        #expect(life.lineages == [Life.appStore])
        #expect(Set(life.facts.map(\.rank)) == [.relayed])
        #expect(Set(life.facts.map(\.source)) == [.revenueCatWebhook])
        #expect(Set(life.facts.map(\.assertedAt)) == [Self.start])
        let term = try #require(life.facts.first)
        guard case .term(let stated) = term.assertion else {
            Issue.record("the first fact is no term")
            return
        }
        #expect(stated.transactionId == "700")
        #expect(stated.price == Money(milliunits: 9990, currency: "USD"))
        #expect(stated.origin == .purchase)
        #expect(stated.accountToken == nil, "a relay names no owner in the store's place")
    }

    @Test(arguments: [
        ("APP_STORE", "US", "USA"), ("PLAY_STORE", "US", "US"), ("STRIPE", "NL", "NL"),
        ("APP_STORE", "Q\u{0}", nil),
    ])
    func `the country is the store's, for reports by country`(
        store: String,
        code: String,
        expected: String?
    ) throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE", ["store": .string(store), "country_code": .string(code)])
        let terms = life.facts.compactMap { fact in
            if case .term(let term) = fact.assertion { term } else { nil }
        }
        #expect(terms.map(\.storefront) == [expected])
    }

    @Test(arguments: [
        ("NORMAL", "paid"), ("TRIAL", "trial"), ("INTRO", "introductory"), ("PREPAID", "prepaid"),
    ])
    func `a trial and an introductory price are distinguished`(_ period: String, _ reason: String)
        throws
    {
        var life = Life()
        try life.hear("INITIAL_PURCHASE", ["period_type": .string(period)])
        #expect(life.told(.day("2026-05-10")) == "active \(reason) in-term presumed")
    }

    @Test(arguments: [("NORMAL", nil), ("TRIAL", .freeTrial)] as [(String, Offer.Discount?)])
    func `a redeemed code is the offer of its period`(
        _ period: String,
        _ discount: Offer.Discount?
    ) throws {
        var life = Life()
        try life.hear(
            "INITIAL_PURCHASE",
            ["period_type": .string(period), "offer_code": "SPRING"]
        )
        let offers = life.facts.compactMap { fact in
            if case .term(let term) = fact.assertion { term.offer } else { nil }
        }
        #expect(offers == [Offer(kind: .code, discount: discount, identifier: "SPRING")])
    }

    @Test func `a converted trial is a renewal`() throws {
        var life = Life()
        let converted = Self.start + .days(3)
        try life.hear(
            "INITIAL_PURCHASE",
            ["period_type": "TRIAL", "expiration_at_ms": RevenueCatWire.ms(converted)]
        )
        try life.hear(
            "RENEWAL",
            at: converted,
            [
                "purchased_at_ms": RevenueCatWire.ms(converted), "transaction_id": "701",
                "expiration_at_ms": RevenueCatWire.ms(Self.end), "is_trial_conversion": true,
            ]
        )
        #expect(life.told(.day("2026-05-02")) == "active trial in-term presumed")
        #expect(life.told(.day("2026-05-10")) == "active paid in-term presumed")
        #expect(life.lineages == [Life.appStore])
    }

    // MARK: Cancellation and failure

    @Test func `a cancellation ends nothing before the period's end`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("CANCELLATION", at: .day("2026-05-10"), ["cancel_reason": "UNSUBSCRIBE"])
        #expect(life.told(.day("2026-05-31")) == "active paid in-term presumed")
        #expect(life.standing(.day("2026-05-31"))?.willRenew == false)
        #expect(life.told(.day("2026-06-02")) == "expired cancelled ended presumed")
        try life.hear("UNCANCELLATION", at: .day("2026-05-11"))
        #expect(life.standing(.day("2026-05-31"))?.willRenew == true)
    }

    @Test func `a purchase with a lost event is known from later events`() throws {
        var life = Life()
        try life.hear("CANCELLATION", at: .day("2026-05-10"), ["cancel_reason": "UNSUBSCRIBE"])
        #expect(life.told(.day("2026-05-20")) == "active paid in-term presumed")
        #expect(life.told(.day("2026-06-02")) == "expired cancelled ended presumed")
    }

    @Test func `grace ends at the grace date, never at the expiration date`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("BILLING_ISSUE", at: Self.end, Self.grace)
        let then = try #require(life.standing(.day("2026-06-10")))
        #expect(life.told(.day("2026-06-10")) == "grace billingIssue in-grace presumed")
        #expect(then.graceUntil == Self.graceEnd)
        #expect(then.accessUntil == Self.graceEnd)
        #expect(life.told(.day("2026-06-18")) == "hold billingRetry in-retry presumed")
    }

    @Test func `an expiration date moved to the grace date extends no access`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        let moved = Self.grace.changed(["expiration_at_ms": RevenueCatWire.ms(Self.graceEnd)])
        try life.hear("BILLING_ISSUE", at: Self.end + .minutes(5), moved)
        #expect(life.told(.day("2026-06-10")) == "grace billingIssue in-grace presumed")
        #expect(life.standing(.day("2026-06-10"))?.graceUntil == Self.graceEnd)
        #expect(life.told(.day("2026-06-18")) == "hold billingRetry in-retry presumed")
    }

    @Test func `a purchase that is first known from a failed payment has its grace`() throws {
        let moved = Self.grace.changed(["expiration_at_ms": RevenueCatWire.ms(Self.graceEnd)])
        let failedAt = Self.end + .minutes(5)
        var life = Life()
        try life.hear("BILLING_ISSUE", at: failedAt, moved)
        #expect(life.told(Self.end + .minutes(1)) == "active paid in-term presumed")
        #expect(life.told(.day("2026-06-10")) == "grace billingIssue in-grace presumed")
        #expect(life.standing(.day("2026-06-10"))?.graceUntil == Self.graceEnd)
        #expect(life.told(.day("2026-06-18")) == "hold billingRetry in-retry presumed")
        try life.hear(
            "EXPIRATION",
            at: Self.graceEnd + .minutes(3),
            moved.changed(["expiration_reason": "BILLING_ERROR"])
        )
        #expect(life.told(.day("2026-06-10")) == "grace billingIssue in-grace presumed")
        #expect(life.told(.day("2026-06-18")) == "hold billingRetry in-retry presumed")
        // The period's own statement arrives later and states its real end.
        try life.hear("INITIAL_PURCHASE", at: Self.start + .minutes(1))
        #expect(life.told(Self.end - .minutes(1)) == "active paid in-term presumed")
        #expect(life.told(Self.end + .minutes(1)) == "grace billingIssue in-grace presumed")
    }

    /// A failed payment that is announced before the period's end, with its end moved.
    static let movedFailure = (
        type: "BILLING_ISSUE", at: end - .hours(10),
        changes: grace.changed(["expiration_at_ms": RevenueCatWire.ms(graceEnd)])
    )

    /// Statements of the period's real end, whatever their dates.
    static let realEnds: [(type: String, at: Instant, changes: JSONObject)] = [
        ("CANCELLATION", .day("2026-05-10"), ["cancel_reason": "UNKNOWN"]),
        ("RENEWAL", start - .hours(4), [:]),
        ("SUBSCRIPTION_EXTENDED", end + .days(2), [:]),
    ]

    @Test(arguments: realEnds.indices, [false, true])
    func `the end presumed from a failed payment replaces no stated end`(
        _ place: Int,
        _ comesFirst: Bool
    ) throws {
        var stated = Life()
        let event = Self.realEnds[place]
        try stated.hear(event.type, at: event.at, event.changes)
        var failed = Life()
        let failure = Self.movedFailure
        try failed.hear(failure.type, at: failure.at, failure.changes)
        let facts = comesFirst ? failed.facts + stated.facts : stated.facts + failed.facts
        let life = Life(facts: facts)
        #expect(life.told(Self.end - .hours(1)) == "active paid in-term presumed")
        #expect(life.standing(Self.end - .hours(1))?.accessUntil == Self.end)
        let alone = failed.standing(Self.end - .hours(1))
        #expect(alone?.state == .grace)
        #expect(alone?.graceUntil == Self.graceEnd)
    }

    @Test func `an issue announced before the period's end counts from its end`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("BILLING_ISSUE", at: Self.end - .hours(10), Self.grace)
        try life.hear(
            "CANCELLATION",
            at: Self.end - .hours(10),
            ["cancel_reason": "BILLING_ERROR"]
        )
        #expect(life.told(Self.end - .hours(1)) == "active paid in-term presumed")
        #expect(life.told(Self.end) == "grace billingIssue in-grace presumed")
    }

    @Test func `an expiration after the store's grace does not shorten it`() throws {
        for expiration in [Self.end, Self.graceEnd] {
            var life = Life()
            try life.hear("INITIAL_PURCHASE")
            try life.hear("BILLING_ISSUE", at: Self.end, Self.grace)
            try life.hear(
                "EXPIRATION",
                at: Self.graceEnd + .minutes(3),
                [
                    "expiration_reason": "BILLING_ERROR",
                    "expiration_at_ms": RevenueCatWire.ms(expiration),
                ]
            )
            #expect(life.told(.day("2026-06-10")) == "grace billingIssue in-grace presumed")
            #expect(life.standing(.day("2026-06-18"))?.access == false)
            // The store retries for sixty days, so the subscription may still recover.
            #expect(life.told(.day("2026-06-18")) == "hold billingRetry in-retry presumed")
            #expect(life.standing(.day("2026-08-02"))?.state == .expired)
        }
    }

    @Test func `a customer who unsubscribes in grace loses access then`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("BILLING_ISSUE", at: Self.end, Self.grace)
        try life.hear(
            "EXPIRATION",
            at: .day("2026-06-05"),
            ["expiration_reason": "UNSUBSCRIBE"]
        )
        #expect(life.told(.day("2026-06-04")) == "grace billingIssue in-grace presumed")
        #expect(life.told(.day("2026-06-06")) == "expired cancelled ended presumed")
    }

    @Test func `a recovery is a renewal, and ends the issue`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("BILLING_ISSUE", at: Self.end, Self.grace)
        try life.hear(
            "RENEWAL",
            at: .day("2026-06-05"),
            [
                "transaction_id": "701", "purchased_at_ms": RevenueCatWire.ms(Self.end),
                "expiration_at_ms": RevenueCatWire.ms(Self.end + .days(30)),
            ]
        )
        #expect(life.told(.day("2026-06-03")) == "grace billingIssue in-grace presumed")
        #expect(life.told(.day("2026-06-10")) == "active paid in-term presumed")
    }

    /// A yearly period that RevenueCat stated before, and its expiration after ten days.
    static func endedEarly(_ reason: String) throws -> [Fact] {
        var life = Life()
        try life.hear(
            "INITIAL_PURCHASE",
            at: start + .minutes(1),
            ["expiration_at_ms": RevenueCatWire.ms(start + .days(365))]
        )
        let early: JSONObject = [
            "expiration_reason": .string(reason),
            "expiration_at_ms": RevenueCatWire.ms(start + .days(10)),
        ]
        try life.hear("EXPIRATION", at: start + .days(10) + .minutes(1), early)
        return life.facts
    }

    @Test(arguments: [
        ("UNSUBSCRIBE", "expired cancelled ended presumed"),
        ("DEVELOPER_INITIATED", "expired ended ended presumed"),
        ("BILLING_ERROR", "hold billingRetry in-retry presumed"),
    ])
    func `an expiration before the stated end ends the period`(_ reason: String, _ answer: String)
        throws
    {
        let facts = try Self.endedEarly(reason)
        for life in [Life(facts: facts), Life(facts: facts.reversed())] {
            #expect(life.told(Self.start + .days(9)) == "active paid in-term presumed")
            #expect(life.told(Self.start + .days(11)) == answer)
            #expect(life.standing(Self.start + .days(11))?.accessUntil == Self.start + .days(10))
        }
    }

    @Test func `an expiration after the stated end extends nothing`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("BILLING_ISSUE", at: Self.end, Self.grace)
        try life.hear(
            "EXPIRATION",
            at: Self.graceEnd + .minutes(3),
            [
                "expiration_reason": "BILLING_ERROR",
                "expiration_at_ms": RevenueCatWire.ms(Self.graceEnd),
            ]
        )
        #expect(life.told(Self.end + .hours(1)) == "grace billingIssue in-grace presumed")
    }

    // MARK: Convergence

    /// A billing issue, the cancellation and the expiration that RevenueCat sends with it.
    static func failure(
        stamped: [Milliseconds],
        grace: JSONObject,
        expiredAt: Instant? = nil
    ) -> [(type: String, at: Instant, changes: JSONObject)] {
        [
            ("BILLING_ISSUE", end + stamped[0], grace),
            ("CANCELLATION", end + stamped[1], ["cancel_reason": "BILLING_ERROR"]),
            (
                "EXPIRATION", expiredAt ?? end + stamped[2],
                ["expiration_reason": "BILLING_ERROR"]
            ),
        ]
    }

    static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    static let stamps = [[0, 0, 0]] + orders

    @Test(arguments: [false, true], stamps)
    func `issue, cancellation and expiration converge in every order`(
        _ hasGrace: Bool,
        _ stamp: [Int]
    ) throws {
        let events = Self.failure(
            stamped: stamp.map { .seconds(Int64($0)) },
            grace: hasGrace ? Self.grace : [:],
            expiredAt: hasGrace ? Self.graceEnd + .seconds(Int64(stamp[2])) : nil
        )
        let probes: [Instant] = [
            Self.start, .day("2026-05-31"), Self.end + .hours(1), .day("2026-06-10"),
            .day("2026-06-18"), .day("2026-07-20"), .day("2026-08-10"),
        ]
        let expected =
            hasGrace
            ? ["active", "active", "grace", "grace", "hold", "hold", "expired"]
            : ["active", "active", "hold", "hold", "hold", "hold", "expired"]
        var pieces: [[Fact]] = []
        for event in [(type: "INITIAL_PURCHASE", at: Self.start, changes: JSONObject())] + events {
            var life = Life()
            try life.hear(event.type, at: event.at, event.changes)
            pieces.append(life.facts)
        }
        for order in Self.orders {
            for purchaseComes in 0...3 {
                var sequence = order.map { pieces[$0 + 1] }
                sequence.insert(pieces[0], at: purchaseComes)
                // Each event occurs twice, because RevenueCat delivers at least once.
                let life = Life(facts: sequence.flatMap { $0 + $0 })
                let states = probes.map { life.standing($0)?.state.rawValue ?? "none" }
                #expect(states == expected)
            }
        }
    }

    // MARK: Refunds

    static let refundedAt = RevenueCatWire.instant("2026-05-10T10:00:00Z")

    static func refunded() throws -> Life {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear(
            "CANCELLATION",
            at: refundedAt,
            [
                "cancel_reason": "CUSTOMER_SUPPORT", "price_in_purchased_currency": -9.99,
                "expiration_at_ms": RevenueCatWire.ms(refundedAt),
            ]
        )
        return life
    }

    @Test func `a refund is not a lapse, and a lapse is not a refund`() throws {
        let life = try Self.refunded()
        #expect(life.told(.day("2026-05-09")) == "active paid in-term presumed")
        #expect(life.told(.day("2026-05-11")) == "expired refunded revoked presumed")
        #expect(life.told(.day("2026-06-10")) == "expired refunded revoked presumed")
        for reason in ["UNSUBSCRIBE", "BILLING_ERROR", "PRICE_INCREASE", "UNKNOWN"] {
            var lapsed = Life()
            try lapsed.hear("INITIAL_PURCHASE")
            try lapsed.hear("EXPIRATION", at: Self.end, ["expiration_reason": .string(reason)])
            #expect(lapsed.standing(.day("2026-06-10"))?.access == false)
            #expect(lapsed.standing(.day("2026-06-10"))?.reason != .refunded)
        }
    }

    @Test func `a later event of a refunded term does not restore it`() throws {
        var life = try Self.refunded()
        try life.hear("CANCELLATION", at: .day("2026-05-11"), ["cancel_reason": "UNSUBSCRIBE"])
        try life.hear("UNCANCELLATION", at: .day("2026-05-12"))
        #expect(life.told(.day("2026-05-13")) == "expired refunded revoked presumed")
    }

    @Test func `an expiration after a refund does not reverse it`() throws {
        var life = try Self.refunded()
        try life.hear(
            "EXPIRATION",
            at: Self.refundedAt + .hours(2),
            [
                "expiration_reason": "UNSUBSCRIBE",
                "expiration_at_ms": RevenueCatWire.ms(Self.refundedAt),
            ]
        )
        #expect(life.told(.day("2026-05-11")) == "expired refunded revoked presumed")
        #expect(life.told(.day("2026-06-10")) == "expired refunded revoked presumed")
    }

    @Test func `a refund of a period that continues revokes nothing`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("CANCELLATION", at: Self.refundedAt, ["cancel_reason": "CUSTOMER_SUPPORT"])
        #expect(life.told(.day("2026-05-20")) == "active paid in-term presumed")
        #expect(life.standing(.day("2026-06-10"))?.access == false)
        let event = RevenueCatWire.event(
            "CANCELLATION",
            at: Self.refundedAt,
            ["cancel_reason": "CUSTOMER_SUPPORT"]
        )
        #expect(try RevenueCatWire.read(event).notes == [.refundTakesNothingBack])
    }

    @Test func `a reversed refund restores access`() throws {
        var life = try Self.refunded()
        try life.hear("REFUND_REVERSED", at: .day("2026-05-15"))
        #expect(life.told(.day("2026-05-14")) == "expired refunded revoked presumed")
        #expect(life.told(.day("2026-05-16")) == "active paid in-term presumed")
    }

    /// A refund, its expiration and its reversal. Both state the date of the refund as the end.
    static func reversed(_ reason: String, at reversal: Instant) throws -> [Fact] {
        var life = try refunded()
        let ended = RevenueCatWire.ms(refundedAt)
        try life.hear(
            "EXPIRATION",
            at: refundedAt + .seconds(10),
            ["expiration_reason": .string(reason), "expiration_at_ms": ended]
        )
        try life.hear("REFUND_REVERSED", at: reversal)
        return life.facts
    }

    @Test(arguments: ["CUSTOMER_SUPPORT", "UNSUBSCRIBE"], [false, true])
    func `a reversed refund restores access after an expiration`(_ reason: String, _ isLate: Bool)
        throws
    {
        let facts = try Self.reversed(reason, at: .day(isLate ? "2026-06-10" : "2026-05-15"))
        for life in [Life(facts: facts), Life(facts: facts.reversed())] {
            #expect(life.told(.day("2026-05-09")) == "active paid in-term presumed")
            #expect(life.told(.day("2026-05-14")) == "expired refunded revoked presumed")
            guard !isLate else { continue }
            #expect(life.told(.day("2026-05-16")) == "active paid in-term presumed")
            #expect(life.standing(.day("2026-05-16"))?.accessUntil == Self.end)
        }
    }

    @Test func `a reversal after the period's end keeps the stated end`() throws {
        let life = Life(facts: try Self.reversed("CUSTOMER_SUPPORT", at: .day("2026-06-10")))
        #expect(life.standing(.day("2026-06-11"))?.state == .expired)
        #expect(life.standing(.day("2026-06-11"))?.accessUntil == Self.end)
    }

    @Test func `a refund ends a one-time purchase`() throws {
        var life = Life()
        let once: JSONObject = ["product_id": "cards.lifetime", "expiration_at_ms": .null]
        try life.hear("NON_RENEWING_PURCHASE", once)
        #expect(life.told(.day("2036-05-01")) == "active lifetime in-term presumed")
        try life.hear(
            "CANCELLATION",
            at: Self.refundedAt,
            once.changed(["cancel_reason": "CUSTOMER_SUPPORT"])
        )
        #expect(life.told(.day("2036-05-01")) == "expired refunded revoked presumed")
    }

    // MARK: Other events

    @Test func `the catalogue decides which products are one-time purchases`() throws {
        let kinds: [(product: String, answer: String)] = [
            ("cards.pass", "active prepaid in-term presumed"),
            ("cards.lifetime", "active lifetime in-term presumed"),
        ]
        for (product, answer) in kinds {
            var life = Life()
            try life.hear(
                "NON_RENEWING_PURCHASE",
                ["product_id": .string(product), "expiration_at_ms": .null]
            )
            #expect(life.told(.day("2026-05-10")) == answer)
        }
        var coins = Life()
        try coins.hear(
            "NON_RENEWING_PURCHASE",
            ["product_id": "cards.coins", "expiration_at_ms": .null]
        )
        #expect(coins.standing(.day("2026-05-10"))?.access == false)
    }

    @Test func `an extension moves the end`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        let later = Self.end + .days(14)
        try life.hear(
            "SUBSCRIPTION_EXTENDED",
            at: .day("2026-05-10"),
            ["expiration_at_ms": RevenueCatWire.ms(later)]
        )
        #expect(life.standing(.day("2026-05-20"))?.accessUntil == later)
    }

    @Test func `a change of product takes effect at renewal`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear(
            "PRODUCT_CHANGE",
            at: .day("2026-05-10"),
            ["new_product_id": "cards.pro.yearly"]
        )
        #expect(life.standing(.day("2026-05-20"))?.productId == "cards.pro.monthly")
        #expect(life.standing(Self.end + .hours(1))?.productId == "cards.pro.yearly")
    }

    static let pauseEnd: JSONObject = ["auto_resume_at_ms": RevenueCatWire.ms(graceEnd)]

    @Test func `a pause begins at the end of the period and ends at its date`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("SUBSCRIPTION_PAUSED", at: .day("2026-05-10"), Self.pauseEnd)
        let announced = life
        #expect(life.told(.day("2026-05-20")) == "active paid in-term presumed")
        try life.hear("EXPIRATION", at: Self.end, ["expiration_reason": "SUBSCRIPTION_PAUSED"])
        for life in [announced, life] {
            #expect(life.told(.day("2026-06-02")) == "hold paused paused presumed")
            #expect(life.standing(.day("2026-06-02"))?.accessUntil == Self.end)
            #expect(life.told(.day("2026-06-18")) == "hold paused resume-due presumed")
            #expect(life.told(.day("2026-09-01")) == "expired ended ended presumed")
        }
        try life.hear(
            "RENEWAL",
            at: Self.graceEnd,
            [
                "transaction_id": "701", "purchased_at_ms": RevenueCatWire.ms(Self.graceEnd),
                "expiration_at_ms": RevenueCatWire.ms(Self.graceEnd + .days(30)),
            ]
        )
        #expect(life.told(.day("2026-06-18")) == "active paid in-term presumed")
    }

    @Test func `a pause that is known from its expiration alone lasts sixty days`() throws {
        var life = Life()
        try life.hear(
            "EXPIRATION",
            at: Self.end + .minutes(1),
            ["expiration_reason": "SUBSCRIPTION_PAUSED"]
        )
        #expect(life.told(.day("2026-05-20")) == "active paid in-term presumed")
        #expect(life.told(.day("2026-07-30")) == "hold paused paused presumed")
        #expect(life.told(Self.end + .days(60)) == "hold paused resume-due presumed")
        #expect(life.told(Self.end + .days(120)) == "expired ended ended presumed")
    }

    @Test func `a pause keeps its date through a change of product`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("SUBSCRIPTION_PAUSED", at: .day("2026-05-10"), Self.pauseEnd)
        try life.hear(
            "PRODUCT_CHANGE",
            at: .day("2026-05-12"),
            ["new_product_id": "cards.pro.yearly"]
        )
        // The expiration states a slightly later end, and no date.
        try life.hear(
            "EXPIRATION",
            at: Self.end + .seconds(5),
            [
                "expiration_reason": "SUBSCRIPTION_PAUSED",
                "expiration_at_ms": RevenueCatWire.ms(Self.end + .seconds(3)),
            ]
        )
        #expect(life.told(Self.graceEnd - .seconds(1)) == "hold paused paused presumed")
        #expect(life.told(Self.graceEnd) == "hold paused resume-due presumed")
    }

    @Test func `a pause after a cancellation means that it renews`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("CANCELLATION", at: .day("2026-05-09"), ["cancel_reason": "UNSUBSCRIBE"])
        try life.hear("SUBSCRIPTION_PAUSED", at: .day("2026-05-10"), Self.pauseEnd)
        #expect(life.told(.day("2026-06-02")) == "hold paused paused presumed")
        try life.hear("CANCELLATION", at: .day("2026-05-11"), ["cancel_reason": "UNSUBSCRIBE"])
        #expect(life.told(.day("2026-06-02")) == "expired cancelled ended presumed")
    }

    @Test func `a customer who calls off a pause has an ordinary renewal`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("SUBSCRIPTION_PAUSED", at: .day("2026-05-10"), Self.pauseEnd)
        try life.hear("UNCANCELLATION", at: .day("2026-05-11"))
        #expect(life.told(Self.end + .hours(1)) == "active renewalDue renewal-due presumed")
    }

    @Test func `a temporary grant lasts a day at most`() throws {
        var life = Life()
        try life.hear(
            "TEMPORARY_ENTITLEMENT_GRANT",
            ["product_id": .null, "transaction_id": .null, "original_transaction_id": .null]
        )
        #expect(life.told(Self.start + .hours(23)) == "active granted in-term presumed")
        #expect(life.standing(Self.start + .hours(24))?.access == false)
    }

    @Test func `a temporary grant of the last instant ends at it`() throws {
        let last = Instant.writable.upperBound
        var life = Life()
        try life.receive(
            TemporaryGrant.event(
                ["event_timestamp_ms": RevenueCatWire.ms(last), "expiration_at_ms": .null]
            )
        )
        let ends = life.facts.compactMap { fact -> Instant? in
            if case .grant(let grant) = fact.assertion { grant.end } else { nil }
        }
        #expect(ends == [last])
    }

    static let grants: [JSONObject] = [
        [:], ["entitlement_ids": .null], ["transaction_id": .null, "store": .null],
        ["aliases": ["$RCAnonymousID:c1", "u_42"]], ["store": "MOON_STORE"],
        [
            "store": "PLAY_STORE", "product_id": "cards.pro.monthly:monthly",
            "entitlement_ids": .null,
        ],
    ]

    @Test(arguments: grants)
    func `a temporary grant without an environment gives access until it expires`(
        _ changes: JSONObject
    ) throws {
        var life = Life()
        try life.receive(TemporaryGrant.event(changes))
        let last = TemporaryGrant.end - .seconds(1)
        #expect(life.told(last) == "active granted in-term presumed")
        #expect(life.standing(last)?.accessUntil == TemporaryGrant.end)
        #expect(life.standing(TemporaryGrant.end)?.access == false)
    }

    @Test func `the real purchase replaces a temporary grant`() throws {
        var life = Life()
        try life.receive(TemporaryGrant.event())
        try life.hear("INITIAL_PURCHASE", at: Self.start + .hours(2))
        let now = Self.start + .hours(3)
        #expect(life.told(now) == "active paid in-term presumed")
        #expect(life.standing(now)?.accessUntil == Self.end)
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `a temporary grant ends with the expiration of its transaction`(
        _ order: [Int]
    ) throws {
        let at = Self.start + .hours(2)
        let expired = TemporaryGrant.event([
            "type": "EXPIRATION", "id": "E-21", "event_timestamp_ms": RevenueCatWire.ms(at),
            "environment": "PRODUCTION", "expiration_reason": "UNKNOWN",
        ])
        var life = Life()
        for place in order { try life.receive([TemporaryGrant.event(), expired][place]) }
        #expect(life.standing(at - .seconds(1))?.access == true)
        #expect(life.standing(at + .seconds(1))?.access == false)
    }

    @Test func `the expiration of a subscription ends no temporary grant`() throws {
        var life = Life()
        try life.hear("EXPIRATION", at: Self.end, ["expiration_reason": "UNSUBSCRIBE"])
        #expect(life.lineages.map(\.store) == [.appStore])
    }

    @Test(arguments: ["WINBACK", "TEST", "INVOICE_ISSUANCE", "EXPERIMENT_ENROLLMENT", "TRANSFER"])
    func `unknown types and types without a purchase change nothing`(_ type: String) throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        let before = life.facts
        try life.hear(type, at: .day("2026-05-10"), ["transferred_to": ["u_7"]])
        #expect(life.facts == before)
    }

    @Test func `an unknown reason does not end a renewal and is counted`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        try life.hear("CANCELLATION", at: .day("2026-05-10"), ["cancel_reason": "BOREDOM"])
        #expect(life.standing(.day("2026-05-20"))?.willRenew == true)
        let unknown = Unrecognised(field: "cancel_reason", value: "BOREDOM")
        #expect(life.facts.contains { $0.assertion == .unrecognised(unknown) })
    }

    @Test func `an event without a purchase reports the missing field`() throws {
        let event = RevenueCatWire.event("RENEWAL", ["transaction_id": .null])
        let reading = try RevenueCatWire.read(event)
        #expect(reading.lineages == [])
        #expect(
            reading.notes == [
                .incomplete(product: "cards.pro.monthly", missing: ["transaction_id"])
            ]
        )
    }
}
