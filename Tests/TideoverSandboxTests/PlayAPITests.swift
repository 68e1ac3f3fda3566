import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// The Play Developer API of the simulated store, as a back end calls it.
/// https://developers.google.com/android-publisher/api-ref/rest
@Suite struct PlayAPITests {
    private static let month: Int64 = 31 * PlayClient.day

    /// Returns a store with a purchase of Anna's, and the token of the purchase.
    private func subscribed() async throws -> (client: PlayClient, path: String, token: String) {
        let client = try await PlayClient()
        try await client.store.perform(
            .subscribe(to: [GooglePlayChoice("cards.pro")], payment: .prompt, from: .app),
            by: "anna"
        )
        let token = try #require(await client.store.tokens(of: "anna").last)
        return (client, "purchases/subscriptionsv2/tokens/\(token)", token)
    }

    private func acknowledge(_ client: PlayClient, _ token: String) async throws -> Int {
        let path = "purchases/subscriptions/cards.pro/tokens/\(token):acknowledge"
        return try await client.call("POST", path, [:]).status
    }

    @Test func `a subscription is read by its token, until sixty days after its end`()
        async throws
    {
        let (client, path, token) = try await subscribed()
        let resource = try await client.answer("GET", path)
        #expect(resource["subscriptionState"] == "SUBSCRIPTION_STATE_ACTIVE")
        #expect(resource["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING")
        #expect(try await acknowledge(client, token) == 204)
        let after = try await client.answer("GET", path)
        #expect(after["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
        let cancel: JSONObject = [
            "cancellationContext": ["cancellationType": "USER_REQUESTED_STOP_RENEWALS"]
        ]
        #expect(try await client.answer("POST", "\(path):cancel", cancel) == [:])
        try await client.pass(days: 31)
        let ended = try await client.answer("GET", path)
        #expect(ended["subscriptionState"] == "SUBSCRIPTION_STATE_EXPIRED")
        try await client.pass(days: 59)
        #expect(try await client.call("GET", path).status == 200)
        try await client.pass(days: 2)
        #expect(try await client.error("GET", path) == "410 purchaseTokenNoLongerValid")
    }

    @Test func `the first version of a one-time purchase shows its state`() async throws {
        let coins = GooglePlayOneTimeProduct(
            id: "cards.coins",
            isConsumable: true,
            price: GooglePlayPrice(try #require(StorePrice("0.99 USD")))
        )
        let app = GooglePlayApp(packageName: PlayClient.packageName, products: [coins])
        let client = try await PlayClient(app)
        try await client.store.perform(
            .buy(product: "cards.coins", quantity: 2, payment: .delayed),
            by: "anna"
        )
        let token = try #require(await client.store.tokens(of: "anna").last)
        let path = "purchases/products/cards.coins/tokens/\(token)"
        let pending = try await client.answer("GET", path)
        #expect(pending["kind"] == "androidpublisher#productPurchase")
        #expect(pending["purchaseState"] == 2)
        #expect(pending["orderId"] == nil)
        #expect(pending["purchaseTimeMillis"] == nil)
        try await client.pass(days: 1)
        try await client.store.perform(.completePayment(product: nil), by: "anna")
        let bought = try await client.answer("GET", path)
        let order = try #require(await client.store.newestOrder(of: token))
        #expect(bought["purchaseState"] == 0)
        #expect(bought["acknowledgementState"] == 0)
        #expect(bought["consumptionState"] == 0)
        #expect(bought["orderId"] == .string(order))
        let paid = PlayClient.start + PlayClient.day
        #expect(bought["purchaseTimeMillis"] == .string(String(paid)))
        #expect(bought["quantity"] == 2)
        #expect(bought["refundableQuantity"] == 2)
        #expect(bought["obfuscatedExternalAccountId"] == "u_anna")
        #expect(try await client.call("POST", "\(path):consume", [:]).status == 204)
        let consumed = try await client.answer("GET", path)
        #expect(consumed["consumptionState"] == 1)
        #expect(consumed["acknowledgementState"] == 1)
        try await client.store.write(.refund(order: order, revokes: true))
        #expect(try await client.answer("GET", path)["purchaseState"] == 1)
        let other = "purchases/products/cards.other/tokens/\(token)"
        #expect(try await client.error("GET", other) == "400 invalid")
    }

    @Test func `an abandoned call has no answer and is recorded`()
        async throws
    {
        let (client, path, _) = try await subscribed()
        await client.store.add(
            PlayFaultRule(.noAnswer(after: 30_000), on: .getSubscription, times: 1)
        )
        await #expect(throws: PlayNoAnswer.self) { try await client.call("GET", path) }
        #expect(await client.store.calls.last?.status == 0)
        #expect(try await client.call("GET", path).status == 200)
    }

    @Test func `products for sale are listed page by page in catalogue order`()
        async throws
    {
        let client = try await PlayClient()
        let list = try await client.answer("GET", "subscriptions")
        #expect(list["subscriptions"]?.array?.map { $0["productId"] } == ["cards.pro"])
        let plan = try #require(list["subscriptions"]?[0]?["basePlans"]?[0])
        #expect(plan["basePlanId"] == "monthly")
        #expect(plan["autoRenewingBasePlanType"]?["gracePeriodDuration"] == "P7D")
        #expect(plan["autoRenewingBasePlanType"]?["accountHoldDuration"] == "P53D")
        #expect(list["nextPageToken"] == nil)
        let behind = try await client.answer("GET", "subscriptions?pageSize=1&pageToken=1")
        #expect(behind == [:])
        #expect(try await client.error("GET", "subscriptions?pageToken=x") == "400 invalid")
        #expect(try await client.error("GET", "subscriptions?pageSize=-1") == "400 invalid")
    }

    @Test func `an invalid token and an unknown token have different errors`() async throws {
        let client = try await PlayClient()
        let tokens = "purchases/subscriptionsv2/tokens"
        #expect(try await client.error("GET", "\(tokens)/a%20b") == "400 invalid")
        #expect(try await client.error("GET", "\(tokens)/abc") == "404 purchaseTokenNotFound")
        #expect(
            try await client.error("GET", "purchases/productsv2/tokens/abc")
                == "404 purchaseTokenNotFound"
        )
        #expect(try await client.error("GET", "orders/GPA.1") == "404 notFound")
        #expect(try await client.call("GET", "purchases/nothing").status == 404)
    }

    @Test func `a renewal is deferred with the newest etag, and a validation changes nothing`()
        async throws
    {
        let (client, path, token) = try await subscribed()
        _ = try await acknowledge(client, token)
        let before = try await client.answer("GET", path)
        let expiry = try #require(before["lineItems"]?[0]?["expiryTime"]?.string)
        var context: JSONObject = [
            "deferDuration": "864000s", "etag": "an older one", "validateOnly": true,
        ]
        func put() async throws -> Response {
            try await client.call("POST", "\(path):defer", ["deferralContext": .object(context)])
        }
        #expect(try await put().status == 409)
        context["etag"] = before["etag"]
        let rehearsed = JSONValue(try JSONDocument(try await put().body).root)
        let moved = rehearsed["itemExpiryTimeDetails"]?[0]?["expiryTime"]?.string
        #expect(
            moved.flatMap(InstantText.read)
                == InstantText.read(expiry).map { $0 + 10 * PlayClient.day }
        )
        let unchanged = try await client.answer("GET", path)
        #expect(unchanged["lineItems"]?[0]?["expiryTime"] == .string(expiry))
        context["validateOnly"] = false
        #expect(try await put().status == 200)
        let after = try await client.answer("GET", path)
        #expect(after["lineItems"]?[0]?["expiryTime"]?.string == moved)
        // The etag has changed too.
        #expect(try await put().status == 409)
    }

    @Test func `a revocation ends the subscription, voids its order and is listed`() async throws {
        let (client, path, token) = try await subscribed()
        let order = try #require(await client.store.newestOrder(of: token))
        #expect(try await client.answer("GET", "orders/\(order)")["orderId"] == .string(order))
        let revoke: JSONObject = ["revocationContext": ["fullRefund": [:]]]
        #expect(try await client.answer("POST", "\(path):revoke", revoke) == [:])
        #expect(
            try await client.answer("GET", path)["subscriptionState"]
                == "SUBSCRIPTION_STATE_EXPIRED"
        )
        try await client.pass(days: 1)
        let list = "purchases/voidedpurchases"
        // By default, voided subscriptions are not listed.
        #expect(try await client.answer("GET", list) == [:])
        let voided = try await client.answer("GET", "\(list)?type=1")
        #expect(voided["voidedPurchases"]?[0]?["orderId"] == .string(order))
        #expect(voided["voidedPurchases"]?[0]?["purchaseToken"] == .string(token))
        #expect(voided["tokenPagination"] == nil)
        let again = try await client.error("POST", "\(path):revoke", revoke)
        #expect(again == "400 failedPrecondition")
        #expect(try await client.error("POST", "\(path):revoke", [:]) == "400 invalid")
    }

    @Test func `orders are read together or not at all`() async throws {
        let (client, _, token) = try await subscribed()
        let order = try #require(await client.store.newestOrder(of: token))
        let orders = try await client.answer("GET", "orders:batchGet?orderIds=\(order)")
        #expect(orders["orders"]?.array?.count == 1)
        let unknown = "orders:batchGet?orderIds=\(order)&orderIds=GPA.1"
        #expect(try await client.error("GET", unknown) == "404 notFound")
        let twice = "orders:batchGet?orderIds=\(order)&orderIds=\(order)"
        #expect(try await client.error("GET", twice) == "400 invalid")
    }

    @Test func `an order is refunded with or without a revocation`() async throws {
        let (client, path, token) = try await subscribed()
        let order = try #require(await client.store.newestOrder(of: token))
        #expect(try await client.call("POST", "orders/\(order):refund", [:]).status == 204)
        #expect(
            try await client.answer("GET", path)["subscriptionState"] == "SUBSCRIPTION_STATE_ACTIVE"
        )
        #expect(
            try await client.error("POST", "orders/\(order):refund", [:])
                == "400 failedPrecondition"
        )
        let (second, secondPath, other) = try await subscribed()
        let otherOrder = try #require(await second.store.newestOrder(of: other))
        let refund = "orders/\(otherOrder):refund?revoke=true"
        #expect(try await second.call("POST", refund, [:]).status == 204)
        #expect(
            try await second.answer("GET", secondPath)["subscriptionState"]
                == "SUBSCRIPTION_STATE_EXPIRED"
        )
    }

    @Test func `voided purchases are paged within a window of thirty days at most`() async throws {
        let client = try await PlayClient()
        for index in 0..<5 {
            let name = "c\(index)"
            try await client.store.register(GooglePlayCustomer(name: name))
            try await client.store.perform(
                .buy(product: "cards.lifetime", quantity: 1, payment: .prompt),
                by: name
            )
            let token = try #require(await client.store.tokens(of: name).last)
            let order = try #require(await client.store.newestOrder(of: token))
            try await client.store.write(.refund(order: order, revokes: true))
        }
        try await client.pass(days: 1)
        var (orders, sizes, page): ([String], [Int], String?) = ([], [], nil)
        repeat {
            let token = page.map { "&token=\($0)" } ?? ""
            let path = "purchases/voidedpurchases?maxResults=2\(token)"
            let answer = try await client.answer("GET", path)
            let list = answer["voidedPurchases"]?.array ?? []
            orders += list.compactMap { $0["orderId"]?.string }
            sizes.append(list.count)
            page = answer["tokenPagination"]?["nextPageToken"]?.string
        } while page != nil
        #expect(sizes == [2, 2, 1])
        #expect(Set(orders).count == 5)
        let now = await client.store.now
        func error(_ query: String) async throws -> String {
            try await client.error("GET", "purchases/voidedpurchases?\(query)")
        }
        #expect(try await error("startTime=\(now - 31 * PlayClient.day)") == "400 invalid")
        #expect(try await error("startTime=\(now)&endTime=\(now)") == "400 invalid")
        #expect(try await error("maxResults=1001") == "400 invalid")
        #expect(try await error("token=nowhere") == "400 invalid")
    }

    @Test func `more than thirty calls for voided purchases in thirty seconds are refused`()
        async throws
    {
        let client = try await PlayClient()
        let token = try await client.token()
        let path = "purchases/voidedpurchases"
        for _ in 0..<30 {
            #expect(try await client.call("GET", path, token: token).status == 200)
        }
        #expect(try await client.error("GET", path, token: token) == "429 rateLimitExceeded")
        try await client.store.advance(to: PlayClient.start + 30_000) { _ in 204 }
        #expect(try await client.call("GET", path, token: token).status == 200)
    }

    // MARK: Faults

    @Test func `a fault affects the chosen calls as often as configured`() async throws {
        let (client, path, _) = try await subscribed()
        let token = try await client.token()
        await client.store.add(PlayFaultRule(.unavailable(status: 503), on: .getOrder))
        await client.store.add(
            PlayFaultRule(.rateLimited(seconds: 60), on: .getSubscription, times: 2)
        )
        let limited = try await client.call("GET", path, token: token)
        #expect(limited.status == 429)
        #expect(limited.headers["Retry-After"] == "60")
        #expect(try await client.call("GET", path, token: token).status == 429)
        #expect(try await client.call("GET", path, token: token).status == 200)
        let order = try await client.call("GET", "orders/GPA.1", token: token)
        #expect(order.status == 503)
        #expect((try? JSONDocument(order.body)) == nil)
        await client.store.add(PlayFaultRule(.truncated))
        let cut = try await client.call("GET", path, token: token)
        #expect(cut.status == 200)
        #expect((try? JSONDocument(cut.body)) == nil)
    }

    @Test func `a stale answer has past content and the present date`() async throws {
        let (client, path, token) = try await subscribed()
        _ = try await acknowledge(client, token)
        try await client.store.advance(to: PlayClient.start + 3_600_000) { _ in 204 }
        try await client.store.perform(.cancel(product: nil, survey: nil), by: "anna")
        let bearer = try await client.token()
        await client.store.add(PlayFaultRule(.stale(by: 60_000), on: .getSubscription))
        let stale = try await client.call("GET", path, token: bearer)
        let fresh = try await client.call("GET", path, token: bearer)
        func state(_ response: Response) throws -> String? {
            try JSONDocument(response.body).root["subscriptionState"]?.string
        }
        #expect(try state(stale) == "SUBSCRIPTION_STATE_ACTIVE")
        #expect(try state(fresh) == "SUBSCRIPTION_STATE_CANCELED")
        #expect(stale.headers["Date"] == fresh.headers["Date"])
    }

    @Test func `every call is recorded with its response`() async throws {
        let (client, path, token) = try await subscribed()
        _ = try await client.call("GET", path)
        let calls = await client.store.calls
        #expect(calls.map(\.operation) == [.token, .getSubscription])
        #expect(calls.map(\.status) == [200, 200])
        #expect(calls.last?.id == token)
    }
}
