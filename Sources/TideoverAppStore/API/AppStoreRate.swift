public import TideoverCore

/// The questions that share one of the store's limits.
/// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
public enum AppStoreRate: Hashable, Sendable, CaseIterable {
    /// Statuses, histories, one transaction, consumption.
    case purchases
    /// Extensions of one renewal date.
    case extensions
    case orderLookup
    case refundHistory
    /// Test notifications, and what became of them.
    case testNotifications
    /// Extensions for all subscribers, and what became of them.
    case massExtensions

    /// How many an app may ask in an hour: the limit is told by the second and kept by the hour. In the sandbox it
    /// is a tenth; a simulated store is taken for a production one.
    public func questionsPerHour(in environment: Environment) -> Int {
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
