package import TideoverCore

/// A customer as RevenueCat's SDKs read one: the `subscriber` of a response.
///
/// The SDKs decide `isActive` by the end of an entitlement alone, against the request date. Grace,
/// refunds and failures are shown and play no part in it. Each end here is therefore the instant at
/// which our access ends.
package struct SDKCustomerInfo: Hashable, Sendable {
    package var originalAppUserId: String
    /// The first purchase or report; nil for a customer that the server does not know.
    package var firstSeen: Instant?
    /// When the customer got the app; nil if no device presented an app transaction or a receipt.
    package var origin: Origin?
    /// Only for back ends; nil for devices.
    package var attributes: SDKAttributes?
    /// The page of the store that manages the customer's own subscriptions, if any.
    package var managementURL: String?
    /// By product ID without base plan; one period each.
    package var subscriptions: [String: Subscription] = [:]
    /// By product ID; oldest first.
    package var purchases: [String: [Purchase]] = [:]
    /// By name. Each product is a key of `subscriptions` or `purchases`; the SDKs drop others.
    package var entitlements: [String: Entitlement] = [:]

    /// When and in which version a customer first got the app.
    package struct Origin: Hashable, Sendable {
        package let version: String
        /// Nil if only a receipt without a date states the version.
        package let purchasedAt: Instant?

        package init(version: String, purchasedAt: Instant? = nil) {
            self.version = version
            self.purchasedAt = purchasedAt
        }

        /// Whether it replaces another one: it is dated and earlier, or the only one with a date.
        package func precedes(_ other: Origin?) -> Bool {
            guard let other else { return true }
            guard let purchasedAt else { return false }
            return other.purchasedAt.map { purchasedAt < $0 } ?? true
        }
    }

    package struct Entitlement: Hashable, Sendable {
        /// The key of its product, without base plan.
        package var product: String
        package var basePlan: String?
        package var purchasedAt: Instant
        package var expires: Expiry
        package var graceUntil: Instant?
    }

    package struct Subscription: Hashable, Sendable {
        package var basePlan: String?
        package var purchasedAt: Instant
        package var originallyPurchasedAt: Instant
        package var expires: Expiry
        package var store: RevenueCatStore
        package var isSandbox: Bool
        package var period: Period
        package var isFamilyShared: Bool
        package var unsubscribedAt: Instant?
        package var billingIssueAt: Instant?
        package var graceUntil: Instant?
        package var refundedAt: Instant?
        package var resumesAt: Instant?
        package var transactionId: String
        package var managementURL: String?
    }

    package struct Purchase: Hashable, Sendable {
        /// A stable ID of the server's own.
        package var id: String
        package var transactionId: String
        package var purchasedAt: Instant
        package var store: RevenueCatStore
        package var isSandbox: Bool
    }

    /// The end of access.
    package enum Expiry: Hashable, Sendable {
        case never
        /// Access lasts until an instant; rounded up, so that none of it is lost.
        case active(until: Instant)
        /// Access ended before the request date; rounded down.
        case ended(Instant)

        package var isActive: Bool {
            if case .ended = self { false } else { true }
        }
    }

    package enum Period: String, Hashable, Sendable {
        case normal, intro, trial, prepaid
    }
}
