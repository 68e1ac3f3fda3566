public import TideoverCore
package import TideoverJSON

/// What RevenueCat answers of one customer (REST API v1).
///
/// What is malformed is left out by itself: a fault in one purchase says nothing of the others.
/// https://www.revenuecat.com/docs/api-v1
public struct RevenueCatSubscriber: Hashable, Sendable {
    /// When it was answered, by RevenueCat's clock.
    public let requestDate: Instant
    /// The id that the customer had first.
    public let originalAppUserId: String
    /// In the order answered.
    public let subscriptions: [RevenueCatSubscription]
    public let purchases: [RevenueCatPurchase]
    /// RevenueCat's own conclusions, which are compared and never believed.
    public let entitlements: [RevenueCatEntitlement]
    /// Why entries of it were left out.
    public let leftOut: [RevenueCatRefusal]
}

/// One product that a customer subscribes to or did; the store's newest period of it.
public struct RevenueCatSubscription: Hashable, Sendable {
    /// The product; of Google Play without its base plan.
    public let productId: String
    public let plan: String?
    public let store: Stated<RevenueCatStore>
    public let isSandbox: Bool
    public let purchasedAt: Instant
    public let originallyPurchasedAt: Instant?
    /// The end of the period; nil for what has none.
    public let expiresAt: Instant?
    public let periodType: Stated<RevenueCatPeriodType>?
    public let ownership: Stated<RevenueCatOwnership>?
    /// The store's id of the period's transaction or order.
    public let transactionId: String?
    /// When RevenueCat noticed that renewal was off; nil while it is on.
    public let unsubscribedAt: Instant?
    /// When it noticed that a payment failed; nil once one has succeeded.
    public let billingIssueAt: Instant?
    /// Nil outside grace.
    public let gracePeriodExpiresAt: Instant?
    public let refundedAt: Instant?
    public let autoResumesAt: Instant?
}

/// Something bought that does not renew.
public struct RevenueCatPurchase: Hashable, Sendable {
    public let productId: String
    /// RevenueCat's own id of it.
    public let id: String?
    /// The store's id of the transaction or order.
    public let transactionId: String?
    public let store: Stated<RevenueCatStore>
    public let isSandbox: Bool
    public let purchasedAt: Instant
}

/// What RevenueCat concludes of one entitlement.
public struct RevenueCatEntitlement: Hashable, Sendable {
    public let name: String
    public let productId: String
    /// Nil is for ever.
    public let expiresAt: Instant?
    public let gracePeriodExpiresAt: Instant?
    public let purchasedAt: Instant?

    public init(
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
    /// Reads an answer.
    ///
    /// - Throws: ``RevenueCatRefusal`` where nothing of it can be read.
    public init(answer bytes: [UInt8]) throws(RevenueCatRefusal) {
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

    /// Reads an answer of the REST API, or the `CustomerInfo` of an SDK.
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
    }

    /// Whether an object is one of REST API v2: each names its type in `object`.
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

    /// The words in it that this version does not know.
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
    /// A member without which its object says nothing.
    func needed<Value>(
        _ name: String,
        _ read: (String) throws(RevenueCatRefusal) -> Value?
    ) throws(RevenueCatRefusal) -> Value {
        guard let value = try read(name) else { throw missing(name) }
        return value
    }

    /// A store's id, which is a text, or a number in answers of old.
    func identifier(_ name: String) throws(RevenueCatRefusal) -> String? {
        let text = try value(name) { $0.string ?? $0.int64.map(String.init) }
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }
}
