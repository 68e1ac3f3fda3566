import TideoverCore
package import TideoverJSON

// `CustomerInfo` as RevenueCat's SDKs return it to an app (React Native, Flutter, Capacitor). It
// contains the data of the REST API under other names.
// https://www.revenuecat.com/docs/customers/customer-info

extension RevenueCatSubscriber {
    /// Returns whether an object is the SDKs' `CustomerInfo`.
    package static func isCustomerInfo(_ root: JSONNode) -> Bool {
        root["subscriber"] == nil && root["originalAppUserId"]?.string != nil
            && root["entitlements"]?.kind == .object
    }

    /// Reads the SDKs' `CustomerInfo`.
    ///
    /// Grace ends at `gracePeriodExpiresDate` of a subscription. An entitlement has no such date,
    /// and its `expirationDate` is not the end of grace.
    init(customerInfo root: JSONNode) throws(RevenueCatRefusal) {
        let top = try RevenueCatFields(root)
        let date = try top.date("requestDate")
        guard let requestDate = try top.milliseconds("requestDateMillis") ?? date else {
            throw .missingMember("requestDate")
        }
        guard let id = try top.string("originalAppUserId"), !id.isEmpty else {
            throw .missingMember("originalAppUserId")
        }
        var left: [RevenueCatRefusal] = []
        let all = try top.fields("entitlements")?.members("all") ?? []
        let infos = all.compactMap { name, node in
            Self.kept(&left) { () throws(RevenueCatRefusal) in
                try EntitlementInfo(name, RevenueCatFields(node, path: "entitlements.all.\(name)"))
            }
        }
        let listed = try top.members("subscriptionsByProductIdentifier").compactMap { name, node in
            Self.kept(&left) { () throws(RevenueCatRefusal) in
                let path = "subscriptionsByProductIdentifier.\(name)"
                return try RevenueCatSubscription(info: name, RevenueCatFields(node, path: path))
            }
        }
        // Older SDKs list no subscriptions.
        let unlisted = infos.compactMap(\.subscription).filter { subscription in
            !listed.contains { $0.productId == subscription.productId }
        }
        let bought = try top.elements("nonSubscriptionTransactions").compactMap { node in
            Self.kept(&left) { () throws(RevenueCatRefusal) in
                let fields = try RevenueCatFields(node, path: "nonSubscriptionTransactions")
                return try RevenueCatPurchase(info: fields, infos)
            }
        }
        self.init(
            requestDate: requestDate,
            originalAppUserId: id,
            subscriptions: listed + unlisted,
            purchases: bought,
            entitlements: infos.map { info in
                info.entitlement(listed.first { $0.productId == info.productId })
            },
            leftOut: left,
            origin: try SDKCustomerInfo.Origin(
                top,
                version: "originalApplicationVersion",
                date: "originalPurchaseDate"
            )
        )
    }
}

/// One entitlement of a `CustomerInfo`, with the data about its purchase.
private struct EntitlementInfo {
    let name: String
    let productId: String
    let store: OpenEnum<RevenueCatStore>
    let isSandbox: Bool
    /// The end of the paid period; nil means no end.
    let expiresAt: Instant?
    let purchasedAt: Instant?
    /// Nil for a purchase that does not renew.
    let subscription: RevenueCatSubscription?

    init(_ name: String, _ fields: RevenueCatFields) throws(RevenueCatRefusal) {
        let product = try fields.product("productIdentifier", plan: "productPlanIdentifier")
        self.name = name
        productId = product.id
        store = try fields.needed("store") { name throws(RevenueCatRefusal) in
            try fields.caselessWord(name)
        }
        isSandbox = try fields.needed("isSandbox", fields.flag)
        expiresAt = try fields.date("expirationDate")
        let purchasedAt = try fields.date("latestPurchaseDate")
        self.purchasedAt = purchasedAt
        guard let expiresAt, let purchasedAt else {
            subscription = nil
            return
        }
        subscription = RevenueCatSubscription(
            productId: productId,
            plan: product.plan,
            store: store,
            isSandbox: isSandbox,
            purchasedAt: purchasedAt,
            originallyPurchasedAt: try fields.date("originalPurchaseDate"),
            expiresAt: expiresAt,
            periodType: try fields.caselessWord("periodType"),
            ownership: try fields.caselessWord("ownershipType"),
            transactionId: nil,
            unsubscribedAt: try fields.date("unsubscribeDetectedAt"),
            billingIssueAt: try fields.date("billingIssueDetectedAt"),
            gracePeriodExpiresAt: nil,
            refundedAt: nil,
            autoResumesAt: nil
        )
    }

    func entitlement(_ subscription: RevenueCatSubscription?) -> RevenueCatEntitlement {
        RevenueCatEntitlement(
            name: name,
            productId: productId,
            expiresAt: expiresAt,
            gracePeriodExpiresAt: subscription?.gracePeriodExpiresAt,
            purchasedAt: purchasedAt
        )
    }
}

extension RevenueCatSubscription {
    fileprivate init(info name: String, _ fields: RevenueCatFields) throws(RevenueCatRefusal) {
        let product = try fields.product(
            "productIdentifier",
            plan: "productPlanIdentifier",
            otherwise: name
        )
        self.init(
            productId: product.id,
            plan: product.plan,
            store: try fields.needed("store") { name throws(RevenueCatRefusal) in
                try fields.caselessWord(name)
            },
            isSandbox: try fields.needed("isSandbox", fields.flag),
            purchasedAt: try fields.needed("purchaseDate", fields.date),
            originallyPurchasedAt: try fields.date("originalPurchaseDate"),
            expiresAt: try fields.date("expiresDate"),
            periodType: try fields.caselessWord("periodType"),
            ownership: try fields.caselessWord("ownershipType"),
            transactionId: try fields.identifier("storeTransactionId"),
            unsubscribedAt: try fields.date("unsubscribeDetectedAt"),
            billingIssueAt: try fields.date("billingIssuesDetectedAt"),
            gracePeriodExpiresAt: try fields.date("gracePeriodExpiresDate"),
            refundedAt: try fields.date("refundedAt"),
            autoResumesAt: try fields.date("autoResumeDate")
        )
    }
}

extension RevenueCatPurchase {
    /// A purchase without a store has that of its product's entitlement.
    fileprivate init(
        info fields: RevenueCatFields,
        _ infos: [EntitlementInfo]
    ) throws(RevenueCatRefusal) {
        let product = try fields.needed("productIdentifier", fields.string)
        let info = infos.first { $0.productId == product }
        self.init(
            productId: product,
            id: try fields.identifier("transactionIdentifier"),
            transactionId: try fields.identifier("storeTransactionId"),
            store: try fields.needed("store") { name throws(RevenueCatRefusal) in
                try fields.caselessWord(name) ?? info?.store
            },
            isSandbox: try fields.flag("isSandbox") ?? info?.isSandbox ?? false,
            purchasedAt: try fields.needed("purchaseDate", fields.date)
        )
    }
}

extension RevenueCatFields {
    /// The product ID. Google Play's base plan follows a colon, or is in a separate field.
    fileprivate func product(
        _ name: String,
        plan: String,
        otherwise: String? = nil
    ) throws(RevenueCatRefusal) -> (id: String, plan: String?) {
        guard let text = try string(name) ?? otherwise else { throw missing(name) }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard let id = parts.first else { throw malformed(name) }
        return (id, try string(plan) ?? (parts.count > 1 ? parts[1] : nil))
    }

    /// Returns the elements of an array; empty if it is absent.
    fileprivate func elements(_ name: String) throws(RevenueCatRefusal) -> [JSONNode] {
        guard let node = try value(name, { $0.kind == .array ? $0 : nil }) else { return [] }
        return Array(node.elements)
    }
}
