// Offers that customers redeem: promotional offers, offer codes, and win-back offers.
// https://developer.apple.com/documentation/storekit/implementing-promotional-offers-in-your-app

extension AppStoreMachine {
    /// Redeems an offer of a product. For a subscriber of the product, it applies from the next
    /// renewal on. Its other effects depend on the levels of the group, as for a change of plan.
    mutating func redeem(
        _ name: String,
        of id: String,
        _ account: Int
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        guard let product = app.product(id) else { throw refusal(.unknownProduct, account, id) }
        guard let offer = product.offers.first(where: { $0.identifier == name }) else {
            throw refusal(.unknownOffer, account, id)
        }
        let held = accounts[account].subscriptions.firstIndex {
            $0.sharedFrom == nil && $0.current.product.group == product.group
        }
        guard let held else {
            guard offer.kind == .offerCode else { throw refusal(.notEligible, account, id) }
            return try buy(product, offer, account, held)
        }
        let place = Place(account: account, subscription: held)
        guard self[place].isAlive else { return try buy(product, offer, account, held) }
        guard offer.kind != .winBack else { throw refusal(.notEligible, account, id) }
        guard self[place].phase == .running else { throw refusal(.notRunning, place) }
        guard product.isTakenAtOnce(after: self[place].current.product) else {
            return notify(self[place].redeem(offer, for: product), of: place)
        }
        try checkPayment(account, id)
        let purchase = purchase(of: product, offer, for: account)
        _ = self[place].upgrade(purchase, at: now)
        return notify(.offerRedeemed(.upgrade), of: place)
    }

    private mutating func buy(
        _ product: AppStoreProduct,
        _ offer: AppStoreOffer,
        _ account: Int,
        _ held: Int?
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        try checkPayment(account, product.id)
        return buy(purchase(of: product, offer, for: account), for: account, held)
    }

    mutating func purchase(
        of product: AppStoreProduct,
        _ offer: AppStoreOffer?,
        for account: Int
    ) -> AppStoreSubscription.Purchase {
        AppStoreSubscription.Purchase(
            of: product,
            offer: offer,
            at: now,
            ids: drawTerm(for: account),
            app.tempo
        )
    }
}
