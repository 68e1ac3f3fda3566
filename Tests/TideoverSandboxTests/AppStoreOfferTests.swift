import Testing
import TideoverJSON
import TideoverSandbox

/// Offers in the signed transaction and renewal info.
/// https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
@Suite struct AppStoreOfferTests {
    private static let monthly = "cards.pro.monthly"

    private func store(introductory: AppStoreOffer? = nil) throws -> HeardStore {
        let (month, week) = (try period("P1M"), try period("P1W"))
        let price = try #require(StorePrice("1.99 USD"))
        let nothing = try #require(StorePrice("0 USD"))
        let product = AppStoreProduct(
            id: Self.monthly,
            group: "pro",
            level: 2,
            period: month,
            introductory: introductory,
            offers: [
                AppStoreOffer(
                    .promotional,
                    .payAsYouGo,
                    identifier: "stay",
                    period: month,
                    payments: 2,
                    price: price
                ),
                AppStoreOffer(
                    .offerCode,
                    .freeTrial,
                    identifier: "spring",
                    period: week,
                    price: nothing
                ),
                AppStoreOffer(
                    .winBack,
                    .payUpFront,
                    identifier: "return",
                    period: try period("P3M"),
                    price: price
                ),
            ],
            price: try #require(StorePrice("9.99 USD"))
        )
        let gold = AppStoreProduct(
            id: "cards.gold",
            group: "pro",
            period: month,
            offers: [
                AppStoreOffer(
                    .promotional,
                    .freeTrial,
                    identifier: "taste",
                    period: week,
                    price: nothing
                )
            ],
            price: try #require(StorePrice("19.99 USD"))
        )
        return try HeardStore([product, gold], at: "2026-05-01T10:00:00Z")
    }

    private func period(_ text: String) throws -> StorePeriod {
        try #require(StorePeriod(iso: text))
    }

    @Test func `pay as you go charges the introductory price as often as offered`() throws {
        let offer = AppStoreOffer(
            .introductory,
            .payAsYouGo,
            period: try period("P1M"),
            payments: 2,
            price: try #require(StorePrice("1.99 USD"))
        )
        var store = try store(introductory: offer)
        let bought = try store.subscribe(.required)
        #expect(bought.kind == "SUBSCRIBED/INITIAL_BUY")
        #expect(bought.transaction?["offerType"]?.int64 == 1)
        #expect(bought.transaction?["offerDiscountType"]?.string == "PAY_AS_YOU_GO")
        #expect(bought.transaction?["price"]?.int64 == 1990)
        #expect(bought.renewal?["renewalPrice"]?.int64 == 1990)
        #expect(bought.renewal?["offerType"]?.int64 == 1)
        let renewals = try store.pass(until: "2026-07-02T10:00:00Z")
        #expect(renewals.map { $0.transaction?["price"]?.int64 } == [1990, 9990])
        #expect(renewals.map { $0.transaction?["offerType"]?.int64 } == [1, nil])
        #expect(renewals.map { $0.renewal?["renewalPrice"]?.int64 } == [9990, 9990])
        #expect(renewals.last?.transaction("expiresDate") == "2026-08-01 10:00:00")
    }

    @Test func `a pay up front offer lasts its period, and the cycle begins after it`()
        throws
    {
        let offer = AppStoreOffer(
            .introductory,
            .payUpFront,
            period: try period("P3M"),
            price: try #require(StorePrice("4.99 USD"))
        )
        var store = try store(introductory: offer)
        let bought = try store.subscribe(.required)
        #expect(bought.transaction("expiresDate") == "2026-08-01 10:00:00")
        #expect(bought.transaction?["offerDiscountType"]?.string == "PAY_UP_FRONT")
        #expect(bought.transaction?["offerPeriod"]?.string == "P3M")
        let renewed = try #require(try store.pass(until: "2026-08-01T10:00:00Z").first)
        #expect(renewed.transaction("expiresDate") == "2026-09-01 10:00:00")
        #expect(renewed.transaction?["price"]?.int64 == 9990)
    }

    @Test func `a promotional offer reduces the price of the next renewals`() throws {
        var store = try store()
        _ = try store.subscribe()
        let redeemed = try #require(
            try store.act(.redeem(product: Self.monthly, offer: "stay")).first
        )
        #expect(redeemed.kind == "OFFER_REDEEMED")
        #expect(redeemed.transaction?["offerType"] == nil)
        #expect(redeemed.transaction("expiresDate") == "2026-06-01 10:00:00")
        #expect(redeemed.renewal?["offerType"]?.int64 == 2)
        #expect(redeemed.renewal?["offerIdentifier"]?.string == "stay")
        let renewals = try store.pass(until: "2026-08-02T10:00:00Z")
        #expect(renewals.map { $0.transaction?["price"]?.int64 } == [1990, 1990, 9990])
    }

    @Test func `a renewal into a free period needs no payment`() throws {
        var store = try store()
        _ = try store.subscribe()
        _ = try store.act(.redeem(product: Self.monthly, offer: "spring"))
        _ = try store.act(.failPayments)
        let heard = try store.pass(until: "2026-06-08T10:00:00Z")
        #expect(heard.map(\.kind) == ["DID_RENEW", "DID_FAIL_TO_RENEW"])
        #expect(heard.first?.transaction?["price"]?.int64 == 0)
        #expect(heard.first?.transaction?["offerDiscountType"]?.string == "FREE_TRIAL")
        #expect(heard.first?.transaction("expiresDate") == "2026-06-08 10:00:00")
    }

    @Test func `while renewals are forbidden, one into a free period fails too`() throws {
        var store = try store()
        _ = try store.subscribe()
        _ = try store.act(.redeem(product: Self.monthly, offer: "spring"))
        _ = try store.act(.allowPurchases(false))
        let heard = try store.pass(until: "2026-06-01T10:00:00Z")
        #expect(heard.map(\.kind) == ["DID_FAIL_TO_RENEW"])
        _ = try store.act(.failPayments)
        let recovered = try store.act(.allowPurchases(true))
        #expect(recovered.map(\.kind) == ["DID_RENEW/BILLING_RECOVERY"])
        #expect(recovered.first?.transaction?["price"]?.int64 == 0)
    }

    @Test func `an offer of a higher product takes effect at once`() throws {
        var store = try store()
        _ = try store.subscribe()
        _ = try store.pass(until: "2026-05-11T10:00:00Z")
        let redeemed = try #require(
            try store.act(.redeem(product: "cards.gold", offer: "taste")).first
        )
        #expect(redeemed.kind == "OFFER_REDEEMED/UPGRADE")
        #expect(redeemed.transaction?["productId"]?.string == "cards.gold")
        #expect(redeemed.transaction?["offerDiscountType"]?.string == "FREE_TRIAL")
        #expect(redeemed.transaction("expiresDate") == "2026-05-18 10:00:00")
    }

    @Test func `an offer of a lower product takes effect at the next renewal`() throws {
        var store = try store()
        _ = try store.act(.subscribe(product: "cards.gold", trial: .declined))
        let redeemed = try #require(
            try store.act(.redeem(product: Self.monthly, offer: "stay")).first
        )
        #expect(redeemed.kind == "OFFER_REDEEMED/DOWNGRADE")
        #expect(redeemed.transaction?["productId"]?.string == "cards.gold")
        #expect(redeemed.renewal?["autoRenewProductId"]?.string == Self.monthly)
        let renewed = try #require(try store.pass(until: "2026-06-01T10:00:00Z").first)
        #expect(renewed.transaction?["productId"]?.string == Self.monthly)
        #expect(renewed.transaction?["offerIdentifier"]?.string == "stay")
    }

    @Test func `a former subscriber gets offers and returns with a win-back offer`() throws {
        var store = try store()
        _ = try store.subscribe()
        #expect(throws: AppStoreRefusal.self) {
            try store.act(.redeem(product: Self.monthly, offer: "return"))
        }
        _ = try store.act(.cancel(product: nil))
        let ended = try #require(try store.pass(until: "2026-06-01T10:00:00Z").last)
        #expect(ended.kind == "EXPIRED/VOLUNTARY")
        #expect(ended.renewal?["eligibleWinBackOfferIds"]?[0]?.string == "return")
        let back = try #require(
            try store.act(.redeem(product: Self.monthly, offer: "return")).first
        )
        #expect(back.kind == "SUBSCRIBED/RESUBSCRIBE")
        #expect(back.transaction?["offerType"]?.int64 == 4)
        #expect(back.renewal?["eligibleWinBackOfferIds"] == nil)
        #expect(back.transaction("expiresDate") == "2026-09-01 10:00:00")
    }

    @Test func `any customer can redeem a code, only subscribers and former ones an offer`() throws
    {
        var store = try store()
        #expect(throws: AppStoreRefusal.self) {
            try store.act(.redeem(product: Self.monthly, offer: "stay"))
        }
        let bought = try #require(
            try store.act(.redeem(product: Self.monthly, offer: "spring")).first
        )
        #expect(bought.kind == "SUBSCRIBED/INITIAL_BUY")
        #expect(bought.transaction?["offerType"]?.int64 == 3)
        #expect(bought.transaction("expiresDate") == "2026-05-08 10:00:00")
    }

    @Test func `grace for paid renewals only does not apply to trials`() throws {
        let product = AppStoreProduct(
            id: Self.monthly,
            group: "pro",
            period: try period("P1M"),
            trial: try period("P1W"),
            price: try #require(StorePrice("9.99 USD")),
            grace: .sixteenDays,
            graceScope: .paidRenewals
        )
        var store = try HeardStore([product], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe(.required)
        _ = try store.act(.failPayments)
        let failed = try #require(try store.pass(until: "2026-05-08T10:00:00Z").first)
        #expect(failed.kind == "DID_FAIL_TO_RENEW")
        #expect(failed.status == 3)
        #expect(failed.renewal?["gracePeriodExpiresDate"] == nil)
        _ = try store.act(.fixPayments)
        _ = try store.act(.failPayments)
        let again = try #require(try store.pass(until: "2026-06-08T10:00:00Z").first)
        #expect(again.kind == "DID_FAIL_TO_RENEW/GRACE_PERIOD")
        #expect(again.status == 4)
    }

    @Test func `no subscription renews into a product that is not for sale`() throws {
        var store = try store()
        _ = try store.subscribe()
        _ = try store.act(.removeFromSale(product: Self.monthly))
        let ended = try #require(try store.pass(until: "2026-06-01T10:00:00Z").first)
        #expect(ended.kind == "EXPIRED/PRODUCT_NOT_FOR_SALE")
        #expect(ended.renewal?["expirationIntent"]?.int64 == 4)
        #expect(ended.status == 2)
    }
}
