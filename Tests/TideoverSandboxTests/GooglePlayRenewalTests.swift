import Testing
import TideoverJSON
import TideoverSandbox

/// Purchases, renewals and failed payments, as Google's lifecycle pages describe them.
/// https://developer.android.com/google/play/billing/lifecycle/subscriptions
@Suite struct GooglePlayRenewalTests {
    @Test func `a purchase is active, unacknowledged and contains its account`() throws {
        var store = try PlayedStore()
        #expect(try store.subscribe(.monthly) == ["4"])
        let read = try store.read()
        #expect(try store.state() == "ACTIVE")
        #expect(read["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING")
        #expect(read["startTime"] == "2026-05-01T10:00:00.000Z")
        #expect(read["regionCode"] == "US")
        #expect(read["testPurchase"] == nil)
        #expect(read["linkedPurchaseToken"] == nil)
        #expect(
            read["externalAccountIdentifiers"] == [
                "obfuscatedExternalAccountId": "account-1",
                "obfuscatedExternalProfileId": "profile-1",
            ]
        )
        let item = try store.items()[0]
        #expect(item["productId"] == "cards.pro")
        #expect(item["expiryTime"] == "2026-06-01T10:00:00.000Z")
        #expect(item["autoRenewingPlan"]?["autoRenewEnabled"] == true)
        #expect(item["offerDetails"] == ["basePlanId": "monthly"])
        #expect(try store.truth() == .active(until: store.instant("2026-06-01T10:00:00Z")))
    }

    @Test func `renewals keep the token and number their orders from zero`() throws {
        var store = try PlayedStore(subscribedTo: .monthly, at: "2026-01-31T10:00:00Z")
        let first = try #require(try store.items()[0]["latestSuccessfulOrderId"]?.string)
        let heard = try store.pass(until: "2026-03-31T10:00:00Z")
        #expect(heard == ["2026-02-28 10:00:00 2", "2026-03-31 10:00:00 2"])
        #expect(store.tokens.count == 1)
        #expect(try store.expiry() == "2026-04-30 10:00:00")
        #expect(try store.items()[0]["latestSuccessfulOrderId"] == .string("\(first)..1"))
        #expect(first.hasPrefix("GPA."))
    }

    @Test func `a trial and an introductory price come before the plan's price`() throws {
        var store = try PlayedStore(subscribedTo: .pro("monthly", "launch"))
        var seen: [String] = []
        for instant in ["05-01", "05-08", "06-08", "07-08"] {
            try store.pass(until: "2026-\(instant)T10:00:00Z")
            let total = try PlayedStore.amount(store.order()["total"])
            seen.append("\(try store.phase() ?? "?") \(total) \(try store.expiry())")
        }
        #expect(
            seen == [
                "freeTrial 0.00 USD 2026-05-08 10:00:00",
                "introductoryPrice 5.00 USD 2026-06-08 10:00:00",
                "introductoryPrice 5.00 USD 2026-07-08 10:00:00",
                "basePrice 10.00 USD 2026-08-08 10:00:00",
            ]
        )
        #expect(try store.items()[0]["offerDetails"]?["offerId"] == "launch")
    }

    @Test func `prices depend on the customer's country`() throws {
        let berliner = GooglePlayCustomer(name: "anna", region: "DE")
        var store = try PlayedStore(berliner)
        try store.subscribe(.monthly)
        #expect(try store.read()["regionCode"] == "DE")
        #expect(try PlayedStore.amount(store.order()["total"]) == "9.00 EUR")
        #expect(try store.read()["externalAccountIdentifiers"] == nil)
    }

    // MARK: Failing

    @Test func `the expiry moves daily in grace, and access lasts to its end`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        let heard = try store.pass(until: "2026-06-01T10:00:00Z")
        #expect(heard == ["2026-06-01 10:00:00 6"])
        #expect(try store.state() == "IN_GRACE_PERIOD")
        #expect(try store.expiry() == "2026-06-02 10:00:00")
        #expect(try store.items()[0]["autoRenewingPlan"]?["autoRenewEnabled"] == true)
        #expect(try store.truth() == .grace(until: store.instant("2026-06-08T10:00:00Z")))
        #expect(try store.pass(until: "2026-06-03T11:00:00Z").isEmpty)
        #expect(try store.expiry() == "2026-06-04 10:00:00")
        #expect(try store.pass(until: "2026-06-08T09:59:59Z").isEmpty)
        #expect(try store.expiry() == "2026-06-08 10:00:00")
        #expect(try store.truth().isEntitled)
    }

    @Test func `the latest order of a failed charge is no payment`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let paid = try #require(try store.items()[0]["latestSuccessfulOrderId"]?.string)
        #expect(try store.read()["latestOrderId"]?.string == paid)
        try store.act(.failPayments)
        try store.pass(until: "2026-06-03T10:00:00Z")
        #expect(try store.read()["latestOrderId"]?.string == "\(paid)..0")
        #expect(try store.items()[0]["latestSuccessfulOrderId"]?.string == paid)
        try store.act(.fixPayments)
        #expect(try store.read()["latestOrderId"]?.string == "\(paid)..0")
        #expect(try store.items()[0]["latestSuccessfulOrderId"]?.string == "\(paid)..0")
    }

    @Test func `hold follows grace, and a cancellation and the end follow hold`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        let heard = try store.pass(until: "2026-07-08T09:59:59Z")
        #expect(heard == ["2026-06-01 10:00:00 6", "2026-06-08 10:00:00 5"])
        #expect(try store.state() == "ON_HOLD")
        #expect(try store.expiry() == "2026-06-08 10:00:00")
        #expect(try store.truth() == .hold(until: store.instant("2026-07-08T10:00:00Z")))
        let end = try store.pass(until: "2026-07-08T10:00:00Z")
        #expect(end == ["2026-07-08 10:00:00 3", "2026-07-08 10:00:00 13"])
        #expect(try store.state() == "EXPIRED")
        #expect(try store.cancellation() == "systemInitiatedCancellation")
        #expect(try store.items()[0]["autoRenewingPlan"]?["autoRenewEnabled"] == nil)
        #expect(try store.truth() == .expired)
        #expect(store.machine.nextEvent == nil)
    }

    @Test func `an unpaid hold moves the expiry to its end and is readable for sixty days`()
        throws
    {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        let token = try store.token
        let order = try store.items()[0]["latestSuccessfulOrderId"]
        try store.pass(until: "2026-07-08T10:00:00Z")
        #expect(try store.expiry() == "2026-07-08 10:00:00")
        #expect(try store.items()[0]["latestSuccessfulOrderId"] == order)
        try store.pass(until: "2026-09-06T10:00:00Z")
        #expect(try store.state() == "EXPIRED")
        #expect(store.machine.state(ofToken: token) == .readable)
        try store.pass(until: "2026-09-06T10:00:01Z")
        #expect(store.machine.state(ofToken: token) == .gone)
    }

    @Test func `a failure without grace is silent for a day, then a hold`() throws {
        var store = try PlayedStore(subscribedTo: .pro("nograce"))
        try store.act(.failPayments)
        #expect(try store.pass(until: "2026-06-02T09:59:59Z").isEmpty)
        #expect(try store.state() == "ACTIVE")
        #expect(try store.expiry() == "2026-06-02 10:00:00")
        #expect(try store.truth().name == "active")
        #expect(try store.pass(until: "2026-06-02T10:00:00Z") == ["2026-06-02 10:00:00 5"])
        // 60 days, because there is no grace to subtract.
        #expect(try store.truth() == .hold(until: store.instant("2026-08-01T10:00:00Z")))
        try store.pass(until: "2026-08-01T10:00:00Z")
        #expect(try store.expiry() == "2026-08-01 10:00:00")
    }

    @Test func `a payment during the silence renews as usual`() throws {
        var store = try PlayedStore(subscribedTo: .pro("nograce"))
        try store.act(.failPayments)
        try store.pass(until: "2026-06-01T20:00:00Z")
        #expect(try store.act(.fixPayments) == ["2"])
        #expect(try store.expiry() == "2026-07-01 10:00:00")
    }

    @Test func `without a hold the end follows grace at once`() throws {
        var store = try PlayedStore(subscribedTo: .pro("nohold"))
        try store.act(.failPayments)
        let heard = try store.pass(until: "2026-07-01T10:00:00Z")
        #expect(
            heard == ["2026-06-01 10:00:00 6", "2026-07-01 10:00:00 3", "2026-07-01 10:00:00 13"]
        )
        #expect(try store.state() == "EXPIRED")
    }

    @Test func `a recovery in grace keeps the renewal date`() throws {
        var store = try PlayedStore(subscribedTo: .monthly, at: "2026-01-31T10:00:00Z")
        try store.act(.failPayments)
        try store.pass(until: "2026-03-03T12:00:00Z")
        #expect(try store.state() == "IN_GRACE_PERIOD")
        #expect(try store.act(.fixPayments) == ["2"])
        #expect(try store.state() == "ACTIVE")
        #expect(try store.expiry() == "2026-03-31 10:00:00")
        #expect(try store.truth(at: "2026-03-01T00:00:00Z").name == "grace")
    }

    @Test func `a recovery from hold sets the renewal date`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        try store.pass(until: "2026-06-20T08:30:00Z")
        let token = try store.token
        #expect(try store.act(.fixPayments) == ["1"])
        #expect(try store.token == token)
        #expect(try store.state() == "ACTIVE")
        #expect(try store.expiry() == "2026-07-20 08:30:00")
        #expect(try store.pass(until: "2026-07-20T08:30:00Z") == ["2026-07-20 08:30:00 2"])
    }

    // MARK: Tests

    @Test func `a tester's month lasts five minutes and renews six times`() throws {
        var store = try PlayedStore(.tester)
        try store.subscribe(.monthly)
        try store.write(.acknowledge(token: store.token))
        #expect(try store.read()["testPurchase"] == [:])
        let heard = try store.pass(until: "2026-05-01T12:00:00Z")
        let renewals = (1...6).map { "2026-05-01 10:\(5 * $0 < 10 ? "0" : "")\(5 * $0):00 2" }
        #expect(heard == renewals + ["2026-05-01 10:35:00 3", "2026-05-01 10:35:00 13"])
    }

    @Test func `a tester's trial lasts three minutes, grace five and hold ten`() throws {
        var store = try PlayedStore(.tester)
        try store.subscribe(.pro("monthly", "trial"))
        try store.write(.acknowledge(token: store.token))
        try store.act(.failPayments)
        let heard = try store.pass(until: "2026-05-01T12:00:00Z")
        #expect(
            heard == [
                "2026-05-01 10:03:00 6", "2026-05-01 10:08:00 5", "2026-05-01 10:18:00 3",
                "2026-05-01 10:18:00 13",
            ]
        )
    }

    @Test(arguments: [
        ("monthly", "10:05:00"), ("yearly", "10:30:00"), ("prepaid-3-days", "10:05:00"),
    ])
    func `a tester's periods equal those of Google's table`(plan: String, end: String) throws {
        var store = try PlayedStore(.tester)
        try store.subscribe(.pro(plan))
        #expect(try store.expiry() == "2026-05-01 \(end)")
    }

    // MARK: Determinism

    @Test func `equal seeds give equal bytes, different seeds different ones`() throws {
        #expect(try story(seed: 3) == story(seed: 3))
        #expect(try story(seed: 3) != story(seed: 4))
    }

    private func story(seed: UInt64) throws -> [[UInt8]] {
        var store = try PlayedStore(seed: seed)
        try store.subscribe(.monthly, .extra)
        try store.write(.acknowledge(token: store.token))
        try store.act(.buy(product: "cards.coins", quantity: 2, payment: .prompt))
        try store.pass(until: "2026-07-20T08:30:00Z")
        try store.act(.replace(product: "cards.pro", with: .plus, mode: .withTimeProration))
        try store.act(.requestRefund(product: nil))
        let resources = store.tokens.compactMap {
            store.machine.subscription(token: $0) ?? store.machine.product(token: $0)
        }
        let contents = store.notifications.map(\.content)
        return (contents + resources).map { JSONValue.object($0).encoded() }
    }
}

extension PlayedStore {
    func instant(_ text: String) throws -> Int64 { try #require(InstantText.read(text)) }
}
