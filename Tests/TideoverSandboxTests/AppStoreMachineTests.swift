import Testing
import TideoverJSON
import TideoverSandbox

/// The behaviour of renewals, as receivers see it.
/// https://developer.apple.com/documentation/storekit/testing-failing-subscription-renewals-and-in-app-purchases
@Suite struct AppStoreMachineTests {
    @Test func `a trial ends in a paid period of the full length`() throws {
        var store = try HeardStore([.monthly(trial: "P1W")], at: "2026-05-01T10:00:00Z")
        let trial = try store.subscribe(.ifEligible)
        #expect(trial.transaction("expiresDate") == "2026-05-08 10:00:00")
        let heard = try store.pass(until: "2026-05-08T10:00:00Z")
        #expect(heard.map(\.kind) == ["DID_RENEW"])
        #expect(heard.first?.transaction("purchaseDate") == "2026-05-08 10:00:00")
        #expect(heard.first?.transaction("expiresDate") == "2026-06-08 10:00:00")
    }

    @Test func `a subscription of 31 January is billed on the last day of short months`() throws {
        var store = try HeardStore([.monthly()], at: "2026-01-31T10:00:00Z")
        let first = try store.subscribe()
        let renewals = try store.pass(until: "2026-05-31T10:00:00Z")
        let ends = ([first] + renewals).map { $0.transaction("expiresDate") }
        #expect(
            ends == [
                "2026-02-28 10:00:00", "2026-03-31 10:00:00", "2026-04-30 10:00:00",
                "2026-05-31 10:00:00", "2026-06-30 10:00:00",
            ]
        )
        #expect(renewals.first?.renewal("renewalDate") == "2026-03-31 10:00:00")
    }

    @Test func `a failed renewal with grace has a grace end and keeps it`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        let heard = try #require(try store.pass(until: "2026-06-01T10:00:00Z").first)
        #expect(heard.kind == "DID_FAIL_TO_RENEW/GRACE_PERIOD")
        #expect(heard.status == 4)
        #expect(heard.renewal("gracePeriodExpiresDate") == "2026-06-17 10:00:00")
        #expect(heard.renewal("renewalDate") == "2026-06-01 10:00:00")
        #expect(heard.renewal?["isInBillingRetryPeriod"] == true)
        #expect(heard.renewal?["autoRenewStatus"] == 1)
        #expect(heard.renewal?["expirationIntent"] == 2)
        #expect(heard.transaction("expiresDate") == "2026-06-01 10:00:00")
        #expect(try store.truth(at: "2026-06-01T10:00:00Z").isEntitled)
    }

    @Test func `a failed renewal without grace suspends at once`() throws {
        var store = try HeardStore([.monthly(grace: .off)], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        let heard = try #require(try store.pass(until: "2026-06-01T10:00:00Z").first)
        #expect(heard.kind == "DID_FAIL_TO_RENEW")
        #expect(heard.status == 3)
        #expect(heard.renewal?["gracePeriodExpiresDate"] == nil)
        #expect(heard.renewal?["isInBillingRetryPeriod"] == true)
        #expect(try !store.truth(at: "2026-06-01T10:00:00Z").isEntitled)
    }

    @Test func `billing is retried for 60 days in all, grace included`() throws {
        var store = try HeardStore([.monthly(grace: .twentyEightDays)], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        let heard = try store.pass(until: "2026-12-31T00:00:00Z")
        #expect(
            heard.map(\.kind) == [
                "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY",
            ]
        )
        #expect(
            heard.map(\.signedDate) == [
                "2026-06-01 10:00:00", "2026-06-29 10:00:00", "2026-07-31 10:00:00",
            ]
        )
        #expect(heard.map(\.status) == [4, 3, 2])
        let last = try #require(heard.last?.renewal)
        #expect(last["expirationIntent"] == 2)
        #expect(last["isInBillingRetryPeriod"] == false)
        #expect(last["autoRenewStatus"] == 0)
        #expect(last["gracePeriodExpiresDate"] == heard.first?.renewal?["gracePeriodExpiresDate"])
    }

    @Test func `a payment recovered in grace keeps the billing date`() throws {
        var store = try HeardStore([.monthly()], at: "2026-01-31T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        _ = try store.pass(until: "2026-03-10T12:00:00Z")
        let heard = try #require(try store.act(.fixPayments).first)
        #expect(heard.kind == "DID_RENEW/BILLING_RECOVERY")
        #expect(heard.status == 1)
        #expect(heard.transaction("purchaseDate") == "2026-02-28 10:00:00")
        #expect(heard.transaction("expiresDate") == "2026-03-31 10:00:00")
        #expect(heard.renewal?["gracePeriodExpiresDate"] == nil)
        #expect(heard.renewal?["isInBillingRetryPeriod"] == nil)
        #expect(heard.renewal?["expirationIntent"] == nil)
    }

    @Test func `a payment recovered after grace begins a new cycle`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        _ = try store.pass(until: "2026-06-20T08:30:00Z")
        let heard = try #require(try store.act(.fixPayments).first)
        #expect(heard.kind == "DID_RENEW/BILLING_RECOVERY")
        #expect(heard.transaction("purchaseDate") == "2026-06-20 08:30:00")
        #expect(heard.transaction("expiresDate") == "2026-07-20 08:30:00")
        #expect(heard.transaction?["transactionReason"] == "RENEWAL")
        let next = try #require(try store.pass(until: "2026-07-20T08:30:00Z").first)
        #expect(next.transaction("expiresDate") == "2026-08-20 08:30:00")
    }

    @Test func `a cancellation changes only whether the running period renews`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        let cancelled = try store.act(.cancel(product: nil))
        #expect(cancelled.map(\.kind) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"])
        #expect(cancelled.first?.status == 1)
        #expect(cancelled.first?.renewal?["autoRenewStatus"] == 0)
        #expect(cancelled.first?.renewal?["expirationIntent"] == nil)
        #expect(cancelled.first?.transaction("expiresDate") == "2026-06-01 10:00:00")

        let ended = try store.pass(until: "2026-12-31T00:00:00Z")
        #expect(ended.map(\.kind) == ["EXPIRED/VOLUNTARY"])
        #expect(ended.first?.status == 2)
        #expect(ended.first?.renewal?["expirationIntent"] == 1)
        #expect(ended.first?.renewal?["isInBillingRetryPeriod"] == false)
    }

    @Test func `a re-enabled renewal continues as before`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.cancel(product: nil))
        let enabled = try store.act(.reenable(product: nil))
        #expect(enabled.map(\.kind) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED"])
        #expect(enabled.first?.renewal?["autoRenewStatus"] == 1)
        #expect(try store.pass(until: "2026-06-01T10:00:00Z").map(\.kind) == ["DID_RENEW"])
    }

    @Test(arguments: ["2026-06-05T00:00:00Z", "2026-06-25T00:00:00Z"])
    func `a cancellation in grace or retry ends the subscription at once`(instant: String) throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        _ = try store.pass(until: instant)
        let heard = try store.act(.cancel(product: nil))
        #expect(
            heard.map(\.kind) == [
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
            ]
        )
        for heard in heard {
            #expect(heard.status == 2)
            #expect(heard.renewal?["autoRenewStatus"] == 0)
            #expect(heard.renewal?["isInBillingRetryPeriod"] == false)
            #expect(heard.renewal?["gracePeriodExpiresDate"] == nil)
        }
        #expect(try store.truth(at: instant) == .expired)
        #expect(try store.pass(until: "2026-12-31T00:00:00Z").isEmpty)
    }

    @Test func `a refund revokes the newest payment with its date and reason`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        let bought = try store.subscribe()
        _ = try store.pass(until: "2026-05-20T12:00:00Z")
        let heard = try #require(try store.act(.refund(product: nil, reason: .appIssue)).first)
        #expect(heard.kind == "REFUND")
        #expect(heard.status == 5)
        #expect(heard.transaction("revocationDate") == "2026-05-20 12:00:00")
        #expect(heard.transaction?["revocationReason"] == 1)
        #expect(heard.transaction?["revocationType"] == "REFUND_FULL")
        #expect(heard.transaction?["transactionId"] == bought.transaction?["transactionId"])
        #expect(try store.truth(at: "2026-05-20T11:59:59Z").isEntitled)
        #expect(try store.truth(at: "2026-05-20T12:00:00Z") == .revoked)
    }

    @Test func `a partial refund contains its share and revokes all the same`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.pass(until: "2026-05-20T12:00:00Z")
        let refund = AppStoreAction.refund(product: nil, reason: .other, percent: 40)
        let heard = try #require(try store.act(refund).first)
        #expect(heard.kind == "REFUND")
        #expect(heard.status == 5)
        #expect(heard.transaction("revocationDate") == "2026-05-20 12:00:00")
        #expect(heard.transaction?["revocationType"] == "REFUND_PRORATED")
        #expect(heard.transaction?["revocationPercentage"] == 40_000)
        let reversed = try #require(try store.act(.reverseRefund(product: nil)).first)
        #expect(reversed.transaction?["revocationType"] == nil)
        #expect(reversed.transaction?["revocationPercentage"] == nil)
        #expect(reversed.status == 1)
    }

    @Test func `a reversed refund does not change the renewal date`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.pass(until: "2026-05-20T12:00:00Z")
        _ = try store.act(.refund(product: nil, reason: .other))
        _ = try store.pass(until: "2026-05-22T12:00:00Z")
        let heard = try #require(try store.act(.reverseRefund(product: nil)).first)
        #expect(heard.kind == "REFUND_REVERSED")
        #expect(heard.status == 1)
        #expect(heard.transaction?["revocationDate"] == nil)
        #expect(heard.transaction("expiresDate") == "2026-06-01 10:00:00")
        #expect(heard.renewal("renewalDate") == "2026-06-01 10:00:00")
        #expect(try store.pass(until: "2026-06-01T10:00:00Z").map(\.kind) == ["DID_RENEW"])
    }

    @Test func `a refund reversed after the period restores nothing`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.refund(product: nil, reason: .other))
        #expect(try store.pass(until: "2026-06-20T12:00:00Z").isEmpty)
        let heard = try store.act(.reverseRefund(product: nil))
        #expect(heard.map(\.kind) == ["REFUND_REVERSED"])
        #expect(heard.first?.status == 2)
        #expect(try store.truth(at: "2026-06-20T12:00:00Z") == .expired)
    }

    @Test func `a returning customer keeps the lineage and gets no second trial`() throws {
        var store = try HeardStore([.monthly(trial: "P3D")], at: "2026-05-01T10:00:00Z")
        let first = try store.subscribe(.ifEligible)
        _ = try store.act(.cancel(product: nil))
        _ = try store.pass(until: "2026-06-10T09:00:00Z")
        let again = try store.subscribe(.ifEligible)
        #expect(again.kind == "SUBSCRIBED/RESUBSCRIBE")
        #expect(
            again.transaction?["originalTransactionId"] == first.transaction?["transactionId"]
        )
        #expect(again.transaction?["offerType"] == nil)
        #expect(again.transaction?["transactionReason"] == "PURCHASE")
        #expect(again.transaction("purchaseDate") == "2026-06-10 09:00:00")
        #expect(again.transaction("expiresDate") == "2026-07-10 09:00:00")
        #expect(again.transaction("originalPurchaseDate") == "2026-05-01 10:00:00")
    }

    @Test(arguments: [
        ("2026-07-31T10:00:00Z", "2026-05-01 10:00:00"),
        ("2026-07-31T10:00:01Z", "2026-07-31 10:00:01"),
    ])
    func `a gap of more than 60 days in paid service begins a new subscription run`(
        back: String,
        start: String
    ) throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.cancel(product: nil))
        _ = try store.pass(until: back)
        let again = try store.subscribe()
        #expect(again.renewal("recentSubscriptionStartDate") == start)
    }

    @Test func `the store refuses impossible actions with a reason`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        func refusal(_ action: AppStoreAction) -> AppStoreRefusal.Reason? {
            do {
                _ = try store.act(action)
                return nil
            } catch {
                return (error as? AppStoreRefusal)?.reason
            }
        }
        let buy = AppStoreAction.subscribe(product: "cards.pro.monthly", trial: .ifEligible)
        #expect(refusal(.cancel(product: nil)) == .notSubscribed)
        #expect(refusal(.subscribe(product: "x", trial: .declined)) == .unknownProduct)
        #expect(
            refusal(.subscribe(product: "cards.pro.monthly", trial: .required)) == .trialNotOffered
        )
        _ = try store.act(.failPayments)
        #expect(refusal(buy) == .paymentDeclined)
        _ = try store.act(.fixPayments)
        #expect(refusal(buy) == nil)
        #expect(refusal(buy) == .alreadySubscribed)
        #expect(refusal(.reenable(product: nil)) == .renewalAlreadyOn)
        #expect(refusal(.reverseRefund(product: nil)) == .notRefunded)
        _ = try store.act(.cancel(product: nil))
        #expect(refusal(.cancel(product: nil)) == .renewalAlreadyOff)
        _ = try store.act(.refund(product: nil, reason: .other))
        #expect(refusal(.refund(product: nil, reason: .other)) == .alreadyRefunded)
        #expect(refusal(.reenable(product: nil)) == .ended)
    }

    @Test func `the store returns its state at any past instant`() throws {
        var store = try HeardStore([.monthly()], at: "2026-05-01T10:00:00Z")
        #expect(try store.truth(at: "2026-05-01T10:00:00Z") == .never)
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        _ = try store.pass(until: "2026-06-20T08:30:00Z")
        _ = try store.act(.fixPayments)
        let names = try [
            "2026-05-01T10:00:00Z", "2026-06-01T09:59:59Z", "2026-06-01T10:00:00Z",
            "2026-06-17T09:59:59Z", "2026-06-17T10:00:00Z", "2026-06-20T08:30:00Z",
        ].map { try store.truth(at: $0).name }
        #expect(names == ["active", "active", "grace", "grace", "retry", "active"])
    }
}
