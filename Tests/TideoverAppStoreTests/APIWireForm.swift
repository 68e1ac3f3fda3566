import TideoverAppStore
import TideoverCore
import TideoverJSON

/// Encodes responses as the App Store writes them, to check that no content is lost.
extension SubscriptionStatusesAnswer {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["environment"] = wire(environment)
        json["bundleId"] = wire(bundleId)
        json["appAppleId"] = wire(appAppleId)
        json["data"] = .array(data.map { .object($0.wireForm) })
        return json
    }
}

extension SubscriptionStatusesAnswer.Group {
    fileprivate var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["subscriptionGroupIdentifier"] = wire(subscriptionGroupIdentifier)
        json["lastTransactions"] = .array(
            lastTransactions.map { item in
                var json: JSONObject = [:]
                json["status"] = wire(item.status)
                json["originalTransactionId"] = wire(item.originalTransactionId)
                json["signedTransactionInfo"] = wire(item.signedTransactionInfo)
                json["signedRenewalInfo"] = wire(item.signedRenewalInfo)
                return .object(json)
            }
        )
        return json
    }
}

extension TransactionHistoryPage {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["environment"] = wire(environment)
        json["bundleId"] = wire(bundleId)
        json["appAppleId"] = wire(appAppleId)
        json["revision"] = wire(revision)
        json["hasMore"] = .bool(hasMore)
        json["signedTransactions"] = .array(signedTransactions.map { wire($0) ?? .null })
        return json
    }
}

extension RefundHistoryPage {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["revision"] = wire(revision)
        json["hasMore"] = .bool(hasMore)
        json["signedTransactions"] = .array(signedTransactions.map { wire($0) ?? .null })
        return json
    }
}

extension NotificationHistoryPage {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["paginationToken"] = wire(paginationToken)
        json["hasMore"] = .bool(hasMore)
        json["notificationHistory"] = .array(notificationHistory.map { .object($0.wireForm) })
        return json
    }
}

extension SentNotification {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["signedPayload"] = wire(signedPayload)
        json["sendAttempts"] = .array(
            sendAttempts.map { attempt in
                var json: JSONObject = [:]
                json["attemptDate"] = wire(attempt.attemptDate)
                json["sendAttemptResult"] = wire(attempt.sendAttemptResult)
                return .object(json)
            }
        )
        return json
    }
}

extension TestNotificationRequested {
    var wireForm: JSONObject { ["testNotificationToken": .string(testNotificationToken)] }
}

extension SignedAnswer {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json[part.rawValue] = wire(jws)
        return json
    }
}

extension OrderLookup {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["status"] = wire(status)
        json["signedTransactions"] = .array(signedTransactions.map { wire($0) ?? .null })
        return json
    }
}

extension RenewalExtended {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["originalTransactionId"] = wire(originalTransactionId)
        json["webOrderLineItemId"] = wire(webOrderLineItemId)
        json["success"] = wire(success)
        json["effectiveDate"] = wire(effectiveDate)
        return json
    }
}

extension MassExtensionOrdered {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["requestIdentifier"] = wire(requestIdentifier)
        return json
    }
}

extension MassExtensionStatus {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["requestIdentifier"] = wire(requestIdentifier)
        json["complete"] = wire(complete)
        json["completeDate"] = wire(completeDate)
        json["succeededCount"] = wire(succeededCount)
        json["failedCount"] = wire(failedCount)
        return json
    }
}
