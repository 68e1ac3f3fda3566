// Purchases that do not come about at once, and those made elsewhere than in the app.

/// Something that a customer wanted and that the store has not sold yet. Nothing is notified of it.
struct AppStorePendingPurchase: Hashable, Codable, Sendable {
    let product: String
    let obstacle: Obstacle

    enum Obstacle: Hashable, Codable, Sendable {
        /// An adult of the family is to approve it.
        /// https://developer.apple.com/documentation/storekit/testing-ask-to-buy-in-xcode
        case approval
        /// The customer must do something in the store first, such as agreeing to new terms; the app is
        /// told that the purchase failed.
        /// https://developer.apple.com/documentation/storekit/testing-an-interrupted-purchase
        case interruption
    }
}

extension AppStoreMachine {
    /// Puts a purchase off.
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

    /// Sells what was put off, on the terms of now.
    mutating func complete(
        _ product: String?,
        after obstacle: AppStorePendingPurchase.Obstacle,
        _ account: Int
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let purchase = try take(product, waitingFor: obstacle, account)
        return try sell(purchase.product, to: account)
    }

    /// Forgets what was put off.
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

    /// Sells whatever the product is.
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

    /// Throws unless the account can pay for something now.
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
