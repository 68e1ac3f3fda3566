import Testing
import TideoverCore
import TideoverLives

/// Eligibility for an introductory offer, which is given once per subscription group.
@Suite struct EligibilityTests {
    static let paidIntroduction = Offer(kind: .introductory, discount: .payAsYouGo)
    static let promotionalTrial = Offer(kind: .promotional, discount: .freeTrial)

    static func eligibility(
        _ lives: [Life],
        in group: String = "pro",
        at instant: Instant = "2027-01-01"
    ) -> IntroductoryEligibility {
        SnapshotTests.history(lives).introductoryEligibility(in: group, at: instant)
    }

    /// A month bought on 1 May with an offer or without.
    static func bought(_ offer: Offer? = nil, ownership: Ownership = .purchased) -> Life {
        var life = Life(ownership: ownership)
        life.term("1", from: "2026-05-01", to: "2026-06-01", offer: offer, origin: .purchase)
        return life
    }

    @Test func `eligibility is unknown for a customer without known purchases`() {
        #expect(Self.eligibility([]) == .unknown)
        var lifetime = Life()
        lifetime.term("1", "lifetime", from: "2026-05-01", to: nil, plan: .nonConsumable)
        #expect(Self.eligibility([lifetime]) == .unknown)
    }

    @Test(
        arguments: [
            (nil, .eligible), (StandingTests.trial, .used), (paidIntroduction, .used),
            (promotionalTrial, .eligible), (Offer(kind: .code, discount: .freeTrial), .eligible),
            (Offer(kind: .winBack), .eligible), (Offer(kind: .unrecognised("9")), .unknown),
        ] as [(Offer?, IntroductoryEligibility)]
    )
    func `only introductory offers count, whatever their discount`(
        offer: Offer?,
        eligibility: IntroductoryEligibility
    ) {
        #expect(Self.eligibility([Self.bought(offer)]) == eligibility)
    }

    @Test func `a trial is a free trial, whatever kind of offer it is`() {
        #expect(StandingTests.trial.isTrial)
        #expect(Self.promotionalTrial.isTrial)
        #expect(!Self.paidIntroduction.isTrial)
    }

    @Test func `a trial is used from its purchase on and unknown before`() {
        let life = Self.bought(StandingTests.trial)
        let start: Instant = "2026-05-01"
        #expect(Self.eligibility([life], at: start.justBefore) == .unknown)
        #expect(Self.eligibility([life], at: start) == .used)
    }

    @Test func `a refund does not restore eligibility`() {
        var life = Self.bought(StandingTests.trial)
        life.revoke("1", at: "2026-05-02")
        #expect(Self.eligibility([life]) == .used)
    }

    @Test func `eligibility depends on all of a customer's purchases in the group only`() {
        var second = Life("2000")
        second.term(
            "2",
            "yearly",
            from: "2026-08-01",
            to: "2027-08-01",
            offer: StandingTests.trial,
            origin: .purchase
        )
        #expect(Self.eligibility([Self.bought(), second]) == .used)
        #expect(Self.eligibility([Self.bought(), second], in: "other") == .unknown)
    }

    @Test func `a family share does not use up the trial`() {
        let shared = Self.bought(StandingTests.trial, ownership: .familyShared)
        #expect(Self.eligibility([shared]) == .unknown)
        var own = Life("2000")
        own.term("2", from: "2026-08-01", to: "2026-09-01", origin: .purchase)
        #expect(Self.eligibility([shared, own]) == .eligible)
    }

    // MARK: Unknown history

    @Test func `a history that does not begin with a purchase may hide a trial`() {
        for origin in [Term.Origin.renewal, .unstated] {
            var life = Life()
            life.term("1", from: "2026-05-01", to: "2026-06-01", origin: origin)
            #expect(Self.eligibility([life]) == .unknown)
        }
    }

    @Test func `a gap may hide a trial, unless a payment had failed`() {
        var life = Self.bought()
        life.term("2", from: "2026-06-01", to: "2026-07-01")
        #expect(Self.eligibility([life]) == .eligible)
        life.term("4", from: "2026-08-01", to: "2026-09-01")
        #expect(Self.eligibility([life]) == .unknown)
        life.outlook(end: "2026-07-01", signed: "2026-07-01", retrying: true)
        #expect(Self.eligibility([life]) == .eligible)
    }

    // MARK: Stores

    static let trials = Catalogue(products: [
        "pro": Product(entitlements: ["premium"], group: "pro", trial: Period(days: 3)),
        "basic": Product(entitlements: ["basic"], group: "basic"),
        "play:monthly": Product(entitlements: ["premium"], group: "play", trial: Period(days: 7)),
    ])

    /// Returns `product eligibility` of the trial offered on a device.
    private func offered(
        _ lives: [Life] = [],
        sold stores: [Store] = [.appStore, .googlePlay],
        reconciledAt: Instant? = nil,
        presented: [Store: Instant] = [:],
        accountOffers: [AccountOffer: Instant] = [:],
        on device: Store? = nil
    ) -> String? {
        let lived = AdviceTests.history(lives, catalogue: Self.trials)
        var stores = CustomerStores(selling: stores, presented: presented)
        stores.accountOffers = accountOffers
        let history = CustomerHistory(
            customer: SnapshotTests.anna,
            environment: lived.environment,
            lineageRecords: lived.lineageRecords,
            catalogue: Versioned(Self.trials),
            policy: Versioned(Policy()),
            reconciledAt: reconciledAt,
            stores: stores
        )
        let snapshot = history.snapshot(at: "2026-07-01", shown: Presentation(store: device))
        let offer = snapshot["premium"]?.guidance.trialOffer
        return offer.map { "\($0.productId) \($0.eligibility)" }
    }

    @Test func `a trial used on the App Store is not offered on Google Play`() {
        var life = Life()
        life.term(
            "1",
            "pro",
            from: "2026-05-01",
            to: "2026-05-04",
            offer: StandingTests.trial,
            origin: .purchase
        )
        #expect(offered([life]) == "pro used")
        #expect(offered([life], on: .appStore) == "pro used")
        #expect(offered([life], on: .googlePlay) == "play:monthly unknown")
    }

    @Test func `a device that presented everything makes a new customer eligible`() {
        let then: Instant = "2026-06-30"
        #expect(offered(sold: [.appStore]) == "pro unknown")
        #expect(offered(sold: [.appStore], reconciledAt: then) == "pro eligible")
        #expect(offered(sold: [.appStore], reconciledAt: "2026-07-02") == "pro unknown")
        #expect(offered(sold: [.googlePlay], reconciledAt: then) == "play:monthly eligible")
        // The device did not report its store.
        #expect(offered(reconciledAt: then, on: .appStore) == "pro unknown")
        let presented: [Store: Instant] = [.appStore: then]
        #expect(offered(reconciledAt: then, presented: presented, on: .appStore) == "pro eligible")
        #expect(
            offered(reconciledAt: then, presented: presented, on: .googlePlay)
                == "play:monthly unknown"
        )
        #expect(offered(presented: [.appStore: "2026-07-02"], on: .appStore) == "pro unknown")
    }

    @Test(
        arguments: [
            ("pro", .appStore, true, "pro used"), ("pro", .appStore, false, "pro unknown"),
            ("gone", .appStore, true, "pro unknown"), ("basic", .appStore, true, "pro eligible"),
            ("play:monthly", .googlePlay, true, "pro eligible"),
        ] as [(String, Store, Bool, String)]
    )
    func `an offer that the store account used for another customer counts in its group`(
        product: String,
        store: Store,
        isUsed: Bool,
        expected: String
    ) {
        let then: Instant = "2026-06-30"
        let offer = AccountOffer(store: store, productId: product, isUsed: isUsed)
        let presented: [Store: Instant] = [.appStore: then]
        #expect(
            offered(presented: presented, accountOffers: [offer: then], on: .appStore) == expected
        )
        // A later report changes nothing before.
        #expect(
            offered(presented: presented, accountOffers: [offer: "2026-07-02"], on: .appStore)
                == "pro eligible"
        )
    }

    @Test(
        arguments: [
            ("pro", nil, true, true), ("pro", .appStore, true, false),
            ("pro", .googlePlay, false, true), ("pro:monthly", nil, false, true),
        ] as [(String, Store?, Bool, Bool)]
    )
    func `a catalogue contains the store of a product`(
        id: String,
        store: Store?,
        onAppStore: Bool,
        onGooglePlay: Bool
    ) {
        let catalogue = Catalogue(products: [id: Product(entitlements: [], store: store)])
        #expect(catalogue.sells(id, in: .appStore) == onAppStore)
        #expect(catalogue.sells(id, in: .googlePlay) == onGooglePlay)
    }

    @Test func `a later purchase hides no trial`() {
        var life = Self.bought()
        life.term("9", from: "2026-10-01", to: "2026-11-01", origin: .purchase)
        #expect(Self.eligibility([life]) == .eligible)
    }

    @Test func `a presumed term may have been a trial`() {
        var life = Self.bought()
        life.outlook(end: "2026-07-04", signed: "2026-07-01")
        #expect(Self.eligibility([life], at: "2026-06-30") == .eligible)
        #expect(Self.eligibility([life], at: "2026-07-01") == .unknown)
    }

    @Test func `a relay's fact does not rule out a trial`() {
        var life = Life()
        life.term("1", from: "2026-05-01", to: "2026-06-01", origin: .purchase, rank: .relayed)
        #expect(Self.eligibility([life]) == .unknown)
    }

    @Test(
        arguments: [
            (.freeTrial, "GPA.1", .used), (.introductory, "GPA.1", .used),
            (.base, "GPA.1", .eligible), (.base, "GPA.1..4", .unknown),
        ] as [(PlayItem.Phase, String, IntroductoryEligibility)]
    )
    func `on Google Play phase and order number show whether it was the first period`(
        phase: PlayItem.Phase,
        order: String,
        eligibility: IntroductoryEligibility
    ) {
        var life = Life.play()
        life.catalogue.products["play"]?.group = "pro"
        life.read(.active, until: "2026-06-01", at: "2026-05-01", phase: phase, order: order)
        let history = AdviceTests.history([life], catalogue: life.catalogue)
        #expect(history.introductoryEligibility(in: "pro", at: "2026-05-10") == eligibility)
    }

    @Test(
        arguments: [(.freeTrial, .unknown), (.introductory, .eligible), (.base, .eligible)]
            as [(PlayItem.Phase, IntroductoryEligibility)]
    )
    func `whether a trial by a code of Google Play excludes another one is unknown`(
        phase: PlayItem.Phase,
        eligibility: IntroductoryEligibility
    ) {
        var life = Life.play()
        life.read(
            .active,
            until: "2026-06-01",
            at: "2026-05-01",
            phase: phase,
            code: PlayItem.PromotionCode(),
            order: "GPA.1"
        )
        let history = AdviceTests.history([life], catalogue: life.catalogue)
        #expect(history.introductoryEligibility(in: "pro", at: "2026-05-10") == eligibility)
    }

    // MARK: Groups

    private static func foreign(_ offer: Offer?, storesGroup: String?) -> Life {
        var life = Life("2000")
        let term = Term(
            transactionId: "t7",
            productId: "retired.monthly",
            start: "2026-02-01",
            end: "2026-03-01",
            offer: offer,
            origin: .purchase,
            group: storesGroup
        )
        life.say(.term(term), at: "2026-02-01")
        return life
    }

    private static func named(_ storesGroup: String) -> Life {
        var life = Life()
        let term = Term(
            transactionId: "t1",
            productId: "monthly",
            start: "2026-05-01",
            end: "2026-06-01",
            origin: .purchase,
            group: storesGroup
        )
        life.say(.term(term), at: "2026-05-01")
        return life
    }

    @Test func `a product outside of the catalogue belongs to the store's own group`() {
        let own = Self.named("21480000")
        let trial = StandingTests.trial
        #expect(Self.eligibility([own, Self.foreign(trial, storesGroup: "21480000")]) == .used)
        #expect(Self.eligibility([own, Self.foreign(nil, storesGroup: "21480000")]) == .eligible)
        #expect(Self.eligibility([own, Self.foreign(trial, storesGroup: "999")]) == .unknown)
        #expect(Self.eligibility([own, Self.foreign(trial, storesGroup: nil)]) == .unknown)
    }

    // MARK: In an answer

    @Test func `an answer contains the trial of the entitlement's products`() throws {
        func offer(_ lives: [Life]) throws -> TrialOffer? {
            try SnapshotTests.premium(lives, at: "2027-01-01").guidance.trialOffer
        }
        let unknown = try #require(try offer([]))
        #expect(unknown.productId == "monthly")
        #expect(unknown.length == Period(days: 3))
        #expect(unknown.eligibility == .unknown)
        #expect(try offer([Self.bought(StandingTests.trial)])?.eligibility == .used)
        #expect(try offer([Self.bought()])?.eligibility == .eligible)
        let basics = SnapshotTests.history([]).snapshot(at: "2027-01-01")["basics"]
        #expect(basics?.guidance.trialOffer == nil)
    }
}
