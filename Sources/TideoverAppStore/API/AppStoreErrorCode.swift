/// The error codes of the App Store Server API: the HTTP status followed by digits for the reason.
/// https://developer.apple.com/documentation/appstoreserverapi/error-codes
package enum AppStoreErrorCode: Int64, Hashable, Sendable, CaseIterable {
    // MARK: The request as a whole
    case generalBadRequest = 4_000_000
    case invalidAppIdentifier = 4_000_002
    case invalidRequestRevision = 4_000_005
    case invalidTransactionId = 4_000_006
    case invalidOriginalTransactionId = 4_000_008
    // MARK: Extensions
    case invalidExtendByDays = 4_000_009
    case invalidExtendReasonCode = 4_000_010
    case invalidRequestIdentifier = 4_000_011
    // MARK: Notification history
    case startDateTooFarInPast = 4_000_012
    case startDateAfterEndDate = 4_000_013
    case invalidPaginationToken = 4_000_014
    case invalidStartDate = 4_000_015
    case invalidEndDate = 4_000_016
    case paginationTokenExpired = 4_000_017
    case invalidNotificationType = 4_000_018
    case multipleFiltersSupplied = 4_000_019
    case invalidTestNotificationToken = 4_000_020
    // MARK: Transaction history
    case invalidSort = 4_000_021
    case invalidProductType = 4_000_022
    case invalidProductId = 4_000_023
    case invalidSubscriptionGroupIdentifier = 4_000_024
    case invalidExcludeRevoked = 4_000_025
    case invalidInAppOwnershipType = 4_000_026
    case emptyStorefrontCountryCodes = 4_000_027
    case invalidStorefrontCountryCode = 4_000_028
    case invalidRevoked = 4_000_030
    case invalidStatus = 4_000_031
    // MARK: Consumption
    case invalidAccountTenure = 4_000_032
    case invalidAppAccountToken = 4_000_033
    case invalidConsumptionStatus = 4_000_034
    case invalidCustomerConsented = 4_000_035
    case invalidDeliveryStatus = 4_000_036
    case invalidLifetimeDollarsPurchased = 4_000_037
    case invalidLifetimeDollarsRefunded = 4_000_038
    case invalidPlatform = 4_000_039
    case invalidPlayTime = 4_000_040
    case invalidSampleContentProvided = 4_000_041
    case invalidUserStatus = 4_000_042
    case transactionNotConsumable = 4_000_043
    case transactionTypeNotSupported = 4_000_047
    case appTransactionIdNotSupported = 4_000_048
    // MARK: App account tokens
    case appAccountTokenNotUUID = 4_000_183
    case familyTransactionNotSupported = 4_000_185
    case notAnOriginalTransactionId = 4_000_187
    // MARK: Not allowed
    case subscriptionExtensionIneligible = 4_030_004
    case subscriptionMaximumExtensions = 4_030_005
    case familySharedExtensionIneligible = 4_030_007
    // MARK: Not found
    case accountNotFound = 4_040_001
    case accountNotFoundRetryable = 4_040_002
    case appNotFound = 4_040_003
    case appNotFoundRetryable = 4_040_004
    case originalTransactionIdNotFound = 4_040_005
    case originalTransactionIdNotFoundRetryable = 4_040_006
    case notificationURLNotFound = 4_040_007
    case testNotificationNotFound = 4_040_008
    case massExtensionNotFound = 4_040_009
    case transactionIdNotFound = 4_040_010
    case appTransactionDoesNotExist = 4_040_019
    // MARK: Rate limits and server errors
    case rateLimitExceeded = 4_290_000
    case generalInternal = 5_000_000
    case generalInternalRetryable = 5_000_001

    /// Whether the store's documentation allows a later retry of the same request.
    package var isRetryable: Bool {
        let retryable: Set<Self> = [
            .accountNotFoundRetryable, .appNotFoundRetryable,
            .originalTransactionIdNotFoundRetryable, .rateLimitExceeded,
            .generalInternalRetryable,
        ]
        return retryable.contains(self)
    }

    /// Whether the store reports permanently that it has no such purchase or customer.
    var isGone: Bool {
        let gone: Set<Self> = [
            .accountNotFound, .originalTransactionIdNotFound, .transactionIdNotFound,
            .appTransactionDoesNotExist,
        ]
        return gone.contains(self)
    }
}
