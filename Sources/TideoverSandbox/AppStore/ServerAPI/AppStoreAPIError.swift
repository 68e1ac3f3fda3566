public import TideoverHTTP
import TideoverJSON

/// An error response of the App Store Server API: Apple's number, with the HTTP status as its first
/// three digits. https://developer.apple.com/documentation/appstoreserverapi/error-codes
public enum AppStoreAPIError: Int64, Error, CaseIterable, Hashable, Codable, Sendable {
    case badRequest = 4_000_000
    case revision = 4_000_005
    case transactionId = 4_000_006
    case originalTransactionId = 4_000_008
    case extendByDays = 4_000_009
    case extendReasonCode = 4_000_010
    case requestIdentifier = 4_000_011
    case startDateTooOld = 4_000_012
    case startAfterEnd = 4_000_013
    case paginationToken = 4_000_014
    case startDate = 4_000_015
    case endDate = 4_000_016
    case paginationTokenExpired = 4_000_017
    case notificationType = 4_000_018
    case multipleFilters = 4_000_019
    case testNotificationToken = 4_000_020
    case sort = 4_000_021
    case productType = 4_000_022
    case productId = 4_000_023
    case subscriptionGroup = 4_000_024
    case ownershipType = 4_000_026
    case noStorefrontCountryCodes = 4_000_027
    case storefrontCountryCode = 4_000_028
    case revoked = 4_000_030
    case status = 4_000_031
    case accountTenure = 4_000_032
    case appAccountToken = 4_000_033
    case consumptionStatus = 4_000_034
    case customerConsented = 4_000_035
    case deliveryStatus = 4_000_036
    case lifetimeDollarsPurchased = 4_000_037
    case lifetimeDollarsRefunded = 4_000_038
    case platform = 4_000_039
    case playTime = 4_000_040
    case sampleContentProvided = 4_000_041
    case userStatus = 4_000_042
    case appTransactionIdUnsupported = 4_000_048
    case appAccountTokenNotUUID = 4_000_183
    case familyTransaction = 4_000_185
    case notOriginalTransactionId = 4_000_187
    case extensionIneligible = 4_030_004
    case extensionsUsedUp = 4_030_005
    case familyExtension = 4_030_007
    case accountNotFound = 4_040_001
    case accountNotFoundRetryable = 4_040_002
    case appNotFound = 4_040_003
    case appNotFoundRetryable = 4_040_004
    case originalTransactionNotFound = 4_040_005
    case originalTransactionNotFoundRetryable = 4_040_006
    case noNotificationURL = 4_040_007
    case testNotificationNotFound = 4_040_008
    case massExtensionNotFound = 4_040_009
    case transactionNotFound = 4_040_010
    case appTransactionNotFound = 4_040_019
    case rateLimitExceeded = 4_290_000
    case internalError = 5_000_000
    case internalErrorRetryable = 5_000_001

    /// The HTTP status of the error.
    public var httpStatus: Int { Int(rawValue / 10_000) }

    /// The whole response: `{"errorCode": 4040010, "errorMessage": "..."}`.
    public var response: Response {
        let body: JSONObject = ["errorCode": .integer(rawValue), "errorMessage": .string(message)]
        return Response(
            status: httpStatus,
            headers: ["Content-Type": "application/json"],
            body: JSONValue.object(body).encoded()
        )
    }
}
