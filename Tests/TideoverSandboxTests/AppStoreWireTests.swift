import Testing
import TideoverCalendar
import TideoverJSON
import TideoverSandbox

@Suite struct AppStoreWireTests {
    @Test func `equal seeds give equal notifications, different seeds different ones`() throws {
        #expect(try story(seed: 1) == story(seed: 1))
        #expect(try story(seed: 1) != story(seed: 2))
    }

    private func story(seed: UInt64) throws -> [[UInt8]] {
        let app = AppStoreApp(
            bundleId: "com.example.cards",
            products: [try .monthly(trial: "P3D")]
        )
        var machine = AppStoreMachine(app: app, seed: seed, now: 1_769_853_600_000)
        try machine.register(.anna)
        var said = try machine.perform(
            .subscribe(product: "cards.pro.monthly", trial: .ifEligible),
            by: "anna"
        )
        said += machine.advance(to: machine.now + 40 * CivilDate.millisecondsPerDay)
        said += try machine.perform(.failPayments, by: "anna")
        said += machine.advance(to: machine.now + 120 * CivilDate.millisecondsPerDay)
        said.append(machine.requestTestNotification())
        return said.map(\.unsigned)
    }

    @Test func `a first purchase contains every field that Apple sends`() throws {
        var store = try HeardStore([.monthly(trial: "P3D")], at: "2026-01-28T10:00:00Z")
        let heard = try store.subscribe(.required)

        #expect(heard.kind == "SUBSCRIBED/INITIAL_BUY")
        #expect(heard.outer["version"] == "2.0")
        #expect(heard.outer["notificationUUID"]?.string?.count == 36)
        #expect(heard.data["appAppleId"] == 1_234_567_890)
        #expect(heard.data["bundleId"] == "com.example.cards")
        #expect(heard.data["bundleVersion"] == "1")
        #expect(heard.data["environment"] == "Production")
        #expect(heard.status == 1)

        let id = try #require(heard.transaction?["transactionId"]?.string)
        let expected: JSONObject = [
            "transactionId": .string(id), "originalTransactionId": .string(id),
            "bundleId": "com.example.cards", "productId": "cards.pro.monthly",
            "subscriptionGroupIdentifier": heard.transaction?["subscriptionGroupIdentifier"] ?? nil,
            "webOrderLineItemId": heard.transaction?["webOrderLineItemId"] ?? nil,
            "purchaseDate": 1_769_594_400_000, "originalPurchaseDate": 1_769_594_400_000,
            "expiresDate": 1_769_853_600_000, "quantity": 1,
            "type": "Auto-Renewable Subscription",
            "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138",
            "inAppOwnershipType": "PURCHASED", "environment": "Production",
            "signedDate": heard.transaction?["signedDate"] ?? nil,
            "offerType": 1, "offerDiscountType": "FREE_TRIAL", "offerPeriod": "P3D",
            "transactionReason": "PURCHASE", "storefront": "USA", "storefrontId": "143441",
            "price": 0, "currency": "USD",
            "appTransactionId": heard.transaction?["appTransactionId"] ?? nil,
        ]
        #expect(heard.transaction == .object(expected))

        let renewal: JSONObject = [
            "originalTransactionId": .string(id), "productId": "cards.pro.monthly",
            "autoRenewProductId": "cards.pro.monthly", "autoRenewStatus": 1,
            "renewalPrice": 9990, "currency": "USD", "environment": "Production",
            "signedDate": heard.renewal?["signedDate"] ?? nil,
            "recentSubscriptionStartDate": 1_769_594_400_000, "renewalDate": 1_769_853_600_000,
            "appTransactionId": heard.transaction?["appTransactionId"] ?? nil,
            "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138",
        ]
        #expect(heard.renewal == .object(renewal))
    }

    @Test func `a renewal is a paid transaction of the same lineage`() throws {
        var store = try HeardStore([.monthly(trial: "P3D")], at: "2026-01-28T10:00:00Z")
        let first = try store.subscribe(.required)
        let renewal = try #require(try store.pass(until: "2026-01-31T10:00:00Z").first)
        let transaction = try #require(renewal.transaction)
        let id = try #require(first.transaction?["transactionId"])
        #expect(transaction["originalTransactionId"] == id)
        #expect(transaction["transactionId"] != id)
        #expect(transaction["webOrderLineItemId"] != first.transaction?["webOrderLineItemId"])
        #expect(transaction["transactionReason"] == "RENEWAL")
        #expect(transaction["price"] == 9990)
        #expect(transaction["offerType"] == nil)
        #expect(renewal.transaction("originalPurchaseDate") == "2026-01-28 10:00:00")
    }

    @Test func `signatures are dated after their content and in sequence`() throws {
        var store = try HeardStore([.monthly()], at: "2026-01-31T10:00:00Z")
        var heard = [try store.subscribe()]
        heard += try store.act(.failPayments)
        heard += try store.pass(until: "2026-06-30T00:00:00Z")
        var last: Int64 = 0
        for heard in heard {
            let dates = try [heard.transaction, heard.renewal, heard.outer].map {
                try #require($0?["signedDate"]?.int64)
            }
            for date in dates {
                #expect(date > last)
                last = date
            }
        }
    }

    @Test func `a test notification contains no purchase`() throws {
        var store = try HeardStore([.monthly()], at: "2026-01-31T10:00:00Z")
        let heard = try store.requestTestNotification()
        #expect(heard.kind == "TEST")
        #expect(heard.transaction == nil)
        #expect(heard.renewal == nil)
        #expect(heard.status == nil)
        #expect(heard.data["bundleId"] == "com.example.cards")
    }

    @Test func `a sandbox has the app's number, and a customer without a token has none`() throws {
        let app = AppStoreApp(
            bundleId: "com.example.cards",
            environment: .sandbox,
            products: [try .monthly()]
        )
        var machine = AppStoreMachine(app: app, seed: 1, now: 0)
        try machine.register(StoreCustomer(name: "ben", appAccountToken: nil))
        let said = try machine.perform(
            .subscribe(product: "cards.pro.monthly", trial: .ifEligible),
            by: "ben"
        )
        let notification = try #require(said.first)
        #expect(notification.data["appAppleId"] == 1_234_567_890)
        #expect(notification.data["environment"] == "Sandbox")
        #expect(notification.transaction?["appAccountToken"] == nil)
        #expect(notification.renewal?["appAccountToken"] == nil)
    }
}
