import TideoverCalendar

/// The window in which the store counts calls before it answers 429. Apple states its limits by the
/// second and enforces them by the hour.
/// https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
public enum AppStoreRateLimits: Hashable, Codable, Sendable {
    /// Apple's own window: an hour allows 3,600 times the calls of a second.
    case byTheHour
    /// Stricter than Apple: a client within these limits is within Apple's too.
    case byTheSecond

    /// In milliseconds.
    fileprivate var window: Int64 {
        switch self {
        case .byTheHour: 3_600_000
        case .byTheSecond: 1_000
        }
    }
}

extension AppStoreOperation {
    /// The number of calls a second that Apple allows an app in production. For an operation
    /// without a limit on its page, this is the limit of most others.
    public var callsPerSecond: Int64 {
        switch self {
        case .subscriptionStatuses, .transactionHistory, .transactionHistoryV1, .transactionInfo,
            .consumptionInfo, .consumptionInfoV1, .notificationHistory, .appTransaction,
            .setAppAccountToken, .finishTransaction:
            50
        case .extendRenewalDate: 20
        case .orderLookup, .refundHistory: 10
        case .extendAllRenewalDates, .massExtensionStatus, .requestTestNotification,
            .testNotificationStatus:
            1
        }
    }
}

/// The remaining calls that the store allows, by operation.
struct AppStoreAllowance: Codable, Sendable {
    private struct Spent: Codable {
        /// Windows are counted from 1970.
        var window: Int64
        var calls: Int64
    }

    private let limits: AppStoreRateLimits
    private let environment: AppStoreEnvironment
    private var spent: [AppStoreOperation: Spent] = [:]

    init(_ limits: AppStoreRateLimits, _ environment: AppStoreEnvironment) {
        self.limits = limits
        self.environment = environment
    }

    /// Counts a call. If no more are allowed, returns when they are again, in milliseconds since
    /// 1970.
    mutating func spend(on operation: AppStoreOperation, at now: Int64) -> Int64? {
        let window = now.flooredQuotient(by: limits.window)
        let calls = spent[operation].map { $0.window == window ? $0.calls : 0 } ?? 0
        guard calls < most(operation) else { return (window + 1) * limits.window }
        spent[operation] = Spent(window: window, calls: calls + 1)
        return nil
    }

    /// In the sandbox a tenth, and at least one in a window of any length.
    private func most(_ operation: AppStoreOperation) -> Int64 {
        let calls = operation.callsPerSecond * limits.window / 1_000
        return switch environment {
        case .production: calls
        case .sandbox: max(1, calls / 10)
        }
    }
}
