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
    /// When access ends, grace included, in milliseconds since 1970; nil if it never ends.
    public let end: Int64?
    /// Whether it was revoked.
    public let isRevoked: Bool
    /// `Transaction.jwsRepresentation` of the newest transaction.
    public let signedTransaction: JSONValue
    /// `RenewalInfo.jwsRepresentation`; nil for a product that does not renew.
    public let signedRenewalInfo: JSONValue?
}

extension AppStoreService {
    mutating func device(
        of customer: String
    ) throws(SignatureRefusal) -> [AppStoreDevicePurchase] {
        guard let account = machine.account(of: customer) else { return [] }
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
        // A consumable is no current entitlement.
        for purchase in account.purchases where purchase.product.kind != .consumable {
            let transaction = AppStoreWire.transaction(
                machine.app,
                account,
                purchase,
                signedDate: machine.signForReading()
            )
            purchases.append(
                AppStoreDevicePurchase(
                    productId: purchase.product.id,
                    originalTransactionId: purchase.ids.transactionId,
                    transactionId: purchase.ids.transactionId,
                    end: purchase.product.length?.end(of: 1, from: purchase.at),
                    isRevoked: purchase.isRevoked,
                    signedTransaction: try authority.signed(transaction),
                    signedRenewalInfo: nil
                )
            )
        }
        return purchases
    }
}
