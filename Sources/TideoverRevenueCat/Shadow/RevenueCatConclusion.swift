package import TideoverCore

/// RevenueCat's own decision about one entitlement at an instant.
package struct RevenueCatConclusion: Hashable, Sendable {
    package let productId: String
    package let isActive: Bool
    /// The end of access in RevenueCat's decision; nil means no end.
    package let accessUntil: Instant?
    /// The environment of the underlying purchase; nil if the response does not show it.
    package let environment: Environment?
}

extension RevenueCatSubscriber {
    /// Returns RevenueCat's decision by its own rule: active until the later of the entitlement's
    /// expiry and its grace end. Nil for an entitlement that it does not list.
    /// https://www.revenuecat.com/docs/subscription-guidance/how-grace-periods-work
    package func conclusion(
        on entitlement: String,
        at instant: Instant
    ) -> RevenueCatConclusion? {
        guard let listed = entitlements.first(where: { $0.name == entitlement }) else { return nil }
        let until = end(of: listed)
        return RevenueCatConclusion(
            productId: listed.productId,
            isActive: until.map { $0 > instant } ?? true,
            accessUntil: until,
            environment: environment(of: listed)
        )
    }

    private func end(of entitlement: RevenueCatEntitlement) -> Instant? {
        guard let expiry = entitlement.expiresAt else { return nil }
        let grace = subscription(of: entitlement)?.gracePeriodExpiresAt
        return max(expiry, entitlement.gracePeriodExpiresAt ?? expiry, grace ?? expiry)
    }

    private func environment(of entitlement: RevenueCatEntitlement) -> Environment? {
        let purchase = purchases.last { $0.productId == entitlement.productId }
        guard let isSandbox = subscription(of: entitlement)?.isSandbox ?? purchase?.isSandbox else {
            return nil
        }
        return isSandbox ? .sandbox : .production
    }

    private func subscription(of entitlement: RevenueCatEntitlement) -> RevenueCatSubscription? {
        subscriptions.first { $0.productId == entitlement.productId }
    }
}
