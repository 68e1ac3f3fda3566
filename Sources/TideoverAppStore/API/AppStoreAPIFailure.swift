package import TideoverCore
package import TideoverJSON

/// Describes why a request to the App Store Server API failed, and how to proceed.
package struct AppStoreAPIFailure: Error, Sendable {
    package let reason: Reason
    /// When and how the request was sent.
    package let exchange: StoreExchange
    /// The earliest instant, by our clock, at which the store accepts a retry. Nil if the store
    /// does not state one.
    package let retryAt: Instant?

    package enum Reason: Sendable {
        /// Nothing was sent: the store is known to reject this request.
        case unaskable(AppStoreQuestionFault)
        /// Nothing was sent: signing a token failed.
        case unsigned(any Error)
        /// No response arrived.
        case unreachable(any Error)
        /// The store rejects our token.
        case unauthorised(AppStoreSkew)
        /// The request rate is too high.
        case throttled
        /// The store reports one of its own error codes.
        case refused(OpenEnum<AppStoreErrorCode>, status: Int)
        /// An error response without an error code of the store.
        case status(Int)
        /// The response is a success, but is not JSON: truncated, or with a duplicate key.
        case malformedJSON(JSONError)
        /// The response is a success, but lacks a field or has one of the wrong type.
        case malformed(AppStoreRefusal)
        /// A page reports that more pages follow, but gives no new cursor.
        case endless
    }

    /// Whether a later retry of the same request may succeed.
    package var isRetryable: Bool {
        switch reason {
        case .unaskable, .unsigned: false
        case .unreachable, .throttled, .malformedJSON: true
        // A corrected clock produces valid tokens.
        case .unauthorised(let skew): skew.explainsRefusal
        case .refused(let code, let status): code.known?.isRetryable ?? Self.isPassing(status)
        case .status(let status): Self.isPassing(status)
        case .malformed, .endless: false
        }
    }

    /// The result of the inquiry about the purchase. Nil if no request was sent.
    package var outcome: Inquiry.Outcome? {
        switch reason {
        case .unaskable, .unsigned: nil
        case .unreachable, .malformedJSON, .malformed, .endless: .unreachable
        case .unauthorised: .refused
        case .throttled: .throttled
        case .refused(let code, let status): Self.outcome(code, status)
        case .status(let status): Self.outcome(status)
        }
    }

    /// Whether no request was sent, because the store no longer keeps notifications from its start.
    package var isStartTooOld: Bool {
        guard case .unaskable(.startTooOld) = reason else { return false }
        return true
    }

    /// The store's error code, if it is known.
    package var knownCode: AppStoreErrorCode? {
        guard case .refused(let code, _) = reason else { return nil }
        return code.known
    }

    private static func outcome(
        _ code: OpenEnum<AppStoreErrorCode>,
        _ status: Int
    ) -> Inquiry.Outcome {
        guard let known = code.known else { return outcome(status) }
        if known.isGone { return .gone }
        if known.isRetryable || known == .generalInternal { return .unreachable }
        return .refused
    }

    private static func outcome(_ status: Int) -> Inquiry.Outcome {
        (400..<500).contains(status) && !isPassing(status) ? .refused : .unreachable
    }

    /// Returns whether a status is temporary rather than caused by the request.
    private static func isPassing(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429 || (500...599).contains(status)
    }
}

/// Describes why a request is not sent.
package enum AppStoreQuestionFault: Error, Hashable, Sendable {
    /// An invalid store id: empty, over 128 characters, or with a character other than letters,
    /// digits, `-`, `_` and `.`.
    case identifier(String)
    /// The start is not before the end.
    case startAfterEnd
    /// The store no longer keeps notifications from this start. `earliest` is the earliest valid
    /// start.
    case startTooOld(earliest: Instant)
    /// A number is outside the range that the store accepts.
    case outOfRange(field: String, ClosedRange<Int64>)
}

/// The difference between the store's clock and ours, computed from the date of its response.
package struct AppStoreSkew: Hashable, Sendable {
    /// The store's clock minus ours: positive when ours is behind. Nil if the response has no date.
    package let ahead: Milliseconds?
    /// The times of the rejected token, by our clock.
    let issuedAt: Instant
    let expiresAt: Instant
    let answeredAt: Instant

    init(_ exchange: StoreExchange, _ token: AppStoreToken) {
        ahead = exchange.skew
        issuedAt = token.issuedAt
        expiresAt = token.expiresAt
        answeredAt = exchange.answeredAt
    }

    /// Whether the token was issued in the future or had almost expired, by the store's clock. If
    /// not, the store rejects the key, its ids or its permissions.
    package var explainsRefusal: Bool {
        guard let ahead else { return false }
        let storesNow = answeredAt + ahead
        return storesNow < issuedAt - Self.tolerance || expiresAt <= storesNow
    }

    /// Dates have whole seconds, and a response is dated before it arrives.
    static let tolerance = Milliseconds.seconds(2)
}
