import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests that `CustomerInfo` from RevenueCat's SDKs gives the same facts as a REST API response.
@Suite struct CustomerInfoTests {
    /// A month of a subscription, with changes to the subscription and to the entitlement.
    private static func info(
        _ subscription: JSONObject = [:],
        _ entitlement: JSONObject = [:],
        listed: Bool = true
    ) -> [UInt8] {
        var bought: JSONObject = [
            "productIdentifier": "cards.pro.monthly", "store": "APP_STORE", "isSandbox": false,
            "purchaseDate": "2026-05-01T10:00:00Z",
            "originalPurchaseDate": "2026-05-01T10:00:00Z",
            "expiresDate": "2026-06-01T10:00:00Z", "periodType": "NORMAL",
            "ownershipType": "PURCHASED", "storeTransactionId": "700", "isActive": true,
            "willRenew": true, "unsubscribeDetectedAt": .null, "billingIssuesDetectedAt": .null,
            "gracePeriodExpiresDate": .null, "refundedAt": .null,
        ]
        var premium: JSONObject = [
            "identifier": "premium", "isActive": true, "willRenew": true, "periodType": "NORMAL",
            "latestPurchaseDate": "2026-05-01T10:00:00Z",
            "originalPurchaseDate": "2026-05-01T10:00:00Z",
            "expirationDate": "2026-06-01T10:00:00Z", "store": "APP_STORE",
            "productIdentifier": "cards.pro.monthly", "isSandbox": false,
            "unsubscribeDetectedAt": .null, "billingIssueDetectedAt": .null,
            "ownershipType": "PURCHASED", "verification": "VERIFIED",
        ]
        for (name, value) in subscription { bought[name] = value }
        for (name, value) in entitlement { premium[name] = value }
        var info: JSONObject = [
            "originalAppUserId": "u_42", "requestDate": "2026-06-10T10:00:00.000Z",
            "activeSubscriptions": ["cards.pro.monthly"],
            "entitlements": [
                "all": ["premium": .object(premium)], "active": ["premium": .object(premium)],
                "verification": "VERIFIED",
            ],
            "nonSubscriptionTransactions": [],
        ]
        if listed {
            info["subscriptionsByProductIdentifier"] = ["cards.pro.monthly": .object(bought)]
        }
        return JSONValue.object(info).encoded()
    }

    private static func life(_ bytes: [UInt8]) throws -> Life {
        let reading = RevenueCatWire.reader.reading(of: try RevenueCatSubscriber(answer: bytes))
        #expect(reading.customer?.text == "u_42")
        return Life(
            facts: reading.facts(
                learnedAt: .day("2026-06-10"),
                source: .imported,
                evidence: EvidenceID(hex: "e")
            )
        )
    }

    @Test func `a running subscription is active until the end of its period`() throws {
        let life = try Self.life(Self.info())
        #expect(life.told(.day("2026-05-20")) == "active paid in-term presumed")
    }

    @Test func `grace ends at the date of grace, never at the expiration date`() throws {
        let failed: JSONObject = [
            "billingIssuesDetectedAt": "2026-06-01T10:00:00Z",
            "gracePeriodExpiresDate": "2026-06-17T10:00:00Z",
        ]
        let life = try Self.life(
            Self.info(failed, ["billingIssueDetectedAt": "2026-06-01T10:00:00Z"])
        )
        #expect(life.told(.day("2026-06-11")) == "grace billingIssue in-grace presumed")
        #expect(life.told(.day("2026-06-16")) == "grace billingIssue in-grace presumed")
        #expect(life.told(.day("2026-06-18")).hasPrefix("hold"))
        let subscriber = try RevenueCatSubscriber(answer: Self.info(failed))
        #expect(
            subscriber.entitlements.first?.gracePeriodExpiresAt
                == RevenueCatWire.instant("2026-06-17T10:00:00Z")
        )
    }

    @Test func `a failed payment without a grace date has no grace`() throws {
        let life = try Self.life(Self.info(["billingIssuesDetectedAt": "2026-06-01T10:00:00Z"]))
        #expect(!life.told(.day("2026-06-11")).hasPrefix("grace"))
        #expect(!life.told(.day("2026-06-11")).hasPrefix("active"))
    }

    @Test func `it produces the same facts as the API's answer`() throws {
        let answer = SubscriberWire.answer([
            "cards.pro.monthly": .object(
                SubscriberWire.subscription([
                    "store_transaction_id": "700", "purchase_date": "2026-05-01T10:00:00Z",
                    "original_purchase_date": "2026-05-01T10:00:00Z",
                    "expires_date": "2026-06-01T10:00:00Z",
                ])
            )
        ])
        let ours = try RevenueCatSubscriber(answer: Self.info()).subscriptions
        let theirs = try RevenueCatSubscriber(answer: answer).subscriptions
        #expect(ours == theirs)
    }

    @Test func `a product of Google Play is read with its base plan`() throws {
        let bytes = Self.info([
            "productIdentifier": "cards.pro:monthly", "store": "PLAY_STORE",
        ])
        let subscription = try #require(try RevenueCatSubscriber(answer: bytes).subscriptions.first)
        #expect(subscription.productId == "cards.pro")
        #expect(subscription.plan == "monthly")
    }

    @Test func `an older SDK lists only entitlements, without a grace`() throws {
        let subscriber = try RevenueCatSubscriber(
            answer: Self.info(
                [:],
                ["billingIssueDetectedAt": "2026-06-01T10:00:00Z"],
                listed: false
            )
        )
        let subscription = try #require(subscriber.subscriptions.first)
        #expect(subscription.expiresAt == RevenueCatWire.instant("2026-06-01T10:00:00Z"))
        #expect(subscription.gracePeriodExpiresAt == nil)
        #expect(subscription.billingIssueAt == RevenueCatWire.instant("2026-06-01T10:00:00Z"))
    }

    @Test func `a malformed part is skipped alone`() throws {
        let subscriber = try RevenueCatSubscriber(answer: Self.info(["expiresDate": 12]))
        #expect(subscriber.leftOut.count == 1)
        #expect(subscriber.entitlements.count == 1)
        let nobody: JSONValue = ["originalAppUserId": "u_42", "entitlements": [:]]
        #expect(throws: RevenueCatRefusal.missingMember("requestDate")) {
            try RevenueCatSubscriber(answer: nobody.encoded())
        }
    }
}
