import TideoverCore

/// One verified message for this app, split into its parts.
struct Message {
    let kind: AppStoreReading.Kind
    /// The environment, as the signing authority determines it.
    let environment: Environment
    let claimedEnvironment: String?
    var notification: AppStoreNotification?
    /// The subscription status in an API response.
    var status: OpenEnum<SubscriptionStatus>?
    var transaction: AppStoreTransaction?
    var renewalInfo: AppStoreRenewalInfo?
    var appTransaction: AppStoreAppTransaction?
    var receipt: AppStoreReceipt?
    var receiptAnswer: AppStoreReceiptAnswer?
    /// Whether the receipt came inside a verifyReceipt response, which is not signed.
    var isInAnswer = false

    mutating func openParts(
        of content: AppStoreNotification.Content,
        in envelope: Envelope,
        _ check: SignatureCheck
    ) throws {
        switch content {
        case .data(let data):
            transaction = try data.signedTransactionInfo.map {
                try envelope.transaction($0, check)
            }
            renewalInfo = try data.signedRenewalInfo.map {
                try envelope.renewalInfo($0, beside: transaction, check)
            }
        case .appData(let appData):
            appTransaction = try appData.signedAppTransactionInfo.map {
                try envelope.appTransaction($0, check)
            }
        case .summary, .externalPurchaseToken, .unknown: break
        }
    }

    /// The date of the outermost signature.
    var signedDate: Instant? {
        switch kind {
        case .notification: notification?.signedDate
        case .transaction: transaction?.signedDate
        // The store signs the renewal info for the response; the transaction may be much older.
        case .subscriptionStatus: renewalInfo?.signedDate ?? transaction?.signedDate
        case .renewalInfo: renewalInfo?.signedDate
        case .appTransaction: appTransaction?.receiptCreationDate
        case .receipt: receipt?.creationDate
        case .receiptAnswer: receiptAnswer?.requestDate
        }
    }

    /// The latest signing date of its parts.
    var latestSignedDate: Instant? {
        [
            notification?.signedDate, transaction?.signedDate, renewalInfo?.signedDate,
            appTransaction?.receiptCreationDate, receipt?.creationDate, receiptAnswer?.requestDate,
        ].compactMap(\.self).max()
    }

    /// Returns the key that every delivery of the same message shares, even if the signature bytes
    /// differ.
    func dedupeKey(signedAt: Instant) throws(AppStoreRefusal) -> String {
        let date = signedAt.millisecondsSince1970
        switch kind {
        case .notification:
            guard let uuid = notification?.notificationUUID, !uuid.isEmpty else {
                throw .missingMember("notificationUUID")
            }
            return "notification:\(uuid)"
        case .transaction:
            return "transaction:\(transaction?.transactionId ?? ""):\(date)"
        case .subscriptionStatus:
            return "subscriptionStatus:\(transaction?.transactionId ?? ""):\(date)"
        case .renewalInfo:
            return "renewalInfo:\(renewalInfo?.originalTransactionId ?? ""):\(date)"
        case .appTransaction:
            return "appTransaction:\(appTransaction?.appTransactionId ?? ""):\(date)"
        case .receipt:
            // A receipt has no ID; its digest differs per device and per issue.
            guard let digest = receipt?.digest, !digest.isEmpty else {
                throw .missingMember(ReceiptAttributes.Name.digest.words)
            }
            let text = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return "receipt:\(text):\(date)"
        case .receiptAnswer:
            let id = receiptAnswer?.purchases.first?.originalTransactionId ?? ""
            return "receiptAnswer:\(id):\(date)"
        }
    }
}
