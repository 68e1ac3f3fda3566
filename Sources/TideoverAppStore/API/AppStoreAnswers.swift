public import TideoverCore

/// The statuses of all subscriptions of a customer. The signed parts are not verified yet. The rest
/// is not signed: only the connection authenticates it.
/// https://developer.apple.com/documentation/appstoreserverapi/statusresponse
public struct SubscriptionStatusesAnswer: Hashable, Sendable {
    public let environment: OpenEnum<StoreEnvironment>?
    public let bundleId: String?
    public let appAppleId: Int64?
    public let data: [Group]

    /// The subscriptions of one subscription group.
    public struct Group: Hashable, Sendable {
        public let subscriptionGroupIdentifier: String?
        public let lastTransactions: [Status]
    }

    /// The status of one subscription.
    public struct Status: Hashable, Sendable {
        public let status: OpenEnum<SubscriptionStatus>?
        public let originalTransactionId: String?
        /// The latest transaction as a JWS.
        public let signedTransactionInfo: ArraySlice<UInt8>?
        /// The renewal info as a JWS.
        public let signedRenewalInfo: ArraySlice<UInt8>?
        /// The item as the store wrote it, to be stored as evidence.
        let source: ArraySlice<UInt8>
    }
}

/// Up to 20 transactions of a customer, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/historyresponse
public struct TransactionHistoryPage: Hashable, Sendable {
    public let environment: OpenEnum<StoreEnvironment>?
    public let bundleId: String?
    public let appAppleId: Int64?
    /// The cursor of the next page.
    public let revision: String?
    public let hasMore: Bool
    /// Each a JWS.
    public let signedTransactions: [ArraySlice<UInt8>]
}

/// Up to 20 refunded transactions of a customer, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse
public struct RefundHistoryPage: Hashable, Sendable {
    /// The cursor of the next page; the last page also has one.
    public let revision: String?
    public let hasMore: Bool
    /// Each a JWS.
    public let signedTransactions: [ArraySlice<UInt8>]
}

/// Up to 20 notifications that the store has sent or tried to send, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse
public struct NotificationHistoryPage: Hashable, Sendable {
    /// The cursor of the next page.
    public let paginationToken: String?
    public let hasMore: Bool
    public let notificationHistory: [SentNotification]
}

/// A notification and its delivery attempts.
/// https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponseitem
public struct SentNotification: Hashable, Sendable {
    /// The notification as a JWS; absent from a test without a known result.
    public let signedPayload: ArraySlice<UInt8>?
    /// At most six, in the order of the store.
    public let sendAttempts: [Attempt]

    /// One delivery attempt.
    public struct Attempt: Hashable, Sendable {
        public let attemptDate: Instant?
        public let sendAttemptResult: OpenEnum<Result>?
    }

    /// The result of a delivery attempt.
    /// https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult
    public enum Result: String, Hashable, Sendable, CaseIterable {
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
public struct TestNotificationRequested: Hashable, Sendable {
    public let testNotificationToken: String
}

/// One signed object, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse
/// https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse
public struct SignedAnswer: Hashable, Sendable {
    /// The kind of object that the response contains.
    public let part: SignedPart
    /// The JWS.
    public let jws: ArraySlice<UInt8>
}

/// The transactions of one order, not verified yet.
/// https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse
public struct OrderLookup: Hashable, Sendable {
    public let status: OpenEnum<Status>?
    /// Each a JWS.
    public let signedTransactions: [ArraySlice<UInt8>]

    /// Whether the app has an order with this ID.
    public enum Status: Int64, Hashable, Sendable, CaseIterable {
        case valid = 0
        case invalid = 1
    }
}

/// The result of a renewal date extension.
/// https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldateresponse
public struct RenewalExtended: Hashable, Sendable {
    public let originalTransactionId: String?
    public let webOrderLineItemId: String?
    public let success: Bool?
    /// The new renewal date of the subscription.
    public let effectiveDate: Instant?
}

/// The identifier to query an extension for all subscribers with.
/// https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldateresponse
public struct MassExtensionOrdered: Hashable, Sendable {
    public let requestIdentifier: String?
}

/// The progress of an extension for all subscribers of a product.
/// https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldatestatusresponse
public struct MassExtensionStatus: Hashable, Sendable {
    public let requestIdentifier: String?
    /// Whether the extension is done; only then are the other fields present.
    public let complete: Bool?
    public let completeDate: Instant?
    /// The number of extended subscriptions.
    public let succeededCount: Int64?
    /// The number of subscriptions that could not be extended.
    public let failedCount: Int64?
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
        sendAttempts = try (fields.list("sendAttempts") ?? []).read(Attempt.init)
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
