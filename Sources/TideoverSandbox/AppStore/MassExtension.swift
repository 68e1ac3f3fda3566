import TideoverJSON

/// A request to extend the renewal dates of all active subscribers of a product. The store accepts
/// it at once and performs it later.
/// https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers
struct MassExtension: Codable, Sendable {
    /// The time that the store takes, in milliseconds; Apple documents none.
    static let delay: Int64 = 300_000

    let productId: String
    let requestIdentifier: String
    /// Storefronts by their three letters; nil for all of them.
    let countries: [String]?
    let days: Int64
    /// When it is performed.
    let at: Int64
    /// The numbers of successes and failures; nil until it is performed.
    var result: Result?

    struct Result: Codable, Sendable {
        let succeeded: Int64
        let failed: Int64
    }
}

extension AppStoreMachine {
    /// The request that is performed next.
    var nextMassExtension: (at: Int64, index: Int)? {
        let index = massExtensions.indices.filter { massExtensions[$0].result == nil }.min {
            massExtensions[$0].at < massExtensions[$1].at
        }
        return index.map { (massExtensions[$0].at, $0) }
    }

    func massExtension(of productId: String, _ requestIdentifier: String) -> MassExtension? {
        massExtensions.first {
            $0.productId == productId && $0.requestIdentifier == requestIdentifier
        }
    }

    /// Extends every active subscription of the product. Reports each failure, and the totals at
    /// the end.
    mutating func extendAll(_ index: Int) -> [AppStoreNotification] {
        let order = massExtensions[index]
        var notifications: [AppStoreNotification] = []
        var (succeeded, failed): (Int64, Int64) = (0, 0)
        for place in places(reachedBy: order) {
            if let extended = try? extend(place, byDays: order.days) {
                succeeded += 1
                notifications += [extended] + tellFamily(of: place.account)
            } else {
                failed += 1
                notifications.append(notify(.extensionFailed, of: place))
            }
        }
        massExtensions[index].result = MassExtension.Result(
            succeeded: succeeded,
            failed: failed
        )
        return notifications + [summary(of: order, succeeded, failed)]
    }

    /// The subscriptions with a running term, in the order of customers. A family member's share
    /// follows its own purchase.
    private func places(reachedBy order: MassExtension) -> [Place] {
        accounts.indices.flatMap { account in
            let country = accounts[account].customer.storefront.country
            guard order.countries?.contains(country) ?? true else { return [Place]() }
            return accounts[account].subscriptions.indices.compactMap { index in
                let subscription = accounts[account].subscriptions[index]
                guard subscription.current.product.id == order.productId,
                    subscription.sharedFrom == nil, subscription.phase == .running,
                    !subscription.isRevoked
                else { return nil }
                return Place(account: account, subscription: index)
            }
        }
    }

    /// https://developer.apple.com/documentation/appstoreservernotifications/summary
    private mutating func summary(
        of order: MassExtension,
        _ succeeded: Int64,
        _ failed: Int64
    ) -> AppStoreNotification {
        var summary: JSONObject = [
            "requestIdentifier": .string(order.requestIdentifier),
            "environment": .string(app.environment.rawValue),
            "bundleId": .string(app.bundleId), "productId": .string(order.productId),
            "succeededCount": .integer(succeeded), "failedCount": .integer(failed),
        ]
        if app.environment == .production { summary["appAppleId"] = .integer(app.appAppleId) }
        summary["storefrontCountryCodes"] = order.countries.map { .array($0.map(JSONValue.string)) }
        let signed = sign(after: identifiers.signingTime())
        return AppStoreNotification(
            at: now,
            signedDate: signed,
            uuid: identifiers.uuid(),
            event: .extensionsCompleted(succeeded: succeeded, failed: failed),
            customer: nil,
            summary: summary
        )
    }
}
