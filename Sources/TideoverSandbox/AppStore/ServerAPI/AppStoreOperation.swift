import TideoverHTTP

/// The operations of the App Store Server API.
/// https://developer.apple.com/documentation/appstoreserverapi
public enum AppStoreOperation: String, CaseIterable, Hashable, Codable, CodingKeyRepresentable,
    Sendable
{
    case subscriptionStatuses
    case transactionHistory
    /// The first version, which Apple has deprecated.
    case transactionHistoryV1
    case transactionInfo
    case appTransaction
    case setAppAccountToken
    case finishTransaction
    case consumptionInfo
    /// The first version, which Apple has deprecated.
    case consumptionInfoV1
    case orderLookup
    case refundHistory
    case extendRenewalDate
    case extendAllRenewalDates
    case massExtensionStatus
    case notificationHistory
    case requestTestNotification
    case testNotificationStatus

    /// The method, and the path with `*` in place of each id.
    var route: (method: String, path: String) {
        switch self {
        case .subscriptionStatuses: ("GET", "inApps/v1/subscriptions/*")
        case .transactionHistory: ("GET", "inApps/v2/history/*")
        case .transactionHistoryV1: ("GET", "inApps/v1/history/*")
        case .transactionInfo: ("GET", "inApps/v1/transactions/*")
        case .appTransaction: ("GET", "inApps/v1/transactions/appTransactions/*")
        case .setAppAccountToken: ("PUT", "inApps/v1/transactions/*/appAccountToken")
        case .finishTransaction: ("POST", "inApps/v1/transactions/*/finish")
        case .consumptionInfo: ("PUT", "inApps/v2/transactions/consumption/*")
        case .consumptionInfoV1: ("PUT", "inApps/v1/transactions/consumption/*")
        case .orderLookup: ("GET", "inApps/v1/lookup/*")
        case .refundHistory: ("GET", "inApps/v2/refund/lookup/*")
        case .extendRenewalDate: ("PUT", "inApps/v1/subscriptions/extend/*")
        case .extendAllRenewalDates: ("POST", "inApps/v1/subscriptions/extend/mass")
        case .massExtensionStatus: ("GET", "inApps/v1/subscriptions/extend/mass/*/*")
        case .notificationHistory: ("POST", "inApps/v1/notifications/history")
        case .requestTestNotification: ("POST", "inApps/v1/notifications/test")
        case .testNotificationStatus: ("GET", "inApps/v1/notifications/test/*")
        }
    }
}

/// A recognised request.
struct AppStoreCall {
    let operation: AppStoreOperation
    /// The variable parts of the path, in order.
    let ids: [String]
    let request: Request

    /// The first id in the path, empty if there is none.
    var id: String { ids.first ?? "" }

    /// Returns nil for a path or a method that the API does not have.
    init?(_ request: Request) {
        guard let segments = request.segments else { return nil }
        for operation in AppStoreOperation.allCases where operation.route.method == request.method {
            guard let ids = segments.ids(matching: operation.route.path) else { continue }
            self.operation = operation
            self.ids = ids
            self.request = request
            return
        }
        return nil
    }
}
