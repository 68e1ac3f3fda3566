import TideoverCore
import TideoverJSON

/// One signed item of an App Store Server API response. Each item is verified separately: an
/// invalid item does not affect the others.
package struct AppStoreAnswerItem: Sendable {
    /// The bytes to store as evidence: the JWS, or the object that contains it. ``AppStoreReader``
    /// can read them again.
    package let evidence: [UInt8]
    /// The verified content, or the ``AppStoreRefusal`` or signature-check error that rejected it.
    package let reading: Result<AppStoreReading, any Error>
    /// The store's delivery attempts, for a notification.
    package let sendAttempts: [SentNotification.Attempt]

    init(
        _ evidence: some Sequence<UInt8>,
        sendAttempts: [SentNotification.Attempt] = [],
        _ read: ([UInt8]) throws -> AppStoreReading
    ) {
        let bytes = Array(evidence)
        self.evidence = bytes
        self.sendAttempts = sendAttempts
        reading = Result { try read(bytes) }
    }
}

extension AppStoreReader {
    /// Reads the subscriptions of a response, each separately.
    package func read(
        _ answer: SubscriptionStatusesAnswer,
        check: SignatureCheck
    ) -> [AppStoreAnswerItem] {
        let frame = AnswerFrame(answer.bundleId, answer.appAppleId, answer.environment)
        return answer.data.flatMap(\.lastTransactions).map { status in
            AppStoreAnswerItem(status.source) { _ in
                try subscriptionStatus(status, in: frame, check)
            }
        }
    }

    /// Reads the transactions of a page, each separately.
    package func read(
        _ page: TransactionHistoryPage,
        check: SignatureCheck
    ) -> [AppStoreAnswerItem] {
        let frame = AnswerFrame(page.bundleId, page.appAppleId, page.environment)
        return page.signedTransactions.map { read(transaction: $0, in: frame, check) }
    }

    /// Reads the transactions of a page, each separately.
    package func read(_ page: RefundHistoryPage, check: SignatureCheck) -> [AppStoreAnswerItem] {
        page.signedTransactions.map { read(transaction: $0, in: nil, check) }
    }

    /// Reads the transactions of an order, each separately.
    package func read(_ order: OrderLookup, check: SignatureCheck) -> [AppStoreAnswerItem] {
        order.signedTransactions.map { read(transaction: $0, in: nil, check) }
    }

    /// Reads a transaction or an app transaction.
    package func read(_ answer: SignedAnswer, check: SignatureCheck) -> AppStoreAnswerItem {
        AppStoreAnswerItem(answer.jws) { _ in
            try open(answer.jws, as: answer.part.kind, check)
        }
    }

    /// Reads the notifications of a page, each separately. Each equals the notification that the
    /// store posts, so one that already arrived has the same ``AppStoreReading/dedupeKey``.
    package func read(
        _ page: NotificationHistoryPage,
        check: SignatureCheck
    ) -> [AppStoreAnswerItem] {
        page.notificationHistory.compactMap { read($0, check: check) }
    }

    /// Reads one notification. Returns nil while the store has not published its content.
    package func read(_ sent: SentNotification, check: SignatureCheck) -> AppStoreAnswerItem? {
        guard let jws = sent.signedPayload else { return nil }
        let text = String(decoding: jws, as: UTF8.self)
        let body = JSONValue.object(["signedPayload": .string(text)]).encoded()
        return AppStoreAnswerItem(body, sendAttempts: sent.sendAttempts) { body in
            try readNotification(body: body, check: check)
        }
    }

    func read(
        transaction jws: ArraySlice<UInt8>,
        in frame: AnswerFrame?,
        _ check: SignatureCheck
    ) -> AppStoreAnswerItem {
        AppStoreAnswerItem(jws) { _ in
            let reading = try open(jws, as: .transaction, check)
            if let frame, let transaction = reading.transaction {
                try frame.require(agreesWith: transaction, of: app, in: reading.environment)
            }
            return reading
        }
    }

    private func open(
        _ jws: ArraySlice<UInt8>,
        as kind: AppStoreReading.Kind,
        _ check: SignatureCheck
    ) throws -> AppStoreReading {
        let reading = try open(jws, check)
        guard reading.kind == kind else { throw AppStoreRefusal.unrecognisedContent }
        return reading
    }
}

// MARK: - Subscription statuses

extension AppStoreReader {
    /// Reads a stored status without its response; there is no surrounding response to compare it
    /// with.
    func subscriptionStatus(
        _ node: JSONNode,
        _ check: SignatureCheck
    ) throws -> AppStoreReading {
        let status = try SubscriptionStatusesAnswer.Status(WireFields(node, path: "status"))
        return try subscriptionStatus(status, in: nil, check)
    }

    func subscriptionStatus(
        _ status: SubscriptionStatusesAnswer.Status,
        in frame: AnswerFrame?,
        _ check: SignatureCheck
    ) throws -> AppStoreReading {
        guard let jws = status.signedTransactionInfo else {
            throw AppStoreRefusal.missingMember("signedTransactionInfo")
        }
        let verified = try check(jws)
        let fields = try WireFields(verified.payload.root, path: SignedPart.transaction.rawValue)
        let transaction = try AppStoreTransaction(fields)
        try app.require(bundleId: transaction.bundleId)
        let claim = transaction.environment
        let vouched = verified.authority.environment(claiming: claim?.known)
        try frame?.require(agreesWith: transaction, of: app, in: vouched)
        if let id = status.originalTransactionId {
            try Envelope.agree(
                .transaction,
                "originalTransactionId",
                id,
                transaction.originalTransactionId
            )
        }
        // The signed transaction is the envelope of the renewal info, which names no app.
        let envelope = Envelope(of: transaction, authority: verified.authority)
        return try AppStoreReading(
            Message(
                kind: .subscriptionStatus,
                environment: try app.require(vouched, claimed: claim),
                claimedEnvironment: claim?.raw,
                status: status.status,
                transaction: transaction,
                renewalInfo: try status.signedRenewalInfo.map {
                    try envelope.renewalInfo($0, beside: transaction, check)
                }
            )
        )
    }
}

extension SignedPart {
    fileprivate var kind: AppStoreReading.Kind {
        switch self {
        case .transaction: .transaction
        case .renewalInfo: .renewalInfo
        case .appTransaction: .appTransaction
        }
    }
}

/// The fields of a response that apply to all its items. They are not signed, so they can only
/// contradict the signed items.
struct AnswerFrame {
    let bundleId: String?
    let appAppleId: Int64?
    let environment: OpenEnum<StoreEnvironment>?

    init(_ bundleId: String?, _ appAppleId: Int64?, _ environment: OpenEnum<StoreEnvironment>?) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environment = environment
    }

    /// Rejects an item of a response about another app, or an item from another environment than
    /// the response.
    func require(
        agreesWith transaction: AppStoreTransaction,
        of app: AppStoreIdentity,
        in vouched: Environment?
    ) throws(AppStoreRefusal) {
        if let bundleId { try app.require(bundleId: bundleId) }
        if let appAppleId { try app.require(appAppleId: appAppleId, in: vouched) }
        if let environment {
            let inner = transaction.environment?.raw
            try Envelope.agree(.transaction, "environment", environment.raw, inner)
        }
    }
}
