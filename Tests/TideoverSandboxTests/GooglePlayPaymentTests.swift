import Testing
import TideoverJSON
import TideoverSandbox

/// One-time purchases, late payments, acknowledgement, and refunds.
/// https://developer.android.com/google/play/billing/lifecycle/one-time
@Suite struct GooglePlayPaymentTests {
    // MARK: One-time purchases

    @Test func `a lifetime product is bought once and stays the customer's`() throws {
        var store = try PlayedStore()
        #expect(try store.buy("cards.lifetime") == ["once 1"])
        let read = try store.readProduct()
        #expect(read["purchaseStateContext"] == ["purchaseState": "PURCHASED"])
        #expect(read["purchaseCompletionTime"] == "2026-05-01T10:00:00.000Z")
        #expect(read["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING")
        #expect(read["obfuscatedExternalAccountId"] == "account-1")
        #expect(read["testPurchaseContext"] == nil)
        try store.write(.acknowledge(token: store.token))
        #expect(
            try store.readProduct()["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
        )
        #expect(try store.truth() == .active(until: nil))
        #expect(try store.pass(until: "2030-01-01T00:00:00Z").isEmpty)
        let again = GooglePlayAction.buy(product: "cards.lifetime", quantity: 1, payment: .prompt)
        #expect(try store.refused(again) == .alreadyOwned)
    }

    @Test func `a consumed product can be bought again`() throws {
        var store = try PlayedStore()
        try store.buy("cards.coins", quantity: 3)
        #expect(try PlayedStore.amount(store.productOrder()["total"]) == "3.00 USD")
        #expect(try store.write(.consume(token: store.token)).isEmpty)
        let details = try store.readProduct()["productLineItem"]?[0]?["productOfferDetails"]
        #expect(details?["quantity"] == 3)
        #expect(details?["consumptionState"] == "CONSUMPTION_STATE_CONSUMED")
        // Consuming acknowledges.
        #expect(try store.pass(until: "2026-05-10T00:00:00Z").isEmpty)
        #expect(try store.buy("cards.coins") == ["once 1"])
    }

    @Test func `a tester's purchase is marked`() throws {
        var store = try PlayedStore(.tester)
        try store.buy("cards.lifetime")
        #expect(try store.readProduct()["testPurchaseContext"] == ["fopType": "TEST"])
    }

    // MARK: Late payments

    @Test func `a purchase awaiting its payment grants nothing until it is paid`() throws {
        var store = try PlayedStore()
        #expect(try store.buy("cards.lifetime", payment: .delayed).isEmpty)
        let pending = try store.readProduct()
        #expect(pending["purchaseStateContext"] == ["purchaseState": "PENDING"])
        #expect(pending["purchaseCompletionTime"] == nil)
        #expect(pending["orderId"] == nil)
        #expect(try store.truth() == .pending)
        try store.pass(until: "2026-05-03T10:00:00Z")
        #expect(try store.act(.completePayment(product: nil)) == ["once 1"])
        #expect(
            try store.readProduct()["purchaseCompletionTime"] == "2026-05-03T10:00:00.000Z"
        )
        #expect(try store.truth().isEntitled)
    }

    @Test func `a purchase that is never paid is cancelled`() throws {
        var store = try PlayedStore()
        try store.buy("cards.lifetime", payment: .delayed)
        #expect(try store.act(.dropPayment(product: nil)) == ["once 2"])
        #expect(
            try store.readProduct()["purchaseStateContext"] == ["purchaseState": "CANCELLED"]
        )
        #expect(try store.truth() == .never)
    }

    @Test func `a subscription awaiting its payment has not started`() throws {
        var store = try PlayedStore()
        let subscribe = GooglePlayAction.subscribe(to: [.monthly], payment: .delayed, from: .app)
        #expect(try store.act(subscribe).isEmpty)
        #expect(try store.state() == "PENDING")
        #expect(try store.read()["startTime"] == nil)
        #expect(try store.items()[0]["expiryTime"] == nil)
        #expect(try store.items()[0]["latestSuccessfulOrderId"] == nil)
        try store.pass(until: "2026-05-03T12:00:00Z")
        var dropped = store
        #expect(try store.act(.completePayment(product: nil)) == ["4"])
        #expect(try store.state() == "ACTIVE")
        #expect(try store.read()["startTime"] == "2026-05-03T12:00:00.000Z")
        #expect(try store.expiry() == "2026-06-03 12:00:00")
        #expect(try dropped.act(.dropPayment(product: nil)) == ["20"])
        #expect(try dropped.state() == "PENDING_PURCHASE_CANCELED")
        #expect(try dropped.truth() == .never)
    }

    @Test func `the replaced purchase continues until a late payment arrives`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let old = try store.token
        try store.act(.cancel(product: nil, survey: nil))
        try store.act(.subscribe(to: [.monthly], payment: .delayed, from: .app))
        #expect(try store.read()["linkedPurchaseToken"] == .string(old))
        #expect(try store.state(old) == "CANCELED")
        #expect(try store.truth().isEntitled)
        #expect(try store.act(.completePayment(product: nil)) == ["4", "13"])
        #expect(try store.state(old) == "EXPIRED")
    }

    // MARK: Acknowledging

    /// Three days; for a prepaid plan shorter than a week, half its length.
    @Test(arguments: [
        ("monthly", "2026-05-04 10:00:00"), ("prepaid", "2026-05-04 10:00:00"),
        ("prepaid-3-days", "2026-05-02 22:00:00"),
    ])
    func `an unacknowledged subscription is refunded and revoked`(
        plan: String,
        deadline: String
    ) throws {
        var store = try PlayedStore()
        try store.subscribe(.pro(plan))
        let heard = try store.pass(until: "2026-05-20T00:00:00Z")
        #expect(heard == ["\(deadline) 12", "\(deadline) voided 1 1"])
        #expect(try store.state() == "EXPIRED")
        #expect(try store.expiry() == deadline)
        #expect(try store.truth() == .revoked)
        let voided = try #require(store.machine.voided(since: 0, until: .max).first)
        #expect(voided.reason == .unacknowledged)
        #expect(voided.source == .google)
        #expect(try store.order()["state"] == "REFUNDED")
    }

    @Test func `a tester's purchase must be acknowledged within five minutes`() throws {
        var store = try PlayedStore(.tester)
        try store.subscribe(.pro("yearly"))
        let heard = try store.pass(until: "2026-05-01T10:05:00Z")
        #expect(heard == ["2026-05-01 10:05:00 12", "2026-05-01 10:05:00 voided 1 1"])
    }

    @Test func `an unacknowledged one-time purchase is refunded`() throws {
        var store = try PlayedStore()
        try store.buy("cards.lifetime")
        let heard = try store.pass(until: "2026-05-20T00:00:00Z")
        #expect(heard == ["2026-05-04 10:00:00 voided 2 1"])
        #expect(
            try store.readProduct()["purchaseStateContext"] == ["purchaseState": "CANCELLED"]
        )
        #expect(try store.truth() == .revoked)
    }

    @Test func `renewals need no acknowledgement`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let heard = try store.pass(until: "2026-06-20T00:00:00Z")
        #expect(heard == ["2026-06-01 10:00:00 2"])
        let acknowledged = try store.read()["acknowledgementState"]
        #expect(acknowledged == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
    }

    // MARK: Refunds

    @Test func `a revocation with a full refund ends the subscription at once`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.pass(until: "2026-05-16T10:00:00Z")
        let revoke = GooglePlayWrite.revoke(token: try store.token, .fullRefund)
        #expect(try store.write(revoke) == ["12", "voided 1 1"])
        #expect(try store.state() == "EXPIRED")
        #expect(try store.expiry() == "2026-05-16 10:00:00")
        #expect(try store.cancellation() == "developerInitiatedCancellation")
        let order = try store.order()
        #expect(order["state"] == "REFUNDED")
        let refund = order["orderHistory"]?["refundEvent"]
        #expect(refund?["eventTime"] == "2026-05-16T10:00:00.000Z")
        #expect(refund?["refundReason"] == "OTHER")
        #expect(try store.truth(at: "2026-05-16T09:59:59Z").isEntitled)
        #expect(try store.truth() == .revoked)
    }

    @Test func `a revocation with a prorated refund refunds the unused part`() throws {
        var store = try PlayedStore(subscribedTo: .monthly, at: "2026-04-01T10:00:00Z")
        try store.pass(until: "2026-04-16T10:00:00Z")
        let revoke = GooglePlayWrite.revoke(token: try store.token, .proratedRefund)
        #expect(try store.write(revoke) == ["12", "voided 1 1"])
        let order = try store.order()
        #expect(order["state"] == "PARTIALLY_REFUNDED")
        let refund = order["orderHistory"]?["partialRefundEvents"]?[0]?["refundDetails"]?["total"]
        #expect(try PlayedStore.amount(refund) == "5.00 USD")
    }

    @Test func `one item is revoked and the others continue`() throws {
        var store = try PlayedStore()
        try store.subscribe(.monthly, .extra)
        try store.write(.acknowledge(token: store.token))
        let revoke = GooglePlayWrite.revoke(token: try store.token, .item(product: "cards.extra"))
        #expect(try store.write(revoke) == ["17"])
        #expect(try store.items().map { $0["productId"] } == ["cards.pro"])
        #expect(try store.state() == "ACTIVE")
        #expect(try store.order()["state"] == "PARTIALLY_REFUNDED")
    }

    @Test func `a voided renewal order does not end the subscription`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.pass(until: "2026-06-10T00:00:00Z")
        let refund = GooglePlayAction.refund(
            product: nil,
            .accidental,
            quantity: nil,
            revokes: false
        )
        #expect(try store.act(refund) == ["voided 1 1"])
        #expect(try store.state() == "ACTIVE")
        #expect(try store.expiry() == "2026-07-01 10:00:00")
        let voided = try #require(store.machine.voided(since: 0, until: .max).first)
        #expect(voided.order.hasSuffix("..0"))
        #expect(voided.source == .user)
        #expect(voided.purchasedAt == (try store.instant("2026-06-01T10:00:00Z")))
        #expect(try store.refused(refund) == .alreadyRefunded)
        #expect(try store.pass(until: "2026-07-01T10:00:00Z") == ["2026-07-01 10:00:00 2"])
    }

    @Test func `a developer's refund is voided only if it revokes`() throws {
        var kept = try PlayedStore(subscribedTo: .monthly)
        let order = try #require(try kept.order()["orderId"]?.string)
        #expect(try kept.write(.refund(order: order, revokes: false)) == [])
        #expect(kept.machine.voided(since: 0, until: .max).isEmpty)
        #expect(try kept.order()["state"] == "REFUNDED")
        #expect(try kept.state() == "ACTIVE")
        var taken = try PlayedStore(subscribedTo: .monthly)
        let other = try #require(try taken.order()["orderId"]?.string)
        #expect(try taken.write(.refund(order: other, revokes: true)) == ["12", "voided 1 1"])
        #expect(taken.machine.voided(since: 0, until: .max).map(\.order) == [other])
    }

    @Test func `a one-time purchase that the store voids is revoked`() throws {
        var store = try PlayedStore()
        try store.buy("cards.coins")
        try store.write(.acknowledge(token: store.token))
        let refund = GooglePlayAction.refund(
            product: nil,
            .remorse,
            quantity: nil,
            revokes: false
        )
        #expect(try store.act(refund) == ["voided 2 1"])
        #expect(try store.readProduct()["purchaseStateContext"] == ["purchaseState": "CANCELLED"])
        #expect(try store.truth() == .revoked)
    }

    @Test func `a chargeback revokes`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let refund = GooglePlayAction.refund(
            product: nil,
            .chargeback,
            quantity: nil,
            revokes: true
        )
        #expect(try store.act(refund) == ["12", "voided 1 1"])
        #expect(try store.cancellation() == "systemInitiatedCancellation")
        #expect(try store.order()["orderHistory"]?["refundEvent"]?["refundReason"] == "CHARGEBACK")
        let voided = try #require(store.machine.voided(since: 0, until: .max).first)
        #expect(voided.resource["voidedReason"] == 7)
        #expect(voided.resource["voidedSource"] == 2)
    }

    @Test func `some units of a quantity are refunded`() throws {
        var store = try PlayedStore()
        try store.buy("cards.coins", quantity: 3)
        try store.write(.acknowledge(token: store.token))
        let refund = GooglePlayAction.refund(product: nil, .remorse, quantity: 1, revokes: true)
        #expect(try store.act(refund) == ["voided 2 2"])
        let read = try store.readProduct()
        #expect(read["purchaseStateContext"] == ["purchaseState": "PURCHASED"])
        let details = read["productLineItem"]?[0]?["productOfferDetails"]
        #expect(details?["refundableQuantity"] == 2)
        let voided = try #require(store.machine.voided(since: 0, until: .max).first)
        #expect(voided.quantity == 1)
        #expect(
            try store.act(.refund(product: nil, .remorse, quantity: 2, revokes: true)) == [
                "voided 2 1"
            ]
        )
        #expect(try store.truth() == .revoked)
    }

    @Test func `a refund request is not yet a refund`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        #expect(try store.act(.requestRefund(product: nil)) == ["review"])
        let content = try #require(store.notifications.last?.content)
        let review = try #require(content["pendingRefundReviewNotification"])
        #expect(review["refundReason"] == 7)
        #expect(review["orderId"]?.string?.hasPrefix("GPA.") == true)
        #expect(review["pendingRefundToken"]?.string?.isEmpty == false)
        #expect(try store.state() == "ACTIVE")
        #expect(store.machine.voided(since: 0, until: .max).isEmpty)
    }

    // MARK: Notifications and tokens

    @Test func `a notification has one object for its subject`() throws {
        var store = try PlayedStore()
        try store.subscribe(.monthly)
        #expect(
            store.notifications.first?.content == [
                "version": "1.0", "packageName": "com.example.cards",
                "eventTimeMillis": "1777629600000",
                "subscriptionNotification": [
                    "version": "1.0", "notificationType": 4,
                    "purchaseToken": .string(try store.token),
                ],
            ]
        )
        let test = store.machine.requestTestNotification()
        #expect(test.content["testNotification"] == ["version": "1.0"])
    }

    @Test func `a token can be read until sixty days after its expiry`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let token = try store.token
        try store.act(.cancel(product: nil, survey: nil))
        try store.pass(until: "2026-07-31T10:00:00Z")
        #expect(store.machine.state(ofToken: token) == .readable)
        try store.pass(until: "2026-07-31T10:00:01Z")
        #expect(store.machine.state(ofToken: token) == .gone)
        #expect(store.machine.state(ofToken: "another") == .unknown)
        #expect(try store.refused(.acknowledge(token: token)) == .tokenGone)
    }
}

extension PlayedStore {
    @discardableResult
    mutating func buy(
        _ product: String,
        quantity: Int64 = 1,
        payment: GooglePlayAction.Payment = .prompt
    ) throws -> [String] {
        try act(.buy(product: product, quantity: quantity, payment: payment))
    }

    /// Returns the API's answer about the newest one-time purchase.
    func readProduct() throws -> JSONValue {
        .object(try #require(machine.product(token: token)))
    }

    func productOrder() throws -> JSONValue {
        let id = try #require(try readProduct()["orderId"]?.string)
        return .object(try #require(machine.order(id)))
    }
}
