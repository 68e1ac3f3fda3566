import Testing
import TideoverJSON
import TideoverSandbox

/// Changes of a subscription other than payments: other products, other prices, extensions, refund
/// requests. https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
@Suite struct AppStoreChangeTests {
    private static func products(trial: String? = nil) throws -> [AppStoreProduct] {
        [
            try .make("silver", level: 2, trial: trial),
            try .make("silver.other", level: 2, price: "8.99 USD"),
            try .make("silver.yearly", "P1Y", level: 2, price: "99.99 USD"),
            try .make("gold", price: "19.99 USD"),
            try .make("bronze", level: 3, price: "4.99 USD"),
        ]
    }

    /// Returns a store with the customer's middle product from 1 May to 1 June.
    private func store(trial: String? = nil) throws -> HeardStore {
        var store = try HeardStore(Self.products(trial: trial), at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe(trial == nil ? .declined : .required)
        return store
    }

    @Test(arguments: ["gold", "silver.other"])
    func `an upgrade, or a crossgrade of equal length, begins at once`(product: String) throws {
        var store = try HeardStore(Self.products(), at: "2026-05-01T10:00:00Z")
        let old = try #require(try store.subscribe().transaction)
        _ = try store.pass(until: "2026-05-16T22:00:00Z")
        let heard = try #require(try store.act(.changePlan(to: product)).first)
        #expect(heard.kind == "DID_CHANGE_RENEWAL_PREF/UPGRADE")
        #expect(heard.status == 1)
        #expect(heard.transaction?["productId"] == .string(product))
        #expect(heard.transaction?["transactionReason"] == "PURCHASE")
        #expect(heard.transaction?["isUpgraded"] == nil)
        #expect(heard.transaction?["originalTransactionId"] == old["originalTransactionId"])
        #expect(heard.transaction?["transactionId"] != old["transactionId"])
        #expect(heard.transaction("purchaseDate") == "2026-05-16 22:00:00")
        #expect(heard.transaction("expiresDate") == "2026-06-16 22:00:00")
        #expect(heard.renewal?["autoRenewProductId"] == .string(product))
        let next = try #require(try store.pass(until: "2026-06-16T22:00:00Z").first)
        #expect(next.kind == "DID_RENEW")
        #expect(next.transaction?["productId"] == .string(product))
    }

    @Test func `the unused part of the old payment is refunded`() throws {
        var machine = try store().machine
        // Half of the 31 days from 1 May to 1 June.
        _ = machine.advance(to: try #require(InstantText.read("2026-05-16T22:00:00Z")))
        let event = try #require(
            try machine.perform(.changePlan(to: "gold"), by: "anna").first?.event
        )
        guard case .upgraded(_, _, let refund) = event else {
            Issue.record("not upgraded: \(event)")
            return
        }
        #expect(refund == StorePrice(milliunits: 4995, currency: "USD"))
    }

    @Test func `the old transaction is marked as upgraded and not revoked`() async throws {
        let client = try await StoreClient([
            .make("silver", level: 2),
            .make("gold", price: "19.99 USD"),
        ])
        let old = try await client.buy("silver")
        try await client.store.perform(.changePlan(to: "gold"), by: "anna")
        let answer = try await client.answer("GET", "/inApps/v2/history/\(old)")
        let transactions = try client.verified(all: answer["signedTransactions"])
        #expect(transactions.map { $0["productId"] } == ["silver", "gold"])
        #expect(transactions.map { $0["isUpgraded"] } == [true, nil])
        #expect(transactions.map { $0["revocationDate"] } == [nil, nil])
        let refunds = try await client.answer("GET", "/inApps/v2/refund/lookup/\(old)")
        #expect(refunds["signedTransactions"] == [])
    }

    @Test(arguments: [("bronze", "2026-07-01 10:00:00"), ("silver.yearly", "2027-06-01 10:00:00")])
    func `a downgrade, or a crossgrade of other length, waits for the renewal`(
        product: String,
        end: String
    ) throws {
        var store = try store()
        let heard = try #require(try store.act(.changePlan(to: product)).first)
        #expect(heard.kind == "DID_CHANGE_RENEWAL_PREF/DOWNGRADE")
        #expect(heard.transaction?["productId"] == "silver")
        #expect(heard.renewal?["productId"] == "silver")
        #expect(heard.renewal?["autoRenewProductId"] == .string(product))
        let next = try #require(try store.pass(until: "2026-06-01T10:00:00Z").first)
        #expect(next.kind == "DID_RENEW")
        #expect(next.transaction?["productId"] == .string(product))
        #expect(next.transaction?["transactionReason"] == "RENEWAL")
        #expect(next.transaction("expiresDate") == end)
        #expect(next.transaction?["price"] == next.renewal?["renewalPrice"])
        #expect(next.renewal?["autoRenewProductId"] == .string(product))
    }

    @Test func `a pending change can be dropped`() throws {
        var store = try store()
        _ = try store.act(.changePlan(to: "bronze"))
        let heard = try #require(try store.act(.changePlan(to: "silver")).first)
        #expect(heard.kind == "DID_CHANGE_RENEWAL_PREF")
        #expect(heard.renewal?["autoRenewProductId"] == "silver")
        let next = try #require(try store.pass(until: "2026-06-01T10:00:00Z").first)
        #expect(next.transaction?["productId"] == "silver")
        #expect(next.transaction?["price"] == 9990)
    }

    @Test func `a change of plan turns renewal on`() throws {
        var store = try store()
        _ = try store.act(.cancel(product: nil))
        let heard = try #require(try store.act(.changePlan(to: "bronze")).first)
        #expect(heard.renewal?["autoRenewStatus"] == 1)
        #expect(try store.pass(until: "2026-06-01T10:00:00Z").map(\.kind) == ["DID_RENEW"])
    }

    @Test func `an upgrade ends a trial without a refund`() throws {
        var store = try store(trial: "P1W")
        let heard = try #require(try store.act(.changePlan(to: "gold")).first)
        #expect(heard.transaction?["offerType"] == nil)
        #expect(heard.transaction?["price"] == 19_990)
        #expect(heard.transaction("expiresDate") == "2026-06-01 10:00:00")
    }

    // MARK: - Prices

    private var higher: StorePrice { StorePrice(milliunits: 12_990, currency: "USD") }

    @Test func `a price increase without consent ends the subscription`() throws {
        var store = try store()
        let asked = try store.act(.raisePrice(product: nil, to: higher, needsConsent: true))
        #expect(asked.map(\.kind) == ["PRICE_INCREASE/PENDING"])
        #expect(asked.first?.renewal?["priceIncreaseStatus"] == 0)
        #expect(asked.first?.renewal?["renewalPrice"] == 12_990)
        #expect(asked.first?.transaction?["price"] == 9990)
        let ended = try store.pass(until: "2026-12-31T00:00:00Z")
        #expect(ended.map(\.kind) == ["EXPIRED/PRICE_INCREASE"])
        #expect(ended.first?.status == 2)
        #expect(ended.first?.renewal?["expirationIntent"] == 3)
        #expect(ended.first?.signedDate == "2026-06-01 10:00:00")
    }

    @Test(arguments: [true, false])
    func `an agreed or announced price applies to every later renewal`(
        needsConsent: Bool
    ) throws {
        var store = try store()
        var heard = try store.act(
            .raisePrice(product: nil, to: higher, needsConsent: needsConsent)
        )
        if needsConsent { heard += try store.act(.acceptPrice(product: nil)) }
        #expect(heard.last?.kind == "PRICE_INCREASE/ACCEPTED")
        #expect(heard.last?.renewal?["priceIncreaseStatus"] == 1)
        let renewals = try store.pass(until: "2026-07-01T10:00:00Z")
        #expect(renewals.map(\.kind) == ["DID_RENEW", "DID_RENEW"])
        #expect(renewals.map { $0.transaction?["price"] } == [12_990, 12_990])
        #expect(renewals.map { $0.renewal?["priceIncreaseStatus"] } == [nil, nil])
    }

    // MARK: - Extensions and refund requests

    @Test func `an extension moves the end and the cycle`() throws {
        var store = try store()
        let heard = try #require(try store.act(.extendRenewal(product: nil, days: 7)).first)
        #expect(heard.kind == "RENEWAL_EXTENDED")
        #expect(heard.transaction("expiresDate") == "2026-06-08 10:00:00")
        #expect(heard.renewal("renewalDate") == "2026-06-08 10:00:00")
        let next = try #require(try store.pass(until: "2026-06-08T10:00:00Z").first)
        #expect(next.transaction("expiresDate") == "2026-07-08 10:00:00")
    }

    /// The App Store itself may turn renewal off after a request.
    /// https://developer.apple.com/documentation/appstoreservernotifications/subtype
    @Test func `a request for a refund can turn renewal off, and access stays`() throws {
        var store = try store()
        let heard = try store.act(
            .requestRefund(product: nil, reason: .other, stopsRenewal: true)
        )
        #expect(heard.map(\.kind).first == "CONSUMPTION_REQUEST")
        #expect(
            heard.last?.kind.hasPrefix("DID_CHANGE_RENEWAL_STATUS") == true && heard.count == 2
        )
        #expect(heard.last?.renewal?["autoRenewStatus"] == 0)
        #expect(heard.last?.status == 1)
    }

    @Test func `a refund request sends a consumption request, then the decision`() throws {
        var store = try store()
        let asked = try #require(
            try store.act(.requestRefund(product: nil, reason: .unsatisfied)).first
        )
        #expect(asked.kind == "CONSUMPTION_REQUEST")
        #expect(asked.data["consumptionRequestReason"] == "UNSATISFIED_WITH_PURCHASE")
        #expect(asked.status == 1)
        let declined = try #require(try store.act(.declineRefund(product: nil)).first)
        #expect(declined.kind == "REFUND_DECLINED")
        #expect(declined.data["consumptionRequestReason"] == nil)
        #expect(declined.status == 1)
        #expect(declined.transaction?["revocationDate"] == nil)
        #expect(try store.pass(until: "2026-06-01T10:00:00Z").map(\.kind) == ["DID_RENEW"])
    }

    @Test func `a refund is of the payment that it was requested for, also after a renewal`()
        throws
    {
        var store = try HeardStore(Self.products(), at: "2026-05-01T10:00:00Z")
        let bought = try store.subscribe()
        _ = try store.pass(until: "2026-05-31T10:00:00Z")
        _ = try store.act(.requestRefund(product: nil, reason: .other))
        _ = try store.pass(until: "2026-06-02T10:00:00Z")
        let refunded = try #require(
            try store.act(.refund(product: nil, reason: .other)).first
        )
        #expect(refunded.kind == "REFUND")
        #expect(refunded.status == 1)
        #expect(refunded.transaction?["transactionId"] == bought.transaction?["transactionId"])
        #expect(refunded.transaction("revocationDate") == "2026-06-02 10:00:00")
        #expect(refunded.renewal("renewalDate") == "2026-07-01 10:00:00")
        #expect(try store.truth(at: "2026-06-02T10:00:00Z").isEntitled)
        let reversed = try #require(try store.act(.reverseRefund(product: nil)).first)
        #expect(reversed.kind == "REFUND_REVERSED")
        #expect(reversed.transaction?["transactionId"] == bought.transaction?["transactionId"])
        #expect(reversed.transaction?["revocationDate"] == nil)
        #expect(reversed.status == 1)
        #expect(try store.pass(until: "2026-07-01T10:00:00Z").map(\.kind) == ["DID_RENEW"])
        // Without a request it is of the newest payment.
        #expect(try store.act(.refund(product: nil, reason: .other)).first?.status == 5)
    }

    @Test func `the store refuses invalid changes with a reason`() throws {
        var store = try HeardStore(
            Self.products(),
            at: "2026-05-01T10:00:00Z"
        )
        func refusal(_ action: AppStoreAction) -> AppStoreRefusal.Reason? {
            do {
                _ = try store.act(action)
                return nil
            } catch {
                return (error as? AppStoreRefusal)?.reason
            }
        }
        let raise = AppStoreAction.raisePrice(product: nil, to: higher, needsConsent: true)
        #expect(refusal(.changePlan(to: "gold")) == .notSubscribed)
        _ = try store.subscribe()
        #expect(refusal(.changePlan(to: "x")) == .unknownProduct)
        #expect(refusal(.changePlan(to: "silver")) == .samePlan)
        _ = try store.act(.changePlan(to: "bronze"))
        #expect(refusal(.changePlan(to: "bronze")) == .samePlan)
        #expect(refusal(.acceptPrice(product: nil)) == .noPriceToAccept)
        let lower = StorePrice(milliunits: 1, currency: "USD")
        let foreign = StorePrice(milliunits: 99_990, currency: "EUR")
        for price in [lower, foreign] {
            let raise = AppStoreAction.raisePrice(product: nil, to: price, needsConsent: false)
            #expect(refusal(raise) == .notHigher)
        }
        #expect(refusal(.declineRefund(product: nil)) == .refundNotRequested)
        _ = try store.act(.failPayments)
        #expect(refusal(.changePlan(to: "gold")) == .paymentDeclined)
        _ = try store.pass(until: "2026-06-05T10:00:00Z")
        #expect(refusal(.changePlan(to: "gold")) == .notRunning)
        #expect(refusal(raise) == .notRunning)
        #expect(refusal(.extendRenewal(product: nil, days: 1)) == .notExtendable)
        _ = try store.pass(until: "2026-12-05T10:00:00Z")
        #expect(refusal(.changePlan(to: "gold")) == .ended)
        #expect(refusal(raise) == .ended)
    }
}
