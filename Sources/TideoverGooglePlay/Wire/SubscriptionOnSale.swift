package import TideoverCore
import TideoverJSON

/// A subscription that an app sells, with its base plans. Prices and descriptions are omitted.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions
package struct SubscriptionOnSale: Hashable, Sendable {
    package let productId: String
    package let basePlans: [BasePlan]

    /// One base plan of a subscription.
    package struct BasePlan: Hashable, Sendable {
        package let basePlanId: String
        package let state: OpenEnum<State>?
        /// Nil for a kind of plan that this version does not know.
        package let kind: Kind?
        package let billingPeriod: Period?
        /// Days of service after a failed payment; nil means the store's default.
        package let graceDays: Int64?
        /// The days of account hold: no service while the payment is retried. Nil means 60 days
        /// minus the grace period.
        package let holdDays: Int64?
        /// Whether customers can resubscribe in Google Play itself; absent if they can.
        package let resubscribing: OpenEnum<Resubscribing>?
        /// Whether customers can extend it in Google Play itself; absent if they can.
        package let extending: OpenEnum<Extending>?
    }

    /// Whether a base plan is on sale. An inactive plan still renews for existing subscribers.
    package enum State: String, Hashable, Sendable, CaseIterable {
        case draft = "DRAFT"
        case active = "ACTIVE"
        case inactive = "INACTIVE"
    }

    /// The renewal type of a base plan.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case autoRenewing = "autoRenewingBasePlanType"
        case prepaid = "prepaidBasePlanType"
        case installments = "installmentsBasePlanType"
    }

    package enum Resubscribing: String, Hashable, Sendable, CaseIterable {
        case active = "RESUBSCRIBE_STATE_ACTIVE"
        case inactive = "RESUBSCRIBE_STATE_INACTIVE"
    }

    package enum Extending: String, Hashable, Sendable, CaseIterable {
        case active = "TIME_EXTENSION_ACTIVE"
        case inactive = "TIME_EXTENSION_INACTIVE"
    }
}

// MARK: - Reading

extension SubscriptionOnSale {
    init(_ fields: WireFields) throws(PlayRefusal) {
        guard let product = try fields.text("productId") else { throw fields.missing("productId") }
        productId = product
        basePlans = try fields.list("basePlans", BasePlan.init)
    }
}

extension SubscriptionOnSale.BasePlan {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        guard let id = try fields.text("basePlanId") else { throw fields.missing("basePlanId") }
        var kinds: [(kind: SubscriptionOnSale.Kind, fields: WireFields)] = []
        for kind in SubscriptionOnSale.Kind.allCases {
            if let found = try fields.fields(kind.rawValue) { kinds.append((kind, found)) }
        }
        guard kinds.count <= 1 else { throw .ambiguousContent(members: kinds.map(\.kind.rawValue)) }
        let plan = kinds.first?.fields
        basePlanId = id
        state = try fields.word("state")
        kind = kinds.first?.kind
        billingPeriod = try plan?.period("billingPeriodDuration")
        graceDays = try plan?.days("gracePeriodDuration")
        holdDays = try plan?.days("accountHoldDuration")
        resubscribing = try plan?.word("resubscribeState")
        extending = try plan?.word("timeExtension")
    }
}

extension WireFields {
    fileprivate func period(_ name: String) throws(PlayRefusal) -> Period? {
        try value(name) { $0.string.flatMap { Period(iso8601: $0) } }
    }

    /// Returns a duration in whole days, which may be zero: `P0D`.
    fileprivate func days(_ name: String) throws(PlayRefusal) -> Int64? {
        try value(name) { node in
            guard let text = node.string, text.hasPrefix("P"), text.hasSuffix("D"),
                let days = Int64(text.dropFirst().dropLast()), days >= 0
            else { return nil }
            return days
        }
    }
}
