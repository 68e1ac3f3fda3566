// Purchases that do not renew: their sale and all later changes.
// https://developer.apple.com/documentation/appstoreservernotifications/notificationtype

extension AppStoreMachine {
    /// The location of a one-time purchase: the account's index and the index in the account.
    struct Shelf: Hashable, Sendable {
        let account: Int
        let purchase: Int
    }

    subscript(shelf: Shelf) -> AppStoreOneTimePurchase {
        get { accounts[shelf.account].purchases[shelf.purchase] }
        set { accounts[shelf.account].purchases[shelf.purchase] = newValue }
    }

    /// Sells a product, with the customer's token unless the purchase is made outside of the app.
    mutating func sell(
        _ product: AppStoreOneTimeProduct,
        to account: Int,
        isOutside: Bool = false
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let owns = accounts[account].purchases.contains {
            $0.product.id == product.id && !$0.isRevoked && $0.sharedFrom == nil
        }
        guard product.kind != .nonConsumable || !owns else {
            throw refusal(.alreadyOwned, account, product.id)
        }
        try checkPayment(account, product.id)
        let token = isOutside ? nil : accounts[account].customer.appAccountToken
        let ids = drawTerm(for: account)
        accounts[account].purchases.append(
            AppStoreOneTimePurchase(product, ids, at: now, appAccountToken: token)
        )
        return notify(.charged(product: product.id), of: newestShelf(of: account))
    }

    private func newestShelf(of account: Int) -> Shelf {
        Shelf(account: account, purchase: accounts[account].purchases.count - 1)
    }

    /// Returns the purchase of a product that the customer made with the latest `time`; the newest
    /// one if none has a time.
    private func shelf(
        _ account: Int,
        _ product: String,
        latest time: (AppStoreOneTimePurchase) -> Int64? = { $0.at }
    ) throws(AppStoreRefusal) -> Shelf {
        let purchases = accounts[account].purchases
        let made = purchases.indices.filter {
            purchases[$0].sharedFrom == nil && purchases[$0].product.id == product
        }
        let dated = made.compactMap { index in time(purchases[index]).map { ($0, index) } }
        guard let index = dated.max(by: <)?.1 ?? made.last else {
            throw refusal(.notBought, account, product)
        }
        return Shelf(account: account, purchase: index)
    }

    /// Returns the product that an action without one concerns if the customer has no subscription:
    /// the one bought last.
    func boughtLast(_ account: Int, by action: AppStoreAction) -> String? {
        let account = accounts[account]
        guard action.product == nil, account.subscriptions.allSatisfy({ $0.sharedFrom != nil })
        else { return nil }
        return account.purchases.last { $0.sharedFrom == nil }?.product.id
    }

    /// Performs an action on a one-time purchase; returns nil for an action of subscriptions only.
    mutating func carryOut(
        _ action: AppStoreAction,
        onPurchaseOf product: String,
        _ account: Int
    ) throws(AppStoreRefusal) -> [AppStoreNotification]? {
        switch action {
        case .requestRefund(_, let reason, _):
            let shelf = try shelf(account, product)
            guard !self[shelf].isRevoked else { throw refusal(.alreadyRefunded, account, product) }
            return [notify(self[shelf].requestRefund(reason), of: shelf)]
        case .declineRefund:
            let shelf = try shelf(account, product) { $0.refundIsRequested ? $0.at : nil }
            guard self[shelf].refundIsRequested else {
                throw refusal(.refundNotRequested, account, product)
            }
            return [notify(self[shelf].declineRefund(), of: shelf)]
        case .refund(_, let reason, let percent):
            let shelf = try shelf(account, product) { $0.refundIsRequested ? $0.at : nil }
            guard !self[shelf].isRevoked else { throw refusal(.alreadyRefunded, account, product) }
            let event = self[shelf].refund(reason, percent: percent, at: now)
            return [notify(event, of: shelf)] + revokeShares(of: shelf)
        case .reverseRefund:
            let shelf = try shelf(account, product) { $0.revocation?.at }
            guard self[shelf].isRevoked else { throw refusal(.notRefunded, account, product) }
            let reversed = notify(self[shelf].reverseRefund(at: now), of: shelf)
            return [reversed] + restoreShares(of: shelf)
        case .share(_, let member): return [try share(shelf(account, product), with: member)]
        case .stopSharing(_, let member):
            return [try stopSharing(shelf(account, product), with: member)]
        default: return nil
        }
    }

    /// Creates the store's notification about a one-time purchase after the event. It has no
    /// renewal and no status.
    private mutating func notify(_ event: AppStoreEvent, of shelf: Shelf) -> AppStoreNotification {
        let account = accounts[shelf.account]
        let transaction = AppStoreWire.transaction(
            app,
            account,
            self[shelf],
            signedDate: sign(after: identifiers.signingTime())
        )
        let signed = sign(after: identifiers.signingTime())
        return AppStoreNotification(
            at: now,
            signedDate: signed,
            uuid: identifiers.uuid(),
            event: event,
            customer: account.customer.name,
            data: AppStoreWire.data(app, event),
            transaction: transaction
        )
    }
}

// MARK: - Sharing

extension AppStoreMachine {
    /// Returns the shares of a purchase that family members can still use.
    private func shares(of shelf: Shelf) -> [Shelf] {
        shares(of: shelf) { !$0.isRevoked }
    }

    private func shares(
        of shelf: Shelf,
        where isMeant: (AppStoreOneTimePurchase) -> Bool
    ) -> [Shelf] {
        let original = self[shelf].ids.transactionId
        return accounts.indices.flatMap { account in
            accounts[account].purchases.indices.compactMap { index in
                let share = accounts[account].purchases[index]
                guard share.sharedFrom == original, isMeant(share) else { return nil }
                return Shelf(account: account, purchase: index)
            }
        }
    }

    private mutating func share(
        _ shelf: Shelf,
        with member: String
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let (purchase, account) = (self[shelf], try index(of: member))
        guard purchase.product.isFamilyShareable, purchase.product.kind == .nonConsumable,
            account != shelf.account
        else { throw refusal(.notShareable, shelf.account, purchase.product.id) }
        guard !purchase.isRevoked else { throw refusal(.ended, shelf.account, purchase.product.id) }
        guard !shares(of: shelf).contains(where: { $0.account == account }) else {
            throw refusal(.alreadyShared, shelf.account, purchase.product.id)
        }
        remember(account)
        let ids = drawTerm(for: account)
        accounts[account].purchases.append(
            AppStoreOneTimePurchase(
                purchase.product,
                ids,
                at: now,
                appAccountToken: nil,
                sharedFrom: purchase.ids.transactionId
            )
        )
        return notify(.charged(product: purchase.product.id), of: newestShelf(of: account))
    }

    private mutating func stopSharing(
        _ shelf: Shelf,
        with member: String
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let account = try index(of: member)
        guard let share = shares(of: shelf).first(where: { $0.account == account }) else {
            throw refusal(.notShared, shelf.account, self[shelf].product.id)
        }
        remember(account)
        return notify(self[share].unshare(at: now), of: share)
    }

    /// Gives back the shares that the refund ended, as the reversal does for a subscription.
    private mutating func restoreShares(of shelf: Shelf) -> [AppStoreNotification] {
        var notifications: [AppStoreNotification] = []
        for share in shares(of: shelf, where: { $0.isRevoked && $0.unsharedAt == nil }) {
            remember(share.account)
            notifications.append(notify(self[share].reverseRefund(at: now), of: share))
        }
        return notifications
    }

    private mutating func revokeShares(of shelf: Shelf) -> [AppStoreNotification] {
        var notifications: [AppStoreNotification] = []
        for share in shares(of: shelf) {
            remember(share.account)
            notifications.append(notify(self[share].losePurchase(at: now), of: share))
        }
        return notifications
    }
}
