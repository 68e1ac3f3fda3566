package import TideoverCore

/// Groups of requests that share one of the store's rate limits.
/// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
package enum AppStoreRate: Hashable, Sendable, CaseIterable {
    /// Statuses, histories, one transaction, consumption.
    case purchases
    /// Extensions of one renewal date.
    case extensions
    case orderLookup
    case refundHistory
    /// Test notifications and their results.
    case testNotifications
    /// Extensions for all subscribers and their results.
    case massExtensions

    /// Returns how many requests an app may send in an hour. Apple states the limit per second and
    /// enforces it per hour. The sandbox limit is a tenth; a simulated store has the production
    /// limit.
    package func questionsPerHour(in environment: Environment) -> Int {
        let perSecond =
            switch self {
            case .purchases: 50
            case .extensions: 20
            case .orderLookup, .refundHistory: 10
            case .testNotifications, .massExtensions: 1
            }
        let perHour = perSecond * 3600
        switch environment {
        case .sandbox: return perHour / 10
        case .production, .xcode, .simulated: return perHour
        }
    }
}
