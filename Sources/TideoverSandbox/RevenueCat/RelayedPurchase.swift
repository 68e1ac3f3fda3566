import TideoverJSON

/// RevenueCat's record of one purchase, as its store had reported it when RevenueCat processed the
/// notification. Instants are in milliseconds since 1970.
struct RelayedPurchase: Hashable, Sendable {
    enum Store: String, Hashable, Sendable {
        case appStore = "APP_STORE"
        case playStore = "PLAY_STORE"
    }

    let store: Store
    /// The id that all transactions of the purchase share.
    let original: String
    var transaction: String
    /// The store's product id.
    var product: String
    /// The base plan in Google Play.
    var plan: String?
    /// RevenueCat's `period_type`.
    var periodType = "NORMAL"
    var purchasedAt: Int64
    let originallyPurchasedAt: Int64
    /// The end of the period; nil if it has none.
    var expiresAt: Int64?
    /// Nil unless in grace.
    var graceUntil: Int64?
    var unsubscribedAt: Int64?
    var billingIssueAt: Int64?
    var refundedAt: Int64?
    var autoResumesAt: Int64?
    var isFamilyShare = false
    /// Whether its end was reported.
    var isOver = false

    /// The product's name in events: in Google Play with the base plan.
    var productName: String { plan.map { "\(product):\($0)" } ?? product }

    /// When RevenueCat's access ends, grace included.
    var entitledUntil: Int64? {
        guard let expiresAt else { return refundedAt }
        return max(expiresAt, graceUntil ?? expiresAt)
    }

    /// Clears all problems after a new payment.
    mutating func isPaid() {
        (unsubscribedAt, billingIssueAt, graceUntil, autoResumesAt) = (nil, nil, nil, nil)
        (refundedAt, isOver) = (nil, false)
    }

    /// Returns the members that every event of a purchase has.
    func members(of customer: String, unlocking entitlements: [String]) -> JSONObject {
        let id = JSONValue.string(customer)
        return [
            "app_id": "app1a2b3c4d", "app_user_id": id, "original_app_user_id": id,
            "aliases": .array([id]), "product_id": .string(productName),
            "entitlement_ids": .array(entitlements.map(JSONValue.string)),
            "period_type": .string(periodType), "purchased_at_ms": .integer(purchasedAt),
            "expiration_at_ms": expiresAt.map(JSONValue.integer) ?? .null,
            "store": .string(store.rawValue), "environment": "PRODUCTION",
            "is_family_share": .bool(isFamilyShare), "transaction_id": .string(transaction),
            "original_transaction_id": .string(original),
        ]
    }
}

// MARK: - API answers

extension RelayedPurchase {
    /// A member of `subscriptions`.
    var subscription: JSONValue {
        [
            "purchase_date": .string(InstantText.write(purchasedAt)),
            "original_purchase_date": .string(InstantText.write(originallyPurchasedAt)),
            "expires_date": Self.date(expiresAt), "period_type": .string(periodType.lowercased()),
            "store": .string(store.rawValue.lowercased()), "is_sandbox": false,
            "ownership_type": isFamilyShare ? "FAMILY_SHARED" : "PURCHASED",
            "product_plan_identifier": plan.map(JSONValue.string) ?? .null,
            "store_transaction_id": .string(transaction),
            "unsubscribe_detected_at": Self.date(unsubscribedAt),
            "billing_issues_detected_at": Self.date(billingIssueAt),
            "grace_period_expires_date": Self.date(graceUntil),
            "refunded_at": Self.date(refundedAt), "auto_resume_date": Self.date(autoResumesAt),
        ]
    }

    /// An element of a member of `non_subscriptions`.
    var nonSubscription: JSONValue {
        [
            "id": .string("rc-\(transaction)"), "store_transaction_id": .string(transaction),
            "purchase_date": .string(InstantText.write(purchasedAt)),
            "original_purchase_date": .string(InstantText.write(originallyPurchasedAt)),
            "store": .string(store.rawValue.lowercased()), "is_sandbox": false,
        ]
    }

    /// A member of `entitlements`.
    var entitlement: JSONValue {
        [
            "expires_date": Self.date(entitledUntil),
            "grace_period_expires_date": Self.date(graceUntil),
            "product_identifier": .string(product),
            "purchase_date": .string(InstantText.write(purchasedAt)),
        ]
    }

    private static func date(_ instant: Int64?) -> JSONValue {
        instant.map { .string(InstantText.write($0)) } ?? .null
    }
}
