public import TideoverCore
public import TideoverJSON

/// Why a question to the App Store Server API brought no answer, and what to do about it.
public struct AppStoreAPIFailure: Error, Sendable {
    public let reason: Reason
    /// When and how we asked.
    public let exchange: StoreExchange
    /// The earliest instant, by our clock, at which the store wants to be asked again; nil where it
    /// does not say.
    public let retryAt: Instant?

    public enum Reason: Sendable {
        /// Nothing was sent: the question is one that the store is known to refuse.
        case unaskable(AppStoreQuestionFault)
        /// Nothing was sent: no token could be signed.
        case unsigned(any Error)
        /// No answer arrived.
        case unreachable(any Error)
        /// The store does not accept our token.
        case unauthorised(AppStoreSkew)
        /// We ask too often.
        case throttled
        /// The store says by a number of its own what is wrong.
        case refused(Stated<AppStoreErrorCode>, status: Int)
        /// The answer is no success, and carries no number of the store's.
        case status(Int)
        /// The answer is a success, but is not JSON: truncated, or with a key twice.
        case malformedJSON(JSONError)
        /// The answer is a success, but lacks something or says it in the wrong type.
        case malformed(AppStoreRefusal)
        /// A page says that there is more, and names no place where.
        case endless
    }

    /// Whether the same question may be answered when it is asked again later.
    public var isRetryable: Bool {
        switch reason {
        case .unaskable, .unsigned: false
        case .unreachable, .throttled, .malformedJSON: true
        // A clock that is put right makes good tokens.
        case .unauthorised(let skew): skew.explainsRefusal
        case .refused(let code, let status): code.known?.isRetryable ?? Self.isPassing(status)
        case .status(let status): Self.isPassing(status)
        case .malformed, .endless: false
        }
    }

    /// What the failure says about the purchase that was asked about. Nil where nothing was asked.
    public var outcome: Inquiry.Outcome? {
        switch reason {
        case .unaskable, .unsigned: nil
        case .unreachable, .malformedJSON, .malformed, .endless: .unreachable
        case .unauthorised: .refused
        case .throttled: .throttled
        case .refused(let code, let status): Self.outcome(code, status)
        case .status(let status): Self.outcome(status)
        }
    }

    private static func outcome(
        _ code: Stated<AppStoreErrorCode>,
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

    /// Statuses that speak of the moment, not of the question.
    private static func isPassing(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429 || (500...599).contains(status)
    }
}

/// Why a question is not asked at all.
public enum AppStoreQuestionFault: Error, Hashable, Sendable {
    /// An id that cannot be one of the store's: empty, over 128 characters, or with a character
    /// other than letters, digits, `-`, `_` and `.` in it.
    case identifier(String)
    /// The start does not come before the end.
    case startAfterEnd
    /// The store keeps notifications for so long only; it could be asked from `earliest` on.
    case startTooOld(earliest: Instant)
    /// A number is outside the range that the store accepts.
    case outOfRange(field: String, ClosedRange<Int64>)
}

/// How far the store's clock is from ours, as its answer's date tells.
public struct AppStoreSkew: Hashable, Sendable {
    /// The store's clock less ours: positive when ours is behind. Nil when the answer was not dated.
    public let ahead: Milliseconds?
    /// The token that was turned down, by our clock.
    let issuedAt: Instant
    let expiresAt: Instant
    let answeredAt: Instant

    init(_ exchange: StoreExchange, _ token: AppStoreToken) {
        ahead = exchange.skew
        issuedAt = token.issuedAt
        expiresAt = token.expiresAt
        answeredAt = exchange.answeredAt
    }

    /// Whether the token was from the future, or at its end, by the store's clock. If not, it is the
    /// key, its ids or its rights that the store does not accept.
    public var explainsRefusal: Bool {
        guard let ahead else { return false }
        let storesNow = answeredAt + ahead
        return storesNow < issuedAt - Self.tolerance || expiresAt <= storesNow
    }

    /// A date has whole seconds, and an answer is dated before it arrives.
    static let tolerance = Milliseconds.seconds(2)
}
