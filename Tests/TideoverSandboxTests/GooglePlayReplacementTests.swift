import Testing
import TideoverJSON
import TideoverSandbox

/// Purchases that replace others, by their linked tokens.
/// https://developer.android.com/google/play/billing/subscriptions#allow-users-change
@Suite struct GooglePlayReplacementTests {
    typealias Mode = GooglePlayAction.ReplacementMode

    /// Half of a month at 10 dollars remains, worth a quarter of a month at 20 dollars.
    @Test(arguments: [
        (Mode.withTimeProration, "2026-04-23 22:00:00", "prorationPeriod", "0.00 USD"),
        (.chargeProratedPrice, "2026-05-01 10:00:00", "basePrice", "5.00 USD"),
        (.withoutProration, "2026-05-01 10:00:00", "basePrice", "0.00 USD"),
        (.chargeFullPrice, "2026-05-23 22:00:00", "prorationPeriod", "20.00 USD"),
    ])
    func `the rest of the old plan is settled by the replacement mode`(
        mode: Mode,
        expiry: String,
        phase: String,
        total: String
    ) throws {
        var store = try PlayedStore(subscribedTo: .monthly, at: "2026-04-01T10:00:00Z")
        try store.pass(until: "2026-04-16T10:00:00Z")
        let old = try store.token
        #expect(try store.act(.replace(product: nil, with: .plus, mode: mode)) == ["4", "13"])
        #expect(try store.read()["linkedPurchaseToken"] == .string(old))
        #expect(try store.read()["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING")
        #expect(try store.expiry() == expiry)
        #expect(try store.phase() == phase)
        #expect(try PlayedStore.amount(store.order()["total"]) == total)
        let replacement = try #require(try store.items()[0]["itemReplacement"])
        #expect(replacement["productId"] == "cards.pro")
        #expect(replacement["replacementMode"] == .string(mode.rawValue))
        // The old token has ended, and reports the reason.
        #expect(try store.state(old) == "EXPIRED")
        #expect(try store.cancellation(old) == "replacementCancellation")
        #expect(try store.expiry(0, old) == "2026-04-16 10:00:00")
        // From here on the new plan renews at its own price.
        try store.write(.acknowledge(token: store.token))
        let renewed = try store.pass(until: "2026-05-24T00:00:00Z")
        #expect(renewed.allSatisfy { $0.hasSuffix(" 2") } && !renewed.isEmpty)
        #expect(try PlayedStore.amount(store.order()["total"]) == "20.00 USD")
        #expect(try store.phase() == "basePrice")
    }

    @Test func `a deferred replacement waits for the expiry of the old plan`() throws {
        var store = try PlayedStore(subscribedTo: .plus)
        let old = try store.token
        #expect(
            try store.act(.replace(product: nil, with: .monthly, mode: .deferred)) == ["4", "13"]
        )
        try store.write(.acknowledge(token: store.token))
        #expect(try store.state(old) == "EXPIRED")
        let items = try store.items()
        #expect(items.map { $0["productId"] } == ["cards.plus", "cards.pro"])
        #expect(items[0]["deferredItemReplacement"] == ["productId": "cards.pro"])
        #expect(items[0]["expiryTime"] == "2026-06-01T10:00:00.000Z")
        #expect(items[1]["latestSuccessfulOrderId"] == nil)
        #expect(items[1]["expiryTime"] == nil)
        #expect(try store.pass(until: "2026-06-01T10:00:00Z") == ["2026-06-01 10:00:00 2"])
        #expect(try store.items().map { $0["productId"] } == ["cards.pro"])
        #expect(try store.expiry() == "2026-07-01 10:00:00")
        #expect(try PlayedStore.amount(store.order()["total"]) == "10.00 USD")
        let held = store.machine.holdings(of: "anna", at: store.machine.now)
        #expect(held.filter { $0.truth.isEntitled }.map(\.product) == ["cards.pro"])
    }

    @Test func `a replaced item is listed for sixty days`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.replace(product: nil, with: .plus, mode: .withoutProration))
        try store.write(.acknowledge(token: store.token))
        try store.pass(until: "2026-06-30T09:59:59Z")
        #expect(try store.items()[0]["itemReplacement"] != nil)
        try store.pass(until: "2026-06-30T10:00:00Z")
        #expect(try store.items()[0]["itemReplacement"] == nil)
    }

    @Test func `a chain of replacements links each token to the one before`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.replace(product: nil, with: .plus, mode: .chargeProratedPrice))
        try store.act(.replace(product: nil, with: .pro("yearly"), mode: .chargeFullPrice))
        let tokens = store.tokens
        let links = try tokens.map { try store.read($0)["linkedPurchaseToken"]?.string }
        #expect(links == [nil, tokens[0], tokens[1]])
        #expect(try tokens.map { try store.state($0) } == ["EXPIRED", "EXPIRED", "ACTIVE"])
    }

    @Test func `a new purchase before the lapse takes over the rest`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let old = try store.token
        try store.act(.cancel(product: nil, survey: nil))
        try store.pass(until: "2026-05-20T10:00:00Z")
        #expect(try store.subscribe(.monthly) == ["4", "13"])
        #expect(try store.read()["linkedPurchaseToken"] == .string(old))
        #expect(try store.expiry() == "2026-06-01 10:00:00")
        #expect(try store.state() == "ACTIVE")
        #expect(try store.state(old) == "EXPIRED")
        #expect(try store.cancellation(old) == "replacementCancellation")
        #expect(try PlayedStore.amount(store.order()["total"]) == "0.00 USD")
    }

    @Test func `a purchase in the Play Store after the end names the expired purchase`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let old = try store.token
        try store.act(.cancel(product: nil, survey: nil))
        try store.pass(until: "2026-07-01T00:00:00Z")
        let subscribe = GooglePlayAction.subscribe(
            to: [.monthly],
            payment: .prompt,
            from: .playStore
        )
        #expect(try store.act(subscribe) == ["4"])
        let read = try store.read()
        #expect(read["linkedPurchaseToken"] == nil)
        #expect(read["externalAccountIdentifiers"] == nil)
        #expect(
            read["outOfAppPurchaseContext"] == [
                "expiredPurchaseToken": .string(old),
                "expiredExternalAccountIdentifiers": [
                    "obfuscatedExternalAccountId": "account-1",
                    "obfuscatedExternalProfileId": "profile-1",
                ],
            ]
        )
        // "This field will be removed after you acknowledge the subscription."
        try store.write(.acknowledge(token: store.token))
        #expect(try store.read()["outOfAppPurchaseContext"] == nil)
    }

    // MARK: Prepaid

    @Test func `a prepaid plan ends without renewal`() throws {
        var store = try PlayedStore(subscribedTo: .pro("prepaid"))
        let item = try store.items()[0]
        #expect(item["prepaidPlan"] == ["allowExtendAfterTime": "2026-05-01T10:00:00.000Z"])
        #expect(item["autoRenewingPlan"] == nil)
        #expect(try store.state() == "ACTIVE")
        #expect(try store.refused(.cancel(product: nil, survey: nil)) == .wrongKindOfPlan)
        #expect(try store.pass(until: "2026-07-01T00:00:00Z") == ["2026-06-01 10:00:00 13"])
        #expect(try store.items()[0]["prepaidPlan"] == [:])
        #expect(try store.cancellation() == nil)
    }

    @Test func `a top-up makes a new token that ends a period later`() throws {
        var store = try PlayedStore(subscribedTo: .pro("prepaid"))
        let old = try store.token
        try store.pass(until: "2026-05-20T00:00:00Z")
        #expect(try store.act(.topUp(product: nil)) == ["4", "13"])
        #expect(try store.read()["linkedPurchaseToken"] == .string(old))
        #expect(try store.expiry() == "2026-07-01 10:00:00")
        #expect(try store.state(old) == "EXPIRED")
        #expect(try PlayedStore.amount(store.order()["total"]) == "10.00 USD")
    }

    @Test func `a prepaid plan becomes a renewing one by replacement`() throws {
        var store = try PlayedStore(subscribedTo: .pro("prepaid"))
        let replace = GooglePlayAction.replace(
            product: nil,
            with: .monthly,
            mode: .withoutProration
        )
        #expect(try store.act(replace) == ["4", "13"])
        #expect(try store.items()[0]["autoRenewingPlan"]?["autoRenewEnabled"] == true)
        #expect(try store.expiry() == "2026-06-01 10:00:00")
    }

    // MARK: Add-ons

    @Test func `an add-on has its own expiry and renews separately`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let old = try store.token
        try store.pass(until: "2026-05-11T10:00:00Z")
        let add = GooglePlayAction.changeItems(product: nil, adding: [.extra], removing: [])
        #expect(try store.act(add) == ["17", "13"])
        try store.write(.acknowledge(token: store.token))
        #expect(try store.read()["linkedPurchaseToken"] == .string(old))
        #expect(try store.items().map { $0["productId"] } == ["cards.pro", "cards.extra"])
        #expect(try store.expiry(0) == "2026-06-01 10:00:00")
        #expect(try store.expiry(1) == "2026-06-11 10:00:00")
        let kept = try store.items()[0]["itemReplacement"]?["replacementMode"]
        #expect(kept == "KEEP_EXISTING")
        let heard = try store.pass(until: "2026-06-11T10:00:00Z")
        #expect(heard == ["2026-06-01 10:00:00 2", "2026-06-11 10:00:00 2"])
        #expect(try store.expiry(0) == "2026-07-01 10:00:00")
    }

    @Test func `products bought together are charged together`() throws {
        var store = try PlayedStore()
        #expect(try store.subscribe(.monthly, .extra) == ["4"])
        try store.write(.acknowledge(token: store.token))
        #expect(try PlayedStore.amount(store.order()["total"]) == "12.00 USD")
        #expect(try store.order()["lineItems"]?.array?.count == 2)
        #expect(try store.pass(until: "2026-06-01T10:00:00Z") == ["2026-06-01 10:00:00 2"])
    }

    @Test func `a removed add-on ends at its expiry`() throws {
        var store = try PlayedStore()
        try store.subscribe(.monthly, .extra)
        let remove = GooglePlayAction.changeItems(
            product: nil,
            adding: [],
            removing: ["cards.extra"]
        )
        #expect(try store.act(remove) == ["17", "13"])
        try store.write(.acknowledge(token: store.token))
        #expect(try store.items()[1]["deferredItemRemoval"] == [:])
        #expect(try store.items()[1]["autoRenewingPlan"]?["autoRenewEnabled"] == nil)
        let heard = try store.pass(until: "2026-06-01T10:00:00Z")
        #expect(heard == ["2026-06-01 10:00:00 2", "2026-06-01 10:00:00 17"])
        #expect(try store.items().map { $0["productId"] } == ["cards.pro"])
        #expect(
            try store.refused(
                .changeItems(product: nil, adding: [], removing: ["cards.pro"])
            ) == .lastItem
        )
    }

    @Test func `grace is reported once every item is in it`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.pass(until: "2026-05-04T10:00:00Z")
        try store.act(.changeItems(product: nil, adding: [.extra], removing: []))
        try store.write(.acknowledge(token: store.token))
        try store.act(.failPayments)
        let heard = try store.pass(until: "2026-06-04T10:00:00Z")
        #expect(heard == ["2026-06-04 10:00:00 6"])
        #expect(try store.state() == "IN_GRACE_PERIOD")
    }
}
