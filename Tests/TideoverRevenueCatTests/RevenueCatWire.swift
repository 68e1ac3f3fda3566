import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// RevenueCat's events, written by hand from its documentation.
enum RevenueCatWire {
    static let start = instant("2026-05-01T10:00:00Z")
    static let end = instant("2026-06-01T10:00:00Z")
    static let graceEnd = instant("2026-06-17T10:00:00Z")

    static let reader = RevenueCatReader(
        environments: [.production, .sandbox],
        catalogue: catalogue
    )

    static let catalogue = Catalogue(products: [
        "cards.pro.monthly": Product(entitlements: ["premium"], period: Period(months: 1)),
        "cards.pro.yearly": Product(entitlements: ["premium"], period: Period(years: 1)),
        "cards.lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
        "cards.pass": Product(
            entitlements: ["premium"],
            kind: .nonRenewing,
            period: Period(days: 30)
        ),
        "cards.coins": Product(entitlements: [], kind: .consumable),
        "cards.basic": Product(entitlements: ["basic"], period: Period(months: 1)),
    ])

    static func instant(_ text: String) -> Instant {
        guard let instant = Instant(rfc3339: text) else {
            preconditionFailure("\(text) is no instant")
        }
        return instant
    }

    static func ms(_ instant: Instant) -> JSONValue { .integer(instant.millisecondsSince1970) }

    /// An event about a monthly subscription of the App Store, with changes.
    static func event(
        _ type: String,
        at timestamp: Instant = start,
        id: String = "E-1",
        _ changes: JSONObject = [:]
    ) -> JSONObject {
        let event: JSONObject = [
            "type": .string(type), "id": .string(id), "app_id": "app1a2b",
            "event_timestamp_ms": ms(timestamp), "app_user_id": "u_42",
            "original_app_user_id": "u_42", "aliases": ["u_42"],
            "product_id": "cards.pro.monthly", "entitlement_ids": ["premium"],
            "period_type": "NORMAL", "purchased_at_ms": ms(start), "expiration_at_ms": ms(end),
            "store": "APP_STORE", "environment": "PRODUCTION", "is_family_share": false,
            "transaction_id": "700", "original_transaction_id": "700", "price": 9.99,
            "price_in_purchased_currency": 9.99, "currency": "USD", "country_code": "US",
        ]
        return event.changed(changes)
    }

    static func body(_ event: JSONObject, version: JSONValue = "1.0") -> [UInt8] {
        JSONValue.object(["api_version": version, "event": .object(event)]).encoded()
    }

    static func read(_ event: JSONObject) throws -> RevenueCatReading {
        try reader.event(body: body(event))
    }

    /// Returns why a body is rejected; nil if it is accepted.
    static func refusal(of body: [UInt8]) -> RevenueCatRefusal? {
        do {
            _ = try reader.event(body: body)
            return nil
        } catch {
            return error
        }
    }
}

extension JSONObject {
    /// Returns the object with changed members; null removes a member.
    func changed(_ changes: JSONObject) -> JSONObject {
        var object = self
        for (key, value) in changes { object[key] = value.isNull ? .none : value }
        return object
    }
}
