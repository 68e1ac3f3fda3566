package import TideoverCore
import TideoverJSON

/// The statuses of all subscriptions of a customer. The signed parts are not verified yet. The rest
/// is not signed: only the connection authenticates it.
/// https://developer.apple.com/documentation/appstoreserverapi/statusresponse
package struct SubscriptionStatusesAnswer: Hashable, Sendable {
    package let environment: OpenEnum<StoreEnvironment>?
    package let bundleId: String?
    package let appAppleId: Int64?
    package let data: [Group]

    /// The subscriptions of one subscription group.
    package struct Group: Hashable, Sendable {
        package let subscriptionGroupIdentifier: String?
        package let lastTransactions: [Status]
    }

    /// The status of one subscription.
    package struct Status: Hashable, Sendable {
        package let status: OpenEnum<SubscriptionStatus>?
        package let originalTransactionId: String?
        /// The latest transaction as a JWS.
        package let signedTransactionInfo: ArraySlice<UInt8>?
        /// The renewal info as a JWS.
        package let signedRenewalInfo: ArraySlice<UInt8>?
        /// The item as the store wrote it, to be stored as evidence.
        let source: ArraySlice<UInt8>
    }
}

/// Up to 20 transactions of a customer, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/historyresponse
package struct TransactionHistoryPage: Hashable, Sendable {
    package let environment: OpenEnum<StoreEnvironment>?
    package let bundleId: String?
    package let appAppleId: Int64?
    /// The cursor of the next page.
    package let revision: String?
    package let hasMore: Bool
    /// Each a JWS.
    package let signedTransactions: [ArraySlice<UInt8>]
}

/// Up to 20 refunded transactions of a customer, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse
package struct RefundHistoryPage: Hashable, Sendable {
    /// The cursor of the next page; the last page also has one.
    package let revision: String?
    package let hasMore: Bool
    /// Each a JWS.
    package let signedTransactions: [ArraySlice<UInt8>]
}

/// Up to 20 notifications that the store has sent or tried to send, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse
package struct NotificationHistoryPage: Hashable, Sendable {
    /// The cursor of the next page.
    package let paginationToken: String?
    package let hasMore: Bool
    package let notificationHistory: [SentNotification]
}

/// A notification and its delivery attempts.
/// https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponseitem
package struct SentNotification: Hashable, Sendable {
    /// The notification as a JWS; absent from a test without a known result.
    package let signedPayload: ArraySlice<UInt8>?
    /// At most six, in the order of the store.
    package let sendAttempts: [Attempt]

    /// One delivery attempt.
    package struct Attempt: Hashable, Sendable {
        package let attemptDate: Instant?
        package let sendAttemptResult: OpenEnum<Result>?
    }

    /// The result of a delivery attempt.
    /// https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult
    package enum Result: String, Hashable, Sendable, CaseIterable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case tlsIssue = "TLS_ISSUE"
        case circularRedirect = "CIRCULAR_REDIRECT"
        case noResponse = "NO_RESPONSE"
        case socketIssue = "SOCKET_ISSUE"
        case unsupportedCharset = "UNSUPPORTED_CHARSET"
        case invalidResponse = "INVALID_RESPONSE"
        case prematureClose = "PREMATURE_CLOSE"
        case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case other = "OTHER"
    }
}

/// The token to query the delivery of a test notification with.
/// https://developer.apple.com/documentation/appstoreserverapi/sendtestnotificationresponse
package struct TestNotificationRequested: Hashable, Sendable {
    package let testNotificationToken: String
}

/// One signed object, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse
/// https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse
package struct SignedAnswer: Hashable, Sendable {
    /// The kind of object that the response contains.
    package let part: SignedPart
    /// The JWS.
    package let jws: ArraySlice<UInt8>
}

/// The transactions of one order, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse
package struct OrderLookup: Hashable, Sendable {
    package let status: OpenEnum<Status>?
    /// Each a JWS.
    package let signedTransactions: [ArraySlice<UInt8>]

    /// Whether the app has an order with this ID.
    package enum Status: Int64, Hashable, Sendable, CaseIterable {
        case valid = 0
        case invalid = 1
    }
}

/// The result of a renewal date extension.
/// https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldateresponse
package struct RenewalExtended: Hashable, Sendable {
    package let originalTransactionId: String?
    package let webOrderLineItemId: String?
    package let success: Bool?
    /// The new renewal date of the subscription.
    package let effectiveDate: Instant?
}

/// The identifier to query an extension for all subscribers with.
/// https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldateresponse
package struct MassExtensionOrdered: Hashable, Sendable {
    package let requestIdentifier: String?
}

/// The progress of an extension for all subscribers of a product.
/// https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldatestatusresponse
package struct MassExtensionStatus: Hashable, Sendable {
    package let requestIdentifier: String?
    /// Whether the extension is done; only then are the other fields present.
    package let complete: Bool?
    package let completeDate: Instant?
    /// The number of extended subscriptions.
    package let succeededCount: Int64?
    /// The number of subscriptions that could not be extended.
    package let failedCount: Int64?
}

// MARK: - Reading

extension MassExtensionOrdered {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        requestIdentifier = try fields.string("requestIdentifier")
    }
}

extension MassExtensionStatus {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        requestIdentifier = try fields.string("requestIdentifier")
        complete = try fields.flag("complete")
        completeDate = try fields.date("completeDate")
        succeededCount = try fields.integer("succeededCount")
        failedCount = try fields.integer("failedCount")
    }
}

extension SignedAnswer {
    init(_ fields: WireFields, _ part: SignedPart) throws(AppStoreRefusal) {
        self.part = part
        jws = try fields.jws(part.rawValue).required(part.rawValue)
    }
}

extension OrderLookup {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        status = try fields.word("status")
        signedTransactions = try fields.signed("signedTransactions") ?? []
    }
}

extension RenewalExtended {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        originalTransactionId = try fields.string("originalTransactionId")
        webOrderLineItemId = try fields.string("webOrderLineItemId")
        success = try fields.flag("success")
        effectiveDate = try fields.date("effectiveDate")
    }
}

extension SubscriptionStatusesAnswer {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        environment = try fields.word("environment")
        bundleId = try fields.string("bundleId")
        appAppleId = try fields.integer("appAppleId")
        data = try fields.list("data").required("data").read(Group.init)
    }
}

extension SubscriptionStatusesAnswer.Group {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        subscriptionGroupIdentifier = try fields.string("subscriptionGroupIdentifier")
        let items = try fields.list("lastTransactions") ?? []
        lastTransactions = try items.read(SubscriptionStatusesAnswer.Status.init)
    }
}

extension SubscriptionStatusesAnswer.Status {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        status = try fields.word("status")
        originalTransactionId = try fields.string("originalTransactionId")
        signedTransactionInfo = try fields.jws("signedTransactionInfo")
        signedRenewalInfo = try fields.jws("signedRenewalInfo")
        source = fields.source
    }
}

extension TransactionHistoryPage {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        environment = try fields.word("environment")
        bundleId = try fields.string("bundleId")
        appAppleId = try fields.integer("appAppleId")
        revision = try fields.string("revision")
        hasMore = try fields.flag("hasMore") ?? false
        signedTransactions = try fields.signed("signedTransactions").required("signedTransactions")
    }
}

extension RefundHistoryPage {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        revision = try fields.string("revision")
        hasMore = try fields.flag("hasMore") ?? false
        signedTransactions = try fields.signed("signedTransactions").required("signedTransactions")
    }
}

extension NotificationHistoryPage {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        paginationToken = try fields.string("paginationToken")
        hasMore = try fields.flag("hasMore") ?? false
        let items = try fields.list("notificationHistory").required("notificationHistory")
        notificationHistory = try items.read(SentNotification.init)
    }
}

extension SentNotification {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        signedPayload = try fields.jws("signedPayload")
        // They are not signed, and state nothing about a purchase. One of an unknown form must not
        // make the whole page unreadable.
        let attempts = try fields.value("sendAttempts") { node in
            node.elements.compactMap { attempt in
                try? Attempt(WireFields(attempt, path: "sendAttempts").lenient)
            }
        }
        sendAttempts = attempts ?? []
    }
}

extension SentNotification.Attempt {
    fileprivate init(_ fields: WireFields) throws(AppStoreRefusal) {
        attemptDate = try fields.date("attemptDate")
        sendAttemptResult = try fields.word("sendAttemptResult")
    }
}

extension TestNotificationRequested {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        testNotificationToken = try fields.string("testNotificationToken").required(
            "testNotificationToken"
        )
    }
}

extension Optional {
    /// Returns the member's value, or throws if the required member is absent.
    func required(_ name: String) throws(AppStoreRefusal) -> Wrapped {
        guard let self else { throw .missingMember(name) }
        return self
    }
}

extension [WireFields] {
    fileprivate func read<Item>(
        _ item: (WireFields) throws(AppStoreRefusal) -> Item
    ) throws(AppStoreRefusal) -> [Item] {
        var items: [Item] = []
        for fields in self { items.append(try item(fields)) }
        return items
    }
}
