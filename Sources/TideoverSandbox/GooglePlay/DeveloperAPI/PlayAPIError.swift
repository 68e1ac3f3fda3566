public import TideoverHTTP
import TideoverJSON

/// An error response of Google's, limited to the known ones of the Play Developer API and Pub/Sub.
/// https://cloud.google.com/apis/design/errors
public enum PlayAPIError: Error, CaseIterable, Hashable, Codable, Sendable {
    case invalid
    case invalidPageToken
    case startTooOld
    case failedPrecondition
    case unauthorised
    case insufficientScope
    case forbidden
    case quotaExceeded
    case appNotFound
    case purchaseNotFound
    case orderNotFound
    case subscriptionNotFound
    case conflict
    /// The purchase ended more than 60 days ago.
    case gone
    case rateLimited
    case internalError
    case unavailable

    /// The HTTP status of the error.
    public var httpStatus: Int {
        switch self {
        case .invalid, .invalidPageToken, .startTooOld, .failedPrecondition: 400
        case .unauthorised: 401
        case .insufficientScope, .forbidden, .quotaExceeded: 403
        case .appNotFound, .purchaseNotFound, .orderNotFound, .subscriptionNotFound: 404
        case .conflict: 409
        case .gone: 410
        case .rateLimited: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }

    /// Google's name of the kind of error (`google.rpc.Code`); nil for `gone`.
    private var word: String? {
        switch self {
        case .invalid, .invalidPageToken, .startTooOld: "INVALID_ARGUMENT"
        case .failedPrecondition: "FAILED_PRECONDITION"
        case .unauthorised: "UNAUTHENTICATED"
        case .insufficientScope, .forbidden: "PERMISSION_DENIED"
        case .quotaExceeded, .rateLimited: "RESOURCE_EXHAUSTED"
        case .appNotFound, .purchaseNotFound, .orderNotFound, .subscriptionNotFound: "NOT_FOUND"
        case .conflict: "ABORTED"
        case .gone: nil
        case .internalError: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        }
    }

    /// The name in the older error format, which is sent beside it.
    private var reason: String {
        switch self {
        case .invalid, .invalidPageToken, .startTooOld: "invalid"
        case .failedPrecondition: "failedPrecondition"
        case .unauthorised: "authError"
        case .insufficientScope: "insufficientPermissions"
        case .forbidden: "permissionDenied"
        case .quotaExceeded: "quotaExceeded"
        case .appNotFound: "applicationNotFound"
        case .purchaseNotFound: "purchaseTokenNotFound"
        case .orderNotFound, .subscriptionNotFound: "notFound"
        case .conflict: "concurrentUpdate"
        case .gone: "purchaseTokenNoLongerValid"
        case .rateLimited: "rateLimitExceeded"
        case .internalError, .unavailable: "backendError"
        }
    }

    private var message: String {
        switch self {
        case .invalid: "The request holds a value that is not allowed."
        case .invalidPageToken: "There is no page of this name."
        case .startTooOld: "startTime lies more than 30 days back."
        case .failedPrecondition: "The purchase is not in a state in which this can be done."
        case .unauthorised: "The request bears no access token that is good."
        case .insufficientScope: "The access token was given for something else."
        case .forbidden: "The account has no right to this."
        case .quotaExceeded: "All of today's requests are made."
        case .appNotFound: "There is no app of this package name."
        case .purchaseNotFound: "There is no purchase of this token."
        case .orderNotFound: "There is no order of this id."
        case .subscriptionNotFound: "There is no subscription of this name."
        case .conflict: "The purchase was changed meanwhile."
        case .gone: "The purchase ended too long ago."
        case .rateLimited: "There were too many requests within a short time."
        case .internalError: "Something went wrong here."
        case .unavailable: "This is not available at the moment."
        }
    }

    /// The whole response:
    /// `{"error": {"code": 404, "message": "...", "status": "NOT_FOUND", "errors": [...]}}`.
    public var response: Response {
        var error: JSONObject = [
            "code": .integer(Int64(httpStatus)), "message": .string(message),
            "errors": [
                [
                    "message": .string(message), "domain": "androidpublisher",
                    "reason": .string(reason),
                ]
            ],
        ]
        error["status"] = word.map(JSONValue.string)
        let body: JSONObject = ["error": .object(error)]
        return Response(
            status: httpStatus,
            headers: ["Content-Type": "application/json; charset=UTF-8"],
            body: JSONValue.object(body).encoded()
        )
    }
}
