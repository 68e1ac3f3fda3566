import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// An event of each type that RevenueCat documents, with the documented members and our own ids.
/// https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
struct DocumentedEvent: Sendable, CustomTestStringConvertible {
    let name: String
    let content: JSONObject
    /// Nil for all environments of the app.
    var environment: Environment? = .production
    /// The number of facts that the event states.
    let facts: Int
    var notes: [RevenueCatNote] = []

    var testDescription: String { name }

    static let all = purchases + customers

    // MARK: Purchases

    private static let purchases: [DocumentedEvent] = [
        purchase("INITIAL_PURCHASE", facts: 2),
        purchase("RENEWAL", facts: 2, ["is_trial_conversion": false, "renewal_number": 2]),
        purchase(
            "NON_RENEWING_PURCHASE",
            facts: 1,
            ["product_id": "cards.lifetime", "expiration_at_ms": .null]
        ),
        purchase("CANCELLATION", facts: 2, ["cancel_reason": "UNSUBSCRIBE"]),
        purchase(
            "CANCELLATION",
            facts: 1,
            ["cancel_reason": "CUSTOMER_SUPPORT", "expiration_at_ms": ms(RevenueCatWire.start)]
        ),
        purchase("UNCANCELLATION", facts: 2),
        purchase(
            "BILLING_ISSUE",
            facts: 3,
            ["grace_period_expiration_at_ms": ms(RevenueCatWire.graceEnd)]
        ),
        purchase("EXPIRATION", facts: 1, ["expiration_reason": "UNSUBSCRIBE"]),
        purchase(
            "SUBSCRIPTION_PAUSED",
            facts: 2,
            ["store": "PLAY_STORE", "auto_resume_at_ms": ms(RevenueCatWire.graceEnd)]
        ),
        purchase("PRODUCT_CHANGE", facts: 2, ["new_product_id": "cards.pro.yearly"]),
        purchase("SUBSCRIPTION_EXTENDED", facts: 1),
        purchase("REFUND_REVERSED", facts: 2),
        DocumentedEvent(
            name: "TEMPORARY_ENTITLEMENT_GRANT with what is guaranteed",
            content: TemporaryGrant.event(),
            facts: 1
        ),
        DocumentedEvent(
            name: "TEMPORARY_ENTITLEMENT_GRANT with a product alone",
            content: TemporaryGrant.event(["entitlement_ids": .null, "transaction_id": .null]),
            facts: 1
        ),
        DocumentedEvent(
            name: "TEMPORARY_ENTITLEMENT_GRANT with a customer and a store alone",
            content: common("TEMPORARY_ENTITLEMENT_GRANT", ["store": "APP_STORE"]),
            facts: 0,
            notes: [.incomplete(product: nil, missing: ["entitlement_ids"])]
        ),
    ]

    private static func purchase(
        _ type: String,
        facts: Int,
        _ changes: JSONObject = [:]
    ) -> DocumentedEvent {
        let extras: JSONObject = [
            "presented_offering_id": "summer", "offer_code": "SUN", "tax_percentage": 0.19,
            "commission_percentage": 0.15, "takehome_percentage": 0.66, "renewal_number": 1,
            "entitlement_id": "premium", "metadata": ["campaign": "sun"],
            "subscriber_attributes": ["$email": ["value": "u@example.com", "updated_at_ms": 1]],
            "experiments": [["experiment_id": "prexp7", "experiment_variant": "a"]],
        ]
        return DocumentedEvent(
            name: type,
            content: RevenueCatWire.event(type, extras.changed(changes)),
            facts: facts
        )
    }

    // MARK: Events without a purchase

    private static let customers: [DocumentedEvent] = [
        DocumentedEvent(
            name: "TRANSFER without an environment",
            content: transfer,
            environment: nil,
            facts: 0
        ),
        DocumentedEvent(
            name: "TRANSFER of the sandbox",
            content: transfer.changed(["environment": "SANDBOX"]),
            environment: .sandbox,
            facts: 0
        ),
        DocumentedEvent(
            name: "INVOICE_ISSUANCE",
            content: common("INVOICE_ISSUANCE", invoice),
            facts: 0,
            notes: [.noPurchase("INVOICE_ISSUANCE")]
        ),
        DocumentedEvent(
            name: "VIRTUAL_CURRENCY_TRANSACTION",
            content: common("VIRTUAL_CURRENCY_TRANSACTION", virtualCurrency),
            environment: .sandbox,
            facts: 0,
            notes: [.noPurchase("VIRTUAL_CURRENCY_TRANSACTION")]
        ),
        DocumentedEvent(
            name: "EXPERIMENT_ENROLLMENT",
            content: common("EXPERIMENT_ENROLLMENT", enrollment),
            facts: 0,
            notes: [.noPurchase("EXPERIMENT_ENROLLMENT")]
        ),
        DocumentedEvent(
            name: "SUBSCRIBER_ALIAS",
            content: common("SUBSCRIBER_ALIAS", ["aliases": ["$RCAnonymousID:c1", "u_42"]]),
            facts: 0
        ),
        DocumentedEvent(name: "TEST", content: common("TEST"), facts: 0, notes: [.test]),
        DocumentedEvent(
            name: "a type of tomorrow, with other types of values",
            content: common("PAYWALL_SHOWN", ["store": ["name": "x"], "price": "9", "aliases": 1]),
            facts: 0,
            notes: [.unknownType("PAYWALL_SHOWN")]
        ),
    ]

    private static let transfer: JSONObject = [
        "type": "TRANSFER", "id": "E-31", "app_id": "app1a2b", "store": "APP_STORE",
        "event_timestamp_ms": ms(RevenueCatWire.start), "transferred_from": ["u_41"],
        "transferred_to": ["u_42"],
    ]

    private static let invoice: JSONObject = [
        "store": "RC_BILLING", "environment": "PRODUCTION", "product_id": "cards.pro.monthly",
        "period_type": .null, "purchased_at_ms": ms(RevenueCatWire.start),
        "expiration_at_ms": .null, "entitlement_ids": .null, "transaction_id": .null,
        "original_transaction_id": .null, "price_in_purchased_currency": 7.5, "currency": "EUR",
    ]

    private static let virtualCurrency: JSONObject = [
        "adjustments": [["amount": 40, "currency": ["code": "GEM", "name": "Gems"]]],
        "product_display_name": "40 gems", "product_id": "cards.coins", "source": "admin_api",
        "purchase_environment": "SANDBOX", "store": "PLAY_STORE", "transaction_id": "GPA.4",
        "virtual_currency_transaction_id": "vc-5",
    ]

    private static let enrollment: JSONObject = [
        "experiment_id": "prexp7", "experiment_variant": "a", "offering_id": "autumn",
        "enrolled_at_ms": ms(RevenueCatWire.start), "original_app_user_id": "$RCAnonymousID:c1",
        "aliases": ["$RCAnonymousID:c1", "u_42"],
    ]

    private static func common(_ type: String, _ more: JSONObject = [:]) -> JSONObject {
        var event: JSONObject = [
            "type": .string(type), "id": "E-30", "event_timestamp_ms": ms(RevenueCatWire.start),
            "app_user_id": "u_42",
        ]
        for (key, value) in more { event[key] = value }
        return event
    }

    private static func ms(_ instant: Instant) -> JSONValue { RevenueCatWire.ms(instant) }
}

/// A temporary grant with the members that RevenueCat guarantees: no environment and no aliases.
enum TemporaryGrant {
    static let end = RevenueCatWire.start + .hours(20)

    static func event(_ changes: JSONObject = [:]) -> JSONObject {
        let event: JSONObject = [
            "type": "TEMPORARY_ENTITLEMENT_GRANT", "id": "E-20", "app_id": "app1a2b",
            "event_timestamp_ms": RevenueCatWire.ms(RevenueCatWire.start), "app_user_id": "u_42",
            "purchased_at_ms": RevenueCatWire.ms(RevenueCatWire.start),
            "expiration_at_ms": RevenueCatWire.ms(end), "product_id": "cards.pro.monthly",
            "entitlement_ids": ["premium"], "store": "APP_STORE", "transaction_id": "tmp-1",
        ]
        return event.changed(changes)
    }
}
