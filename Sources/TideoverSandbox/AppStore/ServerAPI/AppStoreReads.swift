import TideoverHTTP
import TideoverJSON

// The Server API's reads of one customer: statuses, single transactions, the app transaction,
// orders.

extension AppStoreService {
    /// https://developer.apple.com/documentation/appstoreserverapi/get-all-subscription-statuses
    mutating func statuses(
        _ call: AppStoreCall,
        asOf instant: Int64
    ) throws(Failure) -> JSONObject {
        let wanted = try wantedStatuses(call)
        let account = try account(call.id, asOf: instant)
        var groups: [(number: String, transactions: [JSONValue])] = []
        for subscription in account.subscriptions {
            let subject = subject(account, subscription)
            guard wanted.isEmpty || wanted.contains(subject.status) else { continue }
            let item = JSONValue.object(try lastTransaction(subject))
            let group = subscription.current.product.groupNumber
            if let index = groups.firstIndex(where: { $0.number == group }) {
                groups[index].transactions.append(item)
            } else {
                groups.append((group, [item]))
            }
        }
        var answer = identity()
        answer["data"] = .array(
            groups.map { group in
                [
                    "subscriptionGroupIdentifier": .string(group.number),
                    "lastTransactions": .array(group.transactions),
                ]
            }
        )
        return answer
    }

    private func wantedStatuses(_ call: AppStoreCall) throws(Failure) -> [Int64] {
        var wanted: [Int64] = []
        for item in call.request.query where item.name == "status" {
            guard let status = Int64(item.value), (1...5).contains(status) else {
                throw .api(.status)
            }
            wanted.append(status)
        }
        return wanted
    }

    private mutating func lastTransaction(
        _ subject: AppStoreWire.Subject
    ) throws(Failure) -> JSONObject {
        let original = subject.subscription.original.ids.transactionId
        let transaction = subject.transaction(signedDate: machine.signForReading())
        let renewal = subject.renewalInfo(signedDate: machine.signForReading())
        return [
            "status": .integer(subject.status),
            "originalTransactionId": .string(original),
            "signedTransactionInfo": try signed(transaction),
            "signedRenewalInfo": try signed(renewal),
        ]
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info
    mutating func transactionInfo(
        _ call: AppStoreCall,
        asOf instant: Int64
    ) throws(Failure) -> JSONObject {
        let finding = try finding(call.id, asOf: instant)
        return ["signedTransactionInfo": try signed(finding)]
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/get-app-transaction-info
    mutating func appTransaction(_ call: AppStoreCall) throws(Failure) -> JSONObject {
        let account = try account(call.id, asOf: now)
        let content = AppStoreWire.appTransaction(
            machine.app,
            account,
            signedDate: machine.signForReading()
        )
        return ["signedAppTransactionInfo": try signed(content)]
    }

    /// Orders can be looked up only in production.
    /// https://developer.apple.com/documentation/appstoreserverapi/look-up-order-id
    mutating func orderLookup(
        _ call: AppStoreCall,
        asOf instant: Int64
    ) throws(Failure) -> Response {
        guard machine.app.environment == .production else { return Response(status: 404) }
        let ids = machine.orders[call.id] ?? []
        var transactions: [JSONValue] = []
        for id in ids {
            guard let finding = machine.finding(id, asOf: instant) else { continue }
            transactions.append(try signed(finding))
        }
        let answer: JSONObject = [
            "status": transactions.isEmpty ? 1 : 0, "signedTransactions": .array(transactions),
        ]
        return json(answer)
    }
}

// MARK: - Look-up and signing

extension AppStoreService {
    /// Returns the app and the environment of a response. Apple documents the app's number for
    /// production only.
    func identity() -> JSONObject {
        var answer: JSONObject = [
            "environment": .string(machine.app.environment.rawValue),
            "bundleId": .string(machine.app.bundleId),
        ]
        if machine.app.environment == .production {
            answer["appAppleId"] = .integer(machine.app.appAppleId)
        }
        return answer
    }

    /// Returns the customer of any transaction's id, or of an `appTransactionId`.
    func account(
        _ id: String,
        asOf instant: Int64
    ) throws(Failure) -> AppStoreMachine.Account {
        try checkTransactionId(id, .transactionId)
        guard let account = machine.account(of: id, asOf: instant) else {
            throw .api(.transactionNotFound)
        }
        return account
    }

    /// Returns one transaction by its own id.
    func finding(
        _ id: String,
        asOf instant: Int64
    ) throws(Failure) -> AppStoreMachine.Finding {
        let account = try account(id, asOf: instant)
        guard account.appTransactionId != id else { throw .api(.appTransactionIdUnsupported) }
        guard let finding = account.finding(id) else { throw .api(.transactionNotFound) }
        return finding
    }

    func subject(
        _ account: AppStoreMachine.Account,
        _ subscription: AppStoreSubscription
    ) -> AppStoreWire.Subject {
        AppStoreWire.Subject(app: machine.app, account: account, subscription: subscription)
    }

    /// Signs a transaction now.
    mutating func signed(_ finding: AppStoreMachine.Finding) throws(Failure) -> JSONValue {
        let date = machine.signForReading()
        switch finding.content {
        case .term(let term, let subscription):
            let subject = subject(finding.account, subscription)
            return try signed(subject.transaction(term, signedDate: date))
        case .purchase(let purchase):
            return try signed(
                AppStoreWire.transaction(machine.app, finding.account, purchase, signedDate: date)
            )
        }
    }
}
