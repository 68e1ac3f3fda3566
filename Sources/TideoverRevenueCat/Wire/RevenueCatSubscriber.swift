package import TideoverCore
package import TideoverJSON

/// RevenueCat's response about one customer (REST API v1).
///
/// Malformed parts are omitted one by one: an invalid purchase does not affect the others.
/// https://www.revenuecat.com/docs/api-v1
package struct RevenueCatSubscriber: Hashable, Sendable {
    /// The time of the response, by RevenueCat's clock.
    package let requestDate: Instant
    /// The customer's first ID.
    package let originalAppUserId: String
    /// The subscriptions in the order of the response.
    package let subscriptions: [RevenueCatSubscription]
    package let purchases: [RevenueCatPurchase]
    /// RevenueCat's own decisions, for comparison only; they give no access.
    package let entitlements: [RevenueCatEntitlement]
    /// Why entries were omitted.
    package let leftOut: [RevenueCatRefusal]
    /// When and in which version the customer first got the app; nil if the App Store did not state
    /// it.
    package internal(set) var origin: SDKCustomerInfo.Origin?
    /// What the app's SDK stated about the customer; nil in responses without it.
    package internal(set) var attributes: SDKAttributes?
}

/// A current or former subscription to one product, with the store's newest period.
package struct RevenueCatSubscription: Hashable, Sendable {
    /// The product; for Google Play, without its base plan.
    package let productId: String
    package let plan: String?
    package let store: OpenEnum<RevenueCatStore>
    package let isSandbox: Bool
    package let purchasedAt: Instant
    package let originallyPurchasedAt: Instant?
    /// The end of the period; nil if it has none.
    package let expiresAt: Instant?
    package let periodType: OpenEnum<RevenueCatPeriodType>?
    package let ownership: OpenEnum<RevenueCatOwnership>?
    /// The store's ID of the period's transaction or order.
    package let transactionId: String?
    /// When RevenueCat noticed that renewal was off; nil while it is on.
    package let unsubscribedAt: Instant?
    /// When RevenueCat noticed a failed payment; nil after a successful one.
    package let billingIssueAt: Instant?
    /// Nil outside grace.
    package let gracePeriodExpiresAt: Instant?
    package let refundedAt: Instant?
    package let autoResumesAt: Instant?
}

/// A purchase that does not renew.
package struct RevenueCatPurchase: Hashable, Sendable {
    package let productId: String
    /// RevenueCat's own ID of the purchase.
    package let id: String?
    /// The store's ID of the transaction or order.
    package let transactionId: String?
    package let store: OpenEnum<RevenueCatStore>
    package let isSandbox: Bool
    package let purchasedAt: Instant
}

/// RevenueCat's decision about one entitlement.
package struct RevenueCatEntitlement: Hashable, Sendable {
    package let name: String
    package let productId: String
    /// Nil means no end.
    package let expiresAt: Instant?
    package let gracePeriodExpiresAt: Instant?
    package let purchasedAt: Instant?

    package init(
        name: String,
        productId: String,
        expiresAt: Instant?,
        gracePeriodExpiresAt: Instant? = nil,
        purchasedAt: Instant? = nil
    ) {
        self.name = name
        self.productId = productId
        self.expiresAt = expiresAt
        self.gracePeriodExpiresAt = gracePeriodExpiresAt
        self.purchasedAt = purchasedAt
    }
}

// MARK: - Reading

extension RevenueCatSubscriber {
    /// Reads a response.
    ///
    /// - Throws: ``RevenueCatRefusal`` if the whole response is unreadable.
    package init(answer bytes: [UInt8]) throws(RevenueCatRefusal) {
        do {
            try self.init(JSONDocument(bytes, limits: .storeAnswer))
        } catch let error as JSONError {
            throw .malformedJSON(error)
        } catch let refusal as RevenueCatRefusal {
            throw refusal
        } catch {
            preconditionFailure("a document fails by its JSON or by what it says")
        }
    }

    /// Reads a REST API response, or the `CustomerInfo` of an SDK.
    init(_ document: JSONDocument) throws(RevenueCatRefusal) {
        if Self.isCustomerInfo(document.root) {
            try self.init(customerInfo: document.root)
        } else {
            try self.init(response: document.root)
        }
    }

    private init(response root: JSONNode) throws(RevenueCatRefusal) {
        let top = try RevenueCatFields(root)
        if Self.isAPIv2Response(root) { throw .apiV2Response }
        let date = try top.date("request_date")
        guard let requestDate = try top.milliseconds("request_date_ms") ?? date else {
            throw .missingMember("request_date")
        }
        guard let fields = try top.fields("subscriber") else { throw .missingMember("subscriber") }
        guard let id = try fields.string("original_app_user_id"), !id.isEmpty else {
            throw .missingMember("subscriber.original_app_user_id")
        }
        self.requestDate = requestDate
        originalAppUserId = id
        var left: [RevenueCatRefusal] = []
        subscriptions = try fields.members("subscriptions").compactMap { name, node in
            Self.kept(&left) { () throws(RevenueCatRefusal) in
                let path = "subscriber.subscriptions.\(name)"
                return try RevenueCatSubscription(name, RevenueCatFields(node, path: path))
            }
        }
        purchases = try fields.members("non_subscriptions").flatMap { name, node in
            let path = "subscriber.non_subscriptions.\(name)"
            guard node.kind == .array else {
                left.append(.malformed(field: path))
                return [RevenueCatPurchase]()
            }
            return node.elements.compactMap { element in
                Self.kept(&left) { () throws(RevenueCatRefusal) in
                    try RevenueCatPurchase(name, RevenueCatFields(element, path: path))
                }
            }
        }
        entitlements = try fields.members("entitlements").compactMap { name, node in
            Self.kept(&left) { () throws(RevenueCatRefusal) in
                let path = "subscriber.entitlements.\(name)"
                return try RevenueCatEntitlement(name, RevenueCatFields(node, path: path))
            }
        }
        leftOut = left
        origin = try SDKCustomerInfo.Origin(
            fields,
            version: "original_application_version",
            date: "original_purchase_date"
        )
        attributes = root["subscriber"].flatMap {
            SDKAttributes(inside: $0, as: "subscriber_attributes")
        }
    }

    /// Returns whether an object is from REST API v2: each names its type in `object`.
    package static func isAPIv2Response(_ root: JSONNode) -> Bool {
        root["object"]?.string != nil && root["subscriber"] == nil
    }

    static func kept<Entry>(
        _ left: inout [RevenueCatRefusal],
        _ read: () throws(RevenueCatRefusal) -> Entry
    ) -> Entry? {
        do {
            return try read()
        } catch {
            left.append(error)
            return nil
        }
    }
}

extension SDKCustomerInfo.Origin {
    /// Reads the members of a customer. No purchase depends on them, so one of the wrong type counts
    /// as absent.
    init?(
        _ fields: RevenueCatFields,
        version: String,
        date: String
    ) throws(RevenueCatRefusal) {
        guard let version = try fields.lenient.string(version), !version.isEmpty else {
            return nil
        }
        self.init(version: version, purchasedAt: try fields.lenient.date(date))
    }
}

extension RevenueCatSubscription {
    fileprivate init(_ name: String, _ fields: RevenueCatFields) throws(RevenueCatRefusal) {
        productId = name
        plan = try fields.string("product_plan_identifier")
        store = try fields.needed("store") { name throws(RevenueCatRefusal) in
            try fields.caselessWord(name)
        }
        isSandbox = try fields.needed("is_sandbox", fields.flag)
        purchasedAt = try fields.needed("purchase_date", fields.date)
        originallyPurchasedAt = try fields.date("original_purchase_date")
        expiresAt = try fields.date("expires_date")
        periodType = try fields.caselessWord("period_type")
        ownership = try fields.caselessWord("ownership_type")
        transactionId = try fields.identifier("store_transaction_id")
        unsubscribedAt = try fields.date("unsubscribe_detected_at")
        billingIssueAt = try fields.date("billing_issues_detected_at")
        gracePeriodExpiresAt = try fields.date("grace_period_expires_date")
        refundedAt = try fields.date("refunded_at")
        autoResumesAt = try fields.date("auto_resume_date")
    }

    /// The values that this version does not know.
    var unrecognised: [Unrecognised] {
        [
            Optional(store).unrecognised(as: "store"),
            periodType.unrecognised(as: "period_type"),
            ownership.unrecognised(as: "ownership_type"),
        ].compactMap(\.self)
    }
}

extension RevenueCatPurchase {
    fileprivate init(_ name: String, _ fields: RevenueCatFields) throws(RevenueCatRefusal) {
        productId = name
        id = try fields.string("id")
        transactionId = try fields.identifier("store_transaction_id")
        store = try fields.needed("store") { name throws(RevenueCatRefusal) in
            try fields.caselessWord(name)
        }
        isSandbox = try fields.needed("is_sandbox", fields.flag)
        purchasedAt = try fields.needed("purchase_date", fields.date)
    }
}

extension RevenueCatEntitlement {
    fileprivate init(_ name: String, _ fields: RevenueCatFields) throws(RevenueCatRefusal) {
        self.init(
            name: name,
            productId: try fields.needed("product_identifier", fields.string),
            expiresAt: try fields.date("expires_date"),
            gracePeriodExpiresAt: try fields.date("grace_period_expires_date"),
            purchasedAt: try fields.date("purchase_date")
        )
    }
}

extension RevenueCatFields {
    /// Returns a required member, or throws if it is absent.
    func needed<Value>(
        _ name: String,
        _ read: (String) throws(RevenueCatRefusal) -> Value?
    ) throws(RevenueCatRefusal) -> Value {
        guard let value = try read(name) else { throw missing(name) }
        return value
    }

    /// Returns a store's ID, which is a string, or a number in old responses. One that cannot be
    /// stored is absent.
    func identifier(_ name: String) throws(RevenueCatRefusal) -> String? {
        let text = try value(name) { $0.string ?? $0.int64.map(String.init) }
        return text.flatMap { $0.isEmpty || !$0.isStorableName ? nil : $0 }
    }
}
