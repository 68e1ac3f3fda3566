package import TideoverCore
package import TideoverJSON

/// A verifyReceipt response. It is not signed; only the receipt in it is.
/// https://developer.apple.com/documentation/appstorereceipts/responsebody
package struct AppStoreReceiptAnswer: Hashable, Sendable {
    /// 0 for success; any other value is an error code.
    package let status: Int64
    package let environment: OpenEnum<StoreEnvironment>?
    package let bundleId: String?
    /// When the store answered.
    package let requestDate: Instant?
    /// All purchases in the response, without duplicates, from the newest list that has them.
    package let purchases: [AppStoreReceiptPurchase]
    package let pendingRenewals: [AppStorePendingRenewal]
    /// The newest receipt, signed, in base64.
    package let latestReceipt: String?
}

/// The renewal outlook at the end of a subscription's period, as verifyReceipt reports it.
/// https://developer.apple.com/documentation/appstorereceipts/responsebody/pending_renewal_info
package struct AppStorePendingRenewal: Hashable, Sendable {
    package let originalTransactionId: String?
    package let productId: String?
    /// The product of the next period.
    package let autoRenewProductId: String?
    package let autoRenewStatus: OpenEnum<AppStoreRenewalInfo.AutoRenewStatus>?
    /// Why the subscription ended or its payment failed.
    package let expirationIntent: OpenEnum<AppStoreRenewalInfo.ExpirationIntent>?
    package let isInBillingRetryPeriod: Bool?
    /// The end of access after a failed payment.
    package let gracePeriodExpiresDate: Instant?
    package let priceIncreaseStatus: OpenEnum<AppStoreRenewalInfo.PriceIncreaseStatus>?
    /// The offer of the next period.
    package let promotionalOfferId: String?
    package let offerCodeRefName: String?
}

// MARK: - Reading

extension AppStoreReceiptAnswer {
    /// Reads a response from any source.
    package init(_ root: JSONNode) throws(AppStoreRefusal) {
        let fields = try WireFields(root)
        guard let status = try fields.writtenNumber("status") else {
            throw .missingMember("status")
        }
        self.status = status
        environment = try fields.word("environment")
        latestReceipt = try fields.string("latest_receipt")
        let receipt = try fields.fields("receipt")
        bundleId = try receipt?.string("bundle_id")
        requestDate = try receipt?.writtenDate("request_date_ms")
        var lists = try fields.list("latest_receipt_info") ?? []
        lists += try receipt?.list("in_app") ?? []
        purchases = try Self.purchases(in: lists)
        var renewals: [AppStorePendingRenewal] = []
        for renewal in try fields.list("pending_renewal_info") ?? [] {
            renewals.append(try AppStorePendingRenewal(renewal))
        }
        pendingRenewals = renewals
    }

    /// Returns the purchases of all lists. `latest_receipt_info` has priority: the receipt's own
    /// list may be older.
    private static func purchases(
        in lists: [WireFields]
    ) throws(AppStoreRefusal) -> [AppStoreReceiptPurchase] {
        var purchases: [AppStoreReceiptPurchase] = []
        var known: Set<String> = []
        for fields in lists {
            let purchase = try AppStoreReceiptPurchase(fields)
            guard known.insert(purchase.transactionId ?? "").inserted else { continue }
            purchases.append(purchase)
        }
        return purchases
    }
}

extension AppStorePendingRenewal {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        originalTransactionId = try fields.written("original_transaction_id")
        productId = try fields.written("product_id")
        autoRenewProductId = try fields.written("auto_renew_product_id")
        autoRenewStatus = try fields.writtenNumber("auto_renew_status").map(OpenEnum.init)
        expirationIntent = try fields.writtenNumber("expiration_intent").map(OpenEnum.init)
        isInBillingRetryPeriod = try fields.writtenFlag("is_in_billing_retry_period")
        gracePeriodExpiresDate = try fields.writtenDate("grace_period_expires_date_ms")
        // The older name of the same field.
        let consent = try fields.writtenNumber("price_consent_status")
        priceIncreaseStatus = try (fields.writtenNumber("price_increase_status") ?? consent)
            .map(OpenEnum.init)
        promotionalOfferId = try fields.written("promotional_offer_id")
        offerCodeRefName = try fields.written("offer_code_ref_name")
    }
}

// MARK: - Values written as strings

/// verifyReceipt usually writes numbers and flags as strings, and sometimes as JSON numbers and
/// booleans.
extension WireFields {
    /// Returns a string, or a number as text; nil if it is empty.
    func written(_ name: String) throws(AppStoreRefusal) -> String? {
        let text = try value(name) { $0.string ?? $0.int64.map(String.init) }
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    func writtenNumber(_ name: String) throws(AppStoreRefusal) -> Int64? {
        try value(name) { $0.int64 ?? $0.string.flatMap { Int64($0) } }
    }

    func writtenFlag(_ name: String) throws(AppStoreRefusal) -> Bool? {
        try value(name) { node in
            if let flag = node.bool { return flag }
            switch node.string ?? node.int64.map(String.init) {
            case "true", "1": return true
            case "false", "0": return false
            default: return nil
            }
        }
    }

    /// Milliseconds since 1970.
    func writtenDate(_ name: String) throws(AppStoreRefusal) -> Instant? {
        guard let milliseconds = try writtenNumber(name) else { return nil }
        let instant = Instant(millisecondsSince1970: milliseconds)
        guard Instant.writable.contains(instant) else { throw malformed(name) }
        return instant
    }
}
