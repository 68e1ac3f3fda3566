import TideoverCore

/// The environment, as the App Store states it.
package enum StoreEnvironment: String, Hashable, Sendable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
    case xcode = "Xcode"
    case localTesting = "LocalTesting"

    /// Our environment for the store's value.
    var environment: Environment {
        switch self {
        case .production: .production
        case .sandbox: .sandbox
        case .xcode, .localTesting: .xcode
        }
    }
}

/// The App Store's state of a subscription at the signing date of a notification.
package enum SubscriptionStatus: Int64, Hashable, Sendable, CaseIterable {
    case active = 1
    case expired = 2
    case billingRetry = 3
    case billingGracePeriod = 4
    case revoked = 5
}

/// The types of offer for a purchase or the next renewal.
package enum OfferType: Int64, Hashable, Sendable, CaseIterable {
    case introductory = 1
    case promotional = 2
    case offerCode = 3
    case winBack = 4
}

/// How a discount is charged.
package enum OfferDiscountType: String, Hashable, Sendable, CaseIterable {
    case freeTrial = "FREE_TRIAL"
    case payAsYouGo = "PAY_AS_YOU_GO"
    case payUpFront = "PAY_UP_FRONT"
    case oneTime = "ONE_TIME"
}

/// The billing plan of a subscription period.
package enum BillingPlanType: String, Hashable, Sendable, CaseIterable {
    case billedUpfront = "BILLED_UPFRONT"
    case monthly = "MONTHLY"
}
