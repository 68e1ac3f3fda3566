import Testing
import TideoverJSON
import TideoverSandbox

/// Grace, retries and recovery in the store's signed data: in notifications and in the statuses of
/// its Server API. Each is verified against the sandbox root and decoded again.
/// https://developer.apple.com/documentation/storekit/testing-failing-subscription-renewals-and-in-app-purchases
@Suite struct BillingRecoverySignedDataTests {
    private static let second: Int64 = 1000

    /// Returns a monthly subscription with a failed renewal on 1 June, at the given instant.
    private func failing(_ grace: BillingGrace, until instant: String) throws -> HeardStore {
        var store = try HeardStore([.monthly(grace: grace)], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        _ = try store.pass(until: instant)
        return store
    }

    // MARK: - Recovering

    @Test(arguments: [
        (BillingGrace.threeDays, "2026-06-01T10:00:01Z"), (.threeDays, "2026-06-04T09:59:59Z"),
        (.sixteenDays, "2026-06-04T10:00:00Z"), (.sixteenDays, "2026-06-17T09:59:59Z"),
        (.twentyEightDays, "2026-06-17T10:00:00Z"), (.twentyEightDays, "2026-06-29T09:59:59Z"),
    ])
    func `a recovery in grace keeps the billing date`(grace: BillingGrace, day: String) throws {
        var store = try failing(grace, until: day)
        let heard = try #require(try store.act(.fixPayments).first)
        #expect(heard.kind == "DID_RENEW/BILLING_RECOVERY")
        #expect(heard.status == 1)
        #expect(heard.transaction("purchaseDate") == "2026-06-01 10:00:00")
        #expect(heard.transaction("expiresDate") == "2026-07-01 10:00:00")
        #expect(heard.renewal("renewalDate") == "2026-07-01 10:00:00")
        let next = try #require(try store.pass(until: "2026-07-01T10:00:00Z").first)
        #expect(next.kind == "DID_RENEW")
        #expect(next.transaction("expiresDate") == "2026-08-01 10:00:00")
    }

    @Test(arguments: [
        (BillingGrace.off, "2026-06-01T10:00:01Z", "2026-06-01 10:00:01", "2026-07-01 10:00:01"),
        (.threeDays, "2026-06-04T10:00:00Z", "2026-06-04 10:00:00", "2026-07-04 10:00:00"),
        (.sixteenDays, "2026-06-17T10:00:00Z", "2026-06-17 10:00:00", "2026-07-17 10:00:00"),
        (.twentyEightDays, "2026-06-29T10:00:00Z", "2026-06-29 10:00:00", "2026-07-29 10:00:00"),
        (.sixteenDays, "2026-07-31T09:59:59Z", "2026-07-31 09:59:59", "2026-08-31 09:59:59"),
    ])
    func `a recovery in retry restarts the billing date`(
        grace: BillingGrace,
        day: String,
        start: String,
        end: String
    ) throws {
        var store = try failing(grace, until: day)
        let heard = try #require(try store.act(.fixPayments).first)
        #expect(heard.kind == "DID_RENEW/BILLING_RECOVERY")
        #expect(heard.status == 1)
        #expect(heard.transaction("purchaseDate") == start)
        #expect(heard.transaction("expiresDate") == end)
        #expect(heard.renewal("renewalDate") == end)
    }

    // MARK: - Cancelling

    @Test(arguments: [
        (BillingGrace.threeDays, "2026-06-04T09:59:59Z", Int64(4)),
        (.sixteenDays, "2026-06-10T10:00:00Z", 4), (.twentyEightDays, "2026-06-28T10:00:00Z", 4),
        (.off, "2026-06-01T10:00:01Z", 3), (.threeDays, "2026-06-04T10:00:00Z", 3),
        (.sixteenDays, "2026-07-31T09:59:59Z", 3),
    ])
    func `a cancellation in grace or in retry ends at once`(
        grace: BillingGrace,
        day: String,
        before: Int64
    ) async throws {
        let client = try await StoreClient([.monthly(grace: grace)])
        let id = try await client.buy()
        _ = try await client.store.perform(.failPayments, by: "anna")
        try await client.pass(until: day)
        #expect(try await status(of: id, client).status == before)
        _ = try await client.store.perform(.cancel(product: nil), by: "anna")
        let after = try await status(of: id, client)
        #expect(after.status == 2)
        #expect(after.renewal["autoRenewStatus"] == 0)
        #expect(after.renewal["expirationIntent"] == 1)
        #expect(after.renewal["isInBillingRetryPeriod"] == false)
        #expect(after.renewal["gracePeriodExpiresDate"] == nil)
    }

    // MARK: - Sixty days

    @Test(arguments: [
        (BillingGrace.off, String?.none), (.threeDays, "2026-06-04 10:00:00"),
        (.sixteenDays, "2026-06-17 10:00:00"), (.twentyEightDays, "2026-06-29 10:00:00"),
    ])
    func `grace and retry last 60 days together`(grace: BillingGrace, end: String?) throws {
        var store = try failing(grace, until: "2026-05-31T10:00:00Z")
        let heard = try store.pass(until: "2026-12-31T00:00:00Z")
        let failed = end == nil ? "DID_FAIL_TO_RENEW" : "DID_FAIL_TO_RENEW/GRACE_PERIOD"
        let graceEnded = end == nil ? [] : ["GRACE_PERIOD_EXPIRED"]
        #expect(heard.map(\.kind) == [failed] + graceEnded + ["EXPIRED/BILLING_RETRY"])
        #expect(heard.first?.renewal("gracePeriodExpiresDate") == end)
        #expect(heard.first?.signedDate == "2026-06-01 10:00:00")
        if let end { #expect(heard.dropFirst().first?.signedDate == end) }
        #expect(heard.last?.signedDate == "2026-07-31 10:00:00")
        #expect(heard.last?.renewal?["expirationIntent"] == 2)
    }

    @Test(arguments: [
        (BillingGrace.off, "2026-06-01T10:00:00Z", Int64(3)),
        (.threeDays, "2026-06-04T09:59:59Z", 4), (.threeDays, "2026-06-04T10:00:00Z", 3),
        (.sixteenDays, "2026-06-17T09:59:59Z", 4), (.sixteenDays, "2026-06-17T10:00:00Z", 3),
        (.twentyEightDays, "2026-06-29T09:59:59Z", 4),
        (.twentyEightDays, "2026-06-29T10:00:00Z", 3),
        (.off, "2026-07-31T09:59:59Z", 3), (.off, "2026-07-31T10:00:00Z", 2),
        (.twentyEightDays, "2026-07-31T09:59:59Z", 3),
        (.twentyEightDays, "2026-07-31T10:00:00Z", 2),
    ])
    func `the Server API reports grace, then retry, then expired`(
        grace: BillingGrace,
        day: String,
        expected: Int64
    ) async throws {
        let client = try await StoreClient([.monthly(grace: grace)])
        let id = try await client.buy()
        _ = try await client.store.perform(.failPayments, by: "anna")
        try await client.pass(until: day)
        let said = try await status(of: id, client)
        #expect(said.status == expected)
        #expect(said.renewal["isInBillingRetryPeriod"] == .bool(expected != 2))
        #expect(said.transaction["expiresDate"]?.int64 == InstantText.read("2026-06-01T10:00:00Z"))
    }

    @Test(arguments: [
        (BillingGrace.threeDays, "2026-05-11 10:00:00"),
        (.sixteenDays, "2026-05-14 10:00:00"), (.twentyEightDays, "2026-05-14 10:00:00"),
    ])
    func `weekly grace lasts at most 6 days, and retry 60 all the same`(
        grace: BillingGrace,
        end: String
    ) throws {
        var store = try HeardStore([.weekly(grace: grace)], at: "2026-05-01T10:00:00Z")
        _ = try store.subscribe()
        _ = try store.act(.failPayments)
        let heard = try store.pass(until: "2026-12-31T00:00:00Z")
        #expect(heard.first?.renewal("gracePeriodExpiresDate") == end)
        #expect(heard.map(\.signedDate) == ["2026-05-08 10:00:00", end, "2026-07-07 10:00:00"])
    }

    // MARK: - A sandbox

    /// Apple's table, in minutes, for 3, 5, 15, 30 minutes and an hour a month.
    @Test(arguments: [
        ("P1W", [3, 3, 5, 10, 15]), ("P1M", [3, 5, 15, 30, 60]), ("P2M", [6, 10, 30, 60, 120]),
        ("P3M", [9, 15, 45, 90, 180]), ("P6M", [18, 30, 90, 180, 360]),
        ("P1Y", [36, 60, 180, 360, 720]),
    ])
    func `a sandbox renews at its rate`(period: String, minutes: [Int64]) throws {
        let rates: [RenewalRate] = [
            .threeMinutes, .fiveMinutes, .fifteenMinutes, .thirtyMinutes, .oneHour,
        ]
        for (rate, minutes) in zip(rates, minutes) {
            var store = try sandbox(rate, period, .off)
            let length = minutes * 60 * Self.second
            let bought = try #require(try store.subscribe().transaction)
            #expect(try self.length(of: bought) == length, "\(rate)")
            let heard = try store.pass(until: "2026-05-02T10:00:00Z")
            let renewed = try #require(heard.first?.transaction)
            #expect(renewed["purchaseDate"] == bought["expiresDate"])
            #expect(try self.length(of: renewed) == length, "\(rate)")
        }
    }

    /// StoreKit's table, in seconds: grace of a week and of other periods, and the retry length
    /// with grace.
    @Test(arguments: [
        (RenewalRate.fiveMinutes, Int64(154), Int64(150), Int64(600)),
        (.fifteenMinutes, 257, 450, 1800), (.thirtyMinutes, 514, 900, 3600),
        (.oneHour, 771, 1800, 7200),
    ])
    func `a sandbox shortens grace and retry at its rate`(
        rate: RenewalRate,
        weekly: Int64,
        other: Int64,
        retry: Int64
    ) throws {
        for (period, grace) in [("P1W", weekly), ("P1M", other), ("P1Y", other)] {
            var store = try sandbox(rate, period, .sixteenDays)
            let bought = try #require(try store.subscribe().transaction)
            let end = try #require(bought["expiresDate"]?.int64)
            _ = try store.act(.failPayments)
            let heard = try store.pass(until: "2026-05-03T10:00:00Z")
            #expect(
                heard.map(\.kind) == [
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED",
                    "EXPIRED/BILLING_RETRY",
                ]
            )
            let stated = try #require(heard.first?.renewal?["gracePeriodExpiresDate"]?.int64)
            #expect((stated - end) / Self.second == grace, "\(period)")
            let over = try #require(heard.last?.outer["signedDate"]?.int64)
            #expect((over - end) / Self.second == retry, "\(period)")
        }
    }

    @Test(arguments: RenewalRate.allCases)
    func `a sandbox renews twelve times`(rate: RenewalRate) throws {
        var store = try sandbox(rate, "P1M", .sixteenDays)
        let bought = try #require(try store.subscribe().transaction)
        let heard = try store.pass(until: "2028-05-01T10:00:00Z")
        #expect(
            heard.map(\.kind) == Array(repeating: "DID_RENEW", count: 12) + ["EXPIRED/VOLUNTARY"]
        )
        #expect(heard.last?.status == 2)
        let renewals = heard.dropLast().compactMap(\.transaction)
        let ends = ([bought] + renewals).map { $0["expiresDate"] }
        #expect(renewals.map { $0["purchaseDate"] } == Array(ends.dropLast()))
        #expect(renewals.allSatisfy { $0["transactionReason"] == "RENEWAL" })
        #expect(try store.subscribe().kind == "SUBSCRIBED/RESUBSCRIBE")
        #expect(try store.pass(until: "2030-05-01T10:00:00Z").count == 13)
    }

    private func sandbox(
        _ rate: RenewalRate,
        _ period: String,
        _ grace: BillingGrace
    ) throws -> HeardStore {
        try HeardStore(
            [.make("p", period, trial: nil, grace: grace)],
            at: "2026-05-01T10:00:00Z",
            environment: .sandbox,
            renewalRate: rate
        )
    }

    private func length(of transaction: JSONValue) throws -> Int64 {
        let end = try #require(transaction["expiresDate"]?.int64)
        return end - (try #require(transaction["purchaseDate"]?.int64))
    }

    private struct Said {
        let status: Int64
        let transaction: JSONValue
        let renewal: JSONValue
    }

    private func status(of id: String, _ client: StoreClient) async throws -> Said {
        let answer = try await client.answer("GET", "/inApps/v1/subscriptions/\(id)")
        let group = try #require(answer["data"]?.array?.first)
        let last = try #require(group["lastTransactions"]?.array?.first)
        return Said(
            status: try #require(last["status"]?.int64),
            transaction: try client.verified(last["signedTransactionInfo"]),
            renewal: try client.verified(last["signedRenewalInfo"])
        )
    }
}
