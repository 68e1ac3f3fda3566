import TideoverHTTP
import TideoverJSON

// Every request throws `AppStoreAPIFailure`, or `CancellationError` if the task was cancelled.

// MARK: - Purchases

extension AppStoreAPI {
    /// Requests all subscriptions of a customer, owned and shared, by any of the customer's
    /// transactions. A non-empty `statuses` restricts the result to these statuses.
    package func subscriptionStatuses(
        of transactionId: String,
        only statuses: [SubscriptionStatus] = []
    ) async throws -> AppStoreAnswer<SubscriptionStatusesAnswer> {
        let question = AppStoreQuestion(
            path: try path("/inApps/v1/subscriptions", transactionId),
            query: statuses.map { QueryItem(name: "status", value: "\($0.rawValue)") }
        )
        return try await ask(question, SubscriptionStatusesAnswer.init)
    }

    /// Requests one page of a customer's transactions, at most 20. Pass the revision of a page,
    /// with the same filter, to get the next page.
    package func transactionHistory(
        of transactionId: String,
        _ filter: TransactionHistoryFilter = TransactionHistoryFilter(),
        revision: String? = nil
    ) async throws -> AppStoreAnswer<TransactionHistoryPage> {
        let path = try path("/inApps/v2/history", transactionId)
        try require(filter.fault)
        let items = revision.map { [QueryItem(name: "revision", value: $0)] } ?? []
        let question = AppStoreQuestion(path: path, query: items + filter.query)
        return try await ask(question, TransactionHistoryPage.init)
    }

    /// Requests one page of a customer's refunded transactions, at most 20, the oldest revocation
    /// first. Store the last revision: a later request with it returns only newer refunds.
    package func refundHistory(
        of transactionId: String,
        revision: String? = nil
    ) async throws -> AppStoreAnswer<RefundHistoryPage> {
        let question = AppStoreQuestion(
            path: try path("/inApps/v2/refund/lookup", transactionId),
            query: revision.map { [QueryItem(name: "revision", value: $0)] } ?? []
        )
        return try await ask(question, RefundHistoryPage.init)
    }
}

// MARK: - One purchase

extension AppStoreAPI {
    /// Requests the current state of one transaction.
    package func transactionInfo(
        of transactionId: String
    ) async throws -> AppStoreAnswer<SignedAnswer> {
        let question = AppStoreQuestion(path: try path("/inApps/v1/transactions", transactionId))
        return try await ask(question) { fields throws(AppStoreRefusal) in
            try SignedAnswer(fields, .transaction)
        }
    }

    /// Requests the app transaction of a customer, by any of the customer's transactions.
    package func appTransactionInfo(
        of transactionId: String
    ) async throws -> AppStoreAnswer<SignedAnswer> {
        let root = "/inApps/v1/transactions/appTransactions"
        let question = AppStoreQuestion(path: try path(root, transactionId))
        return try await ask(question) { fields throws(AppStoreRefusal) in
            try SignedAnswer(fields, .appTransaction)
        }
    }

    /// Requests the transactions of an order by the order ID on a receipt. Production only.
    package func lookUp(orderId: String) async throws -> AppStoreAnswer<OrderLookup> {
        let question = AppStoreQuestion(path: try path("/inApps/v1/lookup", orderId))
        return try await ask(question, OrderLookup.init)
    }

    /// Sets or replaces the app account token of an existing purchase. The token is a UUID.
    package func setAppAccountToken(
        of originalTransactionId: String,
        to token: String
    ) async throws -> AppStoreAnswer<Void> {
        let root = "/inApps/v1/transactions"
        return try await tell(
            AppStoreQuestion(
                method: "PUT",
                path: try path(root, originalTransactionId, "/appAccountToken"),
                body: ["appAccountToken": .string(token)]
            )
        )
    }

    /// Finishes a transaction, as the app does after delivery of the purchase.
    package func finish(_ transactionId: String) async throws -> AppStoreAnswer<Void> {
        let path = try path("/inApps/v1/transactions", transactionId, "/finish")
        return try await tell(AppStoreQuestion(method: "POST", path: path))
    }

    /// Extends the renewal date of one subscription, free of charge.
    package func extendRenewalDate(
        of originalTransactionId: String,
        _ order: RenewalExtension
    ) async throws -> AppStoreAnswer<RenewalExtended> {
        let path = try path("/inApps/v1/subscriptions/extend", originalTransactionId)
        try require(order.fault)
        let question = AppStoreQuestion(method: "PUT", path: path, body: order.body)
        return try await ask(question, RenewalExtended.init)
    }

    /// Extends the renewal dates of all subscribers of a product. The store accepts the request
    /// immediately, processes it later and sends a notification when it is done. Query
    /// `massExtensionStatus` for the progress.
    package func extendRenewalDates(
        ofAllSubscribersTo productId: String,
        _ order: RenewalExtension,
        in storefrontCountryCodes: [String] = []
    ) async throws -> AppStoreAnswer<MassExtensionOrdered> {
        try require(isIdentifier(productId) ? nil : .identifier(productId))
        try require(order.fault)
        var body = order.body
        body["productId"] = .string(productId)
        if !storefrontCountryCodes.isEmpty {
            body["storefrontCountryCodes"] = .array(storefrontCountryCodes.map { .string($0) })
        }
        let question = AppStoreQuestion(
            method: "POST",
            path: "/inApps/v1/subscriptions/extend/mass",
            body: body
        )
        return try await ask(question, MassExtensionOrdered.init)
    }

    /// Requests the progress of an extension for all subscribers of a product.
    package func massExtensionStatus(
        of productId: String,
        requestIdentifier: String
    ) async throws -> AppStoreAnswer<MassExtensionStatus> {
        try require(isIdentifier(requestIdentifier) ? nil : .identifier(requestIdentifier))
        let root = "/inApps/v1/subscriptions/extend/mass"
        let question = AppStoreQuestion(path: try path(root, productId, "/\(requestIdentifier)"))
        return try await ask(question, MassExtensionStatus.init)
    }

    /// Sends consumption information: within 12 hours of the request, and with the customer's
    /// consent.
    package func sendConsumption(
        of transactionId: String,
        _ information: ConsumptionInformation
    ) async throws -> AppStoreAnswer<Void> {
        let path = try path("/inApps/v2/transactions/consumption", transactionId)
        try require(information.fault)
        return try await tell(AppStoreQuestion(method: "PUT", path: path, body: information.body))
    }
}

// MARK: - Notifications

extension AppStoreAPI {
    /// Requests one page of the notifications that the store has sent or tried to send, at most 20.
    /// Pass the token of a page, with the same filter, to get the next page. The age of the start
    /// is not checked then: a long list can outlive the reach of the history.
    package func notificationHistory(
        _ filter: NotificationHistoryFilter,
        paginationToken: String? = nil
    ) async throws -> AppStoreAnswer<NotificationHistoryPage> {
        if paginationToken == nil { try require(filter.fault(at: now, in: environment)) }
        let question = AppStoreQuestion(
            method: "POST",
            path: "/inApps/v1/notifications/history",
            query: paginationToken.map { [QueryItem(name: "paginationToken", value: $0)] } ?? [],
            body: filter.body
        )
        return try await ask(question, NotificationHistoryPage.init)
    }

    /// Requests a test notification to the app's URL. The token identifies it for about six months.
    package func requestTestNotification() async throws -> AppStoreAnswer<TestNotificationRequested>
    {
        let question = AppStoreQuestion(method: "POST", path: "/inApps/v1/notifications/test")
        return try await ask(question, TestNotificationRequested.init)
    }

    /// Requests the delivery result of a test notification.
    package func testNotificationStatus(
        _ token: String
    ) async throws -> AppStoreAnswer<SentNotification> {
        let question = AppStoreQuestion(path: try path("/inApps/v1/notifications/test", token))
        return try await ask(question, SentNotification.init)
    }
}

// MARK: - Paths

extension AppStoreAPI {
    /// Returns a path that ends with an id and an optional suffix.
    func path(
        _ root: String,
        _ id: String,
        _ rest: String = ""
    ) throws(AppStoreAPIFailure) -> String {
        try require(isIdentifier(id) ? nil : .identifier(id))
        return "\(root)/\(id)\(rest)"
    }

    private func isIdentifier(_ text: String) -> Bool {
        guard (1...128).contains(text.utf8.count), text != ".", text != ".." else { return false }
        return PercentEncoding.encode(text) == text && !text.contains("~")
    }
}
