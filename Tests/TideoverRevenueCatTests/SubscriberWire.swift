import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// RevenueCat's responses about a customer, written by hand from its documentation.
enum SubscriberWire {
    /// The time of the response.
    static let asked = RevenueCatWire.instant("2026-05-10T10:00:00Z")

    static func date(_ instant: Instant) -> JSONValue { .string(instant.rfc3339) }

    /// A monthly subscription of the App Store, with changes.
    static func subscription(_ changes: JSONObject = [:]) -> JSONObject {
        let subscription: JSONObject = [
            "purchase_date": date(RevenueCatWire.start),
            "original_purchase_date": date(RevenueCatWire.start),
            "expires_date": date(RevenueCatWire.end), "period_type": "normal",
            "store": "app_store", "is_sandbox": false, "ownership_type": "PURCHASED",
            "store_transaction_id": "700", "unsubscribe_detected_at": .null,
            "billing_issues_detected_at": .null, "grace_period_expires_date": .null,
            "refunded_at": .null, "auto_resume_date": .null,
        ]
        return subscription.changed(changes)
    }

    static func answer(
        at asked: Instant = asked,
        _ subscriptions: JSONObject = [:],
        purchases: JSONObject = [:],
        entitlements: JSONObject = [:],
        _ changes: JSONObject = [:]
    ) -> [UInt8] {
        let subscriber: JSONObject = [
            "original_app_user_id": "u_42", "first_seen": "2026-05-01T10:00:00Z",
            "subscriptions": .object(subscriptions), "non_subscriptions": .object(purchases),
            "entitlements": .object(entitlements),
        ]
        let answer: JSONObject = [
            "request_date": date(asked),
            "request_date_ms": RevenueCatWire.ms(asked), "subscriber": .object(subscriber),
        ]
        return JSONValue.object(answer.changed(changes)).encoded()
    }

    static func read(_ bytes: [UInt8]) throws -> RevenueCatSubscriber {
        try RevenueCatSubscriber(answer: bytes)
    }
}
