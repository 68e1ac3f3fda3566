package import TideoverCore
package import TideoverJSON

extension SDKCustomerInfo {
    /// Writes the members of a response: the request date, and the customer.
    package func writeMembers(to writer: inout JSONWriter, requestDate: Instant) {
        writer.field("request_date", requestDate.sdkText)
        writer.field("request_date_ms", requestDate.millisecondsSince1970)
        writer.field("subscriber", object: { write(to: &$0, at: requestDate) })
    }

    /// The bytes that a tag covers: everything but the dates of the request. Nil for an unknown
    /// customer, for whom the date of the request is the first one.
    package var tagged: [UInt8]? {
        guard firstSeen != nil else { return nil }
        return JSONWriter.object { write(to: &$0, at: nil) }
    }

    private func write(to writer: inout JSONWriter, at requestDate: Instant?) {
        writer.field("original_app_user_id", originalAppUserId)
        writer.field("first_seen", (firstSeen ?? requestDate)?.sdkText)
        if let requestDate { writer.field("last_seen", requestDate.sdkText) }
        writer.field("management_url", managementURL)
        writer.field("original_application_version", origin?.version)
        writer.field("original_purchase_date", origin?.purchasedAt?.sdkText)
        if let attributes {
            writer.field("subscriber_attributes", object: attributes.writeMembers)
        }
        writer.field("other_purchases", object: { _ in })
        writer.field(
            "subscriptions",
            object: { writer in
                for (key, subscription) in subscriptions.inKeyOrder {
                    writer.field(key, object: subscription.writeMembers)
                }
            }
        )
        writer.field(
            "non_subscriptions",
            object: { writer in
                for (key, list) in purchases.inKeyOrder {
                    writer.field(key, each: list) { purchase, writer in
                        writer.object(purchase.writeMembers)
                    }
                }
            }
        )
        writer.field(
            "entitlements",
            object: { writer in
                for (name, entitlement) in entitlements.inKeyOrder {
                    writer.field(name, object: entitlement.writeMembers)
                }
            }
        )
    }
}

extension SDKCustomerInfo.Entitlement {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("product_identifier", product)
        // Android reads null here as the text "null".
        if let basePlan { writer.field("product_plan_identifier", basePlan) }
        writer.field("purchase_date", purchasedAt.sdkText)
        writer.field("expires_date", expires.sdkText)
        writer.field("grace_period_expires_date", graceUntil?.sdkText)
    }
}

extension SDKCustomerInfo.Subscription {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        if let basePlan { writer.field("product_plan_identifier", basePlan) }
        writer.field("purchase_date", purchasedAt.sdkText)
        writer.field("original_purchase_date", originallyPurchasedAt.sdkText)
        writer.field("expires_date", expires.sdkText)
        writer.field("store", store.apiText)
        writer.field("is_sandbox", isSandbox)
        writer.field("period_type", period.rawValue)
        writer.field("ownership_type", isFamilyShared ? "FAMILY_SHARED" : "PURCHASED")
        writer.field("unsubscribe_detected_at", unsubscribedAt?.sdkText)
        writer.field("billing_issues_detected_at", billingIssueAt?.sdkText)
        writer.field("grace_period_expires_date", graceUntil?.sdkText)
        writer.field("refunded_at", refundedAt?.sdkText)
        writer.field("auto_resume_date", resumesAt?.sdkText)
        writer.field("store_transaction_id", transactionId)
        writer.field("display_name", String?.none)
        writer.field("management_url", managementURL)
    }
}

extension SDKCustomerInfo.Purchase {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("store_transaction_id", transactionId)
        writer.field("purchase_date", purchasedAt.sdkText)
        writer.field("original_purchase_date", purchasedAt.sdkText)
        writer.field("store", store.apiText)
        writer.field("is_sandbox", isSandbox)
    }
}

extension Dictionary where Key == String {
    /// The members in order of their keys, so that equal values have equal bytes.
    var inKeyOrder: [(key: String, value: Value)] { sorted { $0.key < $1.key } }
}
