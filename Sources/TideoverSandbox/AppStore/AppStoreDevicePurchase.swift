public import TideoverJSON
import TideoverSignatures

/// A subscription as StoreKit shows it on a device that is signed in to the customer's account.
public struct AppStoreDevicePurchase: Hashable, Sendable {
    /// The product of the newest transaction.
    public let productId: String
    /// The store's id of the subscription.
    public let originalTransactionId: String
    /// The id of the newest transaction.
    public let transactionId: String
    /// Until when it gives access, grace included, in milliseconds since 1970.
    public let end: Int64
    /// Whether it was taken back.
    public let isRevoked: Bool
    /// `Transaction.jwsRepresentation` of the newest transaction.
    public let signedTransaction: JSONValue
    /// `RenewalInfo.jwsRepresentation`.
    public let signedRenewalInfo: JSONValue
}

extension AppStoreService {
    mutating func device(
        of customer: String
    ) throws(SignatureRefusal) -> [AppStoreDevicePurchase] {
        guard let account = machine.accounts.first(where: { $0.customer.name == customer }) else {
            return []
        }
        var purchases: [AppStoreDevicePurchase] = []
        for subscription in account.subscriptions {
            let subject = subject(account, subscription)
            let term = subscription.current
            let transaction = subject.transaction(signedDate: machine.signForReading())
            let renewal = subject.renewalInfo(signedDate: machine.signForReading())
            let graceEnd = subject.status == 4 ? renewal["gracePeriodExpiresDate"]?.int64 : nil
            purchases.append(
                AppStoreDevicePurchase(
                    productId: term.product.id,
                    originalTransactionId: subscription.original.ids.transactionId,
                    transactionId: term.ids.transactionId,
                    end: graceEnd ?? term.end,
                    isRevoked: subscription.isRevoked,
                    signedTransaction: try authority.signed(transaction),
                    signedRenewalInfo: try authority.signed(renewal)
                )
            )
        }
        return purchases
    }
}
