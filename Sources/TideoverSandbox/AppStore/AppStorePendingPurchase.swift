// Purchases that are delayed, and those made outside of the app.

/// A requested purchase that the store has not sold yet. The store sends no notification about it.
struct AppStorePendingPurchase: Hashable, Codable, Sendable {
    let product: String
    let obstacle: Obstacle

    enum Obstacle: Hashable, Codable, Sendable {
        /// An adult of the family must approve it.
        /// https://developer.apple.com/documentation/storekit/testing-ask-to-buy-in-xcode
        case approval
        /// The customer must act in the store first, such as agreeing to new terms. For the app,
        /// the purchase has failed.
        /// https://developer.apple.com/documentation/storekit/testing-an-interrupted-purchase
        case interruption
    }
}

extension AppStoreMachine {
    /// Delays a purchase.
    mutating func postpone(
        _ product: String,
        until obstacle: AppStorePendingPurchase.Obstacle,
        _ account: Int
    ) throws(AppStoreRefusal) {
        guard app.product(product) != nil || app.oneTimeProduct(product) != nil else {
            throw refusal(.unknownProduct, account, product)
        }
        guard !accounts[account].pending.contains(where: { $0.product == product }) else {
            throw refusal(.alreadyPending, account, product)
        }
        accounts[account].pending.append(
            AppStorePendingPurchase(product: product, obstacle: obstacle)
        )
    }

    /// Sells a delayed product, on the current terms. If the store refuses, it stays delayed.
    mutating func complete(
        _ product: String?,
        after obstacle: AppStorePendingPurchase.Obstacle,
        _ account: Int
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let purchase = try take(product, waitingFor: obstacle, account)
        do {
            return try sell(purchase.product, to: account)
        } catch {
            accounts[account].pending.append(purchase)
            throw error
        }
    }

    /// Removes a delayed purchase.
    @discardableResult
    mutating func take(
        _ product: String?,
        waitingFor obstacle: AppStorePendingPurchase.Obstacle,
        _ account: Int
    ) throws(AppStoreRefusal) -> AppStorePendingPurchase {
        let index = accounts[account].pending.firstIndex {
            $0.obstacle == obstacle && (product == nil || $0.product == product)
        }
        guard let index else { throw refusal(.notPending, account, product) }
        return accounts[account].pending.remove(at: index)
    }

    /// Sells a product of any kind.
    mutating func sell(
        _ product: String,
        to account: Int,
        isOutside: Bool = false
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        if let product = app.oneTimeProduct(product) {
            return try sell(product, to: account, isOutside: isOutside)
        }
        return try subscribe(account, to: product, .ifEligible, isOutside: isOutside)
    }

    /// Throws unless the account can pay now.
    func checkPayment(_ account: Int, _ product: String) throws(AppStoreRefusal) {
        guard accounts[account].allowsPurchases else {
            throw refusal(.purchasesNotAllowed, account, product)
        }
        guard !accounts[account].paymentsFail else {
            throw refusal(.paymentDeclined, account, product)
        }
        guard !withdrawn.contains(product) else { throw refusal(.notForSale, account, product) }
    }
}
