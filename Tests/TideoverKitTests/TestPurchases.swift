import TideoverCore
import TideoverJSON
import TideoverKit

/// Unsigned documents like StoreKit's: on a device StoreKit verifies the signature.
enum TestPurchases {
    static let bundleId = "com.example.cards"
    static let start = Instant(millisecondsSince1970: 1_777_629_600_000)
    static let month = Milliseconds.days(30)
    /// A store without purchases.
    static let emptyStore = StoreSource(
        read: { StoreReading() },
        updates: { AsyncStream { $0.finish() } },
        finish: { _ in },
        sync: {}
    )

    static func jws(_ payload: JSONObject, note: String = "") -> String {
        let parts = [Array(#"{"alg":"ES256"}"#.utf8), JSONValue.object(payload).encoded()]
        return parts.map { Base64.encodeString($0, .urlSafe) }.joined(separator: ".") + ".c2ln"
            + note
    }

    static func subscription(
        _ id: UInt64,
        signedAfter delay: Milliseconds = .zero,
        revokedAfter revocation: Milliseconds? = nil,
        isVerified: Bool = true,
        environment: String = "Production",
        accountToken: String? = nil
    ) -> SignedPurchase {
        var payload = common(id, "pro", "Auto-Renewable Subscription", delay)
        payload["environment"] = .string(environment)
        if let accountToken { payload["appAccountToken"] = .string(accountToken) }
        payload["expiresDate"] = .integer((start + month).millisecondsSince1970)
        payload["subscriptionGroupIdentifier"] = "1"
        payload["webOrderLineItemId"] = .string("9\(id)")
        if let revocation {
            payload["revocationDate"] = .integer((start + revocation).millisecondsSince1970)
            payload["revocationReason"] = 0
        }
        return SignedPurchase(
            transactionId: id,
            productId: "pro",
            isVerified: isVerified,
            jws: jws(payload)
        )
    }

    static func coins(_ id: UInt64) -> SignedPurchase {
        SignedPurchase(
            transactionId: id,
            productId: "coins",
            isVerified: true,
            isConsumable: true,
            jws: jws(common(id, "coins", "Consumable", .zero))
        )
    }

    static func status(
        _ transaction: SignedPurchase,
        _ state: SignedStatus.State = .subscribed,
        renews: Bool = true
    ) -> SignedStatus {
        let renewal: JSONObject = [
            "originalTransactionId": .string("\(transaction.transactionId)"),
            "productId": "pro", "autoRenewProductId": "pro",
            "autoRenewStatus": .integer(renews ? 1 : 0), "environment": "Production",
            "signedDate": .integer(start.millisecondsSince1970),
            "renewalDate": .integer((start + month).millisecondsSince1970),
        ]
        return SignedStatus(transaction: transaction, renewalInfo: jws(renewal), state: state)
    }

    private static func common(
        _ id: UInt64,
        _ product: String,
        _ type: String,
        _ delay: Milliseconds
    ) -> JSONObject {
        [
            "transactionId": .string("\(id)"), "originalTransactionId": .string("\(id)"),
            "bundleId": .string(bundleId), "productId": .string(product), "type": .string(type),
            "purchaseDate": .integer(start.millisecondsSince1970),
            "originalPurchaseDate": .integer(start.millisecondsSince1970),
            "signedDate": .integer((start + delay).millisecondsSince1970),
            "inAppOwnershipType": "PURCHASED", "environment": "Production",
            "transactionReason": "PURCHASE",
        ]
    }

    /// Returns settings for the two products above.
    static func settings(withServer: Bool) -> KitSettings {
        var settings = KitSettings(
            bundleId: bundleId,
            customer: customer,
            catalogue: Catalogue(products: [
                "pro": Product(
                    entitlements: ["premium"],
                    group: "1",
                    period: Period(iso8601: "P1M")
                ),
                "coins": Product(entitlements: [], kind: .consumable),
            ])
        )
        if withServer {
            settings.server = ServerIdentity(
                app: "cards",
                apiKey: "key",
                issuer: "https://t.example"
            )
        }
        return settings
    }

    static var customer: CustomerID {
        guard let customer = CustomerID("u_42") else { preconditionFailure("an id is not empty") }
        return customer
    }

    static func reading(after delay: Milliseconds = .zero) -> ClockReading {
        ClockReading(clock: start + delay, uptime: delay)
    }
}
