import TideoverCore

/// The store of a purchase, as RevenueCat names it.
///
/// Events write it in upper case, and REST API responses in lower case; it is stored in upper case.
package enum RevenueCatStore: String, Hashable, Sendable, CaseIterable {
    case appStore = "APP_STORE"
    case macAppStore = "MAC_APP_STORE"
    case playStore = "PLAY_STORE"
    case stripe = "STRIPE"
    case amazon = "AMAZON"
    case promotional = "PROMOTIONAL"
    case roku = "ROKU"
    case rcBilling = "RC_BILLING"
    case paddle = "PADDLE"
    case external = "EXTERNAL"
    case testStore = "TEST_STORE"
    case galaxy = "GALAXY"
}

/// The environment of an event, as RevenueCat states it.
package enum RevenueCatEnvironment: String, Hashable, Sendable, CaseIterable {
    case production = "PRODUCTION"
    case sandbox = "SANDBOX"

    /// Our environment for RevenueCat's value.
    var environment: Environment {
        switch self {
        case .production: .production
        case .sandbox: .sandbox
        }
    }
}

/// The type of a purchased period.
package enum RevenueCatPeriodType: String, Hashable, Sendable, CaseIterable {
    case normal = "NORMAL"
    case trial = "TRIAL"
    /// A discounted introductory period, not a free trial.
    case intro = "INTRO"
    /// A grant from the dashboard or the API.
    case promotional = "PROMOTIONAL"
    /// A prepaid period, which does not renew.
    case prepaid = "PREPAID"
}

/// The ownership of a purchase.
package enum RevenueCatOwnership: String, Hashable, Sendable, CaseIterable {
    case purchased = "PURCHASED"
    case familyShared = "FAMILY_SHARED"
    case unknown = "UNKNOWN"
}

/// Why a subscription was cancelled, or why it expired.
package enum RevenueCatReason: String, Hashable, Sendable, CaseIterable {
    case unsubscribe = "UNSUBSCRIBE"
    case billingError = "BILLING_ERROR"
    case developerInitiated = "DEVELOPER_INITIATED"
    case priceIncrease = "PRICE_INCREASE"
    /// A refund.
    case customerSupport = "CUSTOMER_SUPPORT"
    case unknown = "UNKNOWN"
    /// Only of expirations.
    case subscriptionPaused = "SUBSCRIPTION_PAUSED"
}
