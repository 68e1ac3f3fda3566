// Family Sharing: a family member's share follows the purchase, with its own identifiers.
// https://developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app

extension AppStoreMachine {
    /// Applies the purchaser's changes to the family members' shares.
    mutating func tellFamily(of account: Int) -> [AppStoreNotification] {
        var notifications: [AppStoreNotification] = []
        for place in accounts[account].followers {
            guard let from = self[place].sharedFrom, !self[place].isUnshared else { continue }
            remember(place.account)
            let owner = self[from]
            guard owner.current.product.isFamilyShareable else {
                guard self[place].isAlive else { continue }
                notifications.append(notify(self[place].loseProduct(at: now), of: place))
                continue
            }
            let ids = self[place].lacksTerm(of: owner) ? drawTerm(for: place.account) : nil
            guard let event = self[place].follow(owner, ids, at: now) else { continue }
            notifications.append(notify(event, of: place))
        }
        return notifications
    }

    mutating func share(
        _ place: Place,
        with member: String
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let account = try index(of: member)
        guard self[place].current.product.isFamilyShareable, account != place.account else {
            throw refusal(.notShareable, place)
        }
        guard self[place].isAlive else { throw refusal(.ended, place) }
        guard self[place].phase == .running else { throw refusal(.notRunning, place) }
        guard share(of: place, held: account) == nil else { throw refusal(.alreadyShared, place) }
        remember(account)
        let group = self[place].current.product.group
        let again = accounts[account].subscriptions.contains { $0.current.product.group == group }
        let shared = AppStoreSubscription(
            sharing: self[place],
            from: place,
            drawTerm(for: account),
            at: now
        )
        return notify(
            .subscribed(until: shared.current.end, trial: shared.current.isTrial, again: again),
            of: add(shared, to: account, sharedBy: place.account)
        )
    }

    mutating func stopSharing(
        _ place: Place,
        with member: String
    ) throws(AppStoreRefusal) -> AppStoreNotification {
        let account = try index(of: member)
        guard let share = share(of: place, held: account) else { throw refusal(.notShared, place) }
        remember(account)
        return notify(self[share].unshare(at: now), of: share)
    }

    /// Returns a member's share of a purchase, if it is still in use.
    private func share(of place: Place, held account: Int) -> Place? {
        let index = accounts[account].subscriptions.firstIndex {
            $0.sharedFrom == place && !$0.isUnshared
        }
        return index.map { Place(account: account, subscription: $0) }
    }
}
