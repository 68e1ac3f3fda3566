import Testing
import TideoverJSON
import TideoverSandbox

/// Purchases that do not renew, that are delayed or that are made outside of the app.
@Suite struct AppStorePurchaseTests {
    private static let lifetime = "cards.lifetime"

    private func store() throws -> HeardStore {
        let price = try #require(StorePrice("49.99 USD"))
        let season = try #require(StorePeriod(iso: "P3M"))
        return try HeardStore(
            [try .monthly(trial: "P3D")],
            at: "2026-05-01T10:00:00Z",
            oneTimeProducts: [
                AppStoreOneTimeProduct(
                    id: Self.lifetime,
                    kind: .nonConsumable,
                    price: price,
                    isFamilyShareable: true
                ),
                AppStoreOneTimeProduct(id: "cards.coins", kind: .consumable, price: price),
                AppStoreOneTimeProduct(
                    id: "cards.season",
                    kind: .nonRenewing,
                    price: price,
                    length: season
                ),
            ]
        )
    }

    @Test
    func `a non-renewing purchase is a charge without end and renewal info`()
        throws
    {
        var store = try store()
        let bought = try #require(
            try store.act(.buy(product: Self.lifetime, outsideApp: false)).first
        )
        #expect(bought.kind == "ONE_TIME_CHARGE")
        #expect(bought.status == nil)
        #expect(bought.renewal == nil)
        #expect(bought.transaction?["type"]?.string == "Non-Consumable")
        #expect(bought.transaction?["expiresDate"] == nil)
        #expect(bought.transaction?["webOrderLineItemId"] == nil)
        #expect(bought.transaction?["price"]?.int64 == 49990)
        let ids = ["transactionId", "originalTransactionId"].map { bought.transaction?[$0]?.string }
        #expect(ids[0] != nil && ids[0] == ids[1])
        #expect(try store.truth(at: "2026-05-01T10:00:00Z") == .owned)
        let refusal = #expect(throws: AppStoreRefusal.self) {
            try store.act(.buy(product: Self.lifetime, outsideApp: false))
        }
        #expect(refusal?.reason == .alreadyOwned)
    }

    @Test(arguments: [
        ("cards.coins", "Consumable"), ("cards.season", "Non-Renewing Subscription"),
    ])
    func `consumable and non-renewing products can be bought again`(product: String, type: String)
        throws
    {
        var store = try store()
        for _ in 1...2 {
            let bought = try #require(
                try store.act(.buy(product: product, outsideApp: false)).first
            )
            #expect(bought.transaction?["type"]?.string == type)
            #expect(bought.transaction?["expiresDate"] == nil)
        }
    }

    @Test func `a refund is requested, declined, granted and reversed`() throws {
        var store = try store()
        _ = try store.act(.buy(product: Self.lifetime, outsideApp: false))
        let asked = try store.act(.requestRefund(product: Self.lifetime, reason: .unsatisfied))
        #expect(asked.map(\.kind) == ["CONSUMPTION_REQUEST"])
        #expect(
            asked[0].data["consumptionRequestReason"]?.string == "UNSATISFIED_WITH_PURCHASE"
        )
        let declined = try store.act(.declineRefund(product: Self.lifetime))
        #expect(declined.map(\.kind) == ["REFUND_DECLINED"])
        let refunded = try store.act(.refund(product: Self.lifetime, reason: .appIssue))
        #expect(refunded.map(\.kind) == ["REFUND"])
        #expect(refunded[0].transaction?["revocationReason"]?.int64 == 1)
        #expect(refunded[0].transaction("revocationDate") == "2026-05-01 10:00:00")
        #expect(try store.truth(at: "2026-05-01T10:00:00Z") == .revoked)
        let reversed = try store.act(.reverseRefund(product: Self.lifetime))
        #expect(reversed.map(\.kind) == ["REFUND_REVERSED"])
        #expect(reversed[0].transaction?["revocationDate"] == nil)
    }

    @Test func `a family share is another customer's transaction and ends with a refund`()
        throws
    {
        var store = try store()
        try store.register("ben")
        _ = try store.act(.buy(product: Self.lifetime, outsideApp: false))
        let shared = try store.act(.share(product: Self.lifetime, with: "ben"))
        #expect(shared.map(\.kind) == ["ONE_TIME_CHARGE"])
        #expect(shared[0].transaction?["inAppOwnershipType"]?.string == "FAMILY_SHARED")
        let refunded = try store.act(.refund(product: Self.lifetime, reason: .other))
        #expect(refunded.map(\.kind) == ["REFUND", "REVOKE"])
        #expect(refunded[1].transaction?["revocationType"]?.string == "FAMILY_REVOKE")
    }

    @Test func `a reversed refund restores the shares that it ended`() throws {
        var store = try store()
        try store.register("ben")
        try store.register("eve")
        _ = try store.act(.buy(product: Self.lifetime, outsideApp: false))
        _ = try store.act(.share(product: Self.lifetime, with: "ben"))
        _ = try store.act(.share(product: Self.lifetime, with: "eve"))
        // At the instant of the refund, as with a stopped clock.
        _ = try store.act(.stopSharing(product: Self.lifetime, with: "eve"))
        _ = try store.act(.refund(product: Self.lifetime, reason: .other))
        let reversed = try store.act(.reverseRefund(product: Self.lifetime))
        #expect(reversed.map(\.kind) == ["REFUND_REVERSED", "REFUND_REVERSED"])
        let owners = reversed.map { $0.transaction?["inAppOwnershipType"]?.string }
        #expect(owners == ["PURCHASED", "FAMILY_SHARED"])
        #expect(reversed[1].transaction?["revocationDate"] == nil)
    }

    @Test func `the purchase whose refund was requested is refunded, not a newer one`() throws {
        var store = try store()
        let coins = "cards.coins"
        let first = try store.act(.buy(product: coins, outsideApp: false))
        _ = try store.act(.requestRefund(product: coins, reason: .other))
        let second = try store.act(.buy(product: coins, outsideApp: false))
        let id = { (heard: Heard?) in heard?.transaction?["transactionId"]?.string }
        let refunded = try store.act(.refund(product: coins, reason: .other))
        #expect(id(refunded.first) == id(first.first))
        let reversed = try store.act(.reverseRefund(product: coins))
        #expect(id(reversed.first) == id(first.first))
        // Without a request, the newest one.
        let other = try store.act(.refund(product: coins, reason: .other))
        #expect(id(other.first) == id(second.first))
    }

    @Test func `the newest refund is reversed, not that of the newest purchase`() throws {
        var store = try store()
        let coins = "cards.coins"
        let first = try store.act(.buy(product: coins, outsideApp: false))
        _ = try store.act(.requestRefund(product: coins, reason: .other))
        _ = try store.act(.buy(product: coins, outsideApp: false))
        _ = try store.act(.requestRefund(product: coins, reason: .other))
        _ = try store.act(.refund(product: coins, reason: .other))
        _ = try store.pass(until: "2026-05-02T10:00:00Z")
        _ = try store.act(.refund(product: coins, reason: .other))
        let reversed = try store.act(.reverseRefund(product: coins))
        let id = { (heard: Heard?) in heard?.transaction?["transactionId"]?.string }
        #expect(id(reversed.first) == id(first.first))
    }

    @Test func `a refund without a product is of a subscription, else of the last purchase`() throws
    {
        var store = try store()
        _ = try store.act(.buy(product: Self.lifetime, outsideApp: false))
        let coins = try store.act(.buy(product: "cards.coins", outsideApp: false))
        let id = { (heard: Heard?) in heard?.transaction?["transactionId"]?.string }
        let refunded = try store.act(.refund(product: nil, reason: .other))
        #expect(refunded.map(\.kind) == ["REFUND"])
        #expect(id(refunded.first) == id(coins.first))
        let sold = try store.act(.subscribe(product: "cards.pro.monthly", trial: .declined))
        let other = try store.act(.refund(product: nil, reason: .other))
        #expect(other.map(\.kind) == ["REFUND"])
        #expect(id(other.first) == id(sold.first))
    }

    @Test func `a request for an older purchase can be declined`() throws {
        var store = try store()
        let coins = "cards.coins"
        let first = try store.act(.buy(product: coins, outsideApp: false))
        _ = try store.act(.requestRefund(product: coins, reason: .other))
        _ = try store.act(.buy(product: coins, outsideApp: false))
        let declined = try #require(try store.act(.declineRefund(product: coins)).first)
        #expect(declined.kind == "REFUND_DECLINED")
        let id = first.first?.transaction?["transactionId"]?.string
        #expect(declined.transaction?["transactionId"]?.string == id)
    }

    @Test func `a purchase whose payment is declined is still waiting`() throws {
        var store = try store()
        _ = try store.act(.askToBuy(product: Self.lifetime))
        _ = try store.act(.failPayments)
        #expect(throws: AppStoreRefusal.self) {
            try store.act(.approvePurchase(product: nil))
        }
        _ = try store.act(.fixPayments)
        #expect(
            try store.act(.approvePurchase(product: nil)).map(\.kind) == ["ONE_TIME_CHARGE"]
        )
    }

    @Test func `an Ask to Buy purchase is completed once approved`() throws {
        var store = try store()
        #expect(try store.act(.askToBuy(product: "cards.pro.monthly")).isEmpty)
        #expect(try store.truth(at: "2026-05-01T10:00:00Z") == .never)
        _ = try store.pass(until: "2026-05-02T10:00:00Z")
        let sold = try #require(try store.act(.approvePurchase(product: nil)).first)
        #expect(sold.kind == "SUBSCRIBED/INITIAL_BUY")
        #expect(sold.transaction("purchaseDate") == "2026-05-02 10:00:00")
    }

    @Test func `a declined Ask to Buy purchase is never completed`() throws {
        var store = try store()
        _ = try store.act(.askToBuy(product: Self.lifetime))
        #expect(try store.act(.declinePurchase(product: nil)).isEmpty)
        let refusal = #expect(throws: AppStoreRefusal.self) {
            try store.act(.approvePurchase(product: nil))
        }
        #expect(refusal?.reason == .notPending)
    }

    @Test func `an interrupted purchase completes when the customer continues`() throws {
        var store = try store()
        #expect(try store.act(.interruptPurchase(product: "cards.pro.monthly")).isEmpty)
        let sold = try store.act(.resumePurchase(product: nil))
        #expect(sold.map(\.kind) == ["SUBSCRIBED/INITIAL_BUY"])
    }

    @Test func `a purchase outside of the app has no token`() throws {
        var store = try store()
        let bought = try #require(
            try store.act(.buy(product: "cards.pro.monthly", outsideApp: true)).first
        )
        #expect(bought.kind == "SUBSCRIBED/INITIAL_BUY")
        #expect(bought.transaction?["appAccountToken"] == nil)
    }

    @Test func `an account that allows no purchases buys nothing and fails to renew`() throws {
        var store = try store()
        _ = try store.subscribe()
        _ = try store.act(.allowPurchases(false))
        let refusal = #expect(throws: AppStoreRefusal.self) {
            try store.act(.buy(product: Self.lifetime, outsideApp: false))
        }
        #expect(refusal?.reason == .purchasesNotAllowed)
        let failed = try store.pass(until: "2026-06-01T10:00:00Z")
        #expect(failed.map(\.kind) == ["DID_FAIL_TO_RENEW/GRACE_PERIOD"])
        let recovered = try store.act(.allowPurchases(true))
        #expect(recovered.map(\.kind) == ["DID_RENEW/BILLING_RECOVERY"])
        #expect(recovered[0].transaction("expiresDate") == "2026-07-01 10:00:00")
    }
}
