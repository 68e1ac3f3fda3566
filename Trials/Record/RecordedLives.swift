import TideoverJSON
import TideoverSandbox

// The recorded half year. It contains every kind of notification that the simulated store sends,
// and several cases of each call of the Server API.

extension StoreRecording {
    private static let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
    private static let others = ["cara", "dan", "eve", "fay", "gus", "hal", "ida"]
    private static let laterOthers = ["jon", "kim", "lea", "mia"]

    mutating func live() async throws {
        try await begin()
        try await askForMoney()
        try await priceAndPayment()
        try await planAndFamily()
        try await extensions()
        try await pass(toDay: 105)
        try await act(.subscribe(product: Self.pro, trial: .declined), by: "ada")
        try await tell()
        try await offersAndOnce()
        try await pass(toDay: 168)
        for customer in ["ada", "ben"] + Self.others + Self.laterOthers {
            try await look(at: customer)
        }
        try await history()
        try await refusals()
    }

    /// Days 0 to 3: they buy, one with a trial; renewal is turned off and on; a test arrives.
    private mutating func begin() async throws {
        try await register("ada", token: Self.token)
        try await register("ben")
        for customer in Self.others { try await register(customer, token: nil) }
        try await act(.subscribe(product: Self.basic, trial: .required), by: "ada")
        for customer in ["cara", "gus"] {
            try await act(.subscribe(product: Self.pro, trial: .declined), by: customer)
        }
        for customer in ["dan", "eve", "fay", "hal"] {
            try await act(.subscribe(product: Self.plain, trial: .declined), by: customer)
        }
        try await act(.subscribe(product: Self.weekly, trial: .declined), by: "ida")
        try await pass(toDay: 2)
        try await look(at: "ada")
        try await act(.cancel(product: nil), by: "ada")
        try await act(.reenable(product: nil), by: "ada")
        let test = try await ask(
            "requestTestNotification",
            "POST",
            at: "/inApps/v1/notifications/test"
        )
        let status =
            "/inApps/v1/notifications/test/"
            + (test?["testNotificationToken"]?.string ?? "")
        try await ask("testNotificationStatus", at: status)
        try await pass(toDay: 3)
        try await ask("testNotificationStatus", at: status)
    }

    /// Days 10 to 13: one refund is requested and declined, two are granted, one is reversed.
    private mutating func askForMoney() async throws {
        try await pass(toDay: 10)
        try await act(.requestRefund(product: nil, reason: .unsatisfied), by: "cara")
        let id = try await newest(of: "cara").transactionId
        try await ask(
            "consumptionInfo",
            "PUT",
            at: "/inApps/v2/transactions/consumption/\(id)",
            [
                "customerConsented": true, "sampleContentProvided": false,
                "deliveryStatus": "DELIVERED", "consumptionPercentage": 50_000,
                "refundPreference": "DECLINE",
            ]
        )
        try await act(.declineRefund(product: nil), by: "cara")
        try await pass(toDay: 12)
        try await act(.refund(product: nil, reason: .appIssue), by: "cara")
        try await act(.refund(product: nil, reason: .other), by: "gus")
        try await look(at: "cara")
        try await pass(toDay: 13)
        try await act(.reverseRefund(product: nil), by: "cara")
    }

    /// Days 14 to 60: three price increases, of which one is accepted and one is not. Two payments
    /// fail, one of them with grace, and are retried.
    private mutating func priceAndPayment() async throws {
        try await pass(toDay: 14)
        let price = StorePrice(milliunits: 5990, currency: "USD")
        for (customer, needsConsent) in [("dan", true), ("fay", true), ("hal", false)] {
            try await act(
                .raisePrice(product: nil, to: price, needsConsent: needsConsent),
                by: customer
            )
        }
        try await act(.acceptPrice(product: nil), by: "dan")
        for customer in ["ada", "eve"] { try await act(.failPayments, by: customer) }
        try await pass(toDay: 40)
        for customer in ["ada", "eve"] { try await look(at: customer) }
        try await pass(toDay: 55)
        try await look(at: "ada")
        try await pass(toDay: 60)
        try await act(.fixPayments, by: "ada")
    }

    /// Days 62 to 70: an immediate upgrade, and a downgrade at the next renewal that is then
    /// revoked. The family shares the purchase for a while.
    private mutating func planAndFamily() async throws {
        try await pass(toDay: 62)
        try await act(.changePlan(to: Self.pro), by: "ada")
        try await look(at: "ada")
        try await act(.changePlan(to: Self.basic), by: "ada")
        try await act(.changePlan(to: Self.pro), by: "ada")
        try await pass(toDay: 65)
        try await act(.share(product: nil, with: "ben"), by: "ada")
        try await look(at: "ben")
        try await pass(toDay: 70)
        try await act(.stopSharing(product: nil, with: "ben"), by: "ada")
        try await look(at: "ben")
    }

    /// Days 70 to 75: one renewal date is extended as often as possible, then those of all
    /// customers.
    private mutating func extensions() async throws {
        let wish: JSONValue = [
            "extendByDays": 10, "extendReasonCode": 1, "requestIdentifier": "outage-1",
        ]
        let original = try await newest(of: "dan").originalTransactionId
        for _ in 1...3 {
            try await ask(
                "extendRenewalDate",
                "PUT",
                at: "/inApps/v1/subscriptions/extend/\(original)",
                wish
            )
        }
        let order: JSONValue = [
            "extendByDays": 10, "extendReasonCode": 1, "requestIdentifier": "outage-2",
            "productId": .string(Self.plain), "storefrontCountryCodes": ["USA"],
        ]
        try await ask(
            "extendAllRenewalDates",
            "POST",
            at: "/inApps/v1/subscriptions/extend/mass",
            order
        )
        let status = "/inApps/v1/subscriptions/extend/mass/\(Self.plain)/outage-2"
        try await ask("massExtensionStatus", at: status)
        try await pass(toDay: 75)
        try await ask("massExtensionStatus", at: status)
        try await act(.cancel(product: nil), by: "ada")
    }

    /// Day 105: the back end sets a purchase's account token, and reports its delivery.
    private mutating func tell() async throws {
        let purchase = try await newest(of: "gus")
        try await ask(
            "setAppAccountToken",
            "PUT",
            at: "/inApps/v1/transactions/\(purchase.originalTransactionId)/appAccountToken",
            ["appAccountToken": .string(Self.token)]
        )
        try await ask(
            "finishTransaction",
            "POST",
            at: "/inApps/v1/transactions/\(purchase.transactionId)/finish"
        )
    }

    /// Days 105 to 150: one-time purchases, partly refunded and shared; every kind of offer; a
    /// product that is no longer for sale.
    private mutating func offersAndOnce() async throws {
        for customer in Self.laterOthers { try await register(customer, token: Self.token) }
        for product in [Self.lifetime, Self.coins, Self.season] {
            try await act(.buy(product: product, outsideApp: false), by: "jon")
        }
        try await act(.share(product: Self.lifetime, with: "kim"), by: "jon")
        try await act(.subscribe(product: Self.plus, trial: .ifEligible), by: "kim")
        try await act(.redeem(product: Self.plus, offer: "gift"), by: "lea")
        try await act(.subscribe(product: Self.plus, trial: .ifEligible), by: "mia")
        try await pass(toDay: 107)
        for customer in Self.laterOthers { try await look(at: customer) }
        try await act(.requestRefund(product: Self.coins, reason: .unsatisfied), by: "jon")
        try await act(.refund(product: Self.coins, reason: .other), by: "jon")
        try await act(.refund(product: Self.season, reason: .other, percent: 40), by: "jon")
        try await act(.refund(product: Self.lifetime, reason: .appIssue), by: "jon")
        try await act(.reverseRefund(product: Self.lifetime), by: "jon")
        try await act(
            .requestRefund(product: Self.plus, reason: .other, stopsRenewal: true),
            by: "mia"
        )
        try await act(.refund(product: Self.plus, reason: .other, percent: 55), by: "mia")
        try await act(.redeem(product: Self.plus, offer: "stay"), by: "kim")
        try await act(.cancel(product: Self.plus), by: "lea")
        try await pass(toDay: 110)
        for customer in Self.laterOthers { try await look(at: customer) }
        try await pass(toDay: 140)
        try await act(.redeem(product: Self.plus, offer: "come-back"), by: "lea")
        try await pass(toDay: 145)
        try await act(.removeFromSale(product: Self.plus), by: "kim")
        try await look(at: "lea")
    }

    /// The history of notifications: the last thirty days page by page, and with filters.
    private mutating func history() async throws {
        let (now, day) = (await store.now, Int64(86_400_000))
        let target = "/inApps/v1/notifications/history"
        let range: JSONObject = [
            "startDate": .integer(now - 30 * day), "endDate": .integer(now),
        ]
        var page = ""
        while true {
            let answer = try await ask(
                "notificationHistory",
                "POST",
                at: target + page,
                .object(range)
            )
            guard let token = answer?["paginationToken"]?.string else { break }
            page = "?paginationToken=\(token)"
        }
        let id = try await newest(of: "ada").transactionId
        let filters: [JSONObject] = [
            ["onlyFailures": true], ["transactionId": .string(id)],
            ["notificationType": "DID_RENEW"],
            ["notificationType": "SUBSCRIBED", "notificationSubtype": "RESUBSCRIBE"],
        ]
        for filter in filters {
            var body = range
            for (name, value) in filter { body[name] = value }
            try await ask("notificationHistory", "POST", at: target, .object(body))
        }
    }

    /// Rejected requests: those with different Apple error codes, and those without a code.
    private mutating func refusals() async throws {
        try await ask("subscriptionStatuses", at: "/inApps/v1/subscriptions/4711")
        try await ask("transactionInfo", at: "/inApps/v1/transactions/none")
        try await ask("transactionHistory", at: "/inApps/v2/history/4711")
        try await ask("refundHistory", at: "/inApps/v2/refund/lookup/4711", isKnown: false)
        let shared = try await newest(of: "ben").originalTransactionId
        try await ask(
            "setAppAccountToken",
            "PUT",
            at: "/inApps/v1/transactions/\(shared)/appAccountToken",
            ["appAccountToken": .string(Self.token)]
        )
        await store.add(AppStoreFaultRule(.rateLimited(for: 60_000)))
        try await ask("subscriptionStatuses", at: "/inApps/v1/subscriptions/4711")
        await store.add(AppStoreFaultRule(.unavailable(status: 503)))
        try await ask("subscriptionStatuses", at: "/inApps/v1/subscriptions/4711")
    }
}
