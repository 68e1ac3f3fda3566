import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLives
import TideoverRevenueCat
import TideoverUnionChecker

private typealias StoreLife = TideoverLives.Life

/// Tests that `isActive` in the SDKs of each platform is our `access`.
@Suite struct SDKProjectionTests {
    // MARK: Generated lives

    /// Lives of both stores, with what one seed makes of each.
    private static func lives(_ seed: UInt64) -> [StoreLife] {
        var random = SeededRandom(seed: seed)
        let apple = GeneratedLife(&random).life
        let play = GeneratedPlayLife(&random)
        return [apple, play.life, play.unread]
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `at each boundary an entitlement is active exactly while there is access`(
        seed: UInt64
    ) throws {
        for life in Self.lives(seed) {
            for instant in life.probes {
                try life.record.requireAgreement(at: instant)
                try life.record.asKnown(at: instant).requireAgreement(at: instant)
            }
        }
    }

    @Test func `a stored answer stays right as long as its tag does`() throws {
        // By access: how many later answers had the same tag.
        var confirmed = [true: 0, false: 0]
        for life in (1...3).flatMap(Self.lives) {
            for start in life.probes.few {
                let record = life.record.asKnown(at: start)
                let first = Answered(record, at: start)
                for later in life.probes.filter({ $0 > start }).prefix(12) {
                    let fresh = Answered(record, at: later)
                    guard first.info.tagged != nil, fresh.info.tagged == first.info.tagged
                    else { continue }
                    let time = String(later.millisecondsSince1970)
                    let stored = try UnionChecker(first.bytes, requestTime: time, isStored: true)
                    try stored.requireAgreement(with: fresh.snapshot, "asked at \(start.rfc3339)")
                    let hasAccess = fresh.snapshot.entitlements.contains(where: \.standing.access)
                    confirmed[hasAccess, default: 0] += 1
                }
            }
        }
        #expect(confirmed.values.allSatisfy { $0 > 20 }, "\(confirmed)")
    }

    // MARK: Single purchases

    private static let start: Instant = "2026-05-01"
    private static let end: Instant = "2026-06-01"

    private static func monthly() -> StoreLife {
        var life = StoreLife()
        life.term("1", from: start, to: end, signed: start, origin: .purchase)
        life.outlook(end: end, signed: start)
        return life
    }

    /// Returns an answer after the checks that every answer passes.
    private func answer(_ life: StoreLife, at instant: Instant) throws -> Answered {
        try life.record.requireAgreement(at: instant)
        return Answered(life.record, at: instant)
    }

    @Test func `a running subscription lasts until its access ends`() throws {
        let info = try answer(Self.monthly(), at: "2026-05-20").info
        let entry = try #require(info.subscriptions["monthly"])
        #expect(entry.store == .appStore)
        #expect(entry.period == .normal)
        #expect(entry.unsubscribedAt == nil)
        #expect(entry.transactionId == "t1")
        #expect(info.entitlements["premium"]?.product == "monthly")
        #expect(info.managementURL == "https://apps.apple.com/account/subscriptions")
        #expect(info.originalAppUserId == "anna")
        #expect(info.firstSeen == Self.start)
    }

    @Test func `grace carries its end in both expiry dates`() throws {
        var life = Self.monthly()
        let failed = Self.end + .minutes(2)
        life.outlook(end: Self.end, signed: failed, retrying: true, grace: "2026-06-17")
        life.condition(.grace, end: Self.end, signed: failed)
        let answered = try answer(life, at: "2026-06-10")
        let entry = try #require(answered.info.subscriptions["monthly"])
        #expect(entry.expires == .active(until: "2026-06-17"))
        #expect(answered.info.entitlements["premium"]?.expires == .active(until: "2026-06-17"))
        #expect(entry.graceUntil == "2026-06-17")
        #expect(entry.billingIssueAt == failed)
        let checker = try answered.checker()
        for platform in [UnionChecker.Platform.ios, .android] {
            #expect(checker.activeSubscriptions(on: platform) == ["monthly"])
            #expect(!checker.willRenew("premium", on: platform))
        }
    }

    @Test func `a hold without grace is inactive and shows the failure`() throws {
        var life = Self.monthly()
        life.outlook(end: Self.end, signed: Self.end + .minutes(2), retrying: true)
        life.condition(.retry, end: Self.end, signed: Self.end + .minutes(2))
        let answered = try answer(life, at: "2026-06-10")
        #expect(answered.snapshot["premium"]?.standing.state == .hold)
        #expect(answered.info.subscriptions["monthly"]?.billingIssueAt != nil)
        #expect(try answered.checker().activeSubscriptions(on: .android) == [])
    }

    @Test func `a hold that policy keeps is active`() throws {
        var life = Self.monthly()
        life.policy.billingRetry = .keep(.days(20))
        life.outlook(end: Self.end, signed: Self.end + .minutes(2), retrying: true)
        life.condition(.retry, end: Self.end, signed: Self.end + .minutes(2))
        let answered = try answer(life, at: "2026-06-10")
        #expect(answered.snapshot["premium"]?.standing.access == true)
        #expect(answered.info.entitlements["premium"]?.expires.isActive == true)
    }

    @Test func `a refund moves the end to its date and stops the renewal`() throws {
        var life = Self.monthly()
        life.revoke("1", at: "2026-05-10")
        let answered = try answer(life, at: "2026-05-20")
        let entry = try #require(answered.info.subscriptions["monthly"])
        #expect(entry.expires == .ended("2026-05-10"))
        #expect(entry.refundedAt == "2026-05-10")
        #expect(entry.unsubscribedAt == "2026-05-10")
        let checker = try answered.checker()
        #expect(!checker.willRenew("premium", on: .ios))
        #expect(checker.activeSubscriptions(on: .ios) == [])
    }

    @Test func `a refund after the end keeps its own date`() throws {
        var life = Self.monthly()
        life.outlook(end: Self.end, signed: "2026-05-09", renews: false)
        life.revoke("1", at: Self.end + .days(20))
        let answered = try answer(life, at: Self.end + .days(25))
        let entry = try #require(answered.info.subscriptions["monthly"])
        #expect(entry.expires == .ended(Self.end))
        #expect(entry.refundedAt == Self.end + .days(20))
    }

    @Test func `a cancelled subscription lasts and does not renew`() throws {
        var life = Self.monthly()
        life.outlook(end: Self.end, signed: "2026-05-09", renews: false)
        let answered = try answer(life, at: "2026-05-20")
        #expect(answered.info.subscriptions["monthly"]?.unsubscribedAt == "2026-05-09")
        let checker = try answered.checker()
        #expect(checker.isActive("premium", on: .ios))
        #expect(!checker.willRenew("premium", on: .ios))
    }

    @Test func `a renewal that is due keeps access past the stated end`() throws {
        let answered = try answer(Self.monthly(), at: Self.end + .hours(1))
        #expect(answered.snapshot["premium"]?.standing.access == true)
        #expect(answered.info.entitlements["premium"]?.expires.isActive == true)
        #expect(answered.info.subscriptions["monthly"]?.billingIssueAt == nil)
    }

    @Test func `a lifetime is a one-time purchase without an end`() throws {
        var life = StoreLife()
        life.term("7", "lifetime", from: Self.start, to: nil, plan: .nonConsumable)
        let info = try answer(life, at: "2026-09-01").info
        #expect(info.subscriptions.isEmpty)
        #expect(info.purchases["lifetime"]?.map(\.transactionId) == ["t7"])
        #expect(info.entitlements["premium"]?.expires == .never)
    }

    @Test func `a refunded lifetime is left out`() throws {
        var life = StoreLife()
        life.term("7", "lifetime", from: Self.start, to: nil, plan: .nonConsumable)
        let revocation = Revocation(term: TermKey("t:t7"), date: "2026-05-10", cause: .refund)
        life.say(.revocation(revocation), at: "2026-05-10")
        let info = try answer(life, at: "2026-09-01").info
        #expect(info.purchases.isEmpty)
        #expect(info.entitlements.isEmpty)
    }

    @Test func `an ended non-renewing purchase unlocks nothing on the web`() throws {
        var life = StoreLife()
        life.term("7", "pass", from: Self.start, to: "2026-05-31", plan: .nonRenewing)
        let running = try answer(life, at: "2026-05-20").info
        #expect(running.entitlements["premium"]?.expires == .active(until: "2026-05-31"))
        let ended = try answer(life, at: "2026-06-20").info
        #expect(ended.purchases["pass"]?.count == 1)
        #expect(ended.entitlements.isEmpty)
    }

    @Test func `each consumable is listed, so that a device can finish it`() throws {
        var life = StoreLife()
        for id in ["7", "8"] {
            life.term(id, "coins", from: Self.start, to: nil, plan: .consumable)
        }
        let info = try answer(life, at: "2026-05-20").info
        #expect(info.purchases["coins"]?.map(\.transactionId).sorted() == ["t7", "t8"])
        #expect(info.entitlements.isEmpty)
    }

    @Test func `a family member has no page to manage`() throws {
        var life = StoreLife(ownership: .familyShared)
        life.term("1", from: Self.start, to: Self.end, signed: Self.start)
        let answered = try answer(life, at: "2026-05-20")
        #expect(answered.info.subscriptions["monthly"]?.isFamilyShared == true)
        #expect(answered.info.managementURL == nil)
        #expect(answered.info.subscriptions["monthly"]?.managementURL == nil)
    }

    @Test(arguments: [nil, "2026-05-31"] as [Instant?])
    func `a grant is a promotional subscription`(end: Instant?) throws {
        var life = StoreLife("g1", store: .tideover)
        life.grant(from: Self.start, to: end)
        let answered = try answer(life, at: "2026-05-20")
        let key = end == nil ? "rc_promo_premium_lifetime" : "rc_promo_premium_custom"
        #expect(answered.info.subscriptions[key]?.store == .promotional)
        #expect(answered.info.entitlements["premium"]?.product == key)
        #expect(try !answered.checker().willRenew("premium", on: .android))
    }

    @Test(arguments: [
        ("stripe:sub_1", "stripe"), ("rc_billing:1", "rc_billing"), ("paddle:1", "paddle"),
        ("kiosk:1", "external"),
    ])
    func `a purchase that only RevenueCat reads keeps the name of its store`(
        id: String,
        store: String
    ) throws {
        var life = StoreLife(id, store: .revenueCat)
        life.term("1", from: Self.start, to: Self.end, origin: .purchase, rank: .relayed)
        let bytes = try answer(life, at: "2026-05-20").bytes
        let subscriber = try JSONDocument(bytes).root["subscriber"]
        #expect(subscriber?["subscriptions"]?["monthly"]?["store"]?.string == store)
    }

    @Test func `a purchase on Google Play is keyed without its base plan`() throws {
        var life = StoreLife.play()
        life.catalogue = Catalogue(products: [
            "cards_pro:monthly": Product(entitlements: ["premium"], period: Period(months: 1))
        ])
        let item = PlayItem(
            productId: "cards_pro",
            basePlan: "monthly",
            expiresAt: Self.end,
            plan: .autoRenewing(isOn: true),
            orderId: "GPA.1"
        )
        life.read(
            PlaySubscription(
                token: PlayToken("a"),
                askedAt: Self.start,
                state: .active,
                items: [item],
                startedAt: Self.start
            ),
            at: Self.start
        )
        let answered = try answer(life, at: "2026-05-20")
        let entry = try #require(answered.info.subscriptions["cards_pro"])
        #expect(entry.basePlan == "monthly")
        #expect(entry.store == .playStore)
        #expect(entry.transactionId == "GPA.1")
        #expect(answered.info.entitlements["premium"]?.basePlan == "monthly")
        #expect(
            try answered.checker().activeSubscriptions(on: .ios) == ["cards_pro:monthly"]
        )
    }

    @Test func `a paused subscription shows when it resumes and no failure`() throws {
        var life = StoreLife.play()
        life.read(.active, until: Self.end, at: Self.start)
        life.read(.paused, until: Self.end, at: Self.end, resumes: "2026-07-01")
        let answered = try answer(life, at: "2026-06-10")
        #expect(answered.snapshot["premium"]?.standing.reason == .paused)
        let entry = try #require(answered.info.subscriptions["play"])
        #expect(entry.resumesAt == "2026-07-01")
        #expect(entry.billingIssueAt == nil)
    }

    @Test func `a customer without any purchase has an empty answer without a tag`() throws {
        let answered = Answered(StoreLife().record, at: "2026-05-20")
        #expect(answered.info.firstSeen == nil)
        #expect(answered.info.tagged == nil)
        #expect(try answered.checker().entitlements.isEmpty)
    }

    // MARK: Rounding and tags

    @Test func `an end between two seconds is rounded up, and lost within a second`() throws {
        var life = StoreLife("g1", store: .tideover)
        let end = Self.end + Milliseconds(999)
        life.grant(from: Self.start, to: end)
        #expect(try answer(life, at: end.justBefore).checker().isActive("premium", on: .android))
        #expect(try !answer(life, at: end).checker().isActive("premium", on: .ios))
    }

    @Test func `a tag changes with the end and not with time`() throws {
        let life = Self.monthly()
        var extended = life
        extended.revoke("1", at: "2026-05-19")
        let first = try answer(life, at: "2026-05-18").info.tagged
        #expect(try answer(life, at: "2026-05-20").info.tagged == first)
        #expect(try answer(extended, at: "2026-05-20").info.tagged != first)
    }
}

// MARK: - Support

extension TideoverLives.Life {
    fileprivate static let owner = CustomerID("anna").unsafelyUnwrapped

    /// The life as the record of its only customer.
    fileprivate var record: CustomerRecord {
        CustomerRecord(
            customer: Self.owner,
            environment: lineage.environment,
            lineageRecords: [
                .init(
                    lineage: lineage,
                    facts: facts,
                    owners: [
                        OwnershipEntry(
                            lineage: lineage,
                            customer: Self.owner,
                            from: .distantPast,
                            why: .claimed,
                            // Without it the owner is not known at any earlier instant.
                            decidedAt: .distantPast
                        )
                    ]
                )
            ],
            catalogue: catalogue,
            policy: policy
        )
    }

    /// One millisecond before, at and after each boundary.
    fileprivate var probes: [Instant] {
        Set(history.boundaries(policy: policy)).sorted().flatMap { edge in
            [edge.justBefore, edge, edge + Milliseconds(1)]
        }
    }
}

extension Array {
    /// About eight elements, spread over the list.
    fileprivate var few: [Element] {
        let step = Swift.max(1, count / 8)
        return indices.filter { $0.isMultiple(of: step) }.map { self[$0] }
    }
}

/// An answer with the snapshot that it must agree with.
private struct Answered {
    let snapshot: Snapshot
    let info: SDKCustomerInfo
    let bytes: [UInt8]

    init(_ record: CustomerRecord, at instant: Instant) {
        let history = record.history
        snapshot = history.snapshot(at: instant)
        let info = SDKProjection(record, history, at: instant).customerInfo
        self.info = info
        var writer = JSONWriter()
        writer.object { info.writeMembers(to: &$0, requestDate: instant) }
        bytes = writer.bytes
    }

    /// The answer as devices read it that use the date of the body.
    func checker() throws -> UnionChecker { try UnionChecker(bytes) }
}

extension CustomerRecord {
    /// Requires that all SDKs conclude our access, by the date of the body and by the header's.
    fileprivate func requireAgreement(at instant: Instant) throws {
        let answered = Answered(self, at: instant)
        for time in [nil, String(instant.millisecondsSince1970)] {
            try UnionChecker(answered.bytes, requestTime: time)
                .requireAgreement(with: answered.snapshot, time == nil ? "body" : "header")
        }
    }
}

extension UnionChecker {
    fileprivate func requireAgreement(with snapshot: Snapshot, _ detail: String) throws {
        for entitlement in snapshot.entitlements {
            for platform in Platform.allCases {
                try #require(
                    isActive(entitlement.name, on: platform) == entitlement.standing.access,
                    """
                    \(entitlement.name) on \(platform.rawValue) at \(snapshot.asOf.rfc3339), \
                    \(detail): \(entitlement.standing.rule.rawValue), \
                    ends \(entitlements[entitlement.name]?.expires?.rfc3339 ?? "never")
                    """
                )
            }
        }
        #expect(entitlements.keys.allSatisfy { snapshot[$0] != nil })
    }
}
