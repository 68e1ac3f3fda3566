import Testing
import TideoverJSON
import TideoverSandbox

/// Changes of a running subscription by customers, the store and developers.
/// https://developer.android.com/google/play/billing/lifecycle/subscriptions
@Suite struct GooglePlayChangeTests {
    // MARK: Cancelling

    @Test func `a subscription cancelled by its user has access until the expiry`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.pass(until: "2026-05-10T12:00:00Z")
        let survey = GooglePlayAction.CancelSurvey(reason: .others, input: "moving away")
        #expect(try store.act(.cancel(product: nil, survey: survey)) == ["3"])
        #expect(try store.state() == "CANCELED")
        #expect(
            try store.read()["canceledStateContext"] == [
                "userInitiatedCancellation": [
                    "cancelTime": "2026-05-10T12:00:00.000Z",
                    "cancelSurveyResult": [
                        "reason": "CANCEL_SURVEY_REASON_OTHERS", "reasonUserInput": "moving away",
                    ],
                ]
            ]
        )
        #expect(try store.items()[0]["autoRenewingPlan"]?["autoRenewEnabled"] == nil)
        #expect(try store.truth().isEntitled)
        #expect(try store.pass(until: "2026-07-01T00:00:00Z") == ["2026-06-01 10:00:00 13"])
        #expect(try store.state() == "EXPIRED")
        #expect(try store.cancellation() == "userInitiatedCancellation")
        #expect(try store.truth(at: "2026-06-01T10:00:00Z") == .expired)
    }

    @Test func `a subscription restored before the expiry renews as before`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let token = try store.token
        try store.act(.cancel(product: nil, survey: nil))
        #expect(try store.act(.restart(product: nil)) == ["7"])
        #expect(try store.token == token)
        #expect(try store.state() == "ACTIVE")
        #expect(try store.cancellation() == nil)
        #expect(try store.pass(until: "2026-06-01T10:00:00Z") == ["2026-06-01 10:00:00 2"])
    }

    @Test func `a subscription restored in grace has the rest of that grace`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        try store.pass(until: "2026-06-03T11:00:00Z")
        try store.act(.cancel(product: nil, survey: nil))
        #expect(try store.state() == "CANCELED")
        #expect(try store.act(.restart(product: nil)) == ["7"])
        #expect(try store.state() == "IN_GRACE_PERIOD")
        #expect(try store.truth() == .grace(until: InstantText.read("2026-06-08T10:00:00Z") ?? 0))
        #expect(try store.pass(until: "2026-06-08T10:00:00Z") == ["2026-06-08 10:00:00 5"])
    }

    @Test func `a subscription restored in grace is charged if the payment works`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        try store.pass(until: "2026-06-03T11:00:00Z")
        try store.act(.cancel(product: nil, survey: nil))
        #expect(try store.act(.fixPayments).isEmpty)
        #expect(try store.act(.restart(product: nil)) == ["7", "2"])
        #expect(try store.expiry() == "2026-07-01 10:00:00")
    }

    @Test(arguments: [
        (GooglePlayWrite.CancellationType.userRequestedStopRenewals, "userInitiatedCancellation"),
        (.developerRequestedStopPayments, "developerInitiatedCancellation"),
    ])
    func `a developer can cancel in two ways, and the user can undo one`(
        type: GooglePlayWrite.CancellationType,
        context: String
    ) throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        #expect(try store.write(.cancel(token: store.token, type)) == ["3"])
        #expect(try store.state() == "CANCELED")
        #expect(try store.cancellation() == context)
        if type == .userRequestedStopRenewals {
            #expect(try store.act(.restart(product: nil)) == ["7"])
        } else {
            #expect(try store.refused(.restart(product: nil)) == .notRestorable)
        }
    }

    @Test func `the store's own cancellation is marked as such`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        #expect(try store.act(.cancelBySystem(product: nil)) == ["3"])
        #expect(try store.cancellation() == "systemInitiatedCancellation")
    }

    @Test func `a subscription cancelled on hold ends at once`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        try store.pass(until: "2026-06-20T00:00:00Z")
        #expect(try store.act(.cancel(product: nil, survey: nil)) == ["3", "13"])
        #expect(try store.state() == "EXPIRED")
        #expect(try store.cancellation() == "userInitiatedCancellation")
    }

    @Test func `a subscription cancelled in grace has access until the stated expiry`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.failPayments)
        try store.pass(until: "2026-06-03T12:00:00Z")
        #expect(try store.act(.cancel(product: nil, survey: nil)) == ["3"])
        #expect(try store.state() == "CANCELED")
        #expect(try store.expiry() == "2026-06-04 10:00:00")
        #expect(try store.pass(until: "2026-07-01T00:00:00Z") == ["2026-06-04 10:00:00 13"])
    }

    // MARK: Pausing

    @Test func `a pause is scheduled, begins at the expiry and ends by itself`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        #expect(try store.act(.pause(product: nil, try .month)) == ["11"])
        #expect(try store.state() == "ACTIVE")
        #expect(try store.pass(until: "2026-06-01T10:00:00Z") == ["2026-06-01 10:00:00 10"])
        #expect(try store.state() == "PAUSED")
        #expect(
            try store.read()["pausedStateContext"] == ["autoResumeTime": "2026-07-01T10:00:00.000Z"]
        )
        #expect(try !store.truth().isEntitled)
        #expect(try store.pass(until: "2026-07-01T10:00:00Z") == ["2026-07-01 10:00:00 1"])
        #expect(try store.state() == "ACTIVE")
        #expect(try store.read()["pausedStateContext"] == nil)
        #expect(try store.expiry() == "2026-08-01 10:00:00")
    }

    @Test func `an early resumption sets the billing date`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.pause(product: nil, try .month))
        try store.pass(until: "2026-06-11T08:00:00Z")
        #expect(try store.act(.resume(product: nil)) == ["1"])
        #expect(try store.expiry() == "2026-07-11 08:00:00")
    }

    @Test func `a withdrawn pause changes the schedule again`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.pause(product: nil, try .month))
        #expect(try store.act(.resume(product: nil)) == ["11"])
        #expect(try store.pass(until: "2026-06-01T10:00:00Z") == ["2026-06-01 10:00:00 2"])
        #expect(try store.refused(.resume(product: nil)) == .notPaused)
    }

    @Test func `a declined payment after a pause causes a hold`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.pause(product: nil, try .month))
        try store.pass(until: "2026-06-11T08:00:00Z")
        try store.act(.failPayments)
        #expect(try store.pass(until: "2026-07-01T10:00:00Z") == ["2026-07-01 10:00:00 5"])
        #expect(try store.state() == "ON_HOLD")
    }

    @Test func `a subscription cancelled during a pause ends at once`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        try store.act(.pause(product: nil, try .month))
        try store.pass(until: "2026-06-11T08:00:00Z")
        #expect(try store.act(.cancel(product: nil, survey: nil)) == ["3", "13"])
    }

    // MARK: Prices

    @Test func `an agreed price is charged at the next renewal`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let price = try #require(StorePrice("12.50 USD"))
        #expect(try store.act(.changePrice(product: nil, to: price, .increase)) == ["19"])
        #expect(
            try store.priceChange() == [
                "newPrice": ["currencyCode": "USD", "units": "12", "nanos": 500_000_000],
                "priceChangeMode": "PRICE_INCREASE", "priceChangeState": "OUTSTANDING",
                "expectedNewPriceChargeTime": "2026-06-01T10:00:00.000Z",
            ]
        )
        #expect(try store.act(.acceptPrice(product: nil)) == ["19"])
        #expect(try store.priceChange()?["priceChangeState"] == "CONFIRMED")
        #expect(try store.pass(until: "2026-06-01T10:00:00Z") == ["2026-06-01 10:00:00 2"])
        #expect(try store.priceChange()?["priceChangeState"] == "APPLIED")
        #expect(try store.priceChange()?["expectedNewPriceChargeTime"] == nil)
        #expect(try PlayedStore.amount(store.order()["total"]) == "12.50 USD")
    }

    @Test func `a price increase without consent ends the subscription at the renewal`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let price = try #require(StorePrice("12.50 USD"))
        try store.act(.changePrice(product: nil, to: price, .increase))
        let heard = try store.pass(until: "2026-06-02T00:00:00Z")
        #expect(heard == ["2026-06-01 10:00:00 3", "2026-06-01 10:00:00 13"])
        #expect(try store.priceChange()?["priceChangeState"] == "CANCELED")
        #expect(try store.priceChange()?["expectedNewPriceChargeTime"] == nil)
    }

    /// The offer is a free week and two months at a lower price.
    @Test func `a price increase without consent ends no offer`() throws {
        var store = try PlayedStore(subscribedTo: .pro("monthly", "launch"))
        let price = try #require(StorePrice("12.50 USD"))
        try store.act(.changePrice(product: nil, to: price, .increase))
        let time = try store.priceChange()?["expectedNewPriceChargeTime"]
        #expect(time == "2026-07-08T10:00:00.000Z")
        #expect(
            try store.pass(until: "2026-12-01T00:00:00Z") == [
                "2026-05-08 10:00:00 2", "2026-06-08 10:00:00 2", "2026-07-08 10:00:00 3",
                "2026-07-08 10:00:00 13",
            ]
        )
    }

    /// The free week ends on 31 January.
    @Test func `a short month moves no later date of an offer`() throws {
        var store = try PlayedStore(
            subscribedTo: .pro("monthly", "launch"),
            at: "2026-01-24T10:00:00Z"
        )
        let price = try #require(StorePrice("12.50 USD"))
        try store.act(.changePrice(product: nil, to: price, .optOutIncrease))
        let time = try store.priceChange()?["expectedNewPriceChargeTime"]
        #expect(time == "2026-03-31T10:00:00.000Z")
        #expect(
            try store.pass(until: "2026-04-01T00:00:00Z") == [
                "2026-01-31 10:00:00 2", "2026-02-28 10:00:00 2", "2026-03-31 10:00:00 2",
            ]
        )
        #expect(try store.priceChange()?["priceChangeState"] == "APPLIED")
    }

    @Test func `a changed price is charged at the end of a pause`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let price = try #require(StorePrice("12.50 USD"))
        try store.act(.changePrice(product: nil, to: price, .optOutIncrease))
        try store.act(.pause(product: nil, try .month))
        try store.pass(until: "2026-06-01T10:00:00Z")
        let time = try store.priceChange()?["expectedNewPriceChargeTime"]
        #expect(time == "2026-07-01T10:00:00.000Z")
        try store.pass(until: "2026-07-01T10:00:00Z")
        #expect(try PlayedStore.amount(store.order()["total"]) == "12.50 USD")
    }

    @Test(arguments: [GooglePlayAction.PriceChangeMode.decrease, .optOutIncrease])
    func `other changes of price need no consent`(
        mode: GooglePlayAction.PriceChangeMode
    ) throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let price = try #require(StorePrice("8.00 USD"))
        #expect(try store.act(.changePrice(product: nil, to: price, mode)) == ["19"])
        try store.pass(until: "2026-06-01T10:00:00Z")
        #expect(try PlayedStore.amount(store.order()["total"]) == "8.00 USD")
        #expect(try store.priceChange()?["priceChangeMode"] == .string(mode.rawValue))
    }

    @Test func `a price step-up without consent cancels at the deadline`() throws {
        var store = try PlayedStore(subscribedTo: .pro("monthly", "launch"))
        try store.pass(until: "2026-06-20T00:00:00Z")
        let deadline = try store.instant("2026-07-01T00:00:00Z")
        #expect(try store.act(.askStepUpConsent(product: nil, deadline: deadline)) == ["22"])
        let details = try store.items()[0]["autoRenewingPlan"]?["priceStepUpConsentDetails"]
        #expect(details?["state"] == "PENDING")
        var consenting = store
        #expect(try consenting.act(.acceptStepUp(product: nil)) == ["22"])
        #expect(try consenting.pass(until: "2026-07-08T10:00:00Z") == ["2026-07-08 10:00:00 2"])
        let heard = try store.pass(until: "2026-07-08T10:00:00Z")
        #expect(heard == ["2026-07-01 00:00:00 3", "2026-07-08 10:00:00 13"])
    }

    // MARK: Deferring

    @Test func `a deferred renewal moves the expiry and every later one`() throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let (token, etag) = (try store.token, try store.read()["etag"]?.string)
        let defer10 = GooglePlayWrite.deferRenewal(
            token: token,
            milliseconds: 10 * 86_400_000,
            etag: etag
        )
        #expect(try store.write(defer10) == ["9"])
        #expect(try store.expiry() == "2026-06-11 10:00:00")
        #expect(try store.refused(defer10) == .outdated)
        let heard = try store.pass(until: "2026-07-11T10:00:00Z")
        #expect(heard == ["2026-06-11 10:00:00 2", "2026-07-11 10:00:00 2"])
    }

    @Test(arguments: [0, 86_399_999, 366 * 86_400_000])
    func `a renewal can be deferred by a day to a year`(milliseconds: Int64) throws {
        var store = try PlayedStore(subscribedTo: .monthly)
        let write = GooglePlayWrite.deferRenewal(
            token: try store.token,
            milliseconds: milliseconds,
            etag: nil
        )
        #expect(try store.refused(write) == .badDuration)
    }

    // MARK: Instalments

    @Test func `a cancelled instalment plan ends after the last committed payment`() throws {
        var store = try PlayedStore(subscribedTo: .pro("instalments"))
        #expect(
            try store.instalments() == [
                "initialCommittedPaymentsCount": 3, "remainingCommittedPaymentsCount": 2,
            ]
        )
        #expect(try store.act(.cancel(product: nil, survey: nil)) == ["18"])
        #expect(try store.instalments()?["pendingCancellation"] == [:])
        #expect(try store.state() == "ACTIVE")
        let heard = try store.pass(until: "2026-12-01T00:00:00Z")
        #expect(
            heard == [
                "2026-06-01 10:00:00 2", "2026-07-01 10:00:00 2", "2026-08-01 10:00:00 3",
                "2026-08-01 10:00:00 13",
            ]
        )
        #expect(try store.cancellation() == "userInitiatedCancellation")
    }

    @Test func `after a commitment follows another one or none`() throws {
        for (plan, left) in [("instalments", nil), ("committed", 2)] as [(String, JSONValue?)] {
            var store = try PlayedStore(subscribedTo: .pro(plan))
            try store.pass(until: "2026-07-15T00:00:00Z")
            #expect(try store.instalments()?["remainingCommittedPaymentsCount"] == nil)
            try store.pass(until: "2026-08-01T10:00:00Z")
            #expect(try store.instalments()?["remainingCommittedPaymentsCount"] == left, "\(plan)")
        }
    }

    @Test func `a developer's stop keeps the committed payments`() throws {
        var store = try PlayedStore(subscribedTo: .pro("instalments"))
        let write = GooglePlayWrite.cancel(
            token: try store.token,
            .developerRequestedStopPayments
        )
        #expect(try store.write(write) == ["3"])
        #expect(try store.pass(until: "2026-12-01T00:00:00Z") == ["2026-06-01 10:00:00 13"])
    }
}

extension StorePeriod {
    static var month: StorePeriod {
        get throws { try #require(StorePeriod(iso: "P1M")) }
    }
}

extension PlayedStore {
    /// Returns why an action is refused.
    mutating func refused(_ action: GooglePlayAction) throws -> GooglePlayRefusal.Reason? {
        do {
            try act(action)
            return nil
        } catch let refusal as GooglePlayRefusal {
            return refusal.reason
        }
    }

    /// Returns why a write is refused.
    mutating func refused(_ write: GooglePlayWrite) throws -> GooglePlayRefusal.Reason? {
        do {
            try self.write(write)
            return nil
        } catch let refusal as GooglePlayRefusal {
            return refusal.reason
        }
    }

    func priceChange() throws -> JSONValue? {
        try items()[0]["autoRenewingPlan"]?["priceChangeDetails"]
    }

    func instalments() throws -> JSONValue? {
        try items()[0]["autoRenewingPlan"]?["installmentDetails"]
    }
}
