import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests parsing of REST API responses.
@Suite struct SubscriberReadingTests {
    @Test func `every field that rules need is read from an answer`() throws {
        let bytes = SubscriberWire.answer(
            [
                "cards.pro.monthly": .object(
                    SubscriberWire.subscription([
                        "period_type": "trial", "ownership_type": "FAMILY_SHARED",
                        "unsubscribe_detected_at": "2026-05-05T10:00:00Z",
                        "billing_issues_detected_at": "2026-05-06T10:00:00.250Z",
                        "grace_period_expires_date": "2026-06-17T10:00:00Z",
                        "refunded_at": "2026-05-07T10:00:00Z",
                        "auto_resume_date": "2026-07-01T10:00:00Z",
                        "product_plan_identifier": "monthly",
                    ])
                )
            ],
            purchases: [
                "cards.lifetime": [
                    [
                        "id": "b1", "store_transaction_id": "901", "store": "play_store",
                        "is_sandbox": true, "purchase_date": "2026-05-02T10:00:00Z",
                    ]
                ]
            ],
            entitlements: [
                "premium": [
                    "expires_date": "2026-06-01T10:00:00Z",
                    "grace_period_expires_date": "2026-06-17T10:00:00Z",
                    "product_identifier": "cards.pro.monthly",
                    "purchase_date": "2026-05-01T10:00:00Z",
                ],
                "for-ever": ["expires_date": .null, "product_identifier": "cards.lifetime"],
            ]
        )
        let subscriber = try SubscriberWire.read(bytes)
        #expect(subscriber.requestDate == SubscriberWire.asked)
        #expect(subscriber.originalAppUserId == "u_42")
        let subscription = try #require(subscriber.subscriptions.first)
        #expect(subscription.productId == "cards.pro.monthly")
        #expect(subscription.plan == "monthly")
        #expect(subscription.store.known == .appStore)
        #expect(!subscription.isSandbox)
        #expect(subscription.purchasedAt == RevenueCatWire.start)
        #expect(subscription.expiresAt == RevenueCatWire.end)
        #expect(subscription.periodType?.known == .trial)
        #expect(subscription.ownership?.known == .familyShared)
        #expect(subscription.transactionId == "700")
        #expect(subscription.unsubscribedAt == RevenueCatWire.instant("2026-05-05T10:00:00Z"))
        #expect(subscription.billingIssueAt == RevenueCatWire.instant("2026-05-06T10:00:00.250Z"))
        #expect(subscription.gracePeriodExpiresAt == RevenueCatWire.graceEnd)
        #expect(subscription.refundedAt == RevenueCatWire.instant("2026-05-07T10:00:00Z"))
        #expect(subscription.autoResumesAt == RevenueCatWire.instant("2026-07-01T10:00:00Z"))
        let purchase = try #require(subscriber.purchases.first)
        #expect(purchase.productId == "cards.lifetime")
        #expect(purchase.transactionId == "901")
        #expect(purchase.store.known == .playStore)
        #expect(purchase.isSandbox)
        #expect(subscriber.entitlements.map(\.name) == ["premium", "for-ever"])
        #expect(subscriber.entitlements.map(\.expiresAt) == [RevenueCatWire.end, nil])
        #expect(subscriber.entitlements[0].gracePeriodExpiresAt == RevenueCatWire.graceEnd)
        #expect(subscriber.leftOut == [])
    }

    @Test func `a malformed purchase does not affect the others`() throws {
        let bytes = SubscriberWire.answer(
            [
                "good": .object(SubscriberWire.subscription()),
                "dateless": .object(SubscriberWire.subscription(["purchase_date": .null])),
                "odd": .object(SubscriberWire.subscription(["expires_date": []])),
                "list": [],
            ],
            purchases: ["single": ["store": "app_store"]],
            entitlements: ["nameless": ["expires_date": .null]]
        )
        let subscriber = try SubscriberWire.read(bytes)
        #expect(subscriber.subscriptions.map(\.productId) == ["good"])
        #expect(
            subscriber.leftOut == [
                .missingMember("subscriber.subscriptions.dateless.purchase_date"),
                .malformed(field: "subscriber.subscriptions.odd.expires_date"),
                .malformed(field: "subscriber.subscriptions.list"),
                .malformed(field: "subscriber.non_subscriptions.single"),
                .missingMember("subscriber.entitlements.nameless.product_identifier"),
            ]
        )
    }

    @Test func `an answer without a date or customer is refused`() {
        let lacking: [(JSONObject, RevenueCatRefusal)] = [
            (
                ["request_date": .null, "request_date_ms": .null],
                .missingMember("request_date")
            ),
            (["subscriber": .null], .missingMember("subscriber")),
            (["subscriber": [:]], .missingMember("subscriber.original_app_user_id")),
            (["subscriber": []], .malformed(field: "subscriber")),
        ]
        for (changes, refusal) in lacking {
            #expect(throws: refusal) {
                try SubscriberWire.read(SubscriberWire.answer([:], changes))
            }
        }
    }

    @Test func `purchases of several stores and periods are read side by side`() throws {
        let bought: [(store: RevenueCatStore, period: String, plan: JSONValue)] = [
            (.appStore, "intro", .null), (.macAppStore, "trial", .null),
            (.playStore, "prepaid", "yearly"), (.rcBilling, "normal", .null),
        ]
        var subscriptions = JSONObject()
        for (index, one) in bought.enumerated() {
            subscriptions["product \(index)"] = .object(
                SubscriberWire.subscription([
                    "store": .string(one.store.rawValue.lowercased()),
                    "period_type": .string(one.period), "product_plan_identifier": one.plan,
                ])
            )
        }
        let coins: JSONValue = [
            "id": "b1", "store_transaction_id": "901", "store": "app_store",
            "is_sandbox": false, "purchase_date": "2026-05-02T10:00:00Z",
        ]
        let bytes = SubscriberWire.answer(subscriptions, purchases: ["coins": [coins, coins]])
        let read = try SubscriberWire.read(bytes)
        #expect(read.subscriptions.map(\.store.known) == bought.map(\.store))
        #expect(
            read.subscriptions.map { $0.periodType?.known.map { "\($0)" } } == bought.map(\.period)
        )
        #expect(read.subscriptions.map(\.plan) == bought.map(\.plan.string))
        #expect(read.purchases.map(\.productId) == ["coins", "coins"])
        #expect(read.leftOut == [])
    }

    // MARK: RevenueCat's published examples

    @Test(.enabled(if: Vectors.present, "RevenueCat's examples do not stand beside the project"))
    func `published examples are read`() throws {
        let plain = try SubscriberWire.read(Vectors.bytes("CustomerInfo.json"))
        #expect(plain.requestDate == Instant(millisecondsSince1970: 1_646_761_378_845))
        #expect(plain.subscriptions.map(\.periodType?.known) == [.intro, .intro])
        #expect(plain.purchases.map(\.transactionId) == ["340001090153249"])
        #expect(plain.entitlements.map(\.name) == ["premium", "tip"])
        #expect(plain.leftOut == [])
        let second = try SubscriberWire.read(Vectors.bytes("CustomerInfo-v2.json"))
        #expect(
            second.subscriptions.map(\.store.known) == [
                .appStore, .appStore, .playStore, .appStore,
            ]
        )
        #expect(second.subscriptions[2].plan == "annual-plan")
        #expect(second.subscriptions[1].unsubscribedAt != nil)
        let mapped = try SubscriberWire.read(
            Vectors.bytes("CustomerInfoWithDuplicateMappedProductKeys.json")
        )
        #expect(mapped.subscriptions.count == 2)
        #expect(mapped.purchases.count == 1)
    }

    @Test(.enabled(if: Vectors.present, "RevenueCat's examples do not stand beside the project"))
    func `a published example with one malformed subscription gives the other one`() throws {
        let subscriber = try SubscriberWire.read(
            Vectors.bytes("CustomerInfoWithInvalidSubscription.json")
        )
        #expect(subscriber.subscriptions.map(\.productId) == ["sub2"])
        #expect(subscriber.leftOut.count == 1)
    }
}

/// RevenueCat's published examples, stored beside the project.
enum Vectors {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(fileURLWithPath: path)
        }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.deletingLastPathComponent().appendingPathComponent("shared/vectors")
    }()

    static var present: Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("revenuecat").path)
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent("revenuecat/\(name)")))
    }
}
